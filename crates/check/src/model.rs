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

/// The result of a check.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Report {
    /// [`VERSION`].
    pub version: u32,
    /// `ferrio` and its version.
    pub program: String,
    /// The verdict in one word.
    pub status: CheckStatus,
    /// Sums over all jobs.
    pub totals: CheckTotals,
    /// Triggers that end the run from outside.
    pub trigger: Option<EndTrigger>,
    /// Phases, in order.
    pub phases: Vec<Phase>,
    /// Sections of the job files and jobs of the command line, in order.
    pub jobs: Vec<CheckedJob>,
    /// File systems and devices that the jobs use.
    pub places: Vec<CheckedPlace>,
    /// CPUs, memory and limits; `None` when there is no run.
    pub machine: Option<Resources>,
    /// Changes and observations of the planner.
    pub notes: Vec<String>,
    /// Possible failures and misleading figures; warnings first.
    pub risks: Vec<Risk>,
    /// Reasons why a run would refuse to start, or jobs that would fail at once.
    pub errors: Vec<CheckError>,
}

impl Report {
    /// The verdict that errors and risks lead to.
    pub(crate) fn verdict(&self) -> CheckStatus {
        match self.risks.iter().map(|risk| risk.severity).min() {
            _ if !self.errors.is_empty() => CheckStatus::Errors,
            Some(RiskSeverity::Error) => CheckStatus::Errors,
            Some(RiskSeverity::Warning) => CheckStatus::Warnings,
            Some(RiskSeverity::Info) | None => CheckStatus::Clean,
        }
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
    /// Number of their clones.
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
    /// The reason why it waits for the previous phase; `None` for the first.
    pub waits_because: Option<PhaseBarrier>,
    /// Indices into `jobs`.
    pub jobs: Vec<usize>,
    /// From its start to the end of its last job.
    pub time: TimeSpan,
}

/// A separator of phases.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum PhaseBarrier {
    /// The option `stonewall` (or `wait_for_previous`).
    Stonewall,
    /// The start of the next job file.
    NextFile,
}

/// Numbers of bytes that are moved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Volume {
    /// Read, without verification; `None` if only time ends the job.
    pub read: Option<u64>,
    /// Written.
    pub write: Option<u64>,
    /// Trimmed.
    pub trim: Option<u64>,
    /// Read back by verification.
    pub verify: Option<u64>,
    /// The certainty of these numbers.
    pub certainty: Certainty,
}

/// The certainty of a figure.
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
    /// The certainty of a sum.
    pub(crate) fn plus(self, other: Certainty) -> Certainty {
        match (self, other) {
            (Certainty::AtMost, Certainty::AtLeast) | (Certainty::AtLeast, Certainty::AtMost) => {
                Certainty::About
            }
            (one, other) => one.max(other),
        }
    }

    /// The words before a figure of this certainty.
    pub(crate) const fn hedge(self) -> &'static str {
        match self {
            Certainty::Exact | Certainty::Unknown => "",
            Certainty::About => "about ",
            Certainty::AtMost => "at most ",
            Certainty::AtLeast => "at least ",
        }
    }
}

/// A length of time in seconds.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct TimeSpan {
    /// At least.
    pub least_seconds: f64,
    /// At most; `None` if only the work ends it.
    pub most_seconds: Option<f64>,
    /// The reason why there is no upper bound.
    pub unbounded_because: Option<String>,
}

/// The severity of a risk.
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

/// A risk of the run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Risk {
    /// A stable name for scripts.
    pub code: &'static str,
    /// How serious it is.
    pub severity: RiskSeverity,
    /// Names of the jobs, each once.
    pub jobs: Vec<String>,
    /// The options that cause it.
    pub origins: Vec<CheckedOrigin>,
    /// The risk.
    pub message: String,
    /// The remedy.
    pub advice: String,
}

/// The place of an option or argument.
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
    /// `None` for built-in values.
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

/// A job that cannot run, or a run that cannot start.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CheckError {
    /// The mistake.
    pub message: String,
    /// The job that would fail, if it is a single one.
    pub job: Option<String>,
    /// The place of the mistake.
    pub origin: Option<CheckedOrigin>,
    /// The remedy.
    pub help: Option<String>,
}
