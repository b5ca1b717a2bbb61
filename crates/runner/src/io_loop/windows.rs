//! Samples of bandwidth and IOPS that the worker takes: each I/O is in the interval in which it completed, however busy the machine and
//! however short the interval is. The loop compares the clock with the end of the running interval; all else happens once per interval.
//!
//! Main takes the samples of jobs that do not read the clock for every I/O, from the counters that they publish.

use ferrio_job::{JobSpec, LogKind};
use ferrio_logs::{LogBatch, LogSender, RateSample};
use ferrio_stats::{Clock, JobStats, Sampler};

use crate::context::Context;
use crate::control::JobControl;

/// Bytes in the unit of bandwidth samples, KiB/s.
pub(crate) const KIB: u64 = 1024;
/// No interval is running.
pub(super) const NEVER: u64 = u64::MAX;

/// I/Os and bytes completed, per direction.
#[derive(Clone, Copy, Debug)]
pub(super) struct Completed {
    pub(super) ios: [u64; 3],
    pub(super) bytes: [u64; 3],
}

/// The rates that are sampled, in the order of [`RateWindows::logs`].
const RATE_LOGS: [LogKind; 2] = [LogKind::Bandwidth, LogKind::Iops];

/// The samplers of one job, and the way to its logs.
#[derive(Debug)]
pub(super) struct RateWindows<'a> {
    bw: Sampler,
    iops: Sampler,
    job: usize,
    control: &'a JobControl,
    /// The queue of averaged bandwidths and I/O rates, if the job logs them.
    logs: [Option<LogSender>; 2],
}

impl<'a> RateWindows<'a> {
    pub(super) fn new(context: &Context<'a>) -> Self {
        let (measure, logs) = (&context.spec.measure, &context.spec.logs);
        RateWindows {
            bw: Sampler::new(measure.bwavgtime_ms),
            iops: Sampler::new(measure.iopsavgtime_ms),
            job: context.index,
            control: context.control,
            logs: RATE_LOGS.map(|kind| context.log.clone().filter(|_| logs.averages(kind))),
        }
    }

    /// Measuring begins. Returns the end of the first interval, ns from then.
    pub(super) fn restart(&mut self) -> u64 {
        self.bw.restart();
        self.iops.restart();
        self.due_ns()
    }

    fn due_ns(&self) -> u64 {
        self.bw.due_ns().min(self.iops.due_ns())
    }

    /// Ends the intervals that were over at `ns`, before which `completed` was done. Returns the end of the next one.
    pub(super) fn end_intervals(&mut self, ns: u64, completed: Completed) -> u64 {
        let bw = self.bw.end_intervals(ns, completed.bytes, KIB);
        let iops = self.iops.end_intervals(ns, completed.ios, 1);
        self.log(bw, iops);
        self.due_ns()
    }

    /// Ends the windows of the job at `ns`.
    pub(super) fn end(&mut self, ns: u64, completed: Completed) {
        self.end_intervals(ns, completed);
        // An interval that ends with the job is complete even if the clock was read a moment before its end.
        let bw = last_rates(&mut self.bw, ns, completed.bytes, KIB);
        let iops = last_rates(&mut self.iops, ns, completed.ios, 1);
        self.log(bw, iops);
    }

    fn log(&self, bw: Option<(u64, [u64; 3])>, iops: Option<(u64, [u64; 3])>) {
        for ((kind, log), rates) in RATE_LOGS.iter().zip(&self.logs).zip([bw, iops]) {
            if let (Some(log), Some((ns, per_second))) = (log, rates)
                && per_second != [0; 3]
            {
                let sample = RateSample { time_ms: ns / 1_000_000, per_second };
                let batch = LogBatch::Rates { job: self.job, kind: *kind, sample };
                log.send(batch, || self.control.stop_requested());
            }
        }
    }

    /// Puts the samples so far into the figures of the job.
    pub(super) fn put_samples(&self, stats: &mut JobStats) {
        for (direction, stats) in stats.directions.iter_mut().enumerate() {
            stats.bw = self.bw.stats[direction];
            stats.iops = self.iops.stats[direction];
        }
    }
}

/// The end and the rates of the last interval, complete or not, of a job that ends at `ns`. A partial one ends at the next full
/// millisecond: its row follows that of the interval before it.
fn last_rates(sampler: &mut Sampler, ns: u64, counters: [u64; 3], scale: u64) -> Option<(u64, [u64; 3])> {
    let due_ns = sampler.due_ns();
    if let Some(rates) = sampler.observe(ns, counters, scale) {
        return Some((due_ns, rates));
    }
    sampler.rest(ns, counters, scale).map(|rates| (ns.next_multiple_of(1_000_000), rates))
}

/// Whether the clock is read for every I/O of a job, which may have `logs`.
pub(crate) fn stamps_every_io(spec: &JobSpec, logs: bool) -> bool {
    let measured = spec.measure.clat || spec.measure.lat || spec.measure.slat;
    let has_rows = spec.logs.every_io() || spec.logs.averages_rates();
    let logged = logs && has_rows && !spec.measure.gtod_reduce;
    // Where files are what is measured, I/Os are not.
    (measured || logged) && !spec.engine.operates_on_files()
}

/// Whether the worker of a job, which may have `logs`, takes its samples of bandwidth and IOPS.
pub(crate) fn samples_itself(spec: &JobSpec, logs: bool) -> bool {
    stamps_every_io(spec, logs) && spec.engine.does_io()
}

/// Ticks `ns` after `since`.
pub(super) fn end_ticks(clock: &Clock, since: u64, ns: u64) -> u64 {
    since.saturating_add(clock.ticks(std::time::Duration::from_nanos(ns)))
}
