//! Which thresholds can apply to no job of a plan: they would never fail.

use ferrio_job::{Direction, JobSpec, Plan, UnifiedReporting};
use ferrio_report::entry_names;

use crate::expression::Threshold;
use crate::figures::{Figure, Io};

/// A threshold that applies to no job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unmet {
    /// The expression as given.
    pub expression: String,
    /// Why.
    pub message: String,
    /// What to do.
    pub help: String,
}

/// The thresholds that can apply to no job of the plan. Others may turn out to apply to none once it has run.
#[must_use]
pub fn unmet(thresholds: &[Threshold], plan: &Plan) -> Vec<Unmet> {
    let entries = entry_names(plan);
    let of = |threshold: &Threshold| {
        let (message, help) = reason(threshold, &entries)?;
        Some(Unmet { expression: threshold.text.clone(), message, help })
    };
    thresholds.iter().filter_map(of).collect()
}

fn reason(threshold: &Threshold, entries: &[(&str, Vec<&JobSpec>)]) -> Option<(String, String)> {
    let mut names: Vec<&str> = Vec::new();
    for (name, _) in entries {
        if !names.contains(name) {
            names.push(name);
        }
    }
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
    if let Figure::Job(row) = threshold.figure
        && row.name == "total_err"
        && !named.iter().any(|jobs| jobs.iter().any(|spec| spec.tolerance.any()))
    {
        let help = "only jobs with continue_on_error count errors: use `error > 0`";
        return Some(("no job has `total_err`".to_owned(), help.to_owned()));
    }
    let is_reported = |jobs: &[&JobSpec]| match io {
        Some(Io::Read | Io::Write | Io::Trim) => jobs[0].measure.unified != UnifiedReporting::Mixed,
        Some(Io::Mixed) => jobs[0].measure.unified != UnifiedReporting::None,
        Some(Io::Sync) | None => true,
    };
    if !named.iter().any(|jobs| is_reported(jobs)) {
        let help = match io {
            Some(Io::Mixed) => "`mixed` needs unified_rw_reporting: write read, write or trim",
            _ => "with unified_rw_reporting=mixed all directions are one: write mixed",
        };
        return Some((format!("no job reports `{}`", io.map_or("", Io::word)), help.to_owned()));
    }
    let direction = match io {
        Some(Io::Read) => Direction::Read,
        Some(Io::Write) => Direction::Write,
        Some(Io::Trim) => Direction::Trim,
        _ => return None,
    };
    let may_do = named.iter().any(|jobs| jobs.iter().any(|spec| may_do(spec, direction)));
    (!may_do).then(|| {
        let message = format!("no job does `{}`", io.map_or("", Io::word));
        (message, "limit a direction that the `rw` of a job has".to_owned())
    })
}

/// False only for a direction that a job surely leaves out.
fn may_do(spec: &JobSpec, direction: Direction) -> bool {
    let follows_others = spec.replay.is_some() || spec.events.is_some();
    let moves = spec.engine.does_io() && !spec.engine.only_makes_load();
    (moves && spec.rw.does(direction))
        || follows_others
        || (direction == Direction::Read && spec.verify.is_some())
}
