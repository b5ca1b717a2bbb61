//! Latencies of one kind (slat, clat, lat, sync) and direction: exact sums and an HDR histogram, in ns.
//!
//! The histogram keeps 2 significant digits (buckets narrower than 0.8 % of their value) and grows with the largest latency, so
//! nothing clips and a run of thousands of jobs stays small. Mean and deviation come from exact integer sums, never from the histogram,
//! so those of merged latencies are those of all samples together, whatever the order. Quantiles are read in `quantile.rs`.
//!
//! Sums have room: one recorder counts 2^64 ns in all (584 years of latency: 52 days with 4096 I/Os in flight), merged ones
//! 2^128 ns, and squares of hour-long latencies add up 10^13 times.

use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Largest value that is kept unchanged: 2^62 ns, 146 years.
pub(crate) const MAX_NS: u64 = 1 << 62;
const SIGNIFICANT_DIGITS: u8 = 2;

/// Running statistics of one latency.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(into = "LatencyParts", try_from = "LatencyParts")]
pub struct Latency {
    min: u64,
    max: u64,
    sum: u128,
    sum_of_squares: u128,
    /// `None` without samples.
    histogram: Option<Box<Histogram<u64>>>,
}

impl Default for Latency {
    fn default() -> Self {
        Self::new()
    }
}

impl Latency {
    /// Empty statistics.
    #[must_use]
    pub fn new() -> Self {
        Latency { min: u64::MAX, max: 0, sum: 0, sum_of_squares: 0, histogram: None }
    }

    /// Statistics from exact sums and (value, count) pairs, one value per bucket of the histogram.
    pub(crate) fn from_parts(
        min: u64,
        max: u64,
        sum: u128,
        sum_of_squares: u128,
        counts: impl Iterator<Item = (u64, u64)>,
    ) -> Self {
        let mut histogram = histogram_up_to(max);
        for (value, count) in counts.filter(|&(_, count)| count > 0) {
            histogram.saturating_record_n(value, count);
        }
        Latency { min, max, sum, sum_of_squares, histogram: Some(histogram) }
    }

    /// Adds one latency of `ns`. Workers record many: see [`crate::Recorder`].
    pub fn record(&mut self, ns: u64) {
        self.record_n(ns, 1);
    }

    /// Adds `count` latencies of `ns`, as one bucket of another histogram.
    pub fn record_n(&mut self, ns: u64, count: u64) {
        if count == 0 {
            return;
        }
        self.min = self.min.min(ns);
        self.max = self.max.max(ns);
        let sum = u128::from(ns) * u128::from(count);
        self.sum = self.sum.saturating_add(sum);
        self.sum_of_squares = self.sum_of_squares.saturating_add(sum.saturating_mul(u128::from(ns)));
        let ns = ns.min(MAX_NS);
        let recorded = self.histogram.get_or_insert_with(|| histogram_up_to(ns)).record_n(ns, count);
        debug_assert!(recorded.is_ok(), "histograms grow with their values");
    }

    /// The buckets, unless there are no samples.
    pub(crate) fn histogram(&self) -> Option<&Histogram<u64>> {
        self.histogram.as_deref()
    }

