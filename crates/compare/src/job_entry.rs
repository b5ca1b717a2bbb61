//! Finds a job, and its directions, in each run of each side.

use ferrio_report::distinct;
use ferrio_report::model::{DirectionReport, JobReport};

use crate::measured_run::MeasuredRun;
use crate::read::Side;

/// What a job may do. `events` are those of a test of sysbench.
pub(crate) const DIRECTIONS: [&str; 5] = [EVENTS, "read", "write", "trim", "mixed"];
/// The direction of events.
pub(crate) const EVENTS: &str = "events";

/// A job: its name, and the number of earlier jobs of that name in its report.
pub(crate) type JobKey = (String, usize);

/// All jobs in the order of their first appearance.
pub(crate) fn keys(sides: &[Side]) -> Vec<JobKey> {
    let runs = sides.iter().flat_map(|side| &side.runs);
    let keys = runs.flat_map(|run| run.report.numbered_jobs()).map(|(key, _)| key);
    distinct(keys).into_iter().map(|(name, before)| (name.to_owned(), before)).collect()
}

/// A job in one run.
#[derive(Clone, Copy)]
pub(crate) struct JobEntry<'a> {
    pub(crate) run: &'a MeasuredRun,
    /// Index among the jobs of the run.
    pub(crate) at: usize,
}

impl<'a> JobEntry<'a> {
    pub(crate) fn job(self) -> &'a JobReport {
        &self.run.report.jobs[self.at]
    }
}

/// The entry of a job in each run of each side; `None` if a run lacks it.
pub(crate) fn entries_of<'a>(sides: &'a [Side], key: &JobKey) -> Option<Vec<Vec<JobEntry<'a>>>> {
    sides.iter().map(|side| side.runs.iter().map(|run| entry_of(run, key)).collect()).collect()
}

pub(crate) fn entry_of<'a>(run: &'a MeasuredRun, key: &JobKey) -> Option<JobEntry<'a>> {
    let named = run.report.jobs.iter().enumerate().filter(|(_, job)| job.jobname == key.0);
    named.map(|(at, _)| JobEntry { run, at }).nth(key.1)
}

/// The report of a direction; `None` if the job did no I/O in it.
pub(crate) fn direction_of<'a>(entry: JobEntry<'a>, direction: &str) -> Option<&'a DirectionReport> {
    let found = match direction == EVENTS {
        true => entry.run.events.as_ref(),
        false => entry.job().direction(direction),
    };
    found.filter(|found| found.total_ios > 0)
}
