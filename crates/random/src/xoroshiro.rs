//! The random numbers of sysbench's threads: xoroshiro128+, seeded by the numbers of the C library's `random()`.

/// Words of the state of `random()`, and its shorter lag.
const WORDS: usize = 31;
const LAG: usize = 3;
/// Numbers that `srandom()` discards.
const DISCARDED: usize = 310;
/// Numbers that seed one thread.
const PER_THREAD: usize = 4;

/// The generator of `random()` in the GNU C library after `srandom(seed)`: an additive generator over 31 words, filled by a multiplicative
/// one.
struct CLibrary {
    words: [u32; WORDS],
    at: usize,
}

impl CLibrary {
    fn new(seed: u32) -> Self {
        let mut words = [0; WORDS];
        words[0] = seed.max(1);
        for at in 1..WORDS {
            let product = 16807 * i64::from(words[at - 1].cast_signed());
            words[at] = (product % 2_147_483_647).rem_euclid(2_147_483_647) as u32;
        }
        let mut generator = CLibrary { words, at: LAG };
        (0..DISCARDED).for_each(|_| {
            generator.next();
        });
        generator
    }

    fn next(&mut self) -> u32 {
        let before = self.words[(self.at + WORDS - LAG) % WORDS];
        let word = &mut self.words[self.at];
        *word = word.wrapping_add(before);
        self.at = (self.at + 1) % WORDS;
        *word >> 1
    }
}

/// xoroshiro128+ with the constants 55, 14 and 36.
#[derive(Clone, Debug)]
pub struct Xoroshiro([u64; 2]);

impl Xoroshiro {
    /// The generator of a thread: threads take their seeds one after the other.
    #[must_use]
    pub fn of_thread(seed: u32, thread: u32) -> Self {
        let mut library = CLibrary::new(seed);
        (0..thread as usize * PER_THREAD).for_each(|_| {
            library.next();
        });
        let mut word = || u64::from(library.next()) << 32 | u64::from(library.next());
        Xoroshiro([word(), word()])
    }

    /// The next 64 bits.
    #[inline]
    #[allow(clippy::should_implement_trait)]
    pub fn next(&mut self) -> u64 {
        let [first, second] = self.0;
        let mixed = first ^ second;
        self.0 = [first.rotate_left(55) ^ mixed ^ mixed << 14, mixed.rotate_left(36)];
        first.wrapping_add(second)
    }

    /// A number in 0..1 with 52 bits.
    #[inline]
    pub fn uniform(&mut self) -> f64 {
        (self.next() >> 12) as f64 / (1_u64 << 52) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_c_library_begins_with_the_numbers_that_every_program_sees() {
        // `srandom(1)`, and its first numbers on any machine with the GNU C library.
        let mut library = CLibrary::new(1);
        assert_eq!([(); 3].map(|()| library.next()), [1_804_289_383, 846_930_886, 1_681_692_777]);
    }

    #[test]
    fn threads_take_different_seeds_of_one_sequence() {
        let [mut first, mut second] = [0, 1].map(|thread| Xoroshiro::of_thread(5, thread));
        assert_ne!(first.next(), second.next());
        let mut library = CLibrary::new(5);
        (0..4).for_each(|_| {
            library.next();
        });
        let high = u64::from(library.next()) << 32;
        assert_eq!(Xoroshiro::of_thread(5, 1).0[0] & !0 << 32, high);
    }
}