    /// Number of samples.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.histogram().map_or(0, Histogram::len)
    }

    /// Number of samples above `ns`, exact to the width of a bucket.
    #[must_use]
    pub fn count_above(&self, ns: u64) -> u64 {
        match self.histogram() {
            Some(histogram) if self.max > ns => histogram.count_between(ns.saturating_add(1), MAX_NS),
            _ => 0,
        }
    }

    /// Smallest sample in ns, 0 without samples.
    #[must_use]
    pub fn min(&self) -> u64 {
        if self.count() == 0 { 0 } else { self.min }
    }

    /// Largest sample in ns, 0 without samples.
    #[must_use]
    pub fn max(&self) -> u64 {
        self.max
    }

    /// Sum of all samples, ns.
    #[must_use]
    pub fn sum(&self) -> u128 {
        self.sum
    }

    /// Mean in ns, 0 without samples.
    #[must_use]
    pub fn mean(&self) -> f64 {
        if self.count() == 0 { 0.0 } else { self.sum as f64 / self.count() as f64 }
    }

    /// Sample standard deviation in ns (divisor n - 1), 0 with fewer than two samples.
    #[must_use]
    pub fn stddev(&self) -> f64 {
        let n = u128::from(self.count());
        if n < 2 {
            return 0.0;
        }
        // With the whole part q of the mean and the rest r = Σx - nq, Σ(x - mean)² is Σx² - nq² - 2qr, exact in integers, less r²/n, which
        // is below n.
        let (whole, rest) = (self.sum / n, self.sum % n);
        let about_whole = self
            .sum_of_squares
            .saturating_sub((whole * whole).saturating_mul(n))
            .saturating_sub(2 * whole * rest);
        let spread = match about_whole.checked_mul(n) {
            Some(scaled) => scaled.saturating_sub(rest * rest) as f64 / n as f64,
            None => about_whole as f64 - (rest * rest) as f64 / n as f64,
        };
        (spread / (n - 1) as f64).sqrt()
    }

    /// Adds all samples of `other`.
    pub fn merge(&mut self, other: &Latency) {
        if other.count() == 0 {
            return;
        }
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
        self.sum = self.sum.saturating_add(other.sum);
        self.sum_of_squares = self.sum_of_squares.saturating_add(other.sum_of_squares);
        if let Some(theirs) = other.histogram() {
            let added = self.histogram.get_or_insert_with(|| histogram_up_to(other.max)).add(theirs);
            debug_assert!(added.is_ok(), "histograms grow with their values");
        }
    }

    /// The samples since `earlier`, an earlier copy of these statistics; `None` if it has samples that are not here, because the statistics
    /// were reset in between.
    ///
    /// Number, mean, deviation and percentiles are those of the new samples alone. So are the smallest and the largest sample where they
    /// are the smallest and the largest of all. Otherwise they are as exact as the histogram: `min` is the lower edge of the lowest bucket
    /// with new samples and `max` the upper edge of the highest (each within 0.8 %), limited to the smallest and the largest of all
    /// samples.
    #[must_use]
    pub fn since(&self, earlier: &Latency) -> Option<Latency> {
        if earlier.count() == 0 {
            return Some(self.clone());
        }
        let mut histogram = self.histogram.clone()?;
        histogram.subtract(earlier.histogram()?).ok()?;
        if histogram.is_empty() {
            return Some(Latency::new());
        }
        let min = if self.min < earlier.min { self.min } else { histogram.min().max(self.min) };
        let max = if self.max > earlier.max { self.max } else { histogram.max().min(self.max) };
        let sum = self.sum.wrapping_sub(earlier.sum);
        let sum_of_squares = self.sum_of_squares.checked_sub(earlier.sum_of_squares)?;
        Some(Latency { min, max, sum, sum_of_squares, histogram: Some(histogram) })
    }

    /// Like [`since`](Self::since), without mean, deviation and a histogram of its own, for consumers that read thousands of jobs every second.
    #[must_use]
    pub fn new_samples(&self, earlier: &Latency) -> Option<NewSamples> {
        let expected = self.count().checked_sub(earlier.count())?;
        let is_unchanged =
            expected == 0 && (self.sum, self.sum_of_squares) == (earlier.sum, earlier.sum_of_squares);
        let Some(histogram) = self.histogram().filter(|_| !is_unchanged) else {
            return Some(NewSamples::default());
        };
        // The earlier histogram may have no buckets beyond its highest value.
        let before = earlier.histogram().map(|before| (before, before.max()));
        let count_before = |ns| match before {
            Some((before, highest)) if ns <= highest => before.count_at(ns),
            _ => 0,
        };
        let (mut bins, mut found) = (Vec::new(), 0);
        let mut last = None;
        for bucket in histogram.iter_recorded() {
            let highest = bucket.value_iterated_to();
            let count = bucket.count_at_value().checked_sub(count_before(highest))?;
            if count > 0 {
                found += count;
                bins.push((histogram.median_equivalent(highest), count));
                last = Some(highest);
            }
        }
        // Fewer samples mean that earlier ones are in buckets that are empty now.
        let last = last.filter(|_| found == expected)?;
        let max = if self.max > earlier.max { self.max } else { last.min(self.max) };
        Some(NewSamples { max, bins })
    }
}

/// The samples between two readings of a [`Latency`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NewSamples {
    /// Largest sample, ns, as exact as that of [`Latency::since`]; 0 without samples.
    pub max: u64,
    /// Nonempty buckets as (middle in ns, count), ascending.
    pub bins: Vec<(u64, u64)>,
}

