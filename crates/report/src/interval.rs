//! `--interval-report`: the figures of each job in each interval, one JSON object per line.
//!
//! [`IntervalReport`] stores the figures of each running job at its last line and writes the differences. Time and figures are arguments of
//! each call; nothing here reads a clock or writes to a file. [`line`] defines the contents of a line.

mod database;
mod hosts;
mod line;

use std::collections::BTreeMap;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use ferrio_job::{Direction, JobSpec, Plan};
use ferrio_results::{JobResult, JobState, RunResult};
use ferrio_stats::JobStats;

use crate::database::databases;
use crate::eta::has_ended;
use crate::messages::report_name;
use crate::num::whole_ms;
use database::ReportedDatabase;
pub(crate) use hosts::HostIntervalLine;
pub use hosts::HostsIntervalReport;
pub(crate) use line::IntervalLine;
use line::{CpuLine, DirectionLine, FORMAT_VERSION, SyncLine, mean_depth, write_line};

/// The interval report of one run.
#[derive(Debug, Default)]
pub struct IntervalReport {
    interval: u64,
    /// Indexed by job of the plan.
    jobs: Vec<ReportedJob>,
    /// Database models by the number of their load.
    databases: BTreeMap<u32, ReportedDatabase>,
}

/// The figures of a job at its last line.
#[derive(Clone, Debug, Default)]
struct ReportedJob {
    start_ms: u64,
    /// Time covered by the figures.
    measured: Duration,
    /// Time covered by the figures at the last fresh line.
    fresh_until: Duration,
    stats: JobStats,
    total_errors: u64,
    /// True if the last line was written.
    ended: bool,
}

impl IntervalReport {
    /// Creates a report without lines.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The lines of the interval that ends with `result`, each with a newline. `now` is the time of day.
    ///
    /// Jobs that have not begun their I/O have no line, nor do jobs whose last line was written before. A result without
    /// [`RunResult::progress`] ends the run: all other jobs get their last line.
    pub fn lines(&mut self, plan: &Plan, result: &RunResult, now: SystemTime) -> Vec<u8> {
        self.interval += 1;
        self.jobs.resize_with(plan.jobs.len(), ReportedJob::default);
        let timestamp_ms = now.duration_since(UNIX_EPOCH).map_or(0, whole_ms);
        // Models without a line in this interval so far.
        let mut databases = databases(plan, result);
        let mut out = Vec::new();
        for (index, (planned, job)) in plan.jobs.iter().zip(&result.jobs).enumerate() {
            let shown = &mut self.jobs[index];
            let begun = job.start_ms > 0 || job.error.is_some();
            if shown.ended || !begun {
                continue;
            }
            let state = state(result, index, job);
            let database =
                databases.extract_if(.., |load| load.jobs.iter().any(|job| job.index == index)).next();
            let database = database.map(|load| self.databases.entry(load.load.id).or_default().line(&load));
            let line = IntervalLine {
                database,
                interval: self.interval,
                time_ms: whole_ms(result.elapsed),
                timestamp_ms,
                ..shown.line(&planned.spec, job, state)
            };
            write_line(&line, &mut out);
            if shown.ended {
                // Figures are large and no longer needed.
                *shown = ReportedJob { ended: true, ..ReportedJob::default() };
            }
        }
        out
    }
}

impl ReportedJob {
    /// The line of a job, without the fields that are the same for all jobs. Stores the job's figures for the next line.
    fn line<'a>(&mut self, spec: &'a JobSpec, job: &JobResult, state: JobState) -> IntervalLine<'a> {
        let is_same_start = self.start_ms == 0 || self.start_ms == job.start_ms;
        let continued = is_same_start.then(|| job.stats.since(&self.stats)).flatten();
        let restarted = continued.is_none();
        if restarted {
            (self.measured, self.fresh_until) = (Duration::ZERO, Duration::ZERO);
        }
        let new = continued.unwrap_or_else(|| job.stats.clone());
        let length = job.measured.saturating_sub(self.measured);
        let fresh_length = job.measured.saturating_sub(self.fresh_until).as_nanos();
        let measure = &spec.measure;
        let direction = |direction: Direction| {
            let at = direction as usize;
            let is_used = spec.rw.does(direction) || job.stats.directions[at].ios > 0;
            is_used.then(|| DirectionLine::new(measure, &new.directions[at], length.as_nanos()))
        };
        let fresh = !job.stale;
        let line = IntervalLine {
            version: FORMAT_VERSION,
            interval: 0,
            time_ms: 0,
            timestamp_ms: 0,
            length_ms: length.as_nanos() as f64 / 1e6,
            jobname: report_name(spec),
            job_number: spec.number,
            groupid: spec.group,
            state: state.word(),
            restarted,
            fresh,
            read: direction(Direction::Read),
            write: direction(Direction::Write),
            trim: direction(Direction::Trim),
            sync: (job.stats.sync.ios > 0).then(|| SyncLine::new(measure, &new.sync)),
            database: None,
            iodepth_mean: mean_depth(&new, fresh_length).filter(|_| fresh),
            in_flight: job.in_flight.filter(|_| fresh),
            error: job.error.as_ref().map_or(0, |error| error.errno),
            // Errors are counted from the start of the job, even if its figures restart.
            total_err: job.stats.total_errors.saturating_sub(self.total_errors),
            first_error: job.stats.first_error,
            cpu: fresh.then(|| CpuLine::new(&new, fresh_length)),
        };
        self.start_ms = job.start_ms;
        self.measured = job.measured;
        if fresh {
            self.fresh_until = job.measured;
        }
        self.total_errors = self.total_errors.max(job.stats.total_errors);
        self.ended = matches!(state, JobState::Reaped | JobState::Failed);
        self.stats = job.stats.clone();
        line
    }
}

/// The state of a job. It counts as ramping as long as its figures are those of the ramp.
fn state(result: &RunResult, index: usize, job: &JobResult) -> JobState {
    let at_this_moment = result.progress.as_ref().and_then(|progress| progress.jobs.get(index));
    match at_this_moment.map(|job| job.state) {
        Some(state) if job.in_ramp && !has_ended(state) => JobState::Ramp,
        Some(JobState::Ramp) => JobState::Running,
        Some(state) => state,
        None if job.error.is_some() => JobState::Failed,
        None => JobState::Reaped,
    }
}

#[cfg(test)]
mod tests;
