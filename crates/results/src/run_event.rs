//! Events that a run sends to its caller, on the main thread only.

use ferrio_job::Diagnostic;

use crate::{JobError, Progress, RunResult};

/// An event of a run.
#[derive(Debug)]
pub enum RunEvent<'a> {
    /// All jobs are known and about to start: how many count as threads and as processes.
    Starting {
        /// Jobs with `thread=1`.
        threads: usize,
        /// The others.
        processes: usize,
    },
    /// Files of a job are being created or extended.
    LayingOut {
        /// The job's name.
        job: &'a str,
        /// Files to lay out.
        files: usize,
        /// Bytes of the regions (offset + size) of those files.
        bytes: u64,
    },
    /// Jobs are set up and about to begin.
    Released,
    /// Something the user should know: a note, a failed I/O, a block that is not what was written.
    Diagnostic(Diagnostic),
    /// A job could not be set up or ended with an error.
    JobFailed {
        /// The job's name.
        job: &'a str,
        /// Thread id, 0 when no worker was started.
        pid: u32,
        /// The error.
        error: &'a JobError,
    },
    /// A signal ends the run.
    Terminating {
        /// Signal number.
        signal: i32,
    },
    /// The state of the running jobs, at least every 250 ms.
    Progress(&'a Progress),
    /// A report of the run so far is wanted now. Jobs that ended have their final figures, running ones those up to now, and all others
    /// the defaults. A job whose `start_ms` changed since an earlier report has started again: its ramp is over.
    Interim(&'a RunResult),
    /// One of the requested intervals has passed.
    Interval {
        /// Index of the interval in the list of the caller.
        which: usize,
        /// The run so far.
        result: &'a RunResult,
    },
}
