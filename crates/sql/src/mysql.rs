//! MySQL and MariaDB, by their own protocol.
//!
//! What is sent once (the login, columns) is read by `mysql_common`. Statements and rows, of which there are thousands a second, are written
//! and read in place: one system call to send a statement, one to read its answer, and no allocation.

mod answer;
mod compression;
mod lengths;
mod login;
mod packets;
mod public_key;
mod values;

use mysql_common::packets::Column;

use crate::client::{Client, Protocol};
use crate::{Keep, Login, Reply, SqlError, StatementId, Value};
use answer::{Format, Reader, lost, malformed, server_error};
use login::{Session, log_in};
use values::{type_of, write_value};

const COM_QUIT: u8 = 0x01;
const COM_QUERY: u8 = 0x03;
const COM_STMT_PREPARE: u8 = 0x16;
const COM_STMT_EXECUTE: u8 = 0x17;
const COM_STMT_CLOSE: u8 = 0x19;

/// A connection to a MySQL or MariaDB server.
pub(crate) type Mysql = Client<Session>;

/// A prepared statement.
#[derive(Debug)]
pub(crate) struct Statement {
    /// The server's number of it.
    number: u32,
    parameters: usize,
    /// The types that the server has last been told.
    types: Vec<u8>,
    columns: Vec<Column>,
}

impl Protocol for Session {
    type Statement = Statement;

    const GONE: &str = "Server has gone away";

    fn log_in(login: &Login) -> Result<Self, SqlError> {
        log_in(login)
    }

    fn query(&mut self, text: &str, keep: Keep) -> Result<Reply, SqlError> {
        let payload = self.packets.command();
        payload.push(COM_QUERY);
        payload.extend_from_slice(text.as_bytes());
        self.packets.send().map_err(lost)?;
        reader(self, Format::Text, keep).reply(&mut Vec::new())
    }

    fn prepare(&mut self, _id: StatementId, text: &str) -> Result<Statement, SqlError> {
        prepare(self, text)
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
        write_execution(statement, values, self.packets.command());
        self.packets.send().map_err(lost)?;
        reader(self, Format::Binary, keep).reply(&mut statement.columns)
    }

    fn close(&mut self, statement: Statement) -> Result<(), SqlError> {
        let payload = self.packets.command();
        payload.push(COM_STMT_CLOSE);
        payload.extend_from_slice(&statement.number.to_le_bytes());
        // There is no answer.
        self.packets.send().map_err(lost)
    }

    fn leave(mut self) {
        self.packets.command().push(COM_QUIT);
        let _ = self.packets.send();
    }
}

fn reader(session: &mut Session, format: Format, keep: Keep) -> Reader<'_> {
    Reader { packets: &mut session.packets, deprecate_eof: session.deprecate_eof, format, keep }
}

fn prepare(session: &mut Session, text: &str) -> Result<Statement, SqlError> {
    let payload = session.packets.command();
    payload.push(COM_STMT_PREPARE);
    payload.extend_from_slice(text.as_bytes());
    session.packets.send().map_err(lost)?;
    let packet = session.packets.receive().map_err(lost)?;
    let (number, columns, parameters) = match packet {
        [0xff, ..] => return Err(server_error(packet)),
        [0, a, b, c, d, columns, columns_high, parameters, parameters_high, ..] => (
            u32::from_le_bytes([*a, *b, *c, *d]),
            u16::from_le_bytes([*columns, *columns_high]),
            u16::from_le_bytes([*parameters, *parameters_high]),
        ),
        _ => return Err(malformed()),
    };
    let mut reader = reader(session, Format::Binary, Keep::Count);
    let mut described = Vec::new();
    // The server does not know the types of parameters; it describes them all the same.
    for count in [parameters, columns] {
        if count > 0 {
            reader.read_columns(count.into(), &mut described)?;
        }
    }
    if columns == 0 {
        described.clear();
    }
    Ok(Statement { number, parameters: parameters.into(), types: Vec::new(), columns: described })
}

/// Writes the command that executes a statement. Types of parameters are sent only if they have changed.
fn write_execution(statement: &mut Statement, values: &[Value<'_>], payload: &mut Vec<u8>) {
    payload.push(COM_STMT_EXECUTE);
    payload.extend_from_slice(&statement.number.to_le_bytes());
    // No cursor, one iteration.
    payload.extend_from_slice(&[0, 1, 0, 0, 0]);
    if values.is_empty() {
        return;
    }
    let nulls = payload.len();
    payload.resize(nulls + values.len().div_ceil(8), 0);
    for (i, _) in values.iter().enumerate().filter(|(_, value)| matches!(value, Value::Null)) {
        payload[nulls + i / 8] |= 1 << (i % 8);
    }
    if statement.types.iter().copied().eq(values.iter().map(type_of)) {
        payload.push(0);
    } else {
        statement.types.clear();
        statement.types.extend(values.iter().map(type_of));
        payload.push(1);
        for kind in &statement.types {
            payload.extend_from_slice(&[*kind, 0]);
        }
    }
    for value in values {
        write_value(value, payload);
    }
}
