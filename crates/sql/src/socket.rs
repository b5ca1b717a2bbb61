//! The bytes between a client and a server: TCP or a Unix socket.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::time::Duration;

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use socket2::SockRef;

use crate::Address;

/// How long a server may take to accept a connection, and to answer each message of the login. Statements may take as long as they like.
const LOGIN_TIMEOUT: Duration = if cfg!(test) { Duration::from_millis(50) } else { Duration::from_secs(10) };

/// A connected socket. Answers have to come within [`LOGIN_TIMEOUT`] until [`Socket::wait_without_limit`].
#[derive(Debug)]
pub(crate) enum Socket {
    Tcp(TcpStream),
    Unix(UnixStream, PollTimeout),
}

impl Socket {
    pub(crate) fn connect(address: &Address) -> io::Result<Socket> {
        match address {
            Address::Tcp { host, port } => {
                let stream = connect_to_any(host, *port)?;
                // Each statement is one small write that the server waits for.
                stream.set_nodelay(true)?;
                // Without it a server whose machine has vanished is waited for without end.
                SockRef::from(&stream).set_keepalive(true)?;
                stream.set_read_timeout(Some(LOGIN_TIMEOUT))?;
                Ok(Socket::Tcp(stream))
            }
            Address::Socket(path) => {
                let timeout = PollTimeout::try_from(LOGIN_TIMEOUT).unwrap_or(PollTimeout::NONE);
                Ok(Socket::Unix(UnixStream::connect(path)?, timeout))
            }
        }
    }

    /// From now on, answers may take any time.
    pub(crate) fn wait_without_limit(&mut self) -> io::Result<()> {
        match self {
            Socket::Tcp(stream) => stream.set_read_timeout(None),
            Socket::Unix(_, timeout) => {
                *timeout = PollTimeout::NONE;
                Ok(())
            }
        }
    }
}

/// Waits for an answer. A thread that sleeps in a read of a Unix socket is woken when the peer has taken what was sent, and again by the
/// answer; one that polls, by the answer only, which is cheaper even though it is one more system call.
fn wait(stream: &UnixStream, timeout: PollTimeout) -> io::Result<()> {
    match poll(&mut [PollFd::new(stream.as_fd(), PollFlags::POLLIN)], timeout)? {
        0 => Err(ErrorKind::TimedOut.into()),
        _ => Ok(()),
    }
}

/// Tries the addresses of a host in turn.
fn connect_to_any(host: &str, port: u16) -> io::Result<TcpStream> {
    let mut last = io::Error::new(ErrorKind::NotFound, "the name has no address");
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
            Socket::Unix(stream, timeout) => {
                wait(stream, *timeout)?;
                stream.read(bytes)
            }
        }
    }
}

impl Write for Socket {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Socket::Tcp(stream) => stream.write(bytes),
            Socket::Unix(stream, _) => stream.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;
    use std::os::unix::net::UnixListener;

    use super::*;

    #[test]
    fn a_server_that_does_not_answer_the_login_is_given_up() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("socket");
        let (tcp, _unix) = (TcpListener::bind("127.0.0.1:0").unwrap(), UnixListener::bind(&path).unwrap());
        let port = tcp.local_addr().unwrap().port();
        for address in [Address::Tcp { host: "127.0.0.1".to_owned(), port }, Address::Socket(path)] {
            let error = Socket::connect(&address).unwrap().read(&mut [0]).unwrap_err();
            assert!(
                matches!(error.kind(), ErrorKind::TimedOut | ErrorKind::WouldBlock),
                "{address:?}: {error}"
            );
        }
    }
}
