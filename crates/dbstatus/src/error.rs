//! Reasons why a snapshot tells too little.

/// Why no job file can be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StatusError {
    /// The text has no counter of the server.
    #[error("it has none of the variables and counters that `{query}` prints")]
    Nothing {
        /// What prints them.
        query: &'static str,
    },
    /// One of the counters is missing.
    #[error("`{name}` is missing")]
    Missing {
        /// Names of which one is needed.
        name: String,
        /// What prints it.
        query: &'static str,
    },
    /// The text of a counter is no number.
    #[error("`{name}` is `{value}`, and a number is expected")]
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
    /// Nothing to divide by.
    #[error("the server did no transaction in this time ({names})")]
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
            StatusError::NotANumber { .. } => "the text may be cut off: make it again".to_owned(),
            StatusError::WentBack { .. } => "make both snapshots again, the older one first".to_owned(),
            StatusError::NoTransactions { .. } => {
                "make the snapshots while the server is under its usual load".to_owned()
            }
        }
    }
}
