//! What connections to all databases have in common: a session that may be lost, and its prepared statements.

use crate::{Connection, Keep, Login, Reply, SqlError, StatementId, Value};

/// The protocol of a database: the session of a user who is logged in.
pub(crate) trait Protocol: Sized {
    /// What is known of a prepared statement.
    type Statement;

    /// What the database's own client says without a connection.
    const GONE: &str;

    /// Connects and logs in.
    fn log_in(login: &Login) -> Result<Self, SqlError>;

    /// Sends a text and reads the answer.
    fn query(&mut self, text: &str, keep: Keep) -> Result<Reply, SqlError>;

    /// Prepares a statement. `id` is that of no other statement of the session.
    fn prepare(&mut self, id: StatementId, text: &str) -> Result<Self::Statement, SqlError>;

    /// The number of parameters of a statement.
    fn parameters(statement: &Self::Statement) -> usize;

    /// Executes a statement with as many values as it has parameters.
    fn execute(
        &mut self,
        statement: &mut Self::Statement,
        values: &[Value<'_>],
        keep: Keep,
    ) -> Result<Reply, SqlError>;

    /// Forgets a statement.
    fn close(&mut self, statement: Self::Statement) -> Result<(), SqlError>;

    /// Leaves the server, which otherwise counts or reports a lost connection. If the connection is gone, that is as good.
    fn leave(self);
}

/// A connection that speaks a protocol.
pub(crate) struct Client<P: Protocol> {
    login: Login,
    /// Absent once it is lost.
    session: Option<P>,
    statements: Vec<Option<P::Statement>>,
}

impl<P: Protocol> Client<P> {
    pub(crate) fn connect(login: &Login) -> Result<Self, SqlError> {
        Ok(Client { login: login.clone(), session: Some(P::log_in(login)?), statements: Vec::new() })
    }

    /// Does something with the session, which is gone if that shows so.
    fn with_session<T>(
        &mut self,
        perform: impl FnOnce(&mut P, &mut [Option<P::Statement>]) -> Result<T, SqlError>,
    ) -> Result<T, SqlError> {
        let session = self.session.as_mut().ok_or_else(|| SqlError::Lost(P::GONE.to_owned()))?;
        let result = perform(session, &mut self.statements);
        if result.as_ref().is_err_and(SqlError::is_fatal) {
            self.session = None;
        }
        result
    }
}

impl<P: Protocol> Connection for Client<P> {
    fn query(&mut self, text: &str, keep: Keep) -> Result<Reply, SqlError> {
        self.with_session(|session, _| session.query(text, keep))
    }

    fn prepare(&mut self, text: &str) -> Result<StatementId, SqlError> {
        let id = StatementId(self.statements.len() as u32);
        let statement = self.with_session(|session, _| session.prepare(id, text))?;
        self.statements.push(Some(statement));
        Ok(id)
    }

    fn execute(
        &mut self,
        statement: StatementId,
        values: &[Value<'_>],
        keep: Keep,
    ) -> Result<Reply, SqlError> {
        self.with_session(|session, statements| {
            let statement = statements.get_mut(statement.0 as usize).and_then(Option::as_mut);
            let statement = statement.ok_or_else(SqlError::no_statement)?;
            let parameters = P::parameters(statement);
            if values.len() != parameters {
                return Err(SqlError::wrong_values(values.len(), parameters));
            }
            session.execute(statement, values, keep)
        })
    }

    fn close(&mut self, statement: StatementId) -> Result<(), SqlError> {
        let closed = self.statements.get_mut(statement.0 as usize).and_then(Option::take);
        let Some(closed) = closed else { return Ok(()) };
        self.with_session(|session, _| session.close(closed))
    }

    fn reconnect(&mut self) -> Result<(), SqlError> {
        self.leave();
        self.statements.clear();
        self.session = Some(P::log_in(&self.login)?);
        Ok(())
    }
}

impl<P: Protocol> Client<P> {
    fn leave(&mut self) {
        if let Some(session) = self.session.take() {
            session.leave();
        }
    }
}

impl<P: Protocol> Drop for Client<P> {
    fn drop(&mut self) {
        self.leave();
    }
}
