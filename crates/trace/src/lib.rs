//! I/O logs: one line of text per I/O of a job, in fio's format, versions 2 and 3.
//!
//! The first line names the version. Lines add, open and close files; the line of an I/O has the file's name, an action, an offset
//! and a length. In version 3 each line begins with the microseconds since the job opened the log; version 2 has no times. A log
//! that was appended to has headers in the middle.
#![forbid(unsafe_code)]

mod writer;

pub use ferrio_job::IologVersion;
pub use writer::{LogError, Writer};

/// What a line says of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileAction {
    /// The file takes part; comes before anything else of it.
    Add,
    /// I/O may follow.
    Open,
    /// No I/O follows until it is opened again.
    Close,
}

impl FileAction {
    /// The word in the log.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            FileAction::Add => "add",
            FileAction::Open => "open",
            FileAction::Close => "close",
        }
    }
}

/// What a line says that was done to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IoAction {
    /// Data was read.
    Read,
    /// Data was written.
    Write,
    /// A range was discarded.
    Trim,
    /// fsync(2)
    Sync,
    /// fdatasync(2)
    Datasync,
    /// sync_file_range(2)
    SyncFileRange,
}

impl IoAction {
    /// The word in the log.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            IoAction::Read => "read",
            IoAction::Write => "write",
            IoAction::Trim => "trim",
            IoAction::Sync => "sync",
            IoAction::Datasync => "datasync",
            IoAction::SyncFileRange => "sync_file_range",
        }
    }
}
