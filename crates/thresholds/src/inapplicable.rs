//! Finds thresholds that can apply to no job of a plan: they would never fail.

use ferrio_job::{Direction, JobSpec, Plan, UnifiedReporting};
use ferrio_report::{distinct, entry_names};

use crate::expression::Threshold;
use crate::figures::{IoKind, LimitedFigure};

/// A threshold that can apply to no job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InapplicableThreshold {
    /// The expression as given.
    pub expression: String,
    /// The reason.
    pub message: String,
    /// The remedy.
    pub help: String,
}

/// The thresholds that can apply to no job of the plan. Others may still apply to none once it has run.
#[must_use]
pub fn inapplicable(thresholds: &[Threshold], plan: &Plan) -> Vec<InapplicableThreshold> {
    let entries = entry_names(plan);
    let of = |threshold: &Threshold| {
        let (message, help) = reason(threshold, &entries)?;
        Some(InapplicableThreshold { expression: threshold.text.clone(), message, help })
    };
    thresholds.iter().filter_map(of).collect()
}

fn reason(threshold: &Threshold, entries: &[(&str, Vec<&JobSpec>)]) -> Option<(String, String)> {
    let names = distinct(entries.iter().map(|(name, _)| *name));
    let named: Vec<&Vec<&JobSpec>> =
        entries.iter().filter(|(name, _)| threshold.names(name)).map(|(_, jobs)| jobs).collect();
    if named.is_empty() {
        let message = match &threshold.job {
            Some(job) => format!("the report has no job `{job}`"),
            None => "the report has no jobs".to_owned(),
        };
        return Some((message, format!("jobs of the report are {}", names.join(", "))));
    }
    let io = threshold.figure.io();
    if let LimitedFigure::Job(row) = threshold.figure
        && row.name == "total_err"
        && !named.iter().any(|jobs| jobs.iter().any(|spec| spec.tolerance.tolerates_any()))
    {
        let help = "only jobs with continue_on_error count errors: use `error > 0`";
        return Some(("no job has `total_err`".to_owned(), help.to_owned()));
    }
    let is_reported = |jobs: &[&JobSpec]| match io {
        Some(IoKind::Read | IoKind::Write | IoKind::Trim) => {
            jobs[0].measure.unified != UnifiedReporting::Mixed
        }
        Some(IoKind::Mixed) => jobs[0].measure.unified != UnifiedReporting::None,
        Some(IoKind::Sync) | None => true,
    };
    if !named.iter().any(|jobs| is_reported(jobs)) {
        let help = match io {
            Some(IoKind::Mixed) => "`mixed` needs unified_rw_reporting: write read, write or trim",
            _ => "with unified_rw_reporting=mixed all directions are one: write mixed",
        };
        return Some((format!("no job reports `{}`", io.map_or("", IoKind::word)), help.to_owned()));
    }
    let direction = io?.direction()?;
    let may_do = named.iter().any(|jobs| jobs.iter().any(|spec| may_do(spec, direction)));
    (!may_do).then(|| {
        let message = format!("no job does `{}`", io.map_or("", IoKind::word));
        (message, "limit a direction that the `rw` of a job has".to_owned())
    })
}

/// False only if the job certainly has no such I/O.
fn may_do(spec: &JobSpec, direction: Direction) -> bool {
    let follows_others = spec.replay.is_some() || spec.events.is_some();
    let moves = spec.engine.does_io() && !spec.engine.is_background_load();
    (moves && spec.rw.does(direction))
        || follows_others
        || (direction == Direction::Read && spec.verify.is_some())
}
