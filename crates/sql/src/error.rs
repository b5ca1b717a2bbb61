//! Why a statement failed.

use std::io;

use thiserror::Error;

/// An error of a connection or a statement.
#[derive(Debug, Error)]
pub enum SqlError {
    /// There is no connection to begin with: nobody listens, or the name is unknown.
    #[error("{0}")]
    Unreachable(io::Error),
    /// The server answers with an error; at the login too.
    #[error(transparent)]
    Server(ServerError),
    /// The connection ended in the middle.
    #[error("{0}")]
    Lost(String),
    /// What was asked cannot be sent to this database.
    #[error("{0}")]
    Unsupported(String),
}

/// An error in a server's words.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{message}")]
pub struct ServerError {
    /// Its number, for databases that have one (1213 for a deadlock in MySQL); 0 for the others.
    pub code: u32,
    /// The five characters of the SQL standard (`40001`).
    pub state: String,
    /// The message.
    pub message: String,
    /// The server has closed the connection with it.
    pub is_fatal: bool,
}

impl SqlError {
    /// The connection cannot be used any more.
    pub fn is_fatal(&self) -> bool {
        match self {
            SqlError::Unreachable(_) | SqlError::Lost(_) => true,
            SqlError::Server(error) => error.is_fatal,
            SqlError::Unsupported(_) => false,
        }
    }

    pub(crate) fn no_statement() -> SqlError {
        SqlError::Unsupported(
            "the statement is closed, or was prepared before the last reconnection".to_owned(),
        )
    }

    pub(crate) fn wrong_values(values: usize, parameters: usize) -> SqlError {
        SqlError::Unsupported(format!("{values} values for a statement with {parameters} parameters"))
    }
}
