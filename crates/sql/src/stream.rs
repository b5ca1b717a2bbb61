//! The bytes between a client and a server: TCP or a Unix socket, with or without TLS.

use std::io::{self, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use socket2::SockRef;

use crate::{Address, SqlError};

/// How long a server may take to accept a connection, and to answer each message of the login. Statements may take as long as they like.
pub(crate) const LOGIN_TIMEOUT: Duration = Duration::from_secs(10);

/// A connected socket.
#[derive(Debug)]
pub(crate) enum Socket {
    Tcp(TcpStream),
    Unix(UnixStream),
}

impl Socket {
    /// Connects; answers have to come within [`LOGIN_TIMEOUT`] until [`Socket::wait_without_limit`].
    pub(crate) fn connect(address: &Address) -> io::Result<Socket> {
        let socket = match address {
            Address::Tcp { host, port } => {
                let stream = connect_to_any(host, *port)?;
                // Each statement is one small write that the server waits for.
                stream.set_nodelay(true)?;
                // Without it a server whose machine has vanished is waited for without end.
                SockRef::from(&stream).set_keepalive(true)?;
                Socket::Tcp(stream)
            }
            Address::Socket(path) => Socket::Unix(UnixStream::connect(path)?),
        };
        socket.set_timeout(Some(LOGIN_TIMEOUT))?;
        Ok(socket)
    }

    fn set_timeout(&self, timeout: Option<Duration>) -> io::Result<()> {
        match self {
            Socket::Tcp(stream) => stream.set_read_timeout(timeout),
            Socket::Unix(stream) => stream.set_read_timeout(timeout),
        }
    }

    /// From now on, answers may take any time.
    pub(crate) fn wait_without_limit(&self) -> io::Result<()> {
        self.set_timeout(None)
    }
}

/// Tries the addresses of a host in turn.
fn connect_to_any(host: &str, port: u16) -> io::Result<TcpStream> {
    let mut last = io::Error::new(io::ErrorKind::NotFound, "the name has no address");
    for address in (host, port).to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, LOGIN_TIMEOUT) {
            Ok(stream) => return Ok(stream),
            Err(error) => last = error,
        }
    }
    Err(last)
}

impl Read for Socket {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        match self {
            Socket::Tcp(stream) => stream.read(bytes),
            Socket::Unix(stream) => stream.read(bytes),
        }
    }
}

impl Write for Socket {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Socket::Tcp(stream) => stream.write(bytes),
            Socket::Unix(stream) => stream.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

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
    pub(crate) fn wait_without_limit(&self) -> io::Result<()> {
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
