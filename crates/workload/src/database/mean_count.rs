//! Whole numbers, one for each transaction, whose mean is a given number: with 2.5 they are 2 and 3 in turn.

/// The numbers of one session.
#[derive(Debug)]
pub(super) struct MeanCount {
    mean: f64,
    /// What the numbers so far have left of their mean, from 0 to 1.
    rest: f64,
}

impl MeanCount {
    /// The numbers of session number `thread`. Each session begins with a rest of its own, so that not all have the larger number at once.
    pub(super) fn new(mean: f64, thread: u32, sessions: u32) -> Self {
        MeanCount { mean, rest: ((f64::from(thread) + 0.5) / f64::from(sessions.max(1))).fract() }
    }

    /// The next number.
    pub(super) fn next(&mut self) -> u32 {
        self.rest += self.mean;
        let whole = self.rest.floor();
        self.rest -= whole;
        whole as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_as_near_to_their_mean_as_whole_numbers_can_be() {
        for (mean, some) in [(9.0, [9; 4]), (0.0, [0; 4]), (2.5, [3, 2, 3, 2]), (0.25, [0, 1, 0, 0])] {
            let mut numbers = MeanCount::new(mean, 0, 1);
            assert_eq!([(); 4].map(|()| numbers.next()), some, "{mean}");
            let sum: u32 = (0..1000).map(|_| numbers.next()).sum();
            assert!((f64::from(sum) - 1000.0 * mean).abs() <= 1.0, "{sum} of 1000 with {mean}");
        }
        let firsts: u32 = (0..8).map(|thread| MeanCount::new(0.25, thread, 8).next()).sum();
        assert_eq!(firsts, 2, "sessions begin apart");
        assert!(
            (0..1_000_000).step_by(9999).all(|n| MeanCount::new(100_000.0, n, 1_000_000).next() == 100_000)
        );
    }
}
