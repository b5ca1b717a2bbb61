//! Figures of a running job: live counters, and samples of bandwidth and IOPS derived from them, every half second by default.
//!
//! The monitoring thread reads the counters, which are relaxed atomics on cache lines of their own. It may be late, so a worker that reads
//! the clock for each I/O ends its intervals itself. The rules are those that fio's report documents: an interval without progress and the
//! last partial interval give no sample.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::saturating::saturating_add_to;

/// Counters that one worker stores and the monitoring thread loads. Values may be a few I/Os apart from each other.
#[derive(Debug, Default)]
#[repr(align(128))]
pub struct LiveCounters {
    /// I/Os completed per direction.
    ios: [AtomicU64; 3],
    /// Bytes completed per direction.
    bytes: [AtomicU64; 3],
    /// Events completed, if the job publishes them.
    events: AtomicU64,
    /// Sum of completion latencies, ns, if the job publishes them.
    latency_ns: AtomicU64,
    /// Number of latencies in the sum.
    latencies: AtomicU64,
}

impl LiveCounters {
    /// Stores the worker's counters of one direction. Only the owning worker calls it.
    #[inline]
    pub fn store(&self, direction: usize, ios: u64, bytes: u64) {
        self.ios[direction].store(ios, Relaxed);
        self.bytes[direction].store(bytes, Relaxed);
    }

    /// Stores the number of events. Only the owning worker calls it, if at all.
    #[inline]
    pub fn store_events(&self, events: u64) {
        self.events.store(events, Relaxed);
    }

    /// Events completed so far.
    #[must_use]
    pub fn events(&self) -> u64 {
        self.events.load(Relaxed)
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
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

    /// Adds another job's samples like fio does for a group: rates of parallel jobs add up, and so do all five figures.
    pub fn merge(&mut self, other: &Self) {
        saturating_add_to(&mut self.samples, other.samples);
        saturating_add_to(&mut self.min, other.min);
        saturating_add_to(&mut self.max, other.max);
        self.mean += other.mean;
        self.squares += other.squares;
    }
}

/// Turns growing counters into samples of one job.
///
/// Intervals end at multiples of their length however late they are observed: delays do not add up, and a job of a whole number of
/// intervals has as many samples.
#[derive(Clone, Debug)]
pub struct Sampler {
    interval_ns: u64,
    /// Time of the last sample, ns since the start of the job.
    last_ns: u64,
    /// Time at which the next sample is due.
    due_ns: u64,
    last: [u64; 3],
    /// Samples per direction.
    pub stats: [SampleStats; 3],
}

/// Time by which a timer may fire early without skipping a whole interval; less in short intervals.
const SLACK_NS: u64 = 1_000_000;
/// Largest part of an interval that this slack may be.
const SLACK_PART: u64 = 10;

impl Sampler {
    /// Takes a sample every `interval_ms`.
    #[must_use]
    pub fn new(interval_ms: u32) -> Self {
        let interval_ns = u64::from(interval_ms.max(1)) * 1_000_000;
        let stats = [SampleStats::default(); 3];
        Sampler { interval_ns, last_ns: 0, due_ns: interval_ns, last: [0; 3], stats }
    }

    /// Reads the counters `ns` after the start of the job; `scale` converts a count per second into the sample's unit (1024 for bytes to
    /// KiB). Returns the rates if an interval ended, 0 for a direction without progress.
    pub fn observe(&mut self, ns: u64, counters: [u64; 3], scale: u64) -> Option<[u64; 3]> {
        let now = ns + SLACK_NS.min(self.interval_ns / SLACK_PART);
        if now < self.due_ns {
            return None;
        }
        Some(self.sample((ns, now), counters, scale))
    }

    /// Ends the intervals that were over `ns` after the start of the job; `counters` are those before anything that completed at `ns`, and
    /// nothing completed after the end of the due interval. Returns its end, ns since the start, and its rates. Later intervals are empty.
    pub fn end_intervals(&mut self, ns: u64, counters: [u64; 3], scale: u64) -> Option<(u64, [u64; 3])> {
        let end = self.due_ns;
        if ns < end {
            return None;
        }
        let rates = self.sample((end, ns), counters, scale);
        self.last_ns = self.due_ns - self.interval_ns;
        Some((end, rates))
    }

    /// Ends an interval at `end`; the next one is the one that contains `now`.
    fn sample(&mut self, (end, now): (u64, u64), counters: [u64; 3], scale: u64) -> [u64; 3] {
        let rates = self.rates(end, counters, scale);
        for ((rate, stats), (now, last)) in
            rates.iter().zip(&mut self.stats).zip(counters.iter().zip(self.last))
        {
            if *now > last {
                stats.record(*rate);
            }
        }
        self.last = counters;
        self.last_ns = end;
        self.due_ns = now - now % self.interval_ns + self.interval_ns;
        rates
    }

