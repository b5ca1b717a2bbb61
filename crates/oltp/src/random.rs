//! sysbench's random numbers: the distributions of `--rand-type`, and random texts. A thread's numbers are those of sysbench 1.0.20 for the
//! same seed, draw by draw.

use ferrio_random::Xoroshiro;

use crate::zipfian::Zipfian;

/// A distribution (`--rand-type`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Distribution {
    /// `uniform`
    Uniform,
    /// `gaussian`: the mean of uniform numbers.
    Gaussian,
    /// `special`: most of them in a small part around the middle.
    Special,
    /// `pareto`: small numbers most.
    Pareto,
    /// `zipfian`: small numbers most, by rank.
    Zipfian,
}

/// `--rand-…`
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RandomOptions {
    /// `--rand-type`
    pub distribution: Distribution,
    /// `--rand-spec-iter`: uniform numbers of a mean.
    pub iterations: u32,
    /// `--rand-spec-pct`: the part around the middle, percent of the range.
    pub special_percent: u32,
    /// `--rand-spec-res`: percentage of numbers in that part.
    pub special_share: u32,
    /// `--rand-pareto-h`
    pub pareto_h: f64,
    /// `--rand-zipfian-exp`
    pub zipfian_exponent: f64,
    /// What all threads are seeded by.
    pub seed: u32,
}

impl Default for RandomOptions {
    fn default() -> Self {
        RandomOptions {
            distribution: Distribution::Special,
            iterations: 12,
            special_percent: 1,
            special_share: 75,
            pareto_h: 0.2,
            zipfian_exponent: 0.8,
            seed: 1,
        }
    }
}

/// The random numbers of a thread.
#[derive(Clone, Debug)]
pub struct RandomNumbers {
    stream: Xoroshiro,
    options: RandomOptions,
    pareto_power: f64,
    /// Of the last range.
    zipfian: Zipfian,
}

impl RandomNumbers {
    /// Those of a thread, which counts from 0.
    #[must_use]
    pub fn new(options: &RandomOptions, thread: u32) -> Self {
        RandomNumbers {
            stream: Xoroshiro::of_thread(options.seed, thread),
            options: *options,
            pareto_power: options.pareto_h.ln() / (1.0 - options.pareto_h).ln(),
            zipfian: Zipfian::new(1, options.zipfian_exponent),
        }
    }

    /// The draw that sysbench makes after each event when it counts latencies in its histogram (`--percentile` is not 0).
    pub fn skip(&mut self) {
        self.stream.next();
    }

    /// A number of 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.stream.next()
    }

    /// A number in 0..1.
    pub fn uniform_double(&mut self) -> f64 {
        self.stream.uniform()
    }

    /// A number from `first` to `last` by `--rand-type`.
    #[inline]
    pub fn default(&mut self, first: i64, last: i64) -> i64 {
        match self.options.distribution {
            Distribution::Uniform => self.uniform(first, last),
            Distribution::Gaussian => self.gaussian(first, last),
            Distribution::Special => self.special(first, last),
            Distribution::Pareto => self.pareto(first, last),
            Distribution::Zipfian => self.zipfian(first, last),
        }
    }

    /// A number from `first` to `last`, all equally often.
    #[inline]
    pub fn uniform(&mut self, first: i64, last: i64) -> i64 {
        scaled(first, self.stream.uniform() * size(first, last))
    }

    /// A number around the middle.
    pub fn gaussian(&mut self, first: i64, last: i64) -> i64 {
        scaled(first, size(first, last) * self.mean())
    }

    /// A number in a small part around the middle most times, and a Gaussian one otherwise.
    #[inline]
    pub fn special(&mut self, first: i64, last: i64) -> i64 {
        let uniform = self.stream.uniform();
        // One less than the numbers there are.
        let width = size(first, last) - 1.0;
        if uniform < 1.0 - f64::from(self.options.special_share) / 100.0 {
            return scaled(first, width * self.mean());
        }
        let part = f64::from(self.options.special_percent);
        scaled(first, width * (0.5 - part / 200.0) + uniform * (width * part / 100.0 + 1.0))
    }

    /// A small number most times.
    pub fn pareto(&mut self, first: i64, last: i64) -> i64 {
        scaled(first, size(first, last) * self.stream.uniform().powf(self.pareto_power))
    }

    /// A number whose share falls with its rank.
    pub fn zipfian(&mut self, first: i64, last: i64) -> i64 {
        let ranks = size(first, last).max(1.0) as u64;
        if !self.zipfian.is_over(ranks) {
            self.zipfian = Zipfian::new(ranks, self.options.zipfian_exponent);
        }
        let rank = self.zipfian.draw(|| self.stream.uniform());
        first.wrapping_add_unsigned(rank - 1)
    }

    /// Adds a text like `format` in which each `#` is a digit and each `@` a small letter.
    #[inline]
    pub fn string(&mut self, format: &[u8], text: &mut Vec<u8>) {
        let stream = &mut self.stream;
        text.extend(format.iter().map(|&byte| match byte {
            b'#' => b'0' + (stream.uniform() * 10.0) as u8,
            b'@' => b'a' + (stream.uniform() * 26.0) as u8,
            other => other,
        }));
    }

    /// Adds from `shortest` to `longest` small letters.
    pub fn varstring(&mut self, shortest: usize, longest: usize, text: &mut Vec<u8>) {
        let length = self.uniform(shortest as i64, longest as i64);
        for _ in 0..length {
            self.string(b"@", text);
        }
    }

    /// The mean of some uniform numbers.
    fn mean(&mut self) -> f64 {
        let count = self.options.iterations.max(1);
        let sum: f64 = (0..count).map(|_| self.stream.uniform()).sum();
        sum / f64::from(count)
    }
}

