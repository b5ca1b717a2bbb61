//! Counts of latencies in the buckets of an HDR histogram with 2 significant digits.
//!
//! Every value below [`EXACT`] ns has a bucket of its own; from there on 128 buckets divide each doubling, so a bucket is narrower than
//! 0.8 % of its values. The layout is that of the crate hdrhistogram, which the tests compare with. Only the range of buckets that is in
//! use takes memory: most latencies of a job lie in a few doublings, and a run may have thousands of jobs.

/// Buckets per doubling, as a power of two.
const SUB_BITS: u32 = 7;
/// Values below this have a bucket each.
const EXACT: u64 = 2 << SUB_BITS;
/// Largest value with a bucket of its own: 2^62 ns, 146 years.
pub(crate) const HIGHEST_NS: u64 = 1 << 62;
/// Buckets of all values up to [`HIGHEST_NS`].
pub(crate) const BUCKETS: usize = bucket(HIGHEST_NS) + 1;

/// Counts grow by this many buckets at least.
const BLOCK: usize = 64;

/// Index of the bucket of a value, which is [`HIGHEST_NS`] at most.
#[inline]
pub(crate) const fn bucket(ns: u64) -> usize {
    let shift = (63 - (ns | (EXACT - 1)).leading_zeros()) - SUB_BITS;
    ((shift as usize) << SUB_BITS) + (ns >> shift) as usize
}

/// Smallest value of a bucket.
pub(crate) const fn lowest(index: usize) -> u64 {
    if index < EXACT as usize {
        return index as u64;
    }
    let shift = (index >> SUB_BITS) - 1;
    ((index - (shift << SUB_BITS)) as u64) << shift
}

/// Largest value of a bucket.
pub(crate) const fn highest(index: usize) -> u64 {
    lowest(index + 1) - 1
}

/// The value in the middle of a bucket.
pub(crate) const fn middle(index: usize) -> u64 {
    lowest(index) + (lowest(index + 1) - lowest(index)) / 2
}

/// How many values were in which bucket.
#[derive(Clone, Debug, Default)]
pub(crate) struct Counts {
    /// Bucket of the first count.
    first: usize,
    counts: Vec<u64>,
    total: u64,
}

impl Counts {
    /// The counts of neighbouring buckets, of which `first` is the first.
    pub(crate) fn of(first: usize, counts: &[u64]) -> Self {
        Counts { first, counts: counts.to_vec(), total: counts.iter().sum() }
    }

    /// Number of values.
    pub(crate) fn len(&self) -> u64 {
        self.total
    }

    /// Number of values in this bucket and all above.
    pub(crate) fn from(&self, bucket: usize) -> u64 {
        let above = bucket.saturating_sub(self.first).min(self.counts.len());
        self.counts[above..].iter().sum()
    }

    /// Counts one value.
    pub(crate) fn add(&mut self, bucket: usize) {
        self.cover(bucket, bucket);
        let count = &mut self.counts[bucket - self.first];
        *count = count.saturating_add(1);
        self.total = self.total.saturating_add(1);
    }

    /// Adds the counts of `other`.
    pub(crate) fn merge(&mut self, other: &Counts) {
        if other.counts.is_empty() {
            return;
        }
        self.cover(other.first, other.first + other.counts.len() - 1);
        let shared = &mut self.counts[other.first - self.first..];
        shared.iter_mut().zip(&other.counts).for_each(|(mine, count)| *mine = mine.saturating_add(*count));
        self.total = self.total.saturating_add(other.total);
    }

    /// What is left without the counts of `other`; `None` if it has counts that are not here.
    pub(crate) fn without(&self, other: &Counts) -> Option<Counts> {
        let mut rest = self.clone();
        for (bucket, count) in other.nonempty() {
            let mine = rest.counts.get_mut(bucket.checked_sub(rest.first)?)?;
            *mine = mine.checked_sub(count)?;
        }
        rest.total = self.total.checked_sub(other.total)?;
        Some(rest)
    }

