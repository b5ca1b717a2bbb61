//! The database of a run, and connections to it that count statements and know what a failure means.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use ferrio_sql::{Connection, Driver, Keep, Login, Reply, SqlError, StatementId, Value};

use crate::counters::{Counters, ThreadCounters};
use crate::dry_run::DryRun;
use crate::failure::{Call, CallFailure, Consequence, call_lines, connect_lines, consequence};
use crate::options::DatabaseOptions;

/// Makes a connection.
pub type Connect = dyn Fn(Driver, &Login) -> Result<Box<dyn Connection>, SqlError> + Send + Sync;

/// The database of a run, which all threads share.
pub struct Target {
    /// The options of the database.
    pub options: DatabaseOptions,
    /// What the threads count.
    pub counters: Counters,
    connect: Box<Connect>,
    /// Connections so far, which tell the address of the next one.
    connections: AtomicUsize,
}

impl fmt::Debug for Target {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Target").field("options", &self.options).finish_non_exhaustive()
    }
}

impl Target {
    /// A database that so many threads use.
    #[must_use]
    pub fn new(options: DatabaseOptions, threads: u32, connect: Box<Connect>) -> Self {
        Target { options, counters: Counters::new(threads), connect, connections: AtomicUsize::new(0) }
    }

    /// True if a thread has connected, or tried to.
    #[must_use]
    pub fn is_used(&self) -> bool {
        self.connections.load(Relaxed) > 0
    }

    /// Connects a thread, which counts from 0.
    ///
    /// # Errors
    /// There is no server, or it refuses the login.
    pub fn connect(self: &Arc<Self>, thread: u32) -> Result<TestConnection, CallFailure> {
        let login = self.options.login(self.connections.fetch_add(1, Relaxed));
        let driver = self.options.driver;
        let connection = if self.options.dry_run {
            Ok(Box::new(DryRun::default()) as Box<dyn Connection>)
        } else {
            (self.connect)(driver, &login)
        };
        match connection {
            Ok(connection) => Ok(TestConnection {
                target: Arc::clone(self),
                thread,
                login,
                connection,
                statements: Vec::new(),
            }),
            Err(error) => {
                let lines = connect_lines(driver, &login.address, &error);
                Err(CallFailure { consequence: Consequence::End, error, lines })
            }
        }
    }
}

/// A connection of a thread.
pub struct TestConnection {
    target: Arc<Target>,
    thread: u32,
    login: Login,
    connection: Box<dyn Connection>,
    /// The texts of prepared statements, for messages.
    statements: Vec<(StatementId, String)>,
}

impl TestConnection {
    /// The options of the database.
    #[must_use]
    pub fn options(&self) -> &DatabaseOptions {
        &self.target.options
    }

    /// The counters of the thread.
    #[must_use]
    pub fn counters(&self) -> &ThreadCounters {
        self.target.counters.of(self.thread)
    }

    /// Sends a text and reads the answer.
    ///
    /// # Errors
    /// The statement fails. If the event is to begin again, the failure is counted.
    pub fn query(&mut self, text: &str, keep: Keep) -> Result<Reply, CallFailure> {
        match self.connection.query(text, keep) {
            Ok(reply) => {
                self.counters().answered(reply.kind);
                Ok(reply)
            }
            Err(error) => Err(self.failed(Call::Query(text), error)),
        }
    }

    /// Prepares a statement whose parameters are written `?`.
    ///
    /// # Errors
    /// The server refuses it. A run always ends by that.
    pub fn prepare(&mut self, text: &str) -> Result<StatementId, CallFailure> {
        match self.connection.prepare(text) {
            Ok(statement) => {
                self.statements.push((statement, text.to_owned()));
                Ok(statement)
            }
            Err(error) => {
                let lines = call_lines(self.options().driver, Call::Prepare, &error);
                Err(CallFailure { consequence: Consequence::End, error, lines })
            }
        }
    }

