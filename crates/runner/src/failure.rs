//! Why a worker or the layout failed: the error for the report, and lines that help the user.

use std::io;
use std::panic::Location;

use ferrio_job::{Diagnostic, Prefix};

use crate::events::EventFailure;

/// Why a job failed, in the words of fio's report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobError {
    /// Errno; 0 for a failure that fio reports without a number (it counts as failed all the same).
    pub errno: i32,
    /// What failed (`io_u error`, `open(FILE)`, `total_file_size`).
    pub func: String,
    /// Source file name of the place that noticed.
    pub file: &'static str,
    /// Line in it.
    pub line: u32,
    /// What went wrong in an event, for a job whose work is counted in them.
    pub event: Option<Box<EventFailure>>,
}

impl JobError {
    /// An error noticed by the caller.
    #[track_caller]
    #[must_use]
    pub fn new(errno: i32, func: impl Into<String>) -> Self {
        let place = Location::caller();
        let file = place.file().rsplit('/').next().unwrap_or_default();
        JobError { errno, func: func.into(), file, line: place.line(), event: None }
    }

    /// An error of a system call, noticed by the caller.
    #[track_caller]
    #[must_use]
    pub fn from_io(error: &io::Error, func: impl Into<String>) -> Self {
        JobError::new(error.raw_os_error().unwrap_or(libc::EIO), func)
    }
}

/// The error in the report of a job that continued after all of its errors.
#[must_use]
pub fn tolerated_error(errno: i32) -> JobError {
    JobError::new(errno, "xfer")
}

/// An error on its way from a worker to main.
#[derive(Debug)]
pub(crate) struct Failure {
    /// What the report prints.
    pub(crate) error: JobError,
    /// What else the user should know, about this job.
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
