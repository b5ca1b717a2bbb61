//! PostgreSQL's messages: a letter, a length of four bytes, and a body.

use std::io::{self, ErrorKind, Write};

use bytes::BytesMut;
use fallible_iterator::FallibleIterator;
use postgres_protocol::message::backend::{ErrorResponseBody, Header, Message};

use crate::input::Input;
use crate::stream::Stream;
use crate::{ServerError, SqlError};

/// The letter and the length.
const HEADER: usize = 5;

/// Statements of a bulk load are about half a megabyte each.
const MAX_KEPT_OUTPUT: usize = 1 << 20;

/// Sends and receives messages.
#[derive(Debug)]
pub(crate) struct Messages {
    stream: Stream,
    input: Input,
    /// The message that was received last, and is still in the input.
    received: usize,
    output: BytesMut,
}

impl Messages {
    pub(super) fn new(stream: Stream) -> Messages {
        Messages { stream, input: Input::new(), received: 0, output: BytesMut::new() }
    }

    pub(super) fn stream_mut(&mut self) -> &mut Stream {
        &mut self.stream
    }

    /// An empty buffer; [`Messages::send`] sends what is added.
    pub(super) fn command(&mut self) -> &mut BytesMut {
        self.output.clear();
        &mut self.output
    }

    /// What [`Messages::send`] sends.
    pub(super) fn output(&mut self) -> &mut BytesMut {
        &mut self.output
    }

    pub(super) fn send(&mut self) -> io::Result<()> {
        self.stream.write_all(&self.output)?;
        if self.output.capacity() > MAX_KEPT_OUTPUT {
            self.output = BytesMut::new();
        }
        self.output.clear();
        self.stream.flush()
    }

    /// The letter and the body of the next message, in place.
    pub(super) fn receive_raw(&mut self) -> io::Result<(u8, &[u8])> {
        self.input.consume(self.received);
        self.received = 0;
        self.input.fill(&mut self.stream, HEADER)?;
        let header = Header::parse(self.input.available())?.ok_or(ErrorKind::InvalidData)?;
        let size = 1 + header.len() as usize;
        self.input.fill(&mut self.stream, size)?;
        self.received = size;
        Ok((header.tag(), &self.input.available()[HEADER..size]))
    }

    /// The message that [`Messages::receive_raw`] has returned last.
    pub(super) fn parse_received(&self) -> Result<Message, SqlError> {
        let mut bytes = BytesMut::from(&self.input.available()[..self.received]);
        Message::parse(&mut bytes).map_err(lost)?.ok_or_else(|| malformed("a message without an end"))
    }

    /// The next message.
    pub(super) fn receive(&mut self) -> Result<Message, SqlError> {
        self.receive_raw().map_err(lost)?;
        self.parse_received()
    }
}

/// The error of a message.
pub(super) fn server_error(body: &ErrorResponseBody) -> ServerError {
    let mut error = ServerError { code: 0, state: String::new(), message: String::new(), is_fatal: false };
    let mut fields = body.fields();
    while let Ok(Some(field)) = fields.next() {
        let value = || String::from_utf8_lossy(field.value_bytes()).into_owned();
        match field.type_() {
            b'V' => error.is_fatal = matches!(field.value_bytes(), b"FATAL" | b"PANIC"),
            b'C' => error.state = value(),
            b'M' => error.message = value(),
            _ => {}
        }
    }
    error
}

/// The connection is not usable any more.
pub(super) fn lost(error: io::Error) -> SqlError {
    SqlError::Lost(match error.kind() {
        ErrorKind::UnexpectedEof | ErrorKind::BrokenPipe | ErrorKind::ConnectionReset => {
            "server closed the connection unexpectedly".to_owned()
        }
        ErrorKind::WouldBlock | ErrorKind::TimedOut => "the server does not answer the login".to_owned(),
        _ => format!("connection to server was lost: {error}"),
    })
}

pub(super) fn malformed(what: &str) -> SqlError {
    SqlError::Lost(format!("the peer is not a PostgreSQL server; check host and port: {what}"))
}