    /// Executes a prepared statement.
    ///
    /// # Errors
    /// It fails. If the event is to begin again, the failure is counted.
    pub fn execute(
        &mut self,
        statement: StatementId,
        values: &[Value<'_>],
        keep: Keep,
    ) -> Result<Reply, CallFailure> {
        match self.connection.execute(statement, values, keep) {
            Ok(reply) => {
                self.counters().answered(reply.kind);
                Ok(reply)
            }
            Err(error) => {
                let text = self.statements.iter().find(|(id, _)| *id == statement);
                let text = text.map(|(_, text)| text.clone()).unwrap_or_default();
                Err(self.failed(Call::Execute(&text), error))
            }
        }
    }

    /// Forgets a prepared statement. That its connection is lost shows at the next one.
    pub fn close(&mut self, statement: StatementId) {
        self.statements.retain(|(id, _)| *id != statement);
        let _ = self.connection.close(statement);
    }

    /// Rolls back the transaction of a failed event. It is not counted; a failure appears at the next statement.
    pub fn roll_back(&mut self) {
        let _ = self.connection.query("ROLLBACK", Keep::Count);
    }

    /// Disconnects and connects again. Prepared statements are lost.
    ///
    /// # Errors
    /// There is no server any more.
    pub fn reconnect(&mut self) -> Result<(), CallFailure> {
        self.statements.clear();
        self.connection.reconnect().map_err(|error| {
            let lines = connect_lines(self.options().driver, &self.login.address, &error);
            CallFailure { consequence: Consequence::End, error, lines }
        })
    }

    /// Decides what a failure means, and gets the connection ready for the event to begin again.
    fn failed(&mut self, call: Call<'_>, error: SqlError) -> CallFailure {
        let driver = self.options().driver;
        let consequence = consequence(self.options(), &error);
        let lines =
            if consequence == Consequence::End { call_lines(driver, call, &error) } else { Vec::new() };
        match consequence {
            Consequence::End => {}
            // Until then, PostgreSQL refuses all other statements.
            Consequence::Restart if driver == Driver::Pgsql => self.roll_back(),
            Consequence::Restart => {}
            Consequence::RestartUnprepared => match self.reconnect() {
                Ok(()) => self.counters().reconnected(),
                Err(failure) => return failure,
            },
        }
        if consequence != Consequence::End {
            self.counters().ignored();
        }
        CallFailure { consequence, error, lines }
    }
}

#[cfg(test)]
pub(crate) mod testing {
    use ferrio_sql::{Address, ServerError};

    use super::*;
    use crate::options::IgnoredErrors;

    pub(crate) fn options() -> DatabaseOptions {
        DatabaseOptions {
            driver: Driver::Mysql,
            prepares: true,
            addresses: vec![Address::Tcp { host: "localhost".to_owned(), port: 3306 }],
            user: "sbtest".to_owned(),
            password: String::new(),
            database: "sbtest".to_owned(),
            tls: false,
            compression: false,
            ignored: IgnoredErrors::Numbers(vec![1213, 1020, 1205]),
            dry_run: false,
            debug: false,
        }
    }

