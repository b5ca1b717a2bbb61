//! Why an entry of a log or trace is no step of a replay.

use crate::ReadError;

/// What is wrong with a log while it is read.
#[derive(Debug, thiserror::Error)]
pub enum StepError {
    /// A line is passed over.
    #[error("{message}")]
    Skipped {
        /// The number of the line, from 1.
        line: u64,
        /// What is wrong with it.
        message: String,
    },
    /// A request has nothing to replay.
    #[error("{message}")]
    LeftOut {
        /// The number of the line or record, from 1.
        line: u64,
        /// Which one.
        message: String,
    },
    /// The log cannot be replayed.
    #[error("line {line}: {message}")]
    Unusable {
        /// The number of the line, from 1.
        line: u64,
        /// What is wrong with it.
        message: String,
    },
    /// It cannot be read.
    #[error(transparent)]
    Unreadable(#[from] ReadError),
}

/// What is wrong with a line.
#[derive(Debug)]
pub enum Problem {
    /// It is passed over.
    Skipped(String),
    /// The log cannot be replayed.
    Unusable(String),
}

impl Problem {
    pub(crate) fn in_line(self, line: u64) -> StepError {
        match self {
            Problem::Skipped(message) => StepError::Skipped { line, message },
            Problem::Unusable(message) => StepError::Unusable { line, message },
        }
    }
}