/// An empty histogram with room for values up to `highest` ns, which grows for larger ones.
fn histogram_up_to(highest: u64) -> Box<Histogram<u64>> {
    // The limits are those that hdrhistogram accepts; a change that breaks them fails every test of this module.
    #[expect(clippy::expect_used, reason = "valid for every argument")]
    let mut histogram = Histogram::new_with_max(highest.clamp(2, MAX_NS), SIGNIFICANT_DIGITS)
        .expect("valid bounds of a histogram");
    histogram.auto(true);
    Box::new(histogram)
}

/// A latency as another program may read it. Sums are decimal numbers in text, because few readers of JSON have integers of 128 bits.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct LatencyParts {
    /// The shortest, ns.
    pub min: u64,
    /// The longest, ns.
    pub max: u64,
    /// In ns.
    pub sum: String,
    /// In ns².
    pub sum_of_squares: String,
    /// Largest value in ns and count of each bucket that is not empty, ascending.
    pub counts: Vec<(u64, u64)>,
}

impl From<Latency> for LatencyParts {
    fn from(latency: Latency) -> LatencyParts {
        let buckets = latency.histogram().into_iter().flat_map(Histogram::iter_recorded);
        LatencyParts {
            min: latency.min,
            max: latency.max,
            sum: latency.sum.to_string(),
            sum_of_squares: latency.sum_of_squares.to_string(),
            counts: buckets.map(|bucket| (bucket.value_iterated_to(), bucket.count_at_value())).collect(),
        }
    }
}