    /// The rates since the last sample of a job that ended after `ns`: a part of an interval, which counts in no statistics. `None` if it
    /// is less than half of an interval, too short for a rate comparable with the others.
    #[must_use]
    pub fn rest(&self, ns: u64, counters: [u64; 3], scale: u64) -> Option<[u64; 3]> {
        let spent = ns.saturating_sub(self.last_ns);
        let is_long_enough = spent >= self.interval_ns / 2;
        (is_long_enough && counters != self.last).then(|| self.rates(ns, counters, scale))
    }

    /// Growth per second since the last sample.
    fn rates(&self, ns: u64, counters: [u64; 3], scale: u64) -> [u64; 3] {
        let length_ns = ns.saturating_sub(self.last_ns).max(1);
        std::array::from_fn(|direction| {
            let grown = counters[direction].saturating_sub(self.last[direction]);
            let per_second = u128::from(grown) * 1_000_000_000 / u128::from(length_ns) / u128::from(scale);
            u64::try_from(per_second).unwrap_or(u64::MAX)
        })
    }

    /// Time until the current interval ends, `ns` after the start of the job.
    #[must_use]
    pub fn due_in(&self, ns: u64) -> Duration {
        Duration::from_nanos(self.due_ns.saturating_sub(ns))
    }

    /// End of the current interval, ns since the start of the job.
    #[must_use]
    pub fn due_ns(&self) -> u64 {
        self.due_ns
    }

    /// Resets at the end of a ramp, when counters and clock of the job restart at zero.
    pub fn restart(&mut self) {
        *self = Sampler { interval_ns: self.interval_ns, due_ns: self.interval_ns, ..Sampler::new(0) };
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
    fn late_looks_do_not_shift_the_intervals_that_follow() {
        let mut sampler = Sampler::new(250);
        let at = |sampler: &mut Sampler, ms: u64| sampler.observe(ms * 1_000_000, [ms, 0, 0], 1).is_some();
        assert!(at(&mut sampler, 251) && at(&mut sampler, 503));
        assert_eq!(sampler.due_in(503_000_000), Duration::from_millis(247));
        assert!(!at(&mut sampler, 748) && at(&mut sampler, 749), "early by no more than the slack");
        assert!(at(&mut sampler, 1000), "the last of a job of 1 s");
        assert!(at(&mut sampler, 1900) && !at(&mut sampler, 1998) && at(&mut sampler, 2000), "after a pause");
        assert_eq!(sampler.stats[0].samples, 6);
    }

    #[test]
    fn a_rate_is_over_the_true_length_of_the_interval() {
        for interval_ms in [1, 2, 5, 10, 20, 500] {
            let mut sampler = Sampler::new(interval_ms);
            let ns = u64::from(interval_ms) * 1_000_000;
            // 5000 I/Os per second, looked at up to 0.9 ms late.
            for interval in 1..=50 {
                let late = interval * ns + 200_000 * (interval % 5);
                assert_eq!(sampler.observe(late, [late / 200_000, 0, 0], 1), Some([5000, 0, 0]));
            }
            let read = sampler.stats[0];
            assert_eq!((read.samples, read.min, read.max, read.mean), (50, 5000, 5000, 5000.0));
        }
    }

    #[test]
    fn an_io_that_ends_long_after_an_interval_is_in_its_own() {
        let mut sampler = Sampler::new(10);
        let ms = |ms: u64| ms * 1_000_000;
        assert_eq!(sampler.end_intervals(ms(9), [3, 0, 0], 1), None);
        assert_eq!(sampler.end_intervals(ms(35), [3, 0, 0], 1), Some((ms(10), [300, 0, 0])));
        assert_eq!(sampler.due_ns(), ms(40));
        assert_eq!(sampler.end_intervals(ms(40), [4, 0, 0], 1), Some((ms(40), [100, 0, 0])));
        assert_eq!(sampler.end_intervals(ms(60), [4, 0, 0], 1), Some((ms(50), [0, 0, 0])));
        assert_eq!((sampler.stats[0].samples, sampler.stats[0].mean), (2, 200.0));
        assert_eq!(sampler.rest(ms(64), [6, 0, 0], 1), None);
        assert_eq!(sampler.rest(ms(65), [6, 0, 0], 1), Some([400, 0, 0]));
    }

    #[test]
    fn what_is_left_at_the_end_is_a_rate_if_it_is_half_an_interval() {
        let mut sampler = Sampler::new(250);
        let rest = |sampler: &Sampler, ms: u64, count| sampler.rest(ms * 1_000_000, [count, 0, 0], 1);
        assert_eq!(rest(&sampler, 124, 40), None);
        assert_eq!(rest(&sampler, 125, 40), Some([320, 0, 0]));
        assert_eq!(rest(&sampler, 125, 0), None, "nothing was done");
        sampler.observe(250_000_000, [100, 0, 0], 1);
        assert_eq!(rest(&sampler, 260, 200), None);
        assert_eq!(rest(&sampler, 450, 200), Some([500, 0, 0]));
        assert_eq!(sampler.stats[0].samples, 1);
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
