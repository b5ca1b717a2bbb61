//! The random numbers of the model: fio's two generators by their definition, the seeds of a job, skewed choices, the shift register.
//!
//! Everything is written from the definitions, slowly, and shares nothing with the program under test.

/// A component: shifts `a` and `b`, low bits masked off, shift `c`.
type Component = (u32, u32, u32, u32);

const NARROW: [Component; 3] = [(13, 19, 1, 12), (2, 25, 3, 4), (3, 11, 4, 17)];
const WIDE: [Component; 5] =
    [(1, 53, 1, 10), (24, 50, 9, 5), (3, 23, 12, 29), (5, 24, 17, 23), (3, 33, 23, 8)];

/// A stream of words of 32 or 64 bits.
#[derive(Clone)]
pub struct Draw {
    bits: u32,
    components: &'static [Component],
    state: Vec<u64>,
}

impl Draw {
    pub fn new(seed: u64, bits: u32) -> Self {
        let (factor, low, components): (u64, &[u64], &'static [Component]) = match bits {
            32 => (69069, &[1, 7, 15], &NARROW),
            _ => (6_906_969_069, &[1, 7, 15, 33, 49], &WIDE),
        };
        let full = u64::MAX >> (64 - bits);
        let mut value = 53_u64;
        let mut state = Vec::new();
        for &low in low {
            value = (value.wrapping_mul(factor) ^ seed) & full;
            if value < low {
                value += low;
            }
            state.push(value);
        }
        let mut draw = Draw { bits, components, state };
        (0..6).for_each(|_| {
            draw.next();
        });
        draw
    }

    pub fn next(&mut self) -> u64 {
        let full = self.full();
        let mut out = 0;
        for (s, &(a, b, cut, c)) in self.state.iter_mut().zip(self.components) {
            let kept = *s >> cut << cut;
            *s = (kept << c & full) ^ (((*s << a & full) ^ *s) >> b);
            out ^= *s;
        }
        out
    }

    /// The largest word.
    pub fn full(&self) -> u64 {
        u64::MAX >> (64 - self.bits)
    }

    /// The word as a part of 1.
    pub fn part(&mut self) -> f64 {
        let power = 2_f64.powi(self.bits as i32);
        self.next() as f64 / power
    }

    pub fn below(&mut self, n: u64) -> u64 {
        (n as f64 * self.part()) as u64
    }

    /// 1 to 100.
    pub fn percent(&mut self) -> u64 {
        1 + self.below(100)
    }
}

/// Seed number `purpose` of a job.
pub fn seed(purpose: u32, thread: u64, randseed: u64) -> u64 {
    const PRIME: u64 = 0x9e37_0001;
    let power = (0..4 + purpose).fold(randseed, |value, _| value.wrapping_mul(PRIME));
    power.wrapping_mul(thread).wrapping_add(u64::from(purpose))
}

/// The hash that files of the same job get different seeds by.
pub fn name_hash(name: &str) -> u32 {
    let mut data = name.as_bytes();
    let start = 0x61C8_8647_u32.wrapping_add(data.len() as u32);
    let mut r = [start; 3];
    while data.len() > 12 {
        for (at, byte) in [0, 4, 8].into_iter().enumerate() {
            r[at] = r[at].wrapping_add(u32::from(data[byte]));
        }
        for (x, y, k, z) in
            [(0, 2, 4, 1), (1, 0, 6, 2), (2, 1, 8, 0), (0, 2, 16, 1), (1, 0, 19, 2), (2, 1, 4, 0)]
        {
            r[x] = r[x].wrapping_sub(r[y]) ^ r[y].rotate_left(k);
            r[y] = r[y].wrapping_add(r[z]);
        }
        data = &data[12..];
    }
    if !data.is_empty() {
        for (at, byte) in data.iter().enumerate() {
            r[at / 4] = r[at / 4].wrapping_add(u32::from(*byte) << (8 * (at % 4)));
        }
        for (x, y, k) in [(2, 1, 14), (0, 2, 11), (1, 0, 25), (2, 1, 16), (0, 2, 4), (1, 0, 14), (2, 1, 24)] {
            r[x] = (r[x] ^ r[y]).wrapping_sub(r[y].rotate_left(k));
        }
    }
    r[2]
}

/// zipf, pareto and normal choices among `n` things.
#[derive(Clone)]
pub struct Skewed {
    shape: SkewShape,
    n: u64,
    hashed: bool,
    off: u64,
    draw: Draw,
}

#[derive(Clone)]
enum SkewShape {
    Zipf { zetan: f64, zeta2: f64, alpha: f64, eta: f64 },
    Pareto { power: f64 },
    Normal { deviation: u64 },
}

