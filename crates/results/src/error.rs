//! Errors of jobs.

use std::borrow::Cow;
use std::io;
use std::panic::Location;
use std::path::PathBuf;

use ferrio_job::Direction;
use ferrio_verify::InvalidBlock;
use serde::{Deserialize, Serialize};

/// The error of a job, in the words of fio's report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobError {
    /// Errno; 0 for a failure that fio reports without a number (it counts as failed all the same).
    pub errno: i32,
    /// The failed call or step (`io_u error`, `open(FILE)`, `total_file_size`).
    pub func: String,
    /// Source file name of the place that noticed.
    pub file: Cow<'static, str>,
    /// Line in it.
    pub line: u32,
    /// The failure of an event, for a job whose work is counted in events.
    pub event: Option<Box<EventFailure>>,
}

impl JobError {
    /// An error noticed by the caller.
    #[track_caller]
    #[must_use]
    pub fn new(errno: i32, func: impl Into<String>) -> Self {
        let place = Location::caller();
        let file = place.file().rsplit('/').next().unwrap_or_default();
        JobError { errno, func: func.into(), file: file.into(), line: place.line(), event: None }
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

/// A failure of an event, or of the files of all events.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum EventFailure {
    /// A file cannot be opened.
    Open {
        /// Path of the file.
        path: PathBuf,
        /// The error.
        errno: i32,
    },
    /// A file that must be new cannot be made.
    Create {
        /// Path of the file.
        path: PathBuf,
        /// The error.
        errno: i32,
    },
    /// A file is shorter than its share.
    TooShort {
        /// Path of the file.
        path: PathBuf,
        /// Bytes that it has.
        size: u64,
        /// Bytes that it needs.
        expected: u64,
    },
    /// A read or a write failed, or moved less than all of its bytes.
    Transfer {
        /// Read or write.
        direction: Direction,
        /// Index of the file.
        file: u32,
        /// Where in the file.
        offset: u64,
        /// The error; 0 if only a part was moved.
        errno: i32,
    },
    /// A sync failed.
    Sync {
        /// Index of the file.
        file: u32,
        /// The error.
        errno: i32,
    },
    /// A block that was read is not what was written.
    Block {
        /// Index of the file.
        file: u32,
        /// Where in the file.
        offset: u64,
        /// The wrong part of the block.
        problem: InvalidBlock,
    },
}
