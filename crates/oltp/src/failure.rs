//! Failures of connections and statements: what they mean for the run, and their lines in the words of sysbench.

use std::fmt;

use ferrio_sql::{Address, Driver, ServerError, SqlError};

use crate::options::DatabaseOptions;

/// Numbers that clients of MySQL give to errors of their own.
const UNREACHABLE: u32 = 2002;
const UNKNOWN_HOST: u32 = 2005;
const GONE: u32 = 2006;
const LOST: u32 = 2013;
const OTHER: u32 = 2000;

/// States of PostgreSQL after which a transaction may succeed the next time: serialization failure, deadlock, duplicate key.
const RETRIED_STATES: [&str; 3] = ["40001", "40P01", "23505"];

/// Bytes of a statement that a message shows.
const SHOWN_STATEMENT: usize = 1000;

/// What a failure means for the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Consequence {
    /// The event begins again. The failure is counted as an ignored error.
    Restart,
    /// As `Restart`, and the connection is a new one: prepared statements are gone.
    RestartUnprepared,
    /// The run ends.
    End,
}

/// A failed connection or statement.
#[derive(Debug)]
pub struct CallFailure {
    /// What it means for the run.
    pub consequence: Consequence,
    /// The error.
    pub error: SqlError,
    /// The lines to show if the run ends by it.
    pub lines: Vec<String>,
}

