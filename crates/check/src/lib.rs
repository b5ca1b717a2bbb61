//! What a run would do, and what speaks against it, without running.
//!
//! [`Facts::ask`] looks at the machine, [`check`] puts plan and facts together into a [`Report`], [`text`] and [`json`] show it.
//! Nothing is created, written or opened for I/O. Every risk is one function below `risks`, with a code that stays.
#![forbid(unsafe_code)]

mod build;
mod facts;
mod life;
mod logs;
pub mod model;
mod risks;
mod section;
#[cfg(test)]
mod testing;
mod text;
mod timeline;
mod units;
mod volume;

use ferrio_job::Plan;
use ferrio_job::{Diagnostic, Origin};
use ferrio_jobfile::{JobSet, Problems, Sources};

pub use facts::{Facts, FileFacts};
pub use model::{Report, Severity, Status, Trigger};
pub use risks::codes;
pub use text::text;

use model::{Problem, Spot};

/// What a run of `plan`, made from `set`, would do on a machine like `facts`; `trigger` is what ends it from outside.
#[must_use]
pub fn check(set: &JobSet, plan: &Plan, facts: &Facts, trigger: Option<Trigger>) -> Report {
    let sections = section::sections(set, plan);
    let mut report = build::report(set, plan, facts, &sections, trigger);
    report.risks = risks::find(&risks::Run::new(set, plan, facts, &sections, &report));
    // A risk says more than the note of the same kind.
    let is_told = |note: &Diagnostic| report.risks.iter().any(|risk| risk.code == note.code);
    let notes = plan.diagnostics.iter().filter(|note| !is_told(note));
    report.notes = notes.map(|note| note.message.clone()).collect();
    report.status = if !report.errors.is_empty() {
        Status::Errors
    } else if report.has_warnings() {
        Status::Warnings
    } else {
        Status::Clean
    };
    report
}

/// The report on jobs that a run would refuse.
#[must_use]
pub fn refused(problems: &Problems) -> Report {
    let of = |severity| problems.diagnostics.iter().filter(move |diagnostic| diagnostic.severity == severity);
    let problem = |diagnostic: &Diagnostic| Problem {
        message: diagnostic.message.clone(),
        job: None,
        origin: spot(&diagnostic.origin, &problems.sources),
        help: advice(diagnostic),
    };
    Report {
        status: Status::Errors,
        risks: of(ferrio_job::Severity::Warning)
            .map(|diagnostic| risks::notice(diagnostic, &problems.sources))
            .collect(),
        errors: of(ferrio_job::Severity::Error).map(problem).collect(),
        ..build::empty()
    }
}

/// The text beside the caret and the help below it.
fn advice(diagnostic: &Diagnostic) -> Option<String> {
    let label = Some(diagnostic.label.clone()).filter(|label| !label.is_empty());
    match (label, diagnostic.help.clone()) {
        (Some(label), Some(help)) => Some(format!("{label}; {help}")),
        (label, help) => label.or(help),
    }
}

/// The report as one JSON document.
#[must_use]
pub fn json(report: &Report) -> String {
    // Serializing fails only for maps whose keys are no text, and there is no map in a report.
    let mut text = serde_json::to_string_pretty(report).unwrap_or_default();
    text.push('\n');
    text
}

/// Where something was written, in the reader's terms.
fn spot(origin: &Origin, sources: &Sources) -> Option<Spot> {
    match origin {
        Origin::File { source, line, column, .. } => Some(Spot {
            file: Some(sources.name(*source).to_owned()),
            line: Some(*line),
            column: Some(*column),
            text: sources.line(*source, *line).trim().to_owned(),
        }),
        Origin::Argument { text, .. } => {
            Some(Spot { file: None, line: None, column: None, text: text.clone() })
        }
        Origin::Builtin => None,
    }
}
