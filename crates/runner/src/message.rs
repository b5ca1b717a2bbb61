//! What workers and the signal thread send to main.

use ferrio_job::Diagnostic;

use crate::result::JobResult;

/// What workers (and the signal thread) tell main.
#[derive(Debug)]
pub(crate) enum Message {
    /// The job is set up and waits at the gate.
    Ready,
    /// What the user should know: lines that belong together.
    Diagnostics(Vec<Diagnostic>),
    /// The job ended; nothing follows from it.
    Ended {
        /// Which job.
        index: usize,
        /// Its outcome.
        result: Box<JobResult>,
        /// False when it failed before it could open its files.
        set_up: bool,
    },
    /// Figures of a job that runs, for whom they were asked.
    Figures {
        /// Which job.
        index: usize,
        /// Its figures.
        snapshot: Box<Snapshot>,
    },
    /// A signal arrived that ends the run.
    Signal(i32),
    /// A signal arrived that asks for a report.
    ReportWanted,
}

/// What a job has come to at one moment.
#[derive(Debug, Default)]
pub(crate) struct Snapshot {
    /// Its figures so far.
    pub(crate) result: JobResult,
    /// Clock ticks when they began.
    pub(crate) since: u64,
    /// Clock ticks when they were taken.
    pub(crate) taken: u64,
}

impl Snapshot {
    /// True if it shows an earlier moment than `other`, or a time before the ramp ended.
    pub(crate) fn is_older_than(&self, other: &Snapshot) -> bool {
        (self.since, self.taken) < (other.since, other.taken)
    }
}
