//! What a run tells while it goes on. The observer is called on the main thread only.

use ferrio_job::Diagnostic;

use crate::failure::JobError;
use crate::progress::Progress;
use crate::result::RunResult;

/// One thing that happened.
#[derive(Debug)]
pub enum Event<'a> {
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
    /// A look at the running jobs, at least every 250 ms.
    Progress(&'a Progress),
    /// A report of the run so far is wanted now. Jobs that ended have their final figures, running ones those up to now, and all others
    /// the defaults. A job whose `start_ms` changed since an earlier report has started again: its ramp is over.
    Interim(&'a RunResult),
    /// The same at each [`RunOptions::interval`](crate::RunOptions::interval).
    Interval(&'a RunResult),
}