/// A call that failed.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Call<'a> {
    Query(&'a str),
    Prepare,
    Execute(&'a str),
}

/// The consequence of an error, before a lost connection is made again.
pub(crate) fn consequence(options: &DatabaseOptions, error: &SqlError) -> Consequence {
    let ignored = &options.ignored;
    match (options.driver, error) {
        (Driver::Mysql, SqlError::Server(error)) if ignored.contains(error.code) => {
            if error.is_fatal {
                Consequence::RestartUnprepared
            } else {
                Consequence::Restart
            }
        }
        (Driver::Mysql, SqlError::Lost(_)) if ignored.contains(LOST) || ignored.contains(GONE) => {
            Consequence::RestartUnprepared
        }
        (Driver::Pgsql, SqlError::Server(error)) if RETRIED_STATES.contains(&error.state.as_str()) => {
            Consequence::Restart
        }
        _ => Consequence::End,
    }
}

/// The lines about a connection that cannot be made.
pub(crate) fn connect_lines(driver: Driver, address: &Address, error: &SqlError) -> Vec<String> {
    match driver {
        Driver::Mysql => {
            let server = match address {
                Address::Tcp { host, port } => format!("host '{host}', port {port}"),
                Address::Socket(path) => format!("socket '{}'", path.display()),
            };
            let (number, message) = match (error, address) {
                (SqlError::Server(error), _) => (error.code, error.message.clone()),
                (SqlError::Unreachable(error), Address::Socket(path)) => (
                    UNREACHABLE,
                    format!(
                        "Can't connect to local server through socket '{}' ({})",
                        path.display(),
                        Reason(error)
                    ),
                ),
                (SqlError::Unreachable(error), Address::Tcp { host, .. })
                    if error.raw_os_error().is_none() =>
                {
                    (UNKNOWN_HOST, format!("Unknown server host '{host}' ({error})"))
                }
                (SqlError::Unreachable(error), Address::Tcp { host, .. }) => {
                    (UNREACHABLE, format!("Can't connect to server on '{host}' ({})", Reason(error)))
                }
                (SqlError::Lost(_), _) => (LOST, error.to_string()),
                (SqlError::Unsupported(_), _) => (OTHER, error.to_string()),
            };
            vec![
                format!("unable to connect to MySQL server on {server}, aborting..."),
                format!("error {number}: {message}"),
            ]
        }
        Driver::Pgsql => {
            let server = match address {
                Address::Tcp { host, port } => format!("server at \"{host}\", port {port}"),
                Address::Socket(path) => format!("server on socket \"{}\"", path.display()),
            };
            let (message, hint) = match error {
                SqlError::Server(error) => (format!("FATAL:  {}", error.message), ""),
                SqlError::Unreachable(error) if error.raw_os_error().is_some() => {
                    let hint = match address {
                        Address::Tcp { .. } => {
                            "\tIs the server running on that host and accepting TCP/IP connections?\n"
                        }
                        Address::Socket(_) => {
                            "\tIs the server running locally and accepting connections on that socket?\n"
                        }
                    };
                    (system_reason(error), hint)
                }
                other => (other.to_string(), ""),
            };
            vec![format!("Connection to database failed: connection to {server} failed: {message}\n{hint}")]
        }
    }
}

/// The lines about a statement that failed.
pub(crate) fn call_lines(driver: Driver, call: Call<'_>, error: &SqlError) -> Vec<String> {
    let message = error.to_string();
    match (driver, call) {
        (Driver::Mysql, Call::Prepare) => vec![
            "mysql_stmt_prepare() failed".to_owned(),
            format!("MySQL error: {} \"{message}\"", number_of(error)),
        ],
        (Driver::Mysql, Call::Query(text) | Call::Execute(text)) => {
            let function =
                if matches!(call, Call::Query(_)) { "mysql_drv_query" } else { "mysql_stmt_execute" };
            let number = number_of(error);
            vec![format!("{function}() returned error {number} ({message}) for query '{}'", shown(text))]
        }
        (Driver::Pgsql, Call::Prepare) => vec![format!("PQprepare() failed: ERROR:  {message}\n")],
        (Driver::Pgsql, Call::Query(text) | Call::Execute(text)) => {
            let function = if matches!(call, Call::Query(_)) { "PQexec" } else { "PQexecPrepared" };
            let text = if matches!(call, Call::Execute(_)) { numbered(text) } else { text.to_owned() };
            vec![format!("{function}() failed: 7 {message}"), format!("failed query was: {}", shown(&text))]
        }
    }
}

impl CallFailure {
    /// The number, state and message of the error, as sysbench puts them into one line.
    #[must_use]
    pub fn sql_error(&self) -> String {
        let state = self.state();
        let message = self.error.to_string();
        format!("SQL error, errno = {}, state = '{state}': {message}", number_of(&self.error))
    }

    /// The number of the error; 0 for PostgreSQL.
    #[must_use]
    pub fn number(&self) -> u32 {
        number_of(&self.error)
    }

    /// The state of the error.
    #[must_use]
    pub fn state(&self) -> &str {
        match &self.error {
            SqlError::Server(ServerError { state, .. }) => state,
            _ => "HY000",
        }
    }

    /// The message of the error.
    #[must_use]
    pub fn message(&self) -> String {
        self.error.to_string()
    }
}

fn number_of(error: &SqlError) -> u32 {
    match error {
        SqlError::Server(error) => error.code,
        SqlError::Unreachable(_) => UNREACHABLE,
        SqlError::Lost(_) => LOST,
        SqlError::Unsupported(_) => OTHER,
    }
}

/// A statement with `$1`, `$2` and so on for its parameters, as PostgreSQL writes them.
fn numbered(text: &str) -> String {
    let mut parts = text.split('?');
    let mut all = parts.next().unwrap_or_default().to_owned();
    for (at, part) in parts.enumerate() {
        all.push_str(&format!("${}{part}", at + 1));
    }
    all
}

/// The beginning of a statement.
fn shown(text: &str) -> String {
    if text.len() <= SHOWN_STATEMENT {
        return text.to_owned();
    }
    let mut end = SHOWN_STATEMENT;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    format!("{}...", &text[..end])
}

/// An error of the system by its number and words.
struct Reason<'a>(&'a std::io::Error);

impl fmt::Display for Reason<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.raw_os_error() {
            Some(errno) => write!(out, "{errno}: {}", system_reason(self.0)),
            None => write!(out, "{}", self.0),
        }
    }
}

