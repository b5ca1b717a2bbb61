//! What every connection can do.

use crate::{Keep, Reply, SqlError, Value};

/// A statement that a connection has prepared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct StatementId(pub u32);

/// A connection to a database, used by one thread at a time.
///
/// Calls wait for the server's answer. A call through a trait object costs nothing beside that.
pub trait Connection {
    /// Sends a text as it is and reads the answer. Of several statements in one text, the answer is that of the last.
    ///
    /// # Errors
    /// The server refuses it, or the connection is lost.
    fn query(&mut self, text: &str, keep: Keep) -> Result<Reply, SqlError>;

    /// Prepares a statement whose parameters are written `?`, whatever the database writes.
    ///
    /// # Errors
    /// The server refuses it, or the connection is lost.
    fn prepare(&mut self, text: &str) -> Result<StatementId, SqlError>;

    /// Executes a prepared statement with one value for each parameter.
    ///
    /// # Errors
    /// The server refuses it, the connection is lost, or the number of values is wrong.
    fn execute(
        &mut self,
        statement: StatementId,
        values: &[Value<'_>],
        keep: Keep,
    ) -> Result<Reply, SqlError>;

    /// Forgets a prepared statement, here and at the server.
    ///
    /// # Errors
    /// The connection is lost.
    fn close(&mut self, statement: StatementId) -> Result<(), SqlError>;

    /// Leaves the server and connects to it again. Prepared statements are gone.
    ///
    /// # Errors
    /// There is no connection.
    fn reconnect(&mut self) -> Result<(), SqlError>;
}
