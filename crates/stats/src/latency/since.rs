//! The exact difference between two snapshots of a latency.

use super::Latency;

impl Latency {
    /// What was recorded since `earlier`, a copy of these statistics made before; `None` if it is no such copy, because it has
    /// samples that are not here: then the statistics were reset in between.
    ///
    /// Number, mean, deviation and percentiles are those of recording the new samples alone. So are the smallest and the largest
    /// sample where they are the smallest and the largest of all. Else they are known as exactly as the histogram knows them:
    /// `min` is the lower edge of the lowest bucket with new samples and `max` the upper edge of the highest (each within 0.8 %),
    /// kept within the smallest and the largest of all samples.
    #[must_use]
    pub fn since(&self, earlier: &Latency) -> Option<Latency> {
        if earlier.count() == 0 {
            return Some(self.clone());
        }
        let mut histogram = self.histogram.clone();
        histogram.subtract(&earlier.histogram).ok()?;
        if histogram.is_empty() {
            return Some(Latency { histogram, ..Latency::new() });
        }
        let min = if self.min < earlier.min { self.min } else { histogram.min().max(self.min) };
        let max = if self.max > earlier.max { self.max } else { histogram.max().min(self.max) };
        let sum = self.sum.wrapping_sub(earlier.sum);
        let sum_of_squares = self.sum_of_squares.checked_sub(earlier.sum_of_squares)?;
        Some(Latency { min, max, sum, sum_of_squares, histogram })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn of(samples: &[u64]) -> Latency {
        let mut latency = Latency::new();
        samples.iter().for_each(|&ns| latency.record(ns));
        latency
    }

    /// Latencies of all sizes, small ones as likely as large ones.
    fn samples() -> impl Strategy<Value = Vec<u64>> {
        prop::collection::vec((0_u32..62, any::<u64>()).prop_map(|(bits, n)| n & ((2 << bits) - 1)), 0..60)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn the_difference_of_two_looks_is_what_was_recorded_between_them(
            before in samples(), between in samples(),
        ) {
            let earlier = of(&before);
            let mut later = earlier.clone();
            between.iter().for_each(|&ns| later.record(ns));
            let (difference, alone) = (later.since(&earlier).unwrap(), of(&between));
            prop_assert_eq!(difference.count(), alone.count());
            prop_assert_eq!(difference.mean(), alone.mean());
            prop_assert_eq!(difference.stddev(), alone.stddev());
            prop_assert_eq!(difference.fio_bins(), alone.fio_bins());
            // The middle of a bucket stands for it; at the ends the edge may, so one bucket is the most that can lie between.
            for percent in [0.1, 1.0, 50.0, 90.0, 99.0, 99.99] {
                let (got, wanted) = (difference.percentile(percent), alone.percentile(percent));
                prop_assert!(got.abs_diff(wanted) * 128 <= wanted, "{}: {} for {}", percent, got, wanted);
            }
            prop_assert!(difference.min() <= alone.min() && alone.min() - difference.min() <= alone.min() / 128);
            prop_assert!(difference.max() >= alone.max() && difference.max() - alone.max() <= alone.max() / 128);
        }

        #[test]
        fn differences_add_up_to_the_whole(parts in prop::collection::vec(samples(), 1..6)) {
            let (mut whole, mut sum, mut last) = (Latency::new(), Latency::new(), Latency::new());
            for part in &parts {
                part.iter().for_each(|&ns| whole.record(ns));
                sum.merge(&whole.since(&last).unwrap());
                last = whole.clone();
            }
            prop_assert_eq!((sum.count(), sum.mean(), sum.stddev()), (whole.count(), whole.mean(), whole.stddev()));
            prop_assert_eq!((sum.min(), sum.max()), (whole.min(), whole.max()));
            prop_assert_eq!(sum.fio_bins(), whole.fio_bins());
        }
    }

    #[test]
    fn new_extremes_are_exact_and_others_are_those_of_their_bucket() {
        let earlier = of(&[100_000, 900_000]);
        let mut later = earlier.clone();
        [90_001, 950_003].into_iter().for_each(|ns| later.record(ns));
        let new = later.since(&earlier).unwrap();
        assert_eq!((new.min(), new.max()), (90_001, 950_003));
        let mut later = earlier.clone();
        [200_001, 300_001].into_iter().for_each(|ns| later.record(ns));
        let new = later.since(&earlier).unwrap();
        assert_eq!((new.min(), new.max()), (199_680, 301_055));
    }

    #[test]
    fn nothing_new_is_no_sample() {
        let latency = of(&[5, 7]);
        let nothing = latency.since(&latency).unwrap();
        assert_eq!((nothing.count(), nothing.min(), nothing.max()), (0, 0, 0));
        assert_eq!((nothing.mean(), nothing.stddev(), nothing.percentile(50.0)), (0.0, 0.0, 0));
        assert_eq!(latency.since(&Latency::new()).unwrap().count(), 2);
    }

    #[test]
    fn statistics_that_began_anew_have_no_difference() {
        let earlier = of(&[5, 7, 1000]);
        assert!(of(&[]).since(&earlier).is_none());
        assert!(of(&[5, 7]).since(&earlier).is_none());
        assert!(of(&[1, 2, 3, 4, 9000]).since(&earlier).is_none());
    }
}
