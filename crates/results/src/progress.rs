//! The state of a run and its jobs while they run.

use std::time::Duration;

/// State of a job, for the live line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobState {
    /// Waiting for its turn.
    NotCreated,
    /// Started, waiting for release.
    Initialized,
    /// Setting up its files.
    SettingUp,
    /// Reading its files into the page cache.
    PreReading,
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
            JobState::PreReading => "reading ahead",
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

/// The state of all jobs of a run.
#[derive(Clone, Debug)]
pub struct Progress {
    /// Since the run began.
    pub elapsed: Duration,
    /// One entry per job of the plan, in order.
    pub jobs: Vec<JobProgress>,
}

/// The state of one job.
#[derive(Clone, Copy, Debug)]
pub struct JobProgress {
    /// The present state.
    pub state: JobState,
    /// Since the job began to do I/O, zero before.
    pub elapsed: Duration,
    /// Since it began to be measured, at its start or the end of its ramp; zero before.
    pub measured: Duration,
    /// Bytes done per direction, ramp included.
    pub bytes: [u64; 3],
    /// I/Os done per direction, ramp included.
    pub ios: [u64; 3],
    /// Transactions done as a session of a model of a database, ramp included.
    pub transactions: u64,
    /// Files it has open.
    pub open_files: u32,
}
