//! Samples of bandwidth and IOPS that the worker takes: each I/O is in the interval in which it completed, however busy the machine and
//! however short the interval is. The loop compares the clock with the end of the running interval; all else happens once per interval.
//!
//! Main takes the samples of jobs that do not read the clock for every I/O, from the counters that they publish.

use ferrio_job::JobSpec;
use ferrio_logs::LogSender;
use ferrio_stats::{Clock, JobStats, Sampler};

use crate::context::Context;
use crate::control::JobControl;
use crate::rate_samplers::{IntervalRates, RateSamplers, TransferCounts};

/// No interval is running.
pub(super) const NEVER: u64 = u64::MAX;

/// The samplers of one job, and the way to its logs.
#[derive(Debug)]
pub(super) struct RateWindows<'a> {
    samplers: RateSamplers,
    job: usize,
    control: &'a JobControl,
    log: Option<LogSender>,
}

impl<'a> RateWindows<'a> {
    pub(super) fn new(context: &Context<'a>) -> Self {
        RateWindows {
            samplers: RateSamplers::new(context.spec),
            job: context.index,
            control: context.control,
            log: context.log.clone(),
        }
    }

    /// Measuring begins. Returns the end of the first interval, ns from then.
    pub(super) fn restart(&mut self) -> u64 {
        self.samplers.restart();
        self.samplers.due_ns()
    }

    /// Ends the intervals that were over at `ns`, before which `completed` was done. Returns the end of the next one.
    pub(super) fn end_intervals(&mut self, ns: u64, completed: TransferCounts) -> u64 {
        let rates =
            self.samplers.sample(completed, |sampler, done, unit| sampler.end_intervals(ns, done, unit));
        self.log(rates);
        self.samplers.due_ns()
    }

    /// Ends the windows of the job at `ns`.
    pub(super) fn end(&mut self, ns: u64, completed: TransferCounts) {
        self.end_intervals(ns, completed);
        // An interval that ends with the job is complete even if the clock was read a moment before its end.
        let rates =
            self.samplers.sample(completed, |sampler, done, unit| last_rates(sampler, ns, done, unit));
        self.log(rates);
    }

    fn log(&self, rates: [Option<IntervalRates>; 2]) {
        let Some(log) = &self.log else { return };
        let rates = rates.map(|rates| rates.filter(|(_, per_second)| *per_second != [0; 3]));
        self.samplers.log(self.job, rates, |batch| log.send(batch, || self.control.stop_requested()));
    }

    /// Puts the samples so far into the figures of the job.
    pub(super) fn put_samples(&self, stats: &mut JobStats) {
        self.samplers.put_samples(stats);
    }
}

/// The end and the rates of the last interval, complete or not, of a job that ends at `ns`. A partial one ends at the next full
/// millisecond: its row follows that of the interval before it.
fn last_rates(sampler: &mut Sampler, ns: u64, counters: [u64; 3], unit: u64) -> Option<IntervalRates> {
    let due_ns = sampler.due_ns();
    if let Some(rates) = sampler.observe(ns, counters, unit) {
        return Some((due_ns, rates));
    }
    sampler.rest(ns, counters, unit).map(|rates| (ns.next_multiple_of(1_000_000), rates))
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
