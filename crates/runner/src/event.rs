//! What a run tells while it goes on. The observer is called on the main thread only.

use std::time::Duration;

use ferrio_job::Diagnostic;

use crate::result::{JobError, RunResult};

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
    /// the defaults. A job whose `start_ms` changed since an earlier report has begun anew: its ramp is over.
    Interim(&'a RunResult),
    /// The same at each [`RunOptions::interval`](crate::RunOptions::interval).
    Interval(&'a RunResult),
}

/// State of a job for the live line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobState {
    /// Waiting for its turn.
    NotCreated,
    /// Started, waiting for release.
    Initialized,
    /// Setting up its files.
    SettingUp,
    /// Inside its ramp time.
    Ramp,
    /// Doing I/O.
    Running,
    /// Reading back what was written.
    Verifying,
    /// In a final fsync.
    Fsyncing,
    /// Doing what comes after the last I/O.
    Finishing,
    /// Ended.
    Reaped,
    /// Ended with an error.
    Failed,
}

impl JobState {
    /// The state in words, for people.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            JobState::NotCreated => "not started",
            JobState::Initialized => "ready",
            JobState::SettingUp => "setting up",
            JobState::Ramp => "ramp",
            JobState::Running => "running",
            JobState::Verifying => "verifying",
            JobState::Fsyncing => "fsync",
            JobState::Finishing => "finishing",
            JobState::Reaped => "ended",
            JobState::Failed => "failed",
        }
    }
}

/// A look at all jobs of the run.
#[derive(Clone, Debug)]
pub struct Progress {
    /// Since the run began.
    pub elapsed: Duration,
    /// One entry per job of the plan, in order.
    pub jobs: Vec<JobProgress>,
}

/// A look at one job.
#[derive(Clone, Copy, Debug)]
pub struct JobProgress {
    /// Its state.
    pub state: JobState,
    /// Since the job began to do I/O, zero before.
    pub elapsed: Duration,
    /// Since it began to be measured, at its start or the end of its ramp; zero before.
    pub measured: Duration,
    /// Bytes done per direction, ramp included.
    pub bytes: [u64; 3],
    /// I/Os done per direction, ramp included.
    pub ios: [u64; 3],
    /// Files it has open.
    pub open_files: u32,
}
