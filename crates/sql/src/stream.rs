//! A socket with or without TLS.

use std::io::{self, Read, Write};

use crate::socket::Socket;
use crate::{Address, SqlError};

/// A socket, which may be encrypted.
#[derive(Debug)]
pub(crate) enum Stream {
    Plain(Socket),
    #[cfg(feature = "tls")]
    Tls(Box<crate::tls::TlsStream>),
}

impl Stream {
    /// Nobody between the two ends can read along.
    pub(crate) fn is_private(&self) -> bool {
        !matches!(self, Stream::Plain(Socket::Tcp(_)))
    }

    /// See [`Socket::wait_without_limit`].
    pub(crate) fn wait_without_limit(&mut self) -> io::Result<()> {
        match self {
            Stream::Plain(socket) => socket.wait_without_limit(),
            #[cfg(feature = "tls")]
            Stream::Tls(stream) => stream.sock.wait_without_limit(),
        }
    }

    /// Encrypts from here on.
    #[cfg(feature = "tls")]
    pub(crate) fn encrypt(self, address: &Address) -> Result<Stream, SqlError> {
        match self {
            Stream::Plain(socket) => {
                crate::tls::encrypt(socket, address).map(|tls| Stream::Tls(Box::new(tls)))
            }
            encrypted @ Stream::Tls(_) => Ok(encrypted),
        }
    }

    /// Builds without TLS refuse it before anything is sent, see [`refuse_tls`].
    #[cfg(not(feature = "tls"))]
    pub(crate) fn encrypt(self, _address: &Address) -> Result<Stream, SqlError> {
        refuse_tls(true).map(|()| self)
    }
}

/// Refuses to encrypt if this build cannot.
pub(crate) fn refuse_tls(asked: bool) -> Result<(), SqlError> {
    if asked && cfg!(not(feature = "tls")) {
        return Err(SqlError::Unsupported(
            "this build has no TLS; one with it is built by `cargo install --features http`".to_owned(),
        ));
    }
    Ok(())
}

impl Read for Stream {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        match self {
            Stream::Plain(socket) => socket.read(bytes),
            #[cfg(feature = "tls")]
            Stream::Tls(stream) => stream.read(bytes),
        }
    }
}

impl Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Stream::Plain(socket) => socket.write(bytes),
            #[cfg(feature = "tls")]
            Stream::Tls(stream) => stream.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Stream::Plain(_) => Ok(()),
            #[cfg(feature = "tls")]
            Stream::Tls(stream) => stream.flush(),
        }
    }
}
