//! A connection of a script: statements, prepared or not, and inserts of many rows.

use std::fmt::Write as _;

use ferrio_oltp::{CallFailure, Consequence, TestConnection};
use ferrio_sql::{Keep, Reply, StatementId, Value};

/// Bytes of values after which an insert of many rows is sent.
const BULK_BYTES: usize = 512 << 10;

/// A connection, which the script may have closed.
pub(crate) struct SqlConnection {
    connection: Option<TestConnection>,
    statements: Vec<PreparedStatement>,
    /// How often the connection was made again. Statements of before have to be prepared again.
    age: u32,
    bulk: Option<BulkInsert>,
    /// What to write about the last failure if the run ends by it.
    lines: Vec<String>,
}

struct PreparedStatement {
    text: String,
    /// The statement at the server, and the age of the connection at that time.
    prepared: Option<(StatementId, u32)>,
}

/// An insert that is being collected.
struct BulkInsert {
    /// The beginning, which every statement has.
    head: String,
    text: String,
}

/// A failed call.
#[derive(Debug)]
pub(crate) enum SqlFailure {
    /// The script's mistake.
    Misuse(&'static str),
    /// The error of a statement.
    Statement {
        message: String,
        number: u32,
        state: String,
        /// The event begins again.
        restarts: bool,
    },
}

impl SqlConnection {
    pub(crate) fn new(connection: TestConnection) -> Self {
        SqlConnection {
            connection: Some(connection),
            statements: Vec::new(),
            age: 0,
            bulk: None,
            lines: Vec::new(),
        }
    }

    /// Lines about the last failure.
    pub(crate) fn take_lines(&mut self) -> Vec<String> {
        std::mem::take(&mut self.lines)
    }

    pub(crate) fn query(&mut self, text: &str) -> Result<Reply, SqlFailure> {
        let reply = self.open()?.query(text, Keep::Rows);
        reply.map_err(|failure| self.failed(failure))
    }

    /// Returns the number of the statement.
    pub(crate) fn prepare(&mut self, text: &str) -> Result<usize, SqlFailure> {
        let mut prepared = None;
        if self.open()?.options().prepares {
            let id = self.open()?.prepare(text).map_err(|failure| self.failed(failure))?;
            prepared = Some((id, self.age));
        }
        self.statements.push(PreparedStatement { text: text.to_owned(), prepared });
        Ok(self.statements.len() - 1)
    }

