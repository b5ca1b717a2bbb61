//! A connection to a server, which transfers whole messages during negotiation. No wait is longer than [`STEP_TIMEOUT`].

use std::io::{self, ErrorKind, Read};
use std::net::ToSocketAddrs;
use std::os::fd::AsFd;
use std::time::Instant;

use ferrio_machine::InterruptionLimit;
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use socket2::{Domain, SockAddr, Socket, Type};

use crate::error::STEP_TIMEOUT;
use crate::{Address, NbdError};

/// Interval at which a wait checks whether it must end.
const TICK_MS: u8 = 20;

/// Connects to a server.
fn connect(address: &Address, stopped: &dyn Fn() -> bool) -> Result<Socket, NbdError> {
    let (name, candidates) = match address {
        Address::Unix(path) => (None, SockAddr::unix(path).map(|address| vec![address])),
        Address::Vsock(cid, port) => (Some(format!("{cid}:{port}")), Ok(vec![SockAddr::vsock(*cid, *port)])),
        Address::Tcp(host, port) => {
            let found = (host.as_str(), *port).to_socket_addrs();
            let found = found.map(|found| found.map(SockAddr::from).collect());
            (Some(format!("{host}:{port}")), found)
        }
    };
    let failed = |source| NbdError::Connect { address: name.clone(), source };
    let mut last = io::Error::from_raw_os_error(libc::EHOSTUNREACH);
    for candidate in candidates.map_err(failed)? {
        match connect_to(&candidate, stopped) {
            Ok(socket) => return Ok(socket),
            Err(error) => last = error,
        }
    }
    Err(failed(last))
}

fn connect_to(address: &SockAddr, stopped: &dyn Fn() -> bool) -> io::Result<Socket> {
    let socket = Socket::new(Domain::from(i32::from(address.family())), Type::STREAM, None)?;
    socket.set_nonblocking(true)?;
    if address.is_ipv4() || address.is_ipv6() {
        socket.set_tcp_nodelay(true)?;
    }
    let began = Instant::now();
    loop {
        match socket.connect(address) {
            Ok(()) => return Ok(socket),
            Err(e) if e.raw_os_error() == Some(libc::EINPROGRESS) => break,
            // The backlog of a Unix socket is full.
            Err(e) if e.kind() == ErrorKind::WouldBlock => {
                if began.elapsed() > STEP_TIMEOUT || stopped() {
                    return Err(io::Error::from_raw_os_error(libc::ETIMEDOUT));
                }
                wait(&socket, PollFlags::empty());
            }
            Err(e) => return Err(e),
        }
    }
    while !wait(&socket, PollFlags::POLLOUT) {
        if began.elapsed() > STEP_TIMEOUT || stopped() {
            return Err(io::Error::from_raw_os_error(libc::ETIMEDOUT));
        }
    }
    socket.take_error()?.map_or(Ok(socket), Err)
}

/// Waits for one tick at most. A signal ends the wait early.
fn wait(socket: &Socket, event: PollFlags) -> bool {
    let mut waiting = [PollFd::new(socket.as_fd(), event)];
    poll(&mut waiting, PollTimeout::from(TICK_MS)).is_ok_and(|ready| ready > 0)
}

/// A connection to a server during the handshake.
pub(crate) struct Connection<'a> {
    socket: Socket,
    stopped: &'a dyn Fn() -> bool,
}

impl<'a> Connection<'a> {
    /// Connects to a server.
    pub(crate) fn open(address: &Address, stopped: &'a dyn Fn() -> bool) -> Result<Self, NbdError> {
        Ok(Connection { socket: connect(address, stopped)?, stopped })
    }

    /// The socket, in non-blocking mode.
    pub(crate) fn into_socket(self) -> Socket {
        self.socket
    }

    /// Receives `N` bytes.
    pub(crate) fn receive<const N: usize>(&mut self) -> Result<[u8; N], NbdError> {
        let mut bytes = [0; N];
        self.fill(&mut bytes)?;
        Ok(bytes)
    }

    /// Receives as many bytes as the buffer holds.
    pub(crate) fn fill(&mut self, bytes: &mut [u8]) -> Result<(), NbdError> {
        self.transfer(bytes.len(), PollFlags::POLLIN, |mut socket, moved| socket.read(&mut bytes[moved..]))
    }

    /// Sends all bytes.
    pub(crate) fn send(&mut self, bytes: &[u8]) -> Result<(), NbdError> {
        self.transfer(bytes.len(), PollFlags::POLLOUT, |socket, moved| {
            socket.send_with_flags(&bytes[moved..], libc::MSG_NOSIGNAL)
        })
    }

    fn transfer(
        &self,
        len: usize,
        event: PollFlags,
        mut step: impl FnMut(&Socket, usize) -> io::Result<usize>,
    ) -> Result<(), NbdError> {
        let began = Instant::now();
        let broken = |what, errno: Errno| Err(NbdError::Broken { what, source: errno.into() });
        let mut interrupted = InterruptionLimit::default();
        let mut moved = 0;
        while moved < len {
            match step(&self.socket, moved) {
                Ok(0) => return broken("closed the connection", Errno::ENOTCONN),
                Ok(count) => moved += count,
                Err(e) if e.kind() == ErrorKind::Interrupted && interrupted.should_retry() => {}
                Err(e) if e.kind() == ErrorKind::WouldBlock => {
                    if (self.stopped)() {
                        return broken("did not answer before the job was stopped", Errno::EINTR);
                    }
                    if began.elapsed() > STEP_TIMEOUT {
                        return broken("does not answer", Errno::ETIMEDOUT);
                    }
                    wait(&self.socket, event);
                }
                Err(source) => return Err(NbdError::Broken { what: "broke the connection", source }),
            }
        }
        Ok(())
    }
}
