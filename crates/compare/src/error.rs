//! Why reports and logs cannot be read.

use std::io;
use std::path::PathBuf;

use ferrio_logs::LogReadError;

/// Why a side has no runs.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// A file or directory cannot be read.
    #[error("cannot read {}: {}", path.display(), ferrio_job::reason(error))]
    Io {
        /// The file or directory.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// A file is no report.
    #[error("{}: {error}", path.display())]
    NoReport {
        /// The file.
        path: PathBuf,
        /// Why.
        error: ferrio_report::ReadError,
    },
    /// A log is damaged, or no log.
    #[error("cannot read {}: {error}", path.display())]
    Log {
        /// The file.
        path: PathBuf,
        /// Why.
        error: LogReadError,
    },
    /// A directory has no files with the ending `.json`.
    #[error("{} has no files that end with .json", path.display())]
    Empty {
        /// The directory.
        path: PathBuf,
    },
}
