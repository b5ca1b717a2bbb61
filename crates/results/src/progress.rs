//! The state of a run and its jobs while they run.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Makes [`JobState`] from its table.
macro_rules! job_states {
    ($($(#[$doc:meta])* $state:ident: $word:literal;)+) => {
        /// State of a job, for the live line.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
        pub enum JobState {
            $($(#[$doc])* $state,)+
        }

        impl JobState {
            /// All states, indexed by their number.
            pub const ALL: &[JobState] = &[$(JobState::$state),+];

            /// The state in words, for people.
            #[must_use]
            pub const fn word(self) -> &'static str {
                match self {
                    $(JobState::$state => $word,)+
                }
            }
        }
    };
}

job_states! {
    /// Waiting for its turn.
    NotCreated: "not started";
    /// Started, waiting for release.
    Initialized: "ready";
    /// Setting up its files.
    SettingUp: "setting up";
    /// Reading its files into the page cache.
    PreReading: "reading ahead";
    /// Inside its ramp time.
    Ramp: "ramp";
    /// Doing I/O.
    Running: "running";
    /// Reading back what was written.
    Verifying: "verifying";
    /// In a final fsync.
    Fsyncing: "fsync";
    /// After the last I/O: saving state, running `exec_postrun`, closing and removing files.
    Finishing: "finishing";
    /// Ended.
    Reaped: "ended";
    /// Ended with an error.
    Failed: "failed";
}

/// The state of all jobs of a run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Progress {
    /// Since the run began.
    pub elapsed: Duration,
    /// One entry per job of the plan, in order.
    pub jobs: Vec<JobProgress>,
}

/// The state of one job.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct JobProgress {
    /// The current state.
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
