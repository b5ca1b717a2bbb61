//! Prefetches random numbers: they are generated a batch at a time, before they are needed.
//!
//! The main costs of a generator are loading and storing its state, and its dependency on itself. Making a batch keeps the state in
//! registers, and taking a number is one load, whatever its generator.

/// Numbers in a batch: four cache lines, made in less time than a system call takes.
pub const BATCH: usize = 32;

/// The next numbers of one sequence, in order.
#[derive(Clone, Debug)]
pub struct Prefetch {
    at: usize,
    numbers: [u64; BATCH],
}

impl Prefetch {
    /// An empty batch.
    #[must_use]
    pub fn new() -> Self {
        Prefetch { at: BATCH, numbers: [0; BATCH] }
    }

    /// The next number; `make` makes the next batch when none is left.
    #[inline(always)]
    pub fn next(&mut self, make: impl FnOnce(&mut [u64; BATCH])) -> u64 {
        if self.at >= BATCH {
            make(&mut self.numbers);
            self.at = 0;
        }
        let number = self.numbers[self.at];
        self.at += 1;
        number
    }

    /// Drops the numbers that were made and not taken, because the sequence restarts.
    pub fn forget(&mut self) {
        self.at = BATCH;
    }
}

impl Default for Prefetch {
    fn default() -> Self {
        Prefetch::new()
    }
}
