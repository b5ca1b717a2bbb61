//! Why a worker or the layout gave up: the error for the report, and lines that help the user.

use std::io;

use ferrio_job::{Diagnostic, Prefix};

use crate::result::JobError;

/// An error on its way from a worker to main.
#[derive(Debug)]
pub(crate) struct Failure {
    /// What the report prints.
    pub(crate) error: JobError,
    /// What else the user should know, about this job.
    pub(crate) notes: Vec<Diagnostic>,
}

impl Failure {
    /// A failure noticed by the caller.
    #[track_caller]
    pub(crate) fn new(errno: i32, func: impl Into<String>) -> Self {
        Failure { error: JobError::new(errno, func), notes: Vec::new() }
    }

    /// A failed system call noticed by the caller.
    #[track_caller]
    pub(crate) fn from_io(error: &io::Error, func: impl Into<String>) -> Self {
        Failure { error: JobError::from_io(error, func), notes: Vec::new() }
    }

    /// A failure of engine code, which knows the call's name itself.
    #[track_caller]
    pub(crate) fn from_engine(error: &ferrio_engine::EngineError) -> Self {
        let failure = Failure::new(error.errno(), error.func.clone());
        match &error.hint {
            Some(hint) => failure.note("engine-failed", hint.clone()),
            None => failure,
        }
    }

    /// A job for which no sequence of I/O can be made.
    #[track_caller]
    pub(crate) fn from_workload(error: &ferrio_workload::WorkloadError) -> Self {
        Failure::new(libc::EINVAL, "init workload").note("invalid-workload", error.to_string())
    }

    /// Adds a note for the user.
    pub(crate) fn note(mut self, code: &'static str, message: impl Into<String>) -> Self {
        self.notes.push(Diagnostic::note(message).code(code));
        self
    }

    /// Adds a note whose line begins with the name of the job.
    pub(crate) fn job_note(mut self, code: &'static str, message: impl Into<String>) -> Self {
        self.notes.push(Diagnostic::note(message).code(code).prefix(Prefix::Job));
        self
    }
}
