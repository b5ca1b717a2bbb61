//! The two combined Tausworthe generators behind every random choice, and the conversions from a draw to a number.
//!
//! T88 is L'Ecuyer's "Maximally equidistributed combined Tausworthe generators" (1996), T258 its 64-bit companion (1999). The
//! conversions are done in IEEE doubles in an order that gives fio's results bit for bit.

use ferrio_plan::Generator;

/// Outputs thrown away after seeding.
const WARM_UP: usize = 6;

/// Seeding keeps each component above the smallest state that its mask would turn into zero.
const fn at_least(value: u64, minimum: u64) -> u64 {
    if value < minimum { value + minimum } else { value }
}

/// Three components of 32 bits, period 2^88.
#[derive(Clone, Debug)]
pub(crate) struct T88([u32; 3]);

impl T88 {
    /// Seeds from the low 32 bits of `seed`.
    pub(crate) fn new(seed: u64) -> Self {
        const K: u32 = 69069;
        let x = seed as u32;
        let component = |v: u32, minimum: u32| at_least(u64::from(v), u64::from(minimum)) as u32;
        let s1 = component(53u32.wrapping_mul(K) ^ x, 1);
        let s2 = component(s1.wrapping_mul(K) ^ x, 7);
        let s3 = component(s2.wrapping_mul(K) ^ x, 15);
        let mut generator = T88([s1, s2, s3]);
        for _ in 0..WARM_UP {
            generator.draw();
        }
        generator
    }

    /// Next 32-bit output.
    #[inline]
    pub(crate) fn draw(&mut self) -> u32 {
        let [s1, s2, s3] = self.0;
        let s1 = ((s1 & !1) << 12) ^ (((s1 << 13) ^ s1) >> 19);
        let s2 = ((s2 & !7) << 4) ^ (((s2 << 2) ^ s2) >> 25);
        let s3 = ((s3 & !15) << 17) ^ (((s3 << 3) ^ s3) >> 11);
        self.0 = [s1, s2, s3];
        s1 ^ s2 ^ s3
    }
}

/// Five components of 64 bits, period 2^258.
#[derive(Clone, Debug)]
pub(crate) struct T258([u64; 5]);

impl T258 {
    /// Seeds from all of `seed`.
    pub(crate) fn new(seed: u64) -> Self {
        const K: u64 = 6_906_969_069;
        let mut state = [0; 5];
        let mut previous = 53;
        for (component, minimum) in state.iter_mut().zip([1, 7, 15, 33, 49]) {
            *component = at_least(K.wrapping_mul(previous) ^ seed, minimum);
            previous = *component;
        }
        let mut generator = T258(state);
        for _ in 0..WARM_UP {
            generator.draw();
        }
        generator
    }

    /// Next 64-bit output.
    #[inline]
    pub(crate) fn draw(&mut self) -> u64 {
        let [s1, s2, s3, s4, s5] = self.0;
        let s1 = ((s1 & !0x1) << 10) ^ (((s1 << 1) ^ s1) >> 53);
        let s2 = ((s2 & !0x1ff) << 5) ^ (((s2 << 24) ^ s2) >> 50);
        let s3 = ((s3 & !0xfff) << 29) ^ (((s3 << 3) ^ s3) >> 23);
        let s4 = ((s4 & !0x1_ffff) << 23) ^ (((s4 << 5) ^ s4) >> 24);
        let s5 = ((s5 & !0x7f_ffff) << 8) ^ (((s5 << 3) ^ s5) >> 33);
        self.0 = [s1, s2, s3, s4, s5];
        s1 ^ s2 ^ s3 ^ s4 ^ s5
    }
}

/// A count prepared for [`Stream::below`]: `n / 2^w`, exact because the divisor is a power of two.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Scale(f64);

/// One random stream of a job.
#[derive(Clone, Debug)]
pub(crate) enum Stream {
    /// 32-bit outputs.
    T88(T88),
    /// 64-bit outputs.
    T258(T258),
}

impl Stream {
    /// Stream of the chosen width.
    pub(crate) fn new(generator: Generator, seed: u64) -> Self {
        match generator {
            Generator::Tausworthe32 => Stream::T88(T88::new(seed)),
            Generator::Tausworthe64 => Stream::T258(T258::new(seed)),
        }
    }

    /// Starts again from `seed`, same width.
    pub(crate) fn reseed(&mut self, seed: u64) {
        match self {
            Stream::T88(generator) => *generator = T88::new(seed),
            Stream::T258(generator) => *generator = T258::new(seed),
        }
    }

    /// Prepares `n` for many draws below it. `n * (r / 2^w)` and `(n / 2^w) * r` round alike: powers of two only shift the
    /// exponent.
    pub(crate) fn scale(&self, n: u64) -> Scale {
        match self {
            Stream::T88(_) => Scale(n as f64 / 4_294_967_296.0),
            Stream::T258(_) => Scale(n as f64 / 18_446_744_073_709_551_616.0),
        }
    }

    /// One draw below the prepared count (0 when that is 0).
    #[inline]
    pub(crate) fn below(&mut self, scale: Scale) -> u64 {
        match self {
            Stream::T88(generator) => (scale.0 * f64::from(generator.draw())) as u64,
            Stream::T258(generator) => (scale.0 * generator.draw() as f64) as u64,
        }
    }

    /// The product of two draws, which seeds buffer contents.
    #[inline]
    pub(crate) fn seed_draw(&mut self) -> u64 {
        match self {
            Stream::T88(generator) => u64::from(generator.draw()).wrapping_mul(u64::from(generator.draw())),
            Stream::T258(generator) => generator.draw().wrapping_mul(generator.draw()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_generators_give_the_published_first_outputs_for_seed_1() {
        let mut narrow = T88::new(1);
        assert_eq!([narrow.draw(), narrow.draw(), narrow.draw()], [2_634_262_343, 4_072_702_554, 2_367_269_570]);
        let mut wide = T258::new(1);
        assert_eq!([wide.draw(), wide.draw()], [11_128_779_724_671_416_100, 6_550_831_460_819_418_398]);
    }

    #[test]
    fn the_default_offset_stream_begins_as_fio_begins_it() {
        let mut offsets = T88::new(6_803_328_749_335_347_343);
        let first: Vec<u32> = (0..4).map(|_| offsets.draw()).collect();
        assert_eq!(first, [4_196_289_317, 3_719_163_915, 2_820_806_093, 2_217_523_518]);
    }

    #[test]
    fn a_prepared_scale_rounds_like_the_formula_it_replaces() {
        for generator in [Generator::Tausworthe32, Generator::Tausworthe64] {
            let mut counts = T258::new(7);
            let mut stream = Stream::new(generator, 11);
            for _ in 0..20_000 {
                let n = counts.draw() >> (counts.draw() % 63 + 1);
                let expected = match stream.clone() {
                    Stream::T88(mut g) => (n as f64 * (f64::from(g.draw()) / 2f64.powi(32))) as u64,
                    Stream::T258(mut g) => (n as f64 * (g.draw() as f64 / 2f64.powi(64))) as u64,
                };
                let scale = stream.scale(n);
                assert_eq!(stream.below(scale), expected, "n={n}");
            }
        }
    }
}