    pub(crate) fn server_error(code: u32, state: &str, message: &str) -> ServerError {
        ServerError { code, state: state.to_owned(), message: message.to_owned(), is_fatal: false }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use ferrio_sql::ReplyKind;

    use super::testing::{options, server_error};
    use super::*;
    use crate::counters::SqlCounts;
    use crate::options::IgnoredErrors;

    type Sent = Arc<Mutex<Vec<String>>>;

    /// Answers by the first word of a statement.
    struct Server(Sent);

    impl Connection for Server {
        fn query(&mut self, text: &str, _: Keep) -> Result<Reply, SqlError> {
            self.0.lock().unwrap().push(text.to_owned());
            let kind = match text {
                "deadlock" => return Err(SqlError::Server(server_error(1213, "40001", "Deadlock found"))),
                "lost" => return Err(SqlError::Lost("end of file".to_owned())),
                "SELECT" => ReplyKind::Rows(1),
                "UPDATE" => ReplyKind::Changed(1),
                _ => ReplyKind::Nothing,
            };
            Ok(Reply { kind, columns: Vec::new(), rows: Vec::new() })
        }

        fn prepare(&mut self, text: &str) -> Result<StatementId, SqlError> {
            self.0.lock().unwrap().push(format!("prepare {text}"));
            Ok(StatementId(3))
        }

        fn execute(&mut self, id: StatementId, _: &[Value<'_>], _: Keep) -> Result<Reply, SqlError> {
            Err(SqlError::Server(server_error(1146, "42S02", &format!("no table for {}", id.0))))
        }

        fn close(&mut self, _: StatementId) -> Result<(), SqlError> {
            Ok(())
        }

        fn reconnect(&mut self) -> Result<(), SqlError> {
            self.0.lock().unwrap().push("reconnect".to_owned());
            Ok(())
        }
    }

    fn connect(options: DatabaseOptions) -> (Arc<Target>, TestConnection, Sent) {
        let sent = Sent::default();
        let of_server = Arc::clone(&sent);
        let connect =
            move |_: Driver, _: &Login| Ok(Box::new(Server(Arc::clone(&of_server))) as Box<dyn Connection>);
        let target = Arc::new(Target::new(options, 1, Box::new(connect)));
        let connection = target.connect(0).unwrap();
        (target, connection, sent)
    }

    #[test]
    fn statements_and_ignored_errors_are_counted() {
        let (target, mut connection, _) = connect(options());
        for text in ["SELECT", "UPDATE", "BEGIN"] {
            connection.query(text, Keep::Count).unwrap();
        }
        let failure = connection.query("deadlock", Keep::Count).unwrap_err();
        assert_eq!((failure.consequence, failure.lines.len()), (Consequence::Restart, 0));
        let statement = connection.prepare("SELECT ?").unwrap();
        let failure = connection.execute(statement, &[], Keep::Count).unwrap_err();
        assert_eq!(failure.consequence, Consequence::End);
        assert_eq!(
            failure.lines,
            ["mysql_stmt_execute() returned error 1146 (no table for 3) for query 'SELECT ?'"]
        );
        let counts = SqlCounts { reads: 1, writes: 1, others: 1, ignored_errors: 1, reconnects: 0 };
        assert_eq!(target.counters.total(), counts);
    }

    #[test]
    fn postgresql_is_rolled_back_and_a_lost_connection_made_again() {
        let pgsql = DatabaseOptions { driver: Driver::Pgsql, ..options() };
        let (_, mut connection, sent) = connect(pgsql);
        connection.query("deadlock", Keep::Count).unwrap_err();
        assert_eq!(*sent.lock().unwrap(), ["deadlock", "ROLLBACK"]);
        let all = DatabaseOptions { ignored: IgnoredErrors::All, ..options() };
        let (target, mut connection, sent) = connect(all);
        let failure = connection.query("lost", Keep::Count).unwrap_err();
        assert_eq!(failure.consequence, Consequence::RestartUnprepared);
        assert_eq!(*sent.lock().unwrap(), ["lost", "reconnect"]);
        assert_eq!(target.counters.total().reconnects, 1);
    }

    #[test]
    fn a_dry_run_connects_to_nothing() {
        let connect = |_: Driver, _: &Login| Err(SqlError::Lost("a connection".to_owned()));
        let options = DatabaseOptions { dry_run: true, ..options() };
        let target = Arc::new(Target::new(options, 1, Box::new(connect)));
        let mut connection = target.connect(0).unwrap();
        let statement = connection.prepare("SELECT 1").unwrap();
        connection.execute(statement, &[], Keep::Count).unwrap();
        assert_eq!(target.counters.total(), SqlCounts { others: 1, ..SqlCounts::default() });
    }
}
