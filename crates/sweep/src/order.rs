//! The order of the runs: round by round, each with every point once in random order. If the machine becomes slower during the series, all
//! points suffer alike.

use ferrio_random::Tausworthe64;

/// One run of the series.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlannedRun {
    /// Index of the point.
    pub point: usize,
    /// Number of the repetition, from 1.
    pub repetition: u32,
}

/// An endless iterator over the rounds of a series, in the order that a seed gives.
#[derive(Debug)]
pub struct Rounds {
    points: usize,
    /// Number of rounds so far.
    repetition: u32,
    random: Tausworthe64,
}

impl Rounds {
    /// Rounds of this many points.
    #[must_use]
    pub fn new(points: usize, seed: u64) -> Self {
        Rounds { points, repetition: 0, random: Tausworthe64::new(seed) }
    }
}

impl Iterator for Rounds {
    type Item = Vec<PlannedRun>;

    fn next(&mut self) -> Option<Vec<PlannedRun>> {
        self.repetition = self.repetition.checked_add(1)?;
        let repetition = self.repetition;
        let mut round: Vec<PlannedRun> =
            (0..self.points).map(|point| PlannedRun { point, repetition }).collect();
        for last in (1..round.len()).rev() {
            // The modulo bias of a 64-bit draw is negligible.
            let other = self.random.draw() % (last as u64 + 1);
            round.swap(last, usize::try_from(other).unwrap_or(last));
        }
        Some(round)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_round_has_every_point_once_in_another_order() {
        let rounds = |seed| Rounds::new(20, seed).take(3).flatten().collect::<Vec<PlannedRun>>();
        let runs = rounds(7);
        let orders: Vec<Vec<usize>> =
            runs.chunks(20).map(|round| round.iter().map(|run| run.point).collect()).collect();
        for (index, order) in orders.iter().enumerate() {
            let mut sorted = order.clone();
            sorted.sort_unstable();
            assert_eq!(sorted, (0..20).collect::<Vec<_>>());
            assert!(runs[index * 20..][..20].iter().all(|run| run.repetition as usize == index + 1));
        }
        assert!(orders[0] != orders[1] && orders[1] != orders[2]);
        assert_eq!(rounds(7), runs, "the seed decides");
        assert_ne!(rounds(8), runs);
        assert_eq!(Rounds::new(1, 0).take(2).flatten().count(), 2);
    }
}
