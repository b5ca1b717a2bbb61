//! Finds the seed of a written block again by drawing all seeds once more.
//!
//! That is why a [`Written`](crate::Written) need not remember its seed: blocks are read back in the order in which they were
//! written, so each seed is drawn at most once.

/// Draws seeds in order and skips those of writes that left no record.
#[derive(Clone, Debug)]
pub struct SeedReplay<F> {
    draw: F,
    next: u64,
}

impl<F: FnMut() -> u64> SeedReplay<F> {
    /// A replay whose first draw belongs to write `first`. `draw` must stand where the seeds of the write phase began.
    pub fn new(first: u64, draw: F) -> Self {
        SeedReplay { draw, next: first }
    }

    /// The seed of write `number`; `None` when it was passed already.
    pub fn seed_of(&mut self, number: u64) -> Option<u64> {
        while self.next < number {
            (self.draw)();
            self.next += 1;
        }
        if self.next > number {
            return None;
        }
        self.next += 1;
        Some((self.draw)())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counting(first: u64) -> SeedReplay<impl FnMut() -> u64> {
        let mut seed = 100;
        SeedReplay::new(first, move || {
            seed += 1;
            seed
        })
    }

    #[test]
    fn each_write_in_turn_has_the_next_seed() {
        let mut replay = counting(0);
        assert_eq!([replay.seed_of(0), replay.seed_of(1)], [Some(101), Some(102)]);
    }

    #[test]
    fn gaps_are_drawn_over_even_before_the_first_record() {
        let mut replay = counting(8);
        assert_eq!([replay.seed_of(10), replay.seed_of(12)], [Some(103), Some(105)]);
    }

    #[test]
    fn a_write_that_was_passed_has_no_seed() {
        let mut replay = counting(0);
        replay.seed_of(3);
        assert_eq!(replay.seed_of(3), None);
    }
}
