//! Everything a run needs: its jobs and what holds for all of them.

use std::fmt;
use std::ops::Range;

use crate::{ClockSource, CompatRules, Diagnostic, JobSpec, Origin, Prefix, ReportedOptions};

/// A job that could not be set up (no size, bad offset...): it does no I/O, but it is reported and counted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetupError {
    /// Errno for the report, 0 when fio leaves the error field empty.
    pub errno: i32,
    /// The step that failed, in fio's `func=` words (`total_file_size`).
    pub func: &'static str,
    /// The problem and what to do.
    pub message: String,
    /// The beginning of the message's line.
    pub prefix: Prefix,
}

impl SetupError {
    /// An error whose line begins with the name of the job.
    pub fn new(errno: i32, func: &'static str, message: impl Into<String>) -> Self {
        SetupError { errno, func, message: message.into(), prefix: Prefix::Job }
    }

    /// Sets what the line of the message begins with.
    #[must_use]
    pub fn prefix(self, prefix: Prefix) -> Self {
        SetupError { prefix, ..self }
    }

    /// The message to the user about the job of this name.
    pub fn diagnostic(&self, job: &str) -> Diagnostic {
        Diagnostic::note(&self.message).code("job-not-set-up").prefix(self.prefix).job(job)
    }
}

/// A job of the plan: resolved, or resolved as far as possible with the reason why it cannot run.
#[derive(Clone, Debug, PartialEq)]
pub struct PlannedJob {
    /// The job.
    pub spec: JobSpec,
    /// The reason why it cannot run.
    pub setup_error: Option<SetupError>,
}

/// A section of a job file, or a job of the command line: what a person wrote once, with its clones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedSection {
    /// Name that its jobs are printed with.
    pub name: String,
    /// Where it begins.
    pub origin: Origin,
    /// The clones in [`Plan::jobs`], the original first; never empty.
    pub jobs: Range<usize>,
    /// Report group, from 0.
    pub group: u32,
    /// Sections between two stonewalls run together: which of these phases it belongs to, from 1.
    pub phase: usize,
}

/// An option that changes nothing in any of the jobs it applies to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InertOption {
    /// The canonical name.
    pub option: &'static str,
    /// The reason why it has no effect, as a phrase without a full stop.
    pub reason: &'static str,
    /// Names of the jobs, each once.
    pub jobs: Vec<String>,
    /// Where it was given, each place once.
    pub origins: Vec<Origin>,
}

impl fmt::Display for InertOption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "option `{}` has no effect here: {}", self.option, self.reason)
    }
}

/// Everything a run needs.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// Jobs in creation order.
    pub jobs: Vec<PlannedJob>,
    /// The sections they come from, in order.
    pub sections: Vec<PlannedSection>,
    /// The number of phases of the run: other hosts may have jobs in more than this one.
    pub phases: usize,
    /// The clock of all of them; unless given, the time stamp counter if it is reliable, else the kernel.
    pub clock: Option<ClockSource>,
    /// `[global]` options for the JSON report.
    pub globals: ReportedOptions,
    /// Notes and warnings, in the order they were found.
    pub diagnostics: Vec<Diagnostic>,
    /// Options without effect, of which `diagnostics` has a note each.
    pub inert: Vec<InertOption>,
}

impl Plan {
    /// The decisions between fio's behaviour and ferrio's, which are those of all jobs.
    #[must_use]
    pub fn compat(&self) -> CompatRules {
        self.jobs.first().map(|job| job.spec.compat).unwrap_or_default()
    }
}
