//! Errors of entries of a log or trace that are no step of a replay.

use crate::IologReadError;

/// A problem with a log that appears during reading.
#[derive(Debug, thiserror::Error)]
pub enum StepError {
    /// A line is skipped.
    #[error("{message}")]
    Skipped {
        /// The number of the line, from 1.
        line: u64,
        /// The problem.
        message: String,
    },
    /// A request has nothing to replay.
    #[error("{message}")]
    LeftOut {
        /// The number of the line or record, from 1.
        line: u64,
        /// Description of the request.
        message: String,
    },
    /// The log cannot be replayed.
    #[error("line {line}: {message}")]
    Unusable {
        /// The number of the line, from 1.
        line: u64,
        /// The problem.
        message: String,
    },
    /// The log cannot be read.
    #[error(transparent)]
    Unreadable(#[from] IologReadError),
}

/// A problem with a line.
#[derive(Debug)]
pub enum EntryProblem {
    /// The line is skipped.
    Skipped(String),
    /// The log cannot be replayed.
    Unusable(String),
}

impl EntryProblem {
    pub(crate) fn in_line(self, line: u64) -> StepError {
        match self {
            EntryProblem::Skipped(message) => StepError::Skipped { line, message },
            EntryProblem::Unusable(message) => StepError::Unusable { line, message },
        }
    }
}