    pub(crate) fn execute(&mut self, number: usize, values: &[Value<'_>]) -> Result<Reply, SqlFailure> {
        let prepares = self.open()?.options().prepares;
        let statement =
            self.statements.get(number).ok_or(SqlFailure::Misuse("no such prepared statement"))?;
        if !prepares {
            let text = with_values(&statement.text, values)?;
            return self.query(&text);
        }
        let id = match statement.prepared {
            Some((id, age)) if age == self.age => id,
            _ => {
                let text = statement.text.clone();
                let id = self.open()?.prepare(&text).map_err(|failure| self.failed(failure))?;
                self.statements[number].prepared = Some((id, self.age));
                id
            }
        };
        let reply = self.open()?.execute(id, values, Keep::Rows);
        reply.map_err(|failure| self.failed(failure))
    }

    /// Forgets a statement at the server.
    pub(crate) fn close(&mut self, number: usize) {
        let prepared = self.statements.get_mut(number).and_then(|statement| statement.prepared.take());
        if let (Some((id, age)), Some(connection)) = (prepared, &mut self.connection)
            && age == self.age
        {
            connection.close(id);
        }
    }

    pub(crate) fn reconnect(&mut self) -> Result<(), SqlFailure> {
        let result = self.open()?.reconnect();
        self.age += 1;
        result.map_err(|failure| self.failed(failure))
    }

    pub(crate) fn disconnect(&mut self) {
        self.connection = None;
    }

    /// The error of the last statement begins the event again, by a decision of the script.
    pub(crate) fn ignore_error(&mut self) {
        self.lines.clear();
        if let Some(connection) = &mut self.connection {
            connection.counters().ignored();
            // Until then, PostgreSQL refuses all other statements.
            if connection.options().driver == ferrio_sql::Driver::Pgsql {
                connection.roll_back();
            }
        }
    }

    pub(crate) fn bulk_init(&mut self, head: &str) {
        self.bulk = Some(BulkInsert { head: head.to_owned(), text: String::new() });
    }

    pub(crate) fn bulk_next(&mut self, values: &str) -> Result<(), SqlFailure> {
        let mistake = SqlFailure::Misuse("attempt to call bulk_insert_next() before bulk_insert_init()");
        let bulk = self.bulk.as_mut().ok_or(mistake)?;
        if bulk.text.is_empty() {
            bulk.text.clone_from(&bulk.head);
        } else {
            bulk.text.push(',');
        }
        bulk.text.push_str(values);
        if bulk.text.len() < BULK_BYTES {
            return Ok(());
        }
        self.send_bulk()
    }

    pub(crate) fn bulk_done(&mut self) -> Result<(), SqlFailure> {
        let result = self.send_bulk();
        self.bulk = None;
        result
    }

    fn send_bulk(&mut self) -> Result<(), SqlFailure> {
        let Some(bulk) = &mut self.bulk else { return Ok(()) };
        let mut text = std::mem::take(&mut bulk.text);
        if text.is_empty() {
            return Ok(());
        }
        let reply = self.open()?.query(&text, Keep::Count);
        // The memory serves the next statement.
        text.clear();
        if let Some(bulk) = &mut self.bulk {
            bulk.text = text;
        }
        reply.map(drop).map_err(|failure| self.failed(failure))
    }

    fn open(&mut self) -> Result<&mut TestConnection, SqlFailure> {
        self.connection.as_mut().ok_or(SqlFailure::Misuse("attempt to use an already closed connection"))
    }

    fn failed(&mut self, failure: CallFailure) -> SqlFailure {
        if failure.consequence == Consequence::RestartUnprepared {
            self.age += 1;
        }
        let failed = SqlFailure::Statement {
            message: failure.message(),
            number: failure.number(),
            state: failure.state().to_owned(),
            restarts: failure.consequence != Consequence::End,
        };
        self.lines = failure.lines;
        failed
    }
}

/// The text of a statement with values in place of its parameters (`--db-ps-mode=disable`).
fn with_values(text: &str, values: &[Value<'_>]) -> Result<String, SqlFailure> {
    let mut whole = String::with_capacity(text.len() + 16 * values.len());
    let mut values = values.iter();
    let mut pieces = text.split('?');
    whole.push_str(pieces.next().unwrap_or_default());
    for piece in pieces {
        let value = values.next().ok_or(SqlFailure::Misuse("a statement has more parameters than values"))?;
        // Writing to a string does not fail.
        let _ = match value {
            Value::Null => whole.write_str("NULL"),
            Value::Int(number) => write!(whole, "{number}"),
            Value::Double(number) => write!(whole, "{number}"),
            Value::Text(text) => {
                write!(whole, "'{}'", String::from_utf8_lossy(text).replace('\\', "\\\\").replace('\'', "''"))
            }
        };
        whole.push_str(piece);
    }
    Ok(whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_stand_in_the_text_where_parameters_were() {
        let values = [Value::Int(-5), Value::Text(b"it's"), Value::Null, Value::Double(2.5)];
        let text = with_values("SELECT ? FROM t WHERE a=? AND b=? OR c=?", &values).unwrap();
        assert_eq!(text, "SELECT -5 FROM t WHERE a='it''s' AND b=NULL OR c=2.5");
        assert_eq!(with_values("BEGIN", &[]).unwrap(), "BEGIN");
        assert!(matches!(with_values("SELECT ?", &[]), Err(SqlFailure::Misuse(_))));
    }
}