impl Skewed {
    /// `text` is like `zipf:1.2:0.5`; `hashed` spreads popular choices over all things.
    pub fn new(text: &str, n: u64, seed: u64, hashed: bool) -> Self {
        let mut parts = text.split(':');
        let kind = parts.next().unwrap_or_default();
        let mut number = || parts.next().map(|part| part.parse::<f64>().unwrap());
        let (value, center) = (number(), number());
        let mut draw = Draw::new(seed, 32);
        let count = n as f64;
        let shape = match kind {
            "zipf" => {
                let theta = value.unwrap_or(1.1);
                let zetan: f64 = (1..=n.min(10_000_000)).map(|i| (1.0 / i as f64).powf(theta)).sum();
                let zeta2 = 1.0 + 0.5_f64.powf(theta);
                let eta = (1.0 - (2.0 / count).powf(1.0 - theta)) / (1.0 - zeta2 / zetan);
                SkewShape::Zipf { zetan, zeta2, alpha: 1.0 / (1.0 - theta), eta }
            }
            "pareto" => {
                let h = value.unwrap_or(0.2);
                SkewShape::Pareto { power: h.ln() / (1.0 - h).ln() }
            }
            _ => {
                let deviation = (count * value.unwrap_or(0.0) / 100.0).ceil() as u64;
                SkewShape::Normal { deviation: deviation.min(n / 2) }
            }
        };
        let off = match (&shape, center) {
            (SkewShape::Normal { .. }, center) => center.map_or(0, |center| (count * (center - 0.5)) as u64),
            (_, center) => {
                let drawn = draw.next();
                center.map_or(drawn, |center| (count * center) as u64)
            }
        };
        Skewed { shape, n, hashed, off, draw }
    }

    pub fn next(&mut self) -> u64 {
        let n = self.n;
        let unit = |draw: &mut Draw| draw.next() as f64 / 4_294_967_295.0;
        let value = match &self.shape {
            SkewShape::Zipf { zetan, zeta2, alpha, eta } => {
                let u = unit(&mut self.draw);
                let z = u * zetan;
                match z {
                    z if z < 1.0 => 0,
                    z if z < *zeta2 => 1,
                    _ => (n as f64 * (eta * u - eta + 1.0).powf(*alpha)) as u64,
                }
            }
            SkewShape::Pareto { power } => ((n - 1) as f64 * unit(&mut self.draw).powf(*power)) as u64,
            SkewShape::Normal { deviation } => {
                let sum: u64 = (0..12).map(|_| self.draw.next() % (n + 1)).sum();
                let mut value = sum.div_ceil(12) as i64;
                if *deviation > 0 {
                    let mut e = self.draw.below(*deviation) as i64 - (deviation / 2) as i64;
                    while !(0..n as i64).contains(&(e + value)) {
                        e /= 2;
                    }
                    value += e;
                }
                value as u64
            }
        };
        let spread = if self.hashed { value.wrapping_mul(0x61C8_8646_80B5_83EB) } else { value };
        spread.wrapping_add(self.off) % n
    }
}

/// Taps of the shift register by its width, from 3 on.
const TAPS: [&[u32]; 12] = [
    &[3, 2],
    &[4, 3],
    &[5, 3],
    &[6, 5],
    &[7, 6],
    &[8, 6, 5, 4],
    &[9, 5],
    &[10, 7],
    &[11, 9],
    &[12, 6, 4, 1],
    &[13, 4, 3, 1],
    &[14, 5, 3, 1],
];

/// The shift register: each block once.
#[derive(Clone)]
pub struct Shift {
    blocks: u64,
    bits: u32,
    start: u64,
    value: u64,
    left: u64,
    first: bool,
}

impl Shift {
    pub fn new(blocks: u64, seed: u64) -> Self {
        let bits = (3..).find(|bits| 1 << bits > blocks).unwrap_or(3);
        let start = seed % (1 << bits);
        assert_ne!(start, (1 << bits) - 1, "such a register never moves");
        Shift { blocks, bits, start, value: start, left: blocks, first: true }
    }

    pub fn rewind(&mut self) {
        (self.value, self.left) = (self.start, self.blocks);
    }

    pub fn next(&mut self) -> Option<u64> {
        self.left = self.left.checked_sub(1)?;
        if std::mem::take(&mut self.first) {
            self.step();
        }
        self.step();
        while self.value >= self.blocks {
            self.step();
        }
        Some(self.value)
    }

    fn step(&mut self) {
        let odd = self.value & 1 == 1;
        self.value = self.value >> 1 | 1 << (self.bits - 1);
        if !odd {
            for tap in TAPS[self.bits as usize - 3] {
                self.value ^= 1 << (tap - 1);
            }
        }
    }
}

#[test]
fn the_model_draws_the_numbers_that_are_known() {
    let first = |seed, bits| {
        let mut draw = Draw::new(seed, bits);
        [draw.next(), draw.next()]
    };
    assert_eq!(first(1, 32), [2_634_262_343, 4_072_702_554]);
    assert_eq!(first(1, 64), [11_128_779_724_671_416_100, 6_550_831_460_819_418_398]);
    assert_eq!(first(seed(6, 1, 137), 32), [4_196_289_317, 3_719_163_915]);
    assert_eq!(seed(6, 2, 137), 13_606_657_498_670_694_680);
    assert_eq!((name_hash("a.0.0"), name_hash("abcdefghijklmnop")), (0xa027_5764, 0xcb12_9c69));
}
