//! The seeds of written blocks, drawn again.

/// Recomputes the seed of a written block by drawing all seeds again, skipping those of writes that left no record.
///
/// So a [`WrittenBlock`](crate::WrittenBlock) need not store its seed: blocks are read back in the order in which they were written, so each seed is drawn at
/// most once.
#[derive(Clone, Copy, Debug)]
pub struct SeedReplay {
    next: u64,
}

impl SeedReplay {
    /// A replay whose first draw belongs to write `first`.
    #[must_use]
    pub fn new(first: u64) -> Self {
        SeedReplay { next: first }
    }

    /// The seed of write `number`; `None` if it was passed already. `draw` returns the seeds of the write phase again, from the first one
    /// on.
    pub fn seed_of(&mut self, number: u64, mut draw: impl FnMut() -> u64) -> Option<u64> {
        while self.next < number {
            draw();
            self.next += 1;
        }
        if self.next > number {
            return None;
        }
        self.next += 1;
        Some(draw())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The seeds of these writes, in a phase that began with write `first` and seed 101.
    fn seeds(first: u64, numbers: &[u64]) -> Vec<Option<u64>> {
        let mut drawn = 100;
        let mut replay = SeedReplay::new(first);
        let mut draw = || {
            drawn += 1;
            drawn
        };
        numbers.iter().map(|&number| replay.seed_of(number, &mut draw)).collect()
    }

    #[test]
    fn each_write_in_turn_has_the_next_seed() {
        assert_eq!(seeds(0, &[0, 1]), [Some(101), Some(102)]);
    }

    #[test]
    fn gaps_are_drawn_over_even_before_the_first_record() {
        assert_eq!(seeds(8, &[10, 12]), [Some(103), Some(105)]);
    }

    #[test]
    fn a_write_that_was_passed_has_no_seed() {
        assert_eq!(seeds(0, &[3, 3]), [Some(104), None]);
    }
}
