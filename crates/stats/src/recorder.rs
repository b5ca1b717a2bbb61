//! The recording side of latencies: what a worker touches for every I/O, folded into [`Latency`] once at the end.
//!
//! Counts are in an array with the layout of the HDR histogram (bucket widths double every 128 buckets), so recording is one
//! bit scan, one shift and one increment, and folding loses nothing.

use crate::latency::{HIGHEST_NS, Latency};

/// Buckets per doubling, as a power of two.
const SUB_BITS: u32 = 7;
/// Values below this have a bucket each.
const EXACT: u64 = 2 << SUB_BITS;
const BUCKETS: usize = bucket(HIGHEST_NS) + 1;

/// Collects latencies of one kind.
#[derive(Clone, Debug)]
pub struct Recorder {
    count: u64,
    min: u64,
    max: u64,
    sum: u64,
    sum_of_squares: u128,
    buckets: Box<[u64]>,
}

impl Default for Recorder {
    fn default() -> Self {
        Self::new()
    }
}

impl Recorder {
    /// Nothing recorded: 58 KB of untouched zero pages.
    #[must_use]
    pub fn new() -> Self {
        let buckets = vec![0; BUCKETS].into_boxed_slice();
        Recorder { count: 0, min: u64::MAX, max: 0, sum: 0, sum_of_squares: 0, buckets }
    }

    /// Adds one latency of `ns`.
    #[inline]
    pub fn record(&mut self, ns: u64) {
        let ns = ns.min(HIGHEST_NS);
        self.count += 1;
        self.min = self.min.min(ns);
        self.max = self.max.max(ns);
        self.sum = self.sum.wrapping_add(ns);
        self.sum_of_squares += u128::from(ns) * u128::from(ns);
        self.buckets[bucket(ns)] += 1;
    }

    /// Sum of what was recorded, ns, and how many latencies that are.
    #[must_use]
    pub fn total(&self) -> (u64, u64) {
        (self.sum, self.count)
    }

    /// The figures so far.
    #[must_use]
    pub fn finish(&self) -> Latency {
        if self.count == 0 {
            return Latency::new();
        }
        let (first, last) = (bucket(self.min), bucket(self.max));
        let counts =
            self.buckets[first..=last].iter().enumerate().map(|(i, &count)| (lowest(first + i), count));
        Latency::from_parts(self.min, self.max, self.sum.into(), self.sum_of_squares, counts)
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        *self = Recorder::new();
    }
}

/// Index of the bucket of a value.
#[inline]
const fn bucket(ns: u64) -> usize {
    let shift = (63 - (ns | (EXACT - 1)).leading_zeros()) - SUB_BITS;
    ((shift as usize) << SUB_BITS) + (ns >> shift) as usize
}

/// Smallest value of a bucket.
const fn lowest(index: usize) -> u64 {
    if index < EXACT as usize {
        return index as u64;
    }
    let shift = (index >> SUB_BITS) - 1;
    ((index - (shift << SUB_BITS)) as u64) << shift
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_begins_at_its_lowest_value() {
        for index in 0..BUCKETS {
            assert_eq!(bucket(lowest(index)), index);
            if index > 0 {
                assert_eq!(bucket(lowest(index) - 1), index - 1);
            }
        }
    }

    #[test]
    fn folding_equals_recording_one_by_one() {
        let mut recorder = Recorder::new();
        let mut direct = Latency::new();
        for i in 0..50_000u64 {
            let ns = i * i * i % 10_000_000_019;
            recorder.record(ns);
            direct.record(ns);
        }
        let folded = recorder.finish();
        assert_eq!(
            (folded.count(), folded.min(), folded.max()),
            (direct.count(), direct.min(), direct.max())
        );
        assert_eq!((folded.mean(), folded.stddev()), (direct.mean(), direct.stddev()));
        assert_eq!(folded.fio_bins(), direct.fio_bins());
        for percent in [0.1, 50.0, 99.0, 99.99] {
            assert_eq!(folded.percentile(percent), direct.percentile(percent));
        }
    }

    #[test]
    fn what_exceeds_the_range_is_kept_in_the_last_bucket() {
        let mut recorder = Recorder::new();
        recorder.record(u64::MAX);
        assert_eq!(recorder.finish().max(), HIGHEST_NS);
    }

    #[test]
    fn nothing_recorded_folds_to_nothing() {
        assert_eq!(Recorder::new().finish().count(), 0);
    }
}
