//! PostgreSQL, by its own protocol.
//!
//! What is sent once (the login, columns, errors) is read by `postgres_protocol`. Statements and rows, of which there are thousands a second,
//! are written and read in place: one system call to send a statement, one to read its answer, and no allocation. An asynchronous client
//! would add a runtime and two changes of context to each.

mod login;
mod messages;
mod placeholders;

use std::io;

use bytes::{BufMut, BytesMut};
use fallible_iterator::FallibleIterator;
use postgres_protocol::IsNull;
use postgres_protocol::message::backend::{self, Message, RowDescriptionBody};
use postgres_protocol::message::frontend;

use crate::client::{Client, Protocol};
use crate::{Keep, Login, Reply, ReplyKind, Row, ServerError, SqlError, StatementId, Value};
use login::log_in;
use messages::{Messages, lost, malformed, server_error};
use placeholders::number_parameters;

/// A connection to a PostgreSQL server.
pub(crate) type Pgsql = Client<Messages>;

/// A prepared statement.
#[derive(Debug)]
pub(crate) struct Statement {
    name: String,
    parameters: usize,
    /// Absent for a statement that returns no rows.
    columns: Option<Vec<String>>,
}

impl Protocol for Messages {
    type Statement = Statement;

    const GONE: &str = "no connection to the server";

    fn log_in(login: &Login) -> Result<Self, SqlError> {
        log_in(login)
    }

    fn query(&mut self, text: &str, keep: Keep) -> Result<Reply, SqlError> {
        frontend::query(text, self.command()).map_err(unsendable)?;
        self.send().map_err(lost)?;
        read_reply(self, keep, None)
    }

    fn prepare(&mut self, id: StatementId, text: &str) -> Result<Statement, SqlError> {
        prepare(self, format!("ferrio{}", id.0), text)
    }

    fn parameters(statement: &Statement) -> usize {
        statement.parameters
    }