/// Why a document holds no latency.
#[derive(Debug, Error)]
#[error("`{0}` of a latency is impossible")]
pub struct ImpossibleLatency(&'static str);

impl TryFrom<LatencyParts> for Latency {
    type Error = ImpossibleLatency;

    fn try_from(parts: LatencyParts) -> Result<Latency, ImpossibleLatency> {
        let LatencyParts { min, max, sum, sum_of_squares, counts } = parts;
        let sum = sum.parse().map_err(|_| ImpossibleLatency("sum"))?;
        let sum_of_squares = sum_of_squares.parse().map_err(|_| ImpossibleLatency("sum_of_squares"))?;
        let Some(&(highest, _)) = counts.last() else { return Ok(Latency::new()) };
        if min > max {
            return Err(ImpossibleLatency("min"));
        }
        if counts.iter().any(|&(value, count)| value > highest || count == 0) || highest > 2 * MAX_NS {
            return Err(ImpossibleLatency("counts"));
        }
        let samples = counts.iter().try_fold(0_u64, |all, &(_, count)| all.checked_add(count));
        // Sums that no samples can have would overflow where the deviation is computed.
        let most = u128::from(max) * u128::from(samples.ok_or(ImpossibleLatency("counts"))?);
        if sum > most || max > 2 * MAX_NS {
            return Err(ImpossibleLatency("sum"));
        }
        let counts = counts.into_iter().map(|(value, count)| (value.min(MAX_NS), count));
        Ok(Latency::from_parts(min, max, sum, sum_of_squares, counts))
    }
}

const FIO_BUCKET_BITS: u32 = 6;
/// Buckets of fio's histogram: 29 groups of 64.
pub const FIO_BUCKETS: usize = 29 * 64;

/// Index of a value of `ns` in fio's histogram, below [`FIO_BUCKETS`]; values of 2^34 ns and more share the last bucket.
#[must_use]
pub fn fio_bucket(ns: u64) -> usize {
    let top = 63 - (ns | 1).leading_zeros();
    if top <= FIO_BUCKET_BITS {
        return ns as usize;
    }
    let shift = top - FIO_BUCKET_BITS;
    (((shift as usize + 1) << FIO_BUCKET_BITS) + ((ns >> shift) & 63) as usize).min(FIO_BUCKETS - 1)
}

/// The value in ns that represents a bucket of fio's histogram: its middle, or its only value.
#[must_use]
pub const fn fio_bucket_value(index: u64) -> u64 {
    if index < 128 {
        return index;
    }
    let shift = index / 64 - 1;
    (1 << (shift + 6)) + ((index % 64) << shift) + (1 << (shift - 1))
}

/// Cells per doubling of the latency in series of a run.
const CELLS_PER_DOUBLING: f64 = 8.0;

/// The number of the cell that holds a latency of `ns`: cells are wide buckets, for series in documents.
#[must_use]
pub fn cell_of(ns: u64) -> u64 {
    (CELLS_PER_DOUBLING * (ns.max(1) as f64).log2()).floor() as u64
}

/// The middle of such a cell on a logarithmic scale, ns: at most 4.5 % from any latency in it.
#[must_use]
pub fn cell_middle_ns(cell: u64) -> u64 {
    ((cell as f64 + 0.5) / CELLS_PER_DOUBLING).exp2().round() as u64
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn of(samples: &[u64]) -> Latency {
        let mut latency = Latency::new();
        for &s in samples {
            latency.record(s);
        }
        latency
    }

    #[test]
    fn without_samples_everything_is_zero() {
        let l = Latency::new();
        assert_eq!((l.count(), l.min(), l.max()), (0, 0, 0));
        assert_eq!((l.mean(), l.stddev()), (0.0, 0.0));
    }

    #[test]
    fn mean_and_deviation_are_exact() {
        let l = of(&[2, 4, 4, 4, 5, 5, 7, 9]);
        assert_eq!(l.mean(), 5.0);
        assert!((l.stddev() - (32.0f64 / 7.0).sqrt()).abs() < 1e-12);
        assert_eq!((l.min(), l.max()), (2, 9));
    }

    #[test]
    fn merging_equals_recording_everything_once() {
        let (mut a, b) = (of(&[1, 20, 300]), of(&[4000, 50_000]));
        a.merge(&b);
        let all = of(&[1, 20, 300, 4000, 50_000]);
        assert_eq!((a.count(), a.min(), a.max()), (5, 1, 50_000));
        assert_eq!((a.mean(), a.stddev()), (all.mean(), all.stddev()));
        assert_eq!(a.fio_bins(), all.fio_bins());
        let mut empty = Latency::new();
        empty.merge(&a);
        assert_eq!((empty.min(), empty.max(), empty.count()), (1, 50_000, 5));
    }

    #[test]
    fn impossible_documents_are_errors() {
        let text = serde_json::to_string(&of(&[5, 900])).unwrap();
        assert_eq!(
            text,
            r#"{"min":5,"max":900,"sum":"905","sum_of_squares":"810025","counts":[[5,1],[903,1]]}"#
        );
        for (from, to, said) in [
            (r#""sum":"905""#, r#""sum":"-1""#, "`sum` of"),
            (r#""sum":"905""#, r#""sum":"1801""#, "`sum` of"),
            (r#""min":5"#, r#""min":901"#, "`min` of"),
            ("[5,1]", "[5,18446744073709551615]", "`counts` of"),
            ("[5,1]", "[5,0]", "`counts` of"),
            ("[5,1]", "[904,1]", "`counts` of"),
            ("[903,1]", "[18446744073709551615,1]", "`counts` of"),
        ] {
            let error = serde_json::from_str::<Latency>(&text.replace(from, to)).unwrap_err();
            assert!(error.to_string().contains(said), "{error}");
        }
    }

    /// Latencies of all sizes, small ones as likely as large ones.
    fn samples() -> impl Strategy<Value = Vec<u64>> {
        prop::collection::vec((0_u32..62, any::<u64>()).prop_map(|(bits, n)| n & ((2 << bits) - 1)), 0..60)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// Latencies that came as documents and were merged are those of all samples, in every quantile.
        #[test]
        fn merged_documents_are_the_union_of_their_samples(parts in prop::collection::vec(samples(), 0..6)) {
            let mut merged = Latency::new();
            for part in &parts {
                let text = serde_json::to_string(&of(part)).unwrap();
                merged.merge(&serde_json::from_str(&text).unwrap());
            }
            let all = of(&parts.concat());
            prop_assert_eq!(merged.histogram(), all.histogram());
            prop_assert_eq!((merged.min, merged.max, merged.sum, merged.sum_of_squares), (all.min, all.max, all.sum, all.sum_of_squares));
        }

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
            // The middle of a bucket represents it; at the ends the edge may, so the two differ by one bucket at most.
            for percent in [0.1, 1.0, 50.0, 90.0, 99.0, 99.99] {
                let (got, wanted) = (difference.percentile(percent), alone.percentile(percent));
                prop_assert!(got.abs_diff(wanted) * 128 <= wanted, "{}: {} for {}", percent, got, wanted);
            }
            let new = later.new_samples(&earlier).unwrap();
            prop_assert_eq!(new.max, difference.max());
            prop_assert_eq!(new.bins, alone.hdr_bins());
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
        // The last but one have as many samples and, of these, the first the same sum.
        for other in [&[][..], &[5, 7], &[5, 6, 1001], &[5, 8, 1000], &[1, 2, 3, 4, 9000]] {
            assert!(
                of(other).since(&earlier).is_none() && of(other).new_samples(&earlier).is_none(),
                "{other:?}"
            );
        }
    }
}
