//! Coarse distributions of the report: latency buckets, queue depth levels, batch sizes.

use serde::{Deserialize, Serialize};

use crate::saturating::saturating_add_to;

/// Completion latencies by fio's labelled buckets; a bucket holds values below its label and not below the previous one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LatencyBuckets {
    /// Below 1 µs, labels 2 4 10 20 50 100 250 500 750 1000 ns; then below 1 ms the same in µs; then ms with 2000 and >=2000.
    counts: [u64; BUCKETS],
}

const NS_BUCKETS: usize = 10;
const US_BUCKETS: usize = 10;
const MS_BUCKETS: usize = 12;
const BUCKETS: usize = NS_BUCKETS + US_BUCKETS + MS_BUCKETS;

/// For each position of the highest set bit: the bucket of the smallest such value, and the (at most two) limits in that octave.
const OCTAVES: [(u8, [u64; 2]); 64] = octaves();

const fn limits() -> [u64; BUCKETS - 1] {
    const STEPS: [u64; 10] = [2, 4, 10, 20, 50, 100, 250, 500, 750, 1000];
    let mut limits = [0; BUCKETS - 1];
    let mut i = 0;
    while i < 30 {
        limits[i] = STEPS[i % 10] * [1, 1000, 1_000_000][i / 10];
        i += 1;
    }
    limits[30] = 2_000_000_000;
    limits
}

const fn octaves() -> [(u8, [u64; 2]); 64] {
    let limits = limits();
    let mut table = [(0u8, [u64::MAX; 2]); 64];
    let mut bit = 0;
    while bit < 64 {
        let low = if bit == 0 { 0 } else { 1u64 << bit };
        let high = if bit == 63 { u64::MAX } else { (1u64 << (bit + 1)) - 1 };
        let mut found = 0;
        let mut i = 0;
        while i < limits.len() {
            if limits[i] <= low {
                table[bit].0 = i as u8 + 1;
            } else if limits[i] <= high {
                table[bit].1[found] = limits[i];
                found += 1;
            }
            i += 1;
        }
        bit += 1;
    }
    table
}

impl LatencyBuckets {
    /// Counts one latency of `ns`.
    #[inline]
    pub fn record(&mut self, ns: u64) {
        let (first, limits) = OCTAVES[(63 - (ns | 1).leading_zeros()) as usize];
        let bucket = usize::from(first) + usize::from(ns >= limits[0]) + usize::from(ns >= limits[1]);
        self.counts[bucket.min(BUCKETS - 1)] += 1;
    }

    /// Counts several latencies in ns.
    #[inline]
    pub fn record_all(&mut self, latencies: &[u64]) {
        latencies.iter().for_each(|&ns| self.record(ns));
    }

    /// Counts below 1 µs for the labels 2 4 10 20 50 100 250 500 750 1000 (ns).
    #[must_use]
    pub fn ns(&self) -> &[u64] {
        &self.counts[..NS_BUCKETS]
    }

    /// Counts from 1 µs to below 1 ms for the same labels in µs.
    #[must_use]
    pub fn us(&self) -> &[u64] {
        &self.counts[NS_BUCKETS..NS_BUCKETS + US_BUCKETS]
    }

    /// Counts from 1 ms for the same labels in ms, then 2000 and >=2000.
    #[must_use]
    pub fn ms(&self) -> &[u64] {
        &self.counts[NS_BUCKETS + US_BUCKETS..]
    }

    /// Adds the counts of `other`.
    pub fn merge(&mut self, other: &Self) {
        self.counts.iter_mut().zip(other.counts).for_each(|(a, b)| saturating_add_to(a, b));
    }
}

/// Number of I/Os issued at each queue depth: 1, 2-3, 4-7, 8-15, 16-31, 32-63, 64 and more.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DepthLevels(pub [u64; 7]);

impl DepthLevels {
    /// Counts `ios` I/Os at queue depth `depth` (1 and more).
    #[inline]
    pub fn record(&mut self, depth: u32, ios: u64) {
        self.0[(depth.max(1).ilog2() as usize).min(6)] += ios;
    }

    /// Adds the counts of `other`.
    pub fn merge(&mut self, other: &Self) {
        self.0.iter_mut().zip(other.0).for_each(|(a, b)| saturating_add_to(a, b));
    }
}

/// Number of submit or reap calls by the number of I/Os that each submitted or reaped: 0, 1-4, 5-8, 9-16, 17-32, 33-64, more.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BatchSizes(pub [u64; 7]);

impl BatchSizes {
    /// Counts one call that submitted or reaped `ios` I/Os.
    #[inline]
    pub fn record(&mut self, ios: u32) {
        let bucket = match ios {
            0 => 0,
            1..=4 => 1,
            n => ((n - 1).ilog2() as usize).min(6),
        };
        self.0[bucket] += 1;
    }

    /// Adds `calls` calls for 1 to 4 I/Os each: engines that submit and complete in one call need no counter per I/O.
    pub fn add_small(&mut self, calls: u64) {
        self.0[1] += calls;
    }

    /// Adds the counts of `other`.
    pub fn merge(&mut self, other: &Self) {
        self.0.iter_mut().zip(other.0).for_each(|(a, b)| saturating_add_to(a, b));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_limit_starts_the_next_bucket() {
        for (i, limit) in limits().into_iter().enumerate() {
            let mut buckets = LatencyBuckets::default();
            buckets.record(limit - 1);
            buckets.record(limit);
            let mut wanted = [0; BUCKETS];
            wanted[i] = 1;
            wanted[i + 1] = 1;
            assert_eq!(buckets.counts, wanted, "at {limit} ns");
        }
    }

    #[test]
    fn zero_and_the_largest_value_have_a_bucket() {
        let mut buckets = LatencyBuckets::default();
        buckets.record(0);
        buckets.record(u64::MAX);
        assert_eq!((buckets.ns()[0], buckets.ms()[11]), (1, 1));
    }

    #[test]
    fn depths_fall_into_powers_of_two() {
        let mut levels = DepthLevels::default();
        for depth in [1, 2, 3, 4, 31, 32, 64, 1000] {
            levels.record(depth, 1);
        }
        assert_eq!(levels.0, [1, 2, 1, 0, 1, 1, 2]);
    }

    #[test]
    fn batches_fall_into_ranges_closed_at_powers_of_two() {
        let mut sizes = BatchSizes::default();
        for ios in [0, 1, 4, 5, 8, 9, 16, 17, 32, 33, 64, 65, 5000] {
            sizes.record(ios);
        }
        assert_eq!(sizes.0, [1, 2, 2, 2, 2, 2, 2]);
    }
}
