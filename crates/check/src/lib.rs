//! Reports the effects and risks of a run without running it.
//!
//! [`Facts::ask`] queries the machine, [`check`] combines plan and facts into a [`Report`], [`text`] and [`json`] render it.
//! Nothing is created, written or opened for I/O. Every risk is one function below `risks` with a stable code.
#![forbid(unsafe_code)]

mod build;
mod commands;
mod database;
mod facts;
mod files;
mod hosts;
pub mod model;
mod risks;
mod section;
#[cfg(test)]
mod testing;
mod text;
mod timeline;
mod units;
mod volume;

use ferrio_job::{Diagnostic, Plan};
use ferrio_jobfile::{JobSet, Problems};

pub use facts::{Facts, FileFacts, WholeRun};
pub use hosts::{CheckedHost, HostsReport};
pub use model::{CheckStatus, EndTrigger, Report, RiskSeverity};
pub use risks::codes;
pub use text::text;

use model::{CheckError, CheckedOrigin};

/// Reports the effects of a run of `plan`, made from `set`, on the machine that `facts` describes. `trigger` may end the run early.
#[must_use]
pub fn check(set: &JobSet, plan: &Plan, facts: &Facts, trigger: Option<EndTrigger>) -> Report {
    let sections = section::sections(set, plan);
    let mut report = build::report(set, plan, facts, &sections, trigger);
    report.risks = risks::find(&risks::RiskContext::new(set, plan, facts, &sections, &report));
    // A risk replaces the note with the same code.
    let is_covered = |note: &Diagnostic| report.risks.iter().any(|risk| risk.code == note.code);
    let notes = plan.diagnostics.iter().filter(|note| !is_covered(note));
    report.notes = notes.map(|note| note.message.clone()).collect();
    report.status = report.verdict();
    report
}

/// Reports jobs that a run would refuse.
#[must_use]
pub fn refused(problems: &Problems) -> Report {
    let of = |severity| problems.diagnostics.iter().filter(move |diagnostic| diagnostic.severity == severity);
    let problem = |diagnostic: &Diagnostic| CheckError {
        message: diagnostic.message.clone(),
        job: None,
        origin: CheckedOrigin::of(&diagnostic.origin, &problems.sources),
        help: risks::advice(diagnostic),
    };
    Report {
        status: CheckStatus::Errors,
        risks: of(ferrio_job::Severity::Warning)
            .map(|diagnostic| risks::notice(diagnostic, &problems.sources))
            .collect(),
        errors: of(ferrio_job::Severity::Error).map(problem).collect(),
        ..build::empty()
    }
}

/// The report as one JSON document.
#[must_use]
pub fn json(report: &Report) -> String {
    // Serialization fails only for maps with keys other than strings, and a report contains no maps.
    let mut text = serde_json::to_string_pretty(report).unwrap_or_default();
    text.push('\n');
    text
}
