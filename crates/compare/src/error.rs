//! Why reports and logs cannot be read.

use std::io;
use std::path::PathBuf;

use ferrio_logs::LogReadError;
use ferrio_sysbench::report::{DocumentError, MergeError};

/// A reason why a side has no runs.
#[derive(Debug, thiserror::Error)]
pub enum SideError {
    /// A file or directory cannot be read.
    #[error("cannot read {}: {}", path.display(), ferrio_job::reason(error))]
    Io {
        /// The path.
        path: PathBuf,
        /// The error.
        error: io::Error,
    },
    /// A file is no report.
    #[error("{}: {error}", path.display())]
    NoReport {
        /// The path.
        path: PathBuf,
        /// The error.
        error: ferrio_report::ReadError,
    },
    /// A document of sysbench is damaged, or too new.
    #[error("{}: {error}", path.display())]
    Sysbench {
        /// The path.
        path: PathBuf,
        /// The error.
        error: DocumentError,
    },
    /// A file is no document of sysbench.
    #[error("{} is no document of `ferrio sysbench --output-format=json`, and only such documents add up", path.display())]
    NotSysbench {
        /// The path.
        path: PathBuf,
    },
    /// Documents of sysbench do not add up.
    #[error(transparent)]
    Merge(#[from] MergeError),
    /// A log is damaged, or no log.
    #[error("cannot read {}: {error}", path.display())]
    Log {
        /// The path.
        path: PathBuf,
        /// The error.
        error: LogReadError,
    },
    /// A directory has no files that end with `.json`.
    #[error("{} has no files that end with .json", path.display())]
    Empty {
        /// The path.
        path: PathBuf,
    },
}