    fn execute(
        &mut self,
        statement: &mut Statement,
        values: &[Value<'_>],
        keep: Keep,
    ) -> Result<Reply, SqlError> {
        write_execution(statement, values, self.command())?;
        self.send().map_err(lost)?;
        read_reply(self, keep, statement.columns.as_deref())
    }

    fn close(&mut self, statement: Statement) -> Result<(), SqlError> {
        frontend::close(b'S', &statement.name, self.command()).map_err(unsendable)?;
        frontend::sync(self.output());
        self.send().map_err(lost)?;
        read_reply(self, Keep::Count, None).map(drop)
    }

    fn leave(mut self) {
        frontend::terminate(self.command());
        let _ = self.send();
    }
}

fn prepare(messages: &mut Messages, name: String, text: &str) -> Result<Statement, SqlError> {
    let output = messages.command();
    // The server finds the types of the parameters by itself.
    frontend::parse(&name, &number_parameters(text), [], output).map_err(unsendable)?;
    frontend::describe(b'S', &name, output).map_err(unsendable)?;
    frontend::sync(output);
    messages.send().map_err(lost)?;
    let mut statement = Statement { name, parameters: 0, columns: None };
    let mut refused = None;
    loop {
        match messages.receive()? {
            Message::ParameterDescription(body) => {
                statement.parameters = body.parameters().count().map_err(lost)?
            }
            Message::RowDescription(body) => statement.columns = Some(names(&body)?),
            Message::ErrorResponse(body) => refused = Some(fail(server_error(&body))?),
            Message::ReadyForQuery(_) => return refused.map_or(Ok(statement), Err),
            _ => {}
        }
    }
}

/// Writes the messages that execute a statement.
fn write_execution(
    statement: &Statement,
    values: &[Value<'_>],
    output: &mut BytesMut,
) -> Result<(), SqlError> {
    // All values are texts: the server knows what each parameter is.
    let bound = frontend::bind(
        "",
        &statement.name,
        [],
        values,
        |value, output| Ok(write_value(value, output)),
        [],
        output,
    );
    bound.map_err(|_| SqlError::Unsupported("a value is longer than 2 GB".to_owned()))?;
    frontend::execute("", 0, output).map_err(unsendable)?;
    frontend::sync(output);
    Ok(())
}

fn write_value(value: &Value<'_>, output: &mut BytesMut) -> IsNull {
    match value {
        Value::Null => return IsNull::Yes,
        Value::Int(value) => output.put_slice(itoa::Buffer::new().format(*value).as_bytes()),
        Value::Double(value) => output.put_slice(value.to_string().as_bytes()),
        Value::Text(text) => output.put_slice(text),
    }
    IsNull::No
}

/// Reads messages until the server is ready again. Of several answers the last one counts. `columns` are those of the prepared statement.
fn read_reply(messages: &mut Messages, keep: Keep, columns: Option<&[String]>) -> Result<Reply, SqlError> {
    let mut reply = Reply { kind: ReplyKind::Nothing, columns: Vec::new(), rows: Vec::new() };
    let mut returns_rows = columns.is_some();
    if let (Keep::Rows, Some(columns)) = (keep, columns) {
        reply.columns = columns.to_vec();
    }
    let (mut count, mut error) = (0, None);
    loop {
        // The reason why a connection ends is sent before its end.
        let (tag, body) = messages.receive_raw().map_err(|end| error.take().unwrap_or_else(|| lost(end)))?;
        match tag {
            backend::DATA_ROW_TAG => {
                count += 1;
                if keep == Keep::Rows {
                    reply.rows.push(row(body).ok_or_else(|| malformed("a row is not whole"))?);
                }
            }
            backend::COMMAND_COMPLETE_TAG => {
                reply.kind = if returns_rows { ReplyKind::Rows(count) } else { changed(body) };
                (count, returns_rows) = (0, false);
            }
            backend::ROW_DESCRIPTION_TAG => {
                returns_rows = true;
                reply.rows.clear();
                if keep == Keep::Rows
                    && let Message::RowDescription(body) = messages.parse_received()?
                {
                    reply.columns = names(&body)?;
                }
            }
            backend::ERROR_RESPONSE_TAG => {
                if let Message::ErrorResponse(body) = messages.parse_received()? {
                    error = Some(fail(server_error(&body))?);
                }
            }
            backend::COPY_IN_RESPONSE_TAG => {
                frontend::copy_fail("ferrio has no data for COPY", messages.output()).map_err(unsendable)?;
                messages.send().map_err(lost)?;
            }
            backend::READY_FOR_QUERY_TAG => return error.map_or(Ok(reply), Err),
            _ => {}
        }
    }
}

/// The error of a statement, after which the server is ready for others; at once if it is not.
fn fail(error: ServerError) -> Result<SqlError, SqlError> {
    let is_fatal = error.is_fatal;
    let error = SqlError::Server(error);
    if is_fatal { Err(error) } else { Ok(error) }
}

/// What a statement without rows did: `UPDATE 3`, `INSERT 0 3`, `COMMIT`.
fn changed(tag: &[u8]) -> ReplyKind {
    let tag = tag.strip_suffix(b"\0").unwrap_or(tag);
    let mut words = tag.split(|byte| *byte == b' ');
    let verb = words.next().unwrap_or_default();
    let rows =
        words.next_back().and_then(|word| str::from_utf8(word).ok()).and_then(|word| word.parse().ok());
    match (verb, rows) {
        (b"INSERT" | b"UPDATE" | b"DELETE" | b"MERGE" | b"COPY" | b"SELECT", Some(rows)) if rows > 0 => {
            ReplyKind::Changed(rows)
        }
        _ => ReplyKind::Nothing,
    }
}

fn names(body: &RowDescriptionBody) -> Result<Vec<String>, SqlError> {
    body.fields().map(|field| Ok(field.name().to_owned())).collect().map_err(lost)
}

/// The values of a row, which are texts.
fn row(body: &[u8]) -> Option<Row> {
    let (count, mut rest) = body.split_first_chunk::<2>()?;
    let count = usize::from(u16::from_be_bytes(*count));
    let mut row = Vec::with_capacity(count);
    for _ in 0..count {
        let (length, values) = rest.split_first_chunk::<4>()?;
        rest = values;
        row.push(match i32::from_be_bytes(*length) {
            -1 => None,
            length => {
                let (value, values) = rest.split_at_checked(usize::try_from(length).ok()?)?;
                rest = values;
                Some(value.to_vec())
            }
        });
    }
    Some(row)
}

/// A text that a message cannot have.
fn unsendable(error: io::Error) -> SqlError {
    SqlError::Unsupported(format!("the statement cannot be sent: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_of_commands_say_what_changed() {
        assert_eq!(changed(b"UPDATE 3\0"), ReplyKind::Changed(3));
        assert_eq!(changed(b"INSERT 0 100\0"), ReplyKind::Changed(100));
        assert_eq!(changed(b"DELETE 0\0"), ReplyKind::Nothing);
        assert_eq!(changed(b"COMMIT\0"), ReplyKind::Nothing);
        assert_eq!(changed(b"CREATE TABLE\0"), ReplyKind::Nothing);
    }

    #[test]
    fn rows_have_nulls_and_end_where_they_end() {
        let body = b"\0\x03\0\0\0\x02ab\xff\xff\xff\xff\0\0\0\0";
        assert_eq!(row(body), Some(vec![Some(b"ab".to_vec()), None, Some(Vec::new())]));
        assert_eq!(row(&body[..7]), None);
    }
}
