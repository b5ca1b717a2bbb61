//! The result of a check: the fields of the JSON output, from which the text is rendered too.
//!
//! `docs/check.md` documents it. Fields are only added; a change of meaning raises [`VERSION`].

mod database;
mod job;
mod storage;

use ferrio_job::Origin;
use ferrio_jobfile::{Sources, masked};
use ferrio_machine::Resources;
use serde::Serialize;

pub use database::*;
pub use job::*;
pub use storage::*;

/// Version of the JSON output.
pub const VERSION: u32 = 1;

/// Everything a check found.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// [`VERSION`].
    pub version: u32,
    /// `ferrio` and its version.
    pub program: String,
    /// The verdict in one word.
    pub status: CheckStatus,
    /// Sums over all jobs.
    pub totals: CheckTotals,
    /// What ends the run from outside.
    pub trigger: Option<EndTrigger>,
    /// Phases, in order.
    pub phases: Vec<Phase>,
    /// Sections of the job files and jobs of the command line, in order.
    pub jobs: Vec<CheckedJob>,
    /// File systems and devices that the jobs use.
    pub places: Vec<CheckedPlace>,
    /// CPUs, memory and limits; `None` when there is no run.
    pub machine: Option<Resources>,
    /// What planning changed or noticed.
    pub notes: Vec<String>,
    /// What may go wrong or make figures misleading; warnings first.
    pub risks: Vec<Risk>,
    /// Why a run would refuse to start, or which jobs would fail at once.
    pub errors: Vec<CheckError>,
}

impl Report {
    /// True when a run would not start, or a job would fail at once.
    #[must_use]
    pub fn has_errors(&self) -> bool {
        !self.errors.is_empty() || self.risks.iter().any(|risk| risk.severity == RiskSeverity::Error)
    }

    /// True when any risk is a warning.
    #[must_use]
    pub fn has_warnings(&self) -> bool {
        self.risks.iter().any(|risk| risk.severity == RiskSeverity::Warning)
    }
}

/// The verdict.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum CheckStatus {
    /// No errors and no warnings.
    #[default]
    Clean,
    /// There are warnings.
    Warnings,
    /// A run would not start, or one of its jobs would fail.
    Errors,
}

/// Sums over all jobs.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct CheckTotals {
    /// Sections.
    pub jobs: usize,
    /// Their clones.
    pub instances: usize,
    /// Bytes moved by all jobs.
    pub volume: Volume,
    /// Bytes that files grow by before the run.
    pub create_bytes: u64,
    /// From the first start to the last end, without the layout of files.
    pub time: TimeSpan,
}

/// The jobs from one stonewall to the next.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Phase {
    /// From 1.
    pub number: usize,
    /// Why it waits for the previous phase; `None` for the first.
    pub waits_because: Option<Barrier>,
    /// Indices into `jobs`.
    pub jobs: Vec<usize>,
    /// From its start to the end of its last job.
    pub time: TimeSpan,
}

/// What separates phases.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Barrier {
    /// The option `stonewall` (or `wait_for_previous`).
    Stonewall,
    /// A further job file begins.
    NextFile,
}

/// How many bytes are moved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Volume {
    /// Read, without verification; `None` when only time ends the job.
    pub read: Option<u64>,
    /// Written.
    pub write: Option<u64>,
    /// Trimmed.
    pub trim: Option<u64>,
    /// Read back by verification.
    pub verify: Option<u64>,
    /// How exact the figures are.
    pub certainty: Certainty,
}

/// How exact a figure is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Certainty {
    /// Exact.
    #[default]
    Exact,
    /// Approximate: a random mix, or blocks of random sizes.
    About,
    /// An upper bound: something may end the job early.
    AtMost,
    /// A lower bound: only the beginning of a log was read.
    AtLeast,
    /// Unknown: only time ends the job.
    Unknown,
}

impl Certainty {
    /// How exact the sum of two figures is.
    pub(crate) fn plus(self, other: Certainty) -> Certainty {
        match (self, other) {
            (Certainty::AtMost, Certainty::AtLeast) | (Certainty::AtLeast, Certainty::AtMost) => {
                Certainty::About
            }
            (one, other) => one.max(other),
        }
    }
}

/// A length of time in seconds.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct TimeSpan {
    /// At least.
    pub least_seconds: f64,
    /// At most; `None` when only the work ends it.
    pub most_seconds: Option<f64>,
    /// Why there is no upper bound.
    pub unbounded_because: Option<String>,
}

/// How serious a risk is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum RiskSeverity {
    /// A job fails at once.
    Error,
    /// Data is lost, a job may fail, or figures are misleading.
    Warning,
    /// Worth knowing.
    Info,
}

/// One thing that may go wrong.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Risk {
    /// Stable name.
    pub code: &'static str,
    /// Severity.
    pub severity: RiskSeverity,
    /// Names of the jobs, each once.
    pub jobs: Vec<String>,
    /// Where the options that cause it were given.
    pub origins: Vec<CheckedOrigin>,
    /// What may go wrong.
    pub message: String,
    /// What to do.
    pub advice: String,
}

/// Where something was written.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct CheckedOrigin {
    /// Job file, `None` for the command line.
    pub file: Option<String>,
    /// Line, from 1.
    pub line: Option<u32>,
    /// Column in characters, from 1.
    pub column: Option<u32>,
    /// The line or the argument.
    pub text: String,
}

impl CheckedOrigin {
    /// The place of an origin, `None` for built-in values.
    pub(crate) fn of(origin: &Origin, sources: &Sources) -> Option<CheckedOrigin> {
        match origin {
            Origin::File { source, line, column, .. } => Some(CheckedOrigin {
                file: Some(sources.name(*source).to_owned()),
                line: Some(*line),
                column: Some(*column),
                text: masked(sources.line(*source, *line).trim()).into_owned(),
            }),
            Origin::Argument { text, .. } => {
                Some(CheckedOrigin { file: None, line: None, column: None, text: masked(text).into_owned() })
            }
            Origin::Builtin => None,
        }
    }
}

/// An error.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CheckError {
    /// What is wrong.
    pub message: String,
    /// The job that would fail, if it is a single one.
    pub job: Option<String>,
    /// Where.
    pub origin: Option<CheckedOrigin>,
    /// What to do.
    pub help: Option<String>,
}