/// The words of an error of the system, without its number.
fn system_reason(error: &std::io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;
    use crate::connection::testing::{options, server_error};
    use crate::options::IgnoredErrors;

    fn tcp() -> Address {
        Address::Tcp { host: "db".to_owned(), port: 3306 }
    }

    #[test]
    fn connections_that_fail_are_told_in_the_words_of_sysbench() {
        let refused = || SqlError::Unreachable(io::Error::from_raw_os_error(111));
        let mysql =
            |address: Address, error: &SqlError| connect_lines(Driver::Mysql, &address, error).join("\n");
        assert_eq!(
            mysql(tcp(), &refused()),
            "unable to connect to MySQL server on host 'db', port 3306, aborting...\n\
             error 2002: Can't connect to server on 'db' (111: Connection refused)"
        );
        assert_eq!(
            mysql(
                Address::Socket("/s".into()),
                &SqlError::Server(server_error(1049, "42000", "Unknown database 'x'"))
            ),
            "unable to connect to MySQL server on socket '/s', aborting...\nerror 1049: Unknown database 'x'"
        );
        let unknown = SqlError::Unreachable(io::Error::other("Name or service not known"));
        assert!(
            mysql(tcp(), &unknown)
                .ends_with("error 2005: Unknown server host 'db' (Name or service not known)")
        );
        assert_eq!(
            connect_lines(Driver::Pgsql, &tcp(), &refused()),
            [
                "Connection to database failed: connection to server at \"db\", port 3306 failed: Connection refused\n\
              \tIs the server running on that host and accepting TCP/IP connections?\n"
            ]
        );
    }

    #[test]
    fn statements_that_fail_are_told_in_the_words_of_sysbench() {
        let error = SqlError::Server(server_error(1146, "42S02", "Table 'a.b' doesn't exist"));
        let lines = |driver, call| call_lines(driver, call, &error).join("\n");
        assert_eq!(
            lines(Driver::Mysql, Call::Query("SELECT 1")),
            "mysql_drv_query() returned error 1146 (Table 'a.b' doesn't exist) for query 'SELECT 1'"
        );
        assert_eq!(
            lines(Driver::Mysql, Call::Prepare),
            "mysql_stmt_prepare() failed\nMySQL error: 1146 \"Table 'a.b' doesn't exist\""
        );
        assert_eq!(
            lines(Driver::Pgsql, Call::Query("SELECT 1")),
            "PQexec() failed: 7 Table 'a.b' doesn't exist\nfailed query was: SELECT 1"
        );
        assert!(
            lines(Driver::Pgsql, Call::Execute("a BETWEEN ? AND ?"))
                .ends_with("\nfailed query was: a BETWEEN $1 AND $2")
        );
        let long = "é".repeat(SHOWN_STATEMENT);
        assert!(lines(Driver::Mysql, Call::Execute(&long)).len() < SHOWN_STATEMENT + 150);
        let failure = CallFailure { consequence: Consequence::End, error, lines: Vec::new() };
        assert_eq!(
            failure.sql_error(),
            "SQL error, errno = 1146, state = '42S02': Table 'a.b' doesn't exist"
        );
    }

    #[test]
    fn ignored_errors_begin_the_event_again() {
        let of = |options: &DatabaseOptions, code, state| {
            consequence(options, &SqlError::Server(server_error(code, state, "")))
        };
        let mysql = options();
        assert_eq!(of(&mysql, 1213, "40001"), Consequence::Restart);
        assert_eq!(of(&mysql, 1146, "42S02"), Consequence::End);
        let lost = SqlError::Lost("end of file".to_owned());
        assert_eq!(consequence(&mysql, &lost), Consequence::End);
        let all = DatabaseOptions { ignored: IgnoredErrors::All, ..options() };
        assert_eq!(consequence(&all, &lost), Consequence::RestartUnprepared);
        let pgsql = DatabaseOptions { driver: Driver::Pgsql, ..options() };
        assert_eq!(of(&pgsql, 0, "40P01"), Consequence::Restart);
        assert_eq!(of(&pgsql, 0, "42P01"), Consequence::End);
        assert_eq!(of(&pgsql, 1213, "XX000"), Consequence::End);
    }
}
