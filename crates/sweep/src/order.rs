//! The order of the runs: round by round, each with every point once, shuffled. A machine that becomes slower disturbs all points alike.

use ferrio_random::T258;

/// A run that is to be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlannedRun {
    /// Index of its point.
    pub point: usize,
    /// Number of the repetition, from 1.
    pub repetition: u32,
}

/// The runs of `points` points, `repetitions` times each, in the order that this seed gives.
#[must_use]
pub fn rounds(points: usize, repetitions: u32, seed: u64) -> Vec<PlannedRun> {
    let mut random = T258::new(seed);
    let round = |repetition| {
        let mut round: Vec<PlannedRun> = (0..points).map(|point| PlannedRun { point, repetition }).collect();
        for last in (1..round.len()).rev() {
            // A few points among 2^64 draws: the bias does not matter.
            let other = random.draw() % (last as u64 + 1);
            round.swap(last, usize::try_from(other).unwrap_or(last));
        }
        round
    };
    (1..=repetitions).flat_map(round).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_round_has_every_point_once_in_another_order() {
        let runs = rounds(20, 3, 7);
        let orders: Vec<Vec<usize>> =
            runs.chunks(20).map(|round| round.iter().map(|run| run.point).collect()).collect();
        for (index, order) in orders.iter().enumerate() {
            let mut sorted = order.clone();
            sorted.sort_unstable();
            assert_eq!(sorted, (0..20).collect::<Vec<_>>());
            assert!(runs[index * 20..][..20].iter().all(|run| run.repetition as usize == index + 1));
        }
        assert!(orders[0] != orders[1] && orders[1] != orders[2]);
        assert_eq!(rounds(20, 3, 7), runs, "the seed decides");
        assert_ne!(rounds(20, 3, 8), runs);
        assert_eq!(rounds(1, 2, 0).len(), 2);
    }
}
