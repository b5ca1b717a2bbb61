//! The recording side of latencies, which a worker updates for every I/O; it is folded into [`Latency`] once at the end.
//!
//! Counts are in an array with the layout of the HDR histogram (bucket widths double every 128 buckets), so recording is one
//! bit scan, one shift and one increment, and folding loses nothing.

use crate::latency::{Latency, MAX_NS};

/// Buckets per doubling, as a power of two.
const SUB_BITS: u32 = 7;
/// Values below this have a bucket each.
const MIN_SHARED_BUCKET: u64 = 2 << SUB_BITS;
const BUCKETS: usize = bucket(MAX_NS) + 1;
/// Buckets of latencies below 64 µs.
const SMALL_BUCKETS: usize = bucket(1 << 16);

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
    /// An empty recorder: 58 KB of untouched zero pages.
    #[must_use]
    pub fn new() -> Self {
        Self::with_buckets(BUCKETS)
    }

    /// An empty recorder of 10 KB, which grows to 58 KB at the first latency of 64 µs or more. For jobs that have few of those, and of
    /// which there may be thousands: a recorder that grows allocates between two I/Os.
    #[must_use]
    pub fn growing() -> Self {
        Self::with_buckets(SMALL_BUCKETS)
    }

    fn with_buckets(buckets: usize) -> Self {
        let buckets = vec![0; buckets].into_boxed_slice();
        Recorder { count: 0, min: u64::MAX, max: 0, sum: 0, sum_of_squares: 0, buckets }
    }

    /// Adds one latency of `ns`.
    #[inline]
    pub fn record(&mut self, ns: u64) {
        let ns = ns.min(MAX_NS);
        self.count += 1;
        self.min = self.min.min(ns);
        self.max = self.max.max(ns);
        self.sum = self.sum.wrapping_add(ns);
        self.sum_of_squares += u128::from(ns) * u128::from(ns);
        match self.buckets.get_mut(bucket(ns)) {
            Some(count) => *count += 1,
            None => self.grow(bucket(ns)),
        }
    }

    /// Adds latencies in ns. The sums stay in registers meanwhile.
    #[inline]
    pub fn record_all(&mut self, latencies: &[u64]) {
        let Recorder { mut min, mut max, mut sum, mut sum_of_squares, .. } = *self;
        for &ns in latencies {
            let ns = ns.min(MAX_NS);
            min = min.min(ns);
            max = max.max(ns);
            sum = sum.wrapping_add(ns);
            sum_of_squares += u128::from(ns) * u128::from(ns);
            match self.buckets.get_mut(bucket(ns)) {
                Some(count) => *count += 1,
                None => self.grow(bucket(ns)),
            }
        }
        self.count += latencies.len() as u64;
        (self.min, self.max, self.sum, self.sum_of_squares) = (min, max, sum, sum_of_squares);
    }

    /// Makes room for all latencies, and counts the one that had none.
    #[cold]
    #[inline(never)]
    fn grow(&mut self, index: usize) {
        let mut buckets = vec![0; BUCKETS].into_boxed_slice();
        buckets[..self.buckets.len()].copy_from_slice(&self.buckets);
        buckets[index] += 1;
        self.buckets = buckets;
    }

    /// Sum and number of the recorded latencies, ns.
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

    /// Removes all latencies.
    pub fn clear(&mut self) {
        *self = Self::with_buckets(self.buckets.len());
    }
}

/// Index of the bucket of a value.
#[inline]
const fn bucket(ns: u64) -> usize {
    let shift = (63 - (ns | (MIN_SHARED_BUCKET - 1)).leading_zeros()) - SUB_BITS;
    ((shift as usize) << SUB_BITS) + (ns >> shift) as usize
}

/// Smallest value of a bucket.
const fn lowest(index: usize) -> u64 {
    if index < MIN_SHARED_BUCKET as usize {
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
    fn recording_many_equals_recording_one_by_one() {
        let latencies: Vec<u64> =
            (0..500).map(|i: u64| i * i * i * 977 % (1 << 21)).chain([0, u64::MAX]).collect();
        for new in [Recorder::new, Recorder::growing] {
            let (mut many, mut single) = (new(), new());
            for latencies in latencies.chunks(64) {
                many.record_all(latencies);
                latencies.iter().for_each(|&ns| single.record(ns));
                let (many, single) = (many.finish(), single.finish());
                assert_eq!(
                    (many.count(), many.min(), many.max()),
                    (single.count(), single.min(), single.max())
                );
                assert_eq!((many.mean(), many.stddev()), (single.mean(), single.stddev()));
                assert_eq!(many.fio_bins(), single.fio_bins());
            }
            assert_eq!(many.total(), single.total());
            many.record_all(&[]);
            assert_eq!(many.total(), single.total());
        }
    }

    #[test]
    fn a_growing_recorder_has_the_figures_of_a_full_one() {
        let (mut growing, mut full) = (Recorder::growing(), Recorder::new());
        for ns in [0, 300, (1 << 16) - 1, 1 << 16, 300, 5_000_000, u64::MAX] {
            growing.record(ns);
            full.record(ns);
            assert_eq!(growing.finish().fio_bins(), full.finish().fio_bins(), "after {ns}");
            assert_eq!(growing.total(), full.total());
        }
        // It never shrinks: whoever cleared it would pay for the growth again.
        growing.clear();
        assert_eq!(growing.buckets.len(), BUCKETS);
        assert_eq!(Recorder::growing().buckets.len(), SMALL_BUCKETS);
    }

    #[test]
    fn what_exceeds_the_range_is_kept_in_the_last_bucket() {
        let mut recorder = Recorder::new();
        recorder.record(u64::MAX);
        assert_eq!(recorder.finish().max(), MAX_NS);
    }

    #[test]
    fn nothing_recorded_folds_to_nothing() {
        assert_eq!(Recorder::new().finish().count(), 0);
    }
}
