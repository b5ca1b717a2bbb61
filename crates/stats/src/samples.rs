//! Figures of a running job: its live counters, and from them samples of bandwidth and IOPS, every half second by default.
//!
//! The monitoring thread reads the counters, which are relaxed atomics on cache lines of their own; workers take no part. Rules as
//! fio's report documents them: an interval without progress and the last partial interval give no sample.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

/// Counters that one worker stores and the monitoring thread loads. Values may be a few I/Os apart from each other.
#[derive(Debug, Default)]
#[repr(align(128))]
pub struct LiveCounters {
    /// I/Os completed per direction.
    ios: [AtomicU64; 3],
    /// Bytes completed per direction.
    bytes: [AtomicU64; 3],
    /// Sum of completion latencies, ns, if the job publishes them.
    latency_ns: AtomicU64,
    /// How many the sum is of.
    latencies: AtomicU64,
}

impl LiveCounters {
    /// Stores the worker's counters of one direction. Only the owning worker calls it.
    #[inline]
    pub fn store(&self, direction: usize, ios: u64, bytes: u64) {
        self.ios[direction].store(ios, Relaxed);
        self.bytes[direction].store(bytes, Relaxed);
    }

    /// Stores the sum of all completion latencies in ns and their number. Only the owning worker calls it, if at all.
    pub fn store_latency(&self, sum_ns: u64, count: u64) {
        self.latency_ns.store(sum_ns, Relaxed);
        self.latencies.store(count, Relaxed);
    }

    /// Sum of the completion latencies published last, ns, and their number.
    #[must_use]
    pub fn latency(&self) -> (u64, u64) {
        (self.latency_ns.load(Relaxed), self.latencies.load(Relaxed))
    }

    /// I/Os completed so far.
    #[must_use]
    pub fn ios(&self) -> [u64; 3] {
        self.ios.each_ref().map(|c| c.load(Relaxed))
    }

    /// Bytes completed so far.
    #[must_use]
    pub fn bytes(&self) -> [u64; 3] {
        self.bytes.each_ref().map(|c| c.load(Relaxed))
    }
}

/// Statistics over samples. Values are whole KiB/s or I/Os per second.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SampleStats {
    /// Number of samples.
    pub samples: u64,
    /// Smallest, 0 without samples.
    pub min: u64,
    /// Largest.
    pub max: u64,
    /// Mean.
    pub mean: f64,
    squares: f64,
}

impl SampleStats {
    /// Adds one sample.
    pub fn record(&mut self, value: u64) {
        self.min = if self.samples == 0 { value } else { self.min.min(value) };
        self.max = self.max.max(value);
        let delta = value as f64 - self.mean;
        self.samples += 1;
        self.mean += delta / self.samples as f64;
        self.squares += delta * (value as f64 - self.mean);
    }

    /// Sample standard deviation, 0 with fewer than two samples.
    #[must_use]
    pub fn stddev(&self) -> f64 {
        if self.samples < 2 { 0.0 } else { (self.squares / (self.samples - 1) as f64).sqrt() }
    }

    /// Adds another job's samples the way fio does for a group: rates of parallel jobs add up, so do all five figures.
    pub fn merge(&mut self, other: &Self) {
        self.samples += other.samples;
        self.min += other.min;
        self.max += other.max;
        self.mean += other.mean;
        self.squares += other.squares;
    }
}

/// Turns growing counters into samples of one job.
#[derive(Clone, Debug)]
pub struct Sampler {
    interval_ns: u64,
    /// End of the last interval, ns since the job started.
    last_ns: u64,
    last: [u64; 3],
    /// Samples per direction.
    pub stats: [SampleStats; 3],
}

impl Sampler {
    /// Samples every `interval_ms`.
    #[must_use]
    pub fn new(interval_ms: u32) -> Self {
        let interval_ns = u64::from(interval_ms.max(1)) * 1_000_000;
        Sampler { interval_ns, last_ns: 0, last: [0; 3], stats: [SampleStats::default(); 3] }
    }

    /// Looks at the counters `ns` after the start of the job; `scale` converts a count per second into the sample's unit (1024 for
    /// bytes to KiB). Returns the rates when an interval ended, 0 for a direction without progress.
    pub fn observe(&mut self, ns: u64, counters: [u64; 3], scale: u64) -> Option<[u64; 3]> {
        // One ms of slack, so that a timer that fires a little early does not skip a whole interval.
        let spent = ns.saturating_sub(self.last_ns);
        if spent + 1_000_000 < self.interval_ns {
            return None;
        }
        let ms = (spent / 1_000_000).max(1);
        let mut rates = [0; 3];
        for (direction, rate) in rates.iter_mut().enumerate() {
            let grown = counters[direction].saturating_sub(self.last[direction]);
            if grown > 0 {
                *rate = u64::try_from(u128::from(grown) * 1000 / u128::from(ms)).unwrap_or(u64::MAX) / scale;
                self.stats[direction].record(*rate);
            }
        }
        self.last = counters;
        self.last_ns = ns;
        Some(rates)
    }

    /// Time until the running interval ends, when it is `ns` after the start of the job.
    #[must_use]
    pub fn due_in(&self, ns: u64) -> Duration {
        Duration::from_nanos((self.last_ns + self.interval_ns).saturating_sub(ns))
    }

    /// Resets at the end of a ramp, when counters and clock of the job start again at zero.
    pub fn restart(&mut self) {
        *self = Sampler { interval_ns: self.interval_ns, ..Sampler::new(0) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_is_the_rate_of_its_interval() {
        let mut sampler = Sampler::new(500);
        assert_eq!(sampler.observe(498_000_000, [1, 0, 0], 1), None);
        assert_eq!(sampler.observe(500_000_000, [1_024_000, 0, 0], 1024), Some([2000, 0, 0]));
        assert_eq!(sampler.observe(1_000_000_000, [1_024_000, 512_000, 0], 1024), Some([0, 1000, 0]));
        let [read, write, trim] = sampler.stats;
        assert_eq!((read.samples, read.min, read.max), (1, 2000, 2000));
        assert_eq!((write.samples, write.mean), (1, 1000.0));
        assert_eq!(trim.samples, 0);
    }

    #[test]
    fn groups_add_their_samples() {
        let (mut a, mut b) = (SampleStats::default(), SampleStats::default());
        [10, 20].into_iter().for_each(|v| a.record(v));
        [5, 7].into_iter().for_each(|v| b.record(v));
        a.merge(&b);
        assert_eq!((a.samples, a.min, a.max, a.mean), (4, 15, 27, 21.0));
        assert!((a.stddev() - (52.0f64 / 3.0).sqrt()).abs() < 1e-12);
    }
}