/// How many numbers there are from `first` to `last`.
fn size(first: i64, last: i64) -> f64 {
    last.wrapping_sub(first) as f64 + 1.0
}

fn scaled(first: i64, offset: f64) -> i64 {
    (first as f64 + offset) as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(draw: fn(&mut RandomNumbers, i64, i64) -> i64) -> Vec<i64> {
        let mut random = RandomNumbers::new(&RandomOptions { seed: 5, ..RandomOptions::default() }, 0);
        let mut two_events = Vec::new();
        for _ in 0..2 {
            two_events.extend((0..6).map(|_| draw(&mut random, 1, 10000)));
            random.skip();
        }
        two_events
    }

    /// Two events of `--rand-seed=5` with six numbers each, as sysbench 1.0.20 draws them.
    #[test]
    fn numbers_are_those_of_sysbench() {
        assert_eq!(
            numbers(RandomNumbers::uniform),
            [6338, 6261, 4208, 7856, 4943, 4889, 3736, 5919, 4645, 5354, 95, 4244]
        );
        assert_eq!(
            numbers(RandomNumbers::gaussian),
            [5036, 4070, 4056, 6522, 5804, 4744, 4930, 4904, 5683, 5317, 5012, 5930]
        );
        assert_eq!(
            numbers(RandomNumbers::default),
            [5014, 5013, 4993, 5029, 5000, 4999, 4988, 5010, 4997, 5004, 4070, 4790]
        );
        assert_eq!(numbers(RandomNumbers::pareto), [373, 342, 20, 1755, 63, 58, 9, 228, 40, 111, 1, 21]);
    }

    #[test]
    fn texts_are_those_of_sysbench() {
        let mut random = RandomNumbers::new(&RandomOptions { seed: 5, ..RandomOptions::default() }, 0);
        let mut text = Vec::new();
        random.string(b"###@@@#x@-", &mut text);
        assert_eq!(random.uniform_double(), 0.591_862_887_594_885_9);
        random.string(b"###@@@#x@-", &mut text);
        assert_eq!(String::from_utf8(text).unwrap(), "664umm6xj-450lgd3xo-");
        let mut text = Vec::new();
        random.varstring(3, 5, &mut text);
        assert!((3..=5).contains(&text.len()) && text.iter().all(u8::is_ascii_lowercase), "{text:?}");
    }

    #[test]
    fn ranges_are_kept_and_threads_differ() {
        let mut random = [0, 1].map(|thread| RandomNumbers::new(&RandomOptions::default(), thread));
        assert_ne!(random[0].uniform_double(), random[1].uniform_double());
        for draw in [
            RandomNumbers::uniform,
            RandomNumbers::gaussian,
            RandomNumbers::special,
            RandomNumbers::pareto,
            RandomNumbers::zipfian,
        ] {
            for (first, last) in [(7, 7), (0, 1), (-3, 3), (1, 4_294_967_295)] {
                for _ in 0..200 {
                    assert!((first..=last).contains(&draw(&mut random[0], first, last)));
                }
            }
        }
    }
}
