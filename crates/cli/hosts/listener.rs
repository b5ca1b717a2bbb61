//! What a server listens on: a TCP port or a local socket.

use std::fs;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::FileTypeExt as _;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

use ferrio_job::reason;
use nix::errno::Errno;
use nix::sys::socket::{getsockopt, sockopt};
use nix::sys::stat::{Mode, umask};
use thiserror::Error;

use super::address::{Address, AddressError, shown};

/// A socket that waits for connections.
#[derive(Debug)]
pub struct Listener {
    socket: Socket,
    /// The address for the user.
    pub shown: String,
    /// Any host can reach it.
    pub is_open: bool,
    /// The file of a local socket, which goes with the listener.
    path: Option<PathBuf>,
}

#[derive(Debug)]
enum Socket {
    Port(TcpListener),
    Local(UnixListener),
}

/// Why nobody listens.
#[derive(Debug, Error)]
pub enum ListenError {
    /// The address is wrong.
    #[error("{0}")]
    Address(#[from] AddressError),
    /// The kernel refuses.
    #[error("bind: {}", reason(.error))]
    Bind {
        /// The address, for users.
        shown: String,
        error: io::Error,
    },
}

impl Listener {
    /// Listens.
    ///
    /// # Errors
    /// The address is unknown, not of this machine or in use.
    pub fn open(address: &Address) -> Result<Listener, ListenError> {
        let mut refused = None;
        if let Address::Socket(path) = address {
            let shown = path.display().to_string();
            let socket =
                open_local(path).map_err(|error| ListenError::Bind { shown: shown.clone(), error })?;
            let path = Some(std::path::absolute(path).unwrap_or_else(|_| path.clone()));
            return Ok(Listener { socket: Socket::Local(socket), shown, is_open: false, path });
        }
        for address in address.resolve(true)? {
            match TcpListener::bind(address) {
                Ok(socket) => return Ok(Listener::of_port(socket, address)),
                Err(error) => refused = refused.or(Some(ListenError::Bind { shown: shown(address), error })),
            }
        }
        let nothing = || ListenError::Bind { shown: String::new(), error: Errno::EADDRNOTAVAIL.into() };
        Err(refused.unwrap_or_else(nothing))
    }

    fn of_port(socket: TcpListener, address: SocketAddr) -> Listener {
        let is_open = !address.ip().is_loopback();
        Listener { socket: Socket::Port(socket), shown: shown(address), is_open, path: None }
    }

    /// The listener that a parent has opened and given to this process, if this is one.
    pub fn inherited(descriptor: OwnedFd, address: &Address) -> io::Result<Listener> {
        if !getsockopt(&descriptor, sockopt::AcceptConn)? {
            return Err(io::Error::other("not a listening socket"));
        }
        match address {
            Address::Socket(path) => {
                let socket = Socket::Local(UnixListener::from(descriptor));
                let (shown, path) = (path.display().to_string(), std::path::absolute(path)?);
                Ok(Listener { socket, shown, is_open: false, path: Some(path) })
            }
            Address::Port { .. } => {
                let socket = TcpListener::from(descriptor);
                let address = socket.local_addr()?;
                Ok(Listener::of_port(socket, address))
            }
        }
    }

    /// A connection that waits, and who it is. It does not block.
    ///
    /// # Errors
    /// Nobody waits any more, or this process has too many open files.
    pub fn accept(&self) -> io::Result<(OwnedFd, String)> {
        match &self.socket {
            Socket::Port(socket) => socket.accept().map(|(stream, peer)| (stream.into(), peer.to_string())),
            Socket::Local(socket) => socket.accept().map(|(stream, _)| (stream.into(), self.shown.clone())),
        }
    }

    /// Makes [`Listener::accept`] return at once.
    ///
    /// # Errors
    /// The kernel refuses.
    pub fn set_nonblocking(&self) -> io::Result<()> {
        match &self.socket {
            Socket::Port(socket) => socket.set_nonblocking(true),
            Socket::Local(socket) => socket.set_nonblocking(true),
        }
    }

    /// Leaves the file of a local socket to another process.
    pub fn keep_file(&mut self) {
        self.path = None;
    }
}

impl AsFd for Listener {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match &self.socket {
            Socket::Port(socket) => socket.as_fd(),
            Socket::Local(socket) => socket.as_fd(),
        }
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        if let Some(path) = &self.path {
            let _ = fs::remove_file(path);
        }
    }
}

/// Listens on a local socket that only this user can reach. The file of a server that is gone is replaced.
fn open_local(path: &Path) -> io::Result<UnixListener> {
    let is_socket = fs::symlink_metadata(path).is_ok_and(|file| file.file_type().is_socket());
    if is_socket
        && UnixStream::connect(path).is_err_and(|error| error.kind() == io::ErrorKind::ConnectionRefused)
    {
        fs::remove_file(path)?;
    }
    // The file is never there with other rights.
    let before = umask(Mode::from_bits_truncate(0o177));
    let socket = UnixListener::bind(path);
    umask(before);
    // The standard library has words of its own for a path that is too long.
    socket.map_err(|error| if error.raw_os_error().is_none() { Errno::EINVAL.into() } else { error })
}
