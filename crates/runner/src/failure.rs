//! Why a worker or the layout gave up: the error for the report, and lines that help the user.

use std::io;

use crate::result::JobError;

/// An error on its way from a worker to main.
#[derive(Debug)]
pub(crate) struct Failure {
    /// What the report prints.
    pub(crate) error: JobError,
    /// More lines for stderr.
    pub(crate) notes: Vec<String>,
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
            Some(hint) => failure.note(hint.clone()),
            None => failure,
        }
    }

    /// A job for which no sequence of I/O can be made.
    #[track_caller]
    pub(crate) fn from_workload(error: &ferrio_workload::WorkloadError) -> Self {
        Failure::new(libc::EINVAL, "init workload").note(error.to_string())
    }

    /// Adds a line for the user.
    pub(crate) fn note(mut self, line: impl Into<String>) -> Self {
        self.notes.push(line.into());
        self
    }
}