    /// Buckets with values and how many these are, ascending.
    pub(crate) fn nonempty(&self) -> impl DoubleEndedIterator<Item = (usize, u64)> {
        let buckets = self.first..self.first + self.counts.len();
        buckets.zip(self.counts.iter().copied()).filter(|&(_, count)| count > 0)
    }

    /// Makes room for the buckets `from..=to`.
    fn cover(&mut self, from: usize, to: usize) {
        let (from, end) = (from / BLOCK * BLOCK, (to / BLOCK + 1) * BLOCK);
        if self.counts.is_empty() {
            self.first = from;
        }
        if from < self.first {
            self.counts.splice(0..0, std::iter::repeat_n(0, self.first - from));
            self.first = from;
        }
        if end > self.first + self.counts.len() {
            self.counts.resize(end - self.first, 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use hdrhistogram::Histogram;
    use proptest::prelude::*;

    use super::*;

    fn of(samples: &[u64]) -> Counts {
        let mut counts = Counts::default();
        samples.iter().for_each(|&ns| counts.add(bucket(ns)));
        counts
    }

    fn nonempty(counts: &Counts) -> Vec<(usize, u64)> {
        counts.nonempty().collect()
    }

    /// Latencies of all sizes, small ones as likely as large ones.
    fn samples() -> impl Strategy<Value = Vec<u64>> {
        prop::collection::vec((0_u32..62, any::<u64>()).prop_map(|(bits, n)| n & ((2 << bits) - 1)), 0..60)
    }

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
    fn buckets_are_those_of_an_hdr_histogram_with_two_digits() {
        let histogram = Histogram::<u64>::new_with_bounds(1, HIGHEST_NS, 2).unwrap();
        for index in 0..BUCKETS - 1 {
            let low = lowest(index);
            assert_eq!(histogram.next_non_equivalent(low), lowest(index + 1));
            assert_eq!(histogram.highest_equivalent(low), highest(index));
            assert_eq!(histogram.median_equivalent(low), middle(index));
        }
    }

    #[test]
    fn memory_is_taken_for_the_range_in_use() {
        let mut counts = of(&[1_000_000]);
        assert_eq!(counts.counts.len(), BLOCK);
        counts.add(bucket(1_010_000));
        assert_eq!(counts.counts.len(), BLOCK);
        counts.add(bucket(100));
        assert_eq!(nonempty(&counts).len(), 3);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn counts_are_those_of_an_hdr_histogram(samples in samples()) {
            let mut histogram = Histogram::<u64>::new_with_bounds(1, HIGHEST_NS, 2).unwrap();
            samples.iter().for_each(|&ns| histogram.saturating_record(ns));
            let want: Vec<(u64, u64)> =
                histogram.iter_recorded().map(|b| (b.value_iterated_to(), b.count_at_value())).collect();
            for from in [0, 1 << 7, 1 << 8, 1 << 20, HIGHEST_NS] {
                prop_assert_eq!(of(&samples).from(bucket(from)), histogram.count_between(from, HIGHEST_NS));
            }
            let got: Vec<(u64, u64)> = of(&samples).nonempty().map(|(b, count)| (highest(b), count)).collect();
            prop_assert_eq!(got, want);
        }

        #[test]
        fn what_was_added_can_be_taken_away_again(one in samples(), other in samples()) {
            let mut both = of(&one);
            both.merge(&of(&other));
            prop_assert_eq!(both.len(), (one.len() + other.len()) as u64);
            let rest = both.without(&of(&other)).unwrap();
            prop_assert_eq!(rest.len(), one.len() as u64);
            prop_assert_eq!(nonempty(&rest), nonempty(&of(&one)));
        }
    }

    #[test]
    fn counts_that_are_not_there_cannot_be_taken_away() {
        let counts = of(&[5, 7, 1000]);
        for missing in [&[6][..], &[5, 5], &[1], &[1 << 40], &[5, 7, 1000, 1000]] {
            assert!(counts.without(&of(missing)).is_none(), "{missing:?}");
        }
    }
}
