//! Reasons why snapshots are not enough for a job file.

/// Why no job file can be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StatusError {
    /// The text has no counter of the server.
    #[error("it has none of the variables and counters that {query} prints")]
    Nothing {
        /// What prints them.
        query: &'static str,
    },
    /// One of the counters is missing.
    #[error("`{name}` is missing")]
    Missing {
        /// The names of counters of which one is needed.
        name: String,
        /// What prints it.
        query: &'static str,
    },
    /// The value of a counter is not a number.
    #[error("`{name}` is `{value}`, but a number is expected")]
    NotANumber {
        /// Its name.
        name: String,
        /// As the server printed it.
        value: String,
    },
    /// A counter is smaller in the second snapshot.
    #[error(
        "`{name}` went from {before} to {after}: the server was restarted, or the second snapshot is the older one"
    )]
    WentBack {
        /// Its name.
        name: String,
        /// In the first snapshot.
        before: u64,
        /// In the second one.
        after: u64,
    },
    /// There was no transaction, so nothing per transaction can be calculated.
    #[error("the server ran no transaction in this time (counters: {names})")]
    NoTransactions {
        /// The counters of transactions.
        names: &'static str,
    },
}

impl StatusError {
    /// What to do.
    #[must_use]
    pub fn help(&self) -> String {
        match self {
            StatusError::Nothing { query } => format!("print them with {query}"),
            StatusError::Missing { query, .. } => {
                format!("{query} prints it; the user may lack the right to see it")
            }
            StatusError::NotANumber { .. } => "the snapshot may be incomplete: make it again".to_owned(),
            StatusError::WentBack { .. } => "make both snapshots again, the older one first".to_owned(),
            StatusError::NoTransactions { .. } => {
                "make the snapshots while the server is under its usual load".to_owned()
            }
        }
    }
}
