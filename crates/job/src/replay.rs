//! What a job with `read_iolog` does: the I/Os of a log, ready to be issued.

use std::path::PathBuf;

/// A log to replay, with the changes that `replay_*` options ask for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Replay {
    /// The files of the log, in the order they are added.
    pub files: Vec<PathBuf>,
    /// What is done, in order.
    pub steps: Vec<ReplayStep>,
}

/// One action of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReplayStep {
    /// When it is due, microseconds after the first step of the log; never less than that of the step before.
    pub due_us: u64,
    /// What is done.
    pub action: ReplayAction,
    /// Index of the file.
    pub file: u32,
    /// Bytes of an I/O, at least 1; else 0.
    pub len: u32,
    /// Where in the file, bytes; of a wait, milliseconds since the program started.
    pub offset: u64,
}

/// What a step of a log does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReplayAction {
    /// Opens the file.
    Open,
    /// Closes the file.
    Close,
    /// Reads.
    Read,
    /// Writes.
    Write,
    /// Trims.
    Trim,
    /// fsync(2)
    Sync,
    /// fdatasync(2)
    Datasync,
    /// Does nothing until this long after the program started.
    Wait,
}
