//! What a server answers to a command: OK, an error, or rows.

use std::io::{self, ErrorKind};

use mysql_common::io::ParseBuf;
use mysql_common::packets::Column;

use super::lengths::length_encoded;
use super::packets::Packets;
use super::values::{binary_row, text_row};
use crate::{Keep, Reply, ReplyKind, Row, ServerError, SqlError};

/// Another answer to the same command follows.
const MORE_RESULTS_EXIST: u16 = 8;

/// Errors after which the server closes the connection: shutdown, a session that was killed, or one that was idle for too long.
const FATAL: [u32; 5] = [1053, 1927, 3169, 4031, 1152];

/// The form of the values of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    /// Answers to texts.
    Text,
    /// Answers to prepared statements.
    Binary,
}

/// How to read an answer.
#[derive(Debug)]
pub(super) struct Reader<'a> {
    pub(super) packets: &'a mut Packets,
    pub(super) deprecate_eof: bool,
    pub(super) format: Format,
    pub(super) keep: Keep,
}

impl Reader<'_> {
    /// Reads all answers to a command; the last one counts. `columns` are those of the prepared statement, which the server may have changed.
    pub(super) fn reply(&mut self, columns: &mut Vec<Column>) -> Result<Reply, SqlError> {
        loop {
            let (reply, status) = self.one_reply(columns)?;
            if status & MORE_RESULTS_EXIST == 0 {
                return Ok(reply);
            }
        }
    }

    fn one_reply(&mut self, columns: &mut Vec<Column>) -> Result<(Reply, u16), SqlError> {
        let packet = self.packets.receive().map_err(lost)?;
        match packet.first() {
            Some(0x00) => {
                let (changed, status) = ok_packet(packet).ok_or_else(malformed)?;
                let kind = if changed > 0 { ReplyKind::Changed(changed) } else { ReplyKind::Nothing };
                Ok((Reply { kind, columns: Vec::new(), rows: Vec::new() }, status))
            }
            Some(0xff) => Err(server_error(packet)),
            // LOAD DATA LOCAL: an empty packet says that there is no file, and the server answers.
            Some(0xfb) => {
                self.packets.reply();
                self.packets.send().map_err(lost)?;
                self.one_reply(columns)
            }
            _ => {
                let (count, rest) = length_encoded(packet).ok_or_else(malformed)?;
                // MariaDB says whether the columns follow, if the client has said that it remembers them.
                let are_sent = rest.first() != Some(&0);
                if are_sent {
                    self.read_columns(count, columns)?;
                }
                self.read_rows(columns)
            }
        }
    }

    /// Reads descriptions of columns, if anybody needs them.
    pub(super) fn read_columns(&mut self, count: u64, columns: &mut Vec<Column>) -> Result<(), SqlError> {
        columns.clear();
        let needed = self.keep == Keep::Rows || self.format == Format::Binary;
        for _ in 0..count {
            let packet = self.packets.receive().map_err(lost)?;
            if needed {
                columns.push(ParseBuf(packet).parse(()).map_err(lost)?);
            }
        }
        if !self.deprecate_eof {
            self.packets.receive().map_err(lost)?;
        }
        Ok(())
    }

    fn read_rows(&mut self, columns: &[Column]) -> Result<(Reply, u16), SqlError> {
        let (mut count, mut rows): (u64, Vec<Row>) = (0, Vec::new());
        let status = loop {
            let packet = self.packets.receive().map_err(lost)?;
            match packet.first() {
                Some(0xff) => return Err(server_error(packet)),
                // A row that begins with this byte has a first column of 16 MB.
                Some(0xfe) if packet.len() < 0xff_ffff => {
                    break if self.deprecate_eof {
                        ok_packet(packet).ok_or_else(malformed)?.1
                    } else {
                        packet.get(3..5).map(u16_of).ok_or_else(malformed)?
                    };
                }
                _ => count += 1,
            }
            if self.keep == Keep::Rows {
                let row = match self.format {
                    Format::Text => text_row(packet, columns.len()),
                    Format::Binary => binary_row(packet, columns),
                };
                rows.push(row.ok_or_else(malformed)?);
            }
        };
        let names = match self.keep {
            Keep::Rows => columns.iter().map(|column| column.name_str().into_owned()).collect(),
            Keep::Count => Vec::new(),
        };
        Ok((Reply { kind: ReplyKind::Rows(count), columns: names, rows }, status))
    }
}

/// Rows changed, and the status of the connection.
fn ok_packet(packet: &[u8]) -> Option<(u64, u16)> {
    let (changed, rest) = length_encoded(packet.get(1..)?)?;
    let (_inserted, rest) = length_encoded(rest)?;
    Some((changed, rest.get(..2).map(u16_of)?))
}

fn u16_of(bytes: &[u8]) -> u16 {
    bytes.iter().rev().fold(0, |value, byte| value << 8 | u16::from(*byte))
}

/// The error of a packet that begins with 0xff. There is no state in one that refuses a connection.
pub(super) fn server_error(packet: &[u8]) -> SqlError {
    let code = packet.get(1..3).map_or(0, u16_of);
    let text = packet.get(3..).unwrap_or_default();
    let (state, message) = match text {
        [b'#', rest @ ..] if rest.len() >= 5 => rest.split_at(5),
        all => (&b"HY000"[..], all),
    };
    let code = u32::from(code);
    SqlError::Server(ServerError {
        code,
        state: String::from_utf8_lossy(state).into_owned(),
        message: String::from_utf8_lossy(message).into_owned(),
        is_fatal: FATAL.contains(&code),
    })
}

/// The connection is not usable any more.
pub(super) fn lost(error: io::Error) -> SqlError {
    SqlError::Lost(match error.kind() {
        ErrorKind::UnexpectedEof | ErrorKind::BrokenPipe | ErrorKind::ConnectionReset => {
            "Lost connection to server during query".to_owned()
        }
        ErrorKind::WouldBlock | ErrorKind::TimedOut => {
            "Lost connection to server: it does not answer the login".to_owned()
        }
        _ => format!("Lost connection to server during query: {error}"),
    })
}

pub(super) fn malformed() -> SqlError {
    SqlError::Lost(
        "Malformed communication packet: the peer is not a MySQL server; check host and port".to_owned(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_have_code_state_and_message() {
        let error = |packet: &[u8]| match server_error(packet) {
            SqlError::Server(error) => (error.code, error.state, error.message, error.is_fatal),
            other => panic!("{other}"),
        };
        assert_eq!(
            error(b"\xff\xbd\x04#40001Deadlock found"),
            (1213, "40001".to_owned(), "Deadlock found".to_owned(), false)
        );
        assert_eq!(
            error(b"\xff\x10\x04Too many connections"),
            (1040, "HY000".to_owned(), "Too many connections".to_owned(), false)
        );
        assert!(error(b"\xff\x87\x07#70100Connection was killed").3);
    }
}
