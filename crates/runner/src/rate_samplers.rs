//! The samplers of the bandwidth and the IOPS of one job. The worker feeds them if it reads the clock for every I/O, main otherwise.

use std::time::Duration;

use ferrio_job::{JobSpec, LogKind};
use ferrio_logs::{LogBatch, RateSample};
use ferrio_stats::{JobStats, LiveCounters, Sampler};

/// Bytes in the unit of bandwidth samples, KiB/s.
const KIB: u64 = 1024;

/// The kinds of rates, in the order of all pairs here.
const RATE_LOGS: [LogKind; 2] = [LogKind::Bandwidth, LogKind::Iops];

/// Rates per direction in an interval that ended at this time, ns.
pub(crate) type IntervalRates = (u64, [u64; 3]);

/// I/Os and bytes completed, per direction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TransferCounts {
    pub(crate) ios: [u64; 3],
    pub(crate) bytes: [u64; 3],
}

impl TransferCounts {
    /// The counters that a job publishes.
    pub(crate) fn published(live: &LiveCounters) -> Self {
        TransferCounts { bytes: live.bytes(), ios: live.ios() }
    }
}

#[derive(Debug)]
pub(crate) struct RateSamplers {
    bw: Sampler,
    iops: Sampler,
    /// The job logs averages of these rates.
    logged: [bool; 2],
}

impl RateSamplers {
    pub(crate) fn new(spec: &JobSpec) -> Self {
        RateSamplers {
            bw: Sampler::new(spec.measure.bwavgtime_ms),
            iops: Sampler::new(spec.measure.iopsavgtime_ms),
            logged: RATE_LOGS.map(|kind| spec.logs.averages(kind)),
        }
    }

    /// Measuring begins.
    pub(crate) fn restart(&mut self) {
        self.bw.restart();
        self.iops.restart();
    }

    /// The end of the first interval to end, ns since measuring began.
    pub(crate) fn due_ns(&self) -> u64 {
        self.bw.due_ns().min(self.iops.due_ns())
    }

    /// Time from `ns` until the first interval ends.
    pub(crate) fn due_in(&self, ns: u64) -> Duration {
        self.bw.due_in(ns).min(self.iops.due_in(ns))
    }

    /// Takes samples with `take`, which gets a sampler, its counters and their unit.
    pub(crate) fn sample(
        &mut self,
        completed: TransferCounts,
        take: impl Fn(&mut Sampler, [u64; 3], u64) -> Option<IntervalRates>,
    ) -> [Option<IntervalRates>; 2] {
        [take(&mut self.bw, completed.bytes, KIB), take(&mut self.iops, completed.ios, 1)]
    }

    /// Sends the rates that the job, which has the index `job`, logs.
    pub(crate) fn log(&self, job: usize, rates: [Option<IntervalRates>; 2], mut send: impl FnMut(LogBatch)) {
        for ((kind, logged), rates) in RATE_LOGS.into_iter().zip(self.logged).zip(rates) {
            if let Some((ns, per_second)) = rates.filter(|_| logged) {
                let sample = RateSample { time_ms: ns / 1_000_000, per_second };
                send(LogBatch::Rates { job, kind, sample });
            }
        }
    }

    /// Puts the samples so far into the figures of the job.
    pub(crate) fn put_samples(&self, stats: &mut JobStats) {
        for (direction, stats) in stats.directions.iter_mut().enumerate() {
            stats.bw = self.bw.stats[direction];
            stats.iops = self.iops.stats[direction];
        }
    }
}
