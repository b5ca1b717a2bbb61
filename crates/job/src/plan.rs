//! Everything a run needs: its jobs and what holds for all of them.

use std::fmt;

use crate::{ClockSource, Diagnostic, JobSpec};

/// Options as the JSON report echoes them: canonical name and value text, in order of evaluation, repetitions kept.
pub type OptionEcho = Vec<(String, String)>;

/// A job that could not be set up (no size, bad offset...): it does no I/O, but it is reported and counted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetupError {
    /// Errno for the report, 0 when fio leaves the error field empty.
    pub errno: i32,
    /// What failed, in fio's `func=` words (`total_file_size`).
    pub func: &'static str,
    /// One line for stderr: what is wrong and what to do.
    pub message: String,
}

impl fmt::Display for SetupError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

/// A job of the plan: resolved, or resolved as far as possible with the reason why it cannot run.
#[derive(Clone, Debug, PartialEq)]
pub struct PlannedJob {
    /// The job.
    pub spec: JobSpec,
    /// Why it cannot run.
    pub setup_error: Option<SetupError>,
}

/// Everything a run needs.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// Jobs in creation order.
    pub jobs: Vec<PlannedJob>,
    /// The clock of all of them.
    pub clock: ClockSource,
    /// `[global]` options for the JSON report.
    pub globals: OptionEcho,
    /// Things the user should know that stop nothing, in the order they were found.
    pub diagnostics: Vec<Diagnostic>,
}
