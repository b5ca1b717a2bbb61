//! The failure of a worker or of the layout: the error for the report, and lines that help the user.

use std::io;

use ferrio_job::{Diagnostic, Prefix};
use ferrio_results::{EventFailure, JobError};

/// An error on its way from a worker to main.
#[derive(Debug)]
pub(crate) struct Failure {
    /// The error in the report.
    pub(crate) error: JobError,
    /// Advice for the user, about this job.
    pub(crate) notes: Vec<Diagnostic>,
    /// In fio, a job that fails for this reason does nothing and counts as successful.
    pub(crate) excusable: bool,
}

impl Failure {
    /// A failure noticed by the caller.
    #[track_caller]
    pub(crate) fn new(errno: i32, func: impl Into<String>) -> Self {
        Failure { error: JobError::new(errno, func), notes: Vec::new(), excusable: false }
    }

    /// A failed call noticed by the caller, with its reason in words if it is no errno.
    #[track_caller]
    pub(crate) fn from_io(error: &io::Error, func: impl Into<String>) -> Self {
        let failure = Failure { error: JobError::from_io(error, func), notes: Vec::new(), excusable: false };
        match error.get_ref() {
            Some(reason) => failure.note("engine-failed", reason.to_string()),
            None => failure,
        }
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

    /// The buffer of an I/O is with a thread of `verify_async`. Units whose buffer is lent are not used, so this is a defect of the loop, which
    /// must not lead to a check of other data.
    #[cold]
    #[track_caller]
    pub(crate) fn slot_is_lent() -> Self {
        Failure::new(libc::EBUSY, "async_verify")
    }

    /// Something went wrong in an event, or with the files of all events.
    #[track_caller]
    pub(crate) fn of_event(errno: i32, func: impl Into<String>, event: EventFailure) -> Self {
        let mut failure = Failure::new(errno, func);
        failure.error.event = Some(Box::new(event));
        failure
    }

    /// The failure for a reason that fio excuses.
    pub(crate) fn excusable(self) -> Self {
        Failure { excusable: true, ..self }
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
