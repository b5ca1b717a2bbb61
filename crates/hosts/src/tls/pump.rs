//! Moves bytes between a local socket and a TLS connection, in one thread that waits for both.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::sync::mpsc::Sender;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use rustls::{CertificateError, Connection};

/// How long the handshake may take: what a stranger can hold a connection for.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(10);

/// How long what was sent last may take to leave after this end is closed.
const LAST_BYTES_TIMEOUT: Duration = Duration::from_secs(2);

/// Bytes moved at a time: those of a TLS record.
const PIECE: usize = 16 << 10;

/// One connection.
pub(super) struct Pump {
    connection: Connection,
    network: TcpStream,
    local: UnixStream,
    /// Bytes that have come, and that the local socket has not taken.
    to_local: Vec<u8>,
    /// This end sends no more.
    local_has_ended: bool,
    /// The other end sends no more.
    network_has_ended: bool,
    begin: Instant,
    /// When the local socket was closed for both directions.
    closed: Option<Instant>,
    /// Dropped when the last byte of this end is sent.
    unsent: Option<Sender<()>>,
}

/// Which of the sockets can be read or written.
struct Ready {
    network: PollFlags,
    local: PollFlags,
}

impl Pump {
    /// The sockets do not block.
    pub fn new(connection: Connection, network: TcpStream, local: UnixStream, unsent: Sender<()>) -> Self {
        Pump {
            connection,
            network,
            local,
            to_local: Vec::new(),
            local_has_ended: false,
            network_has_ended: false,
            begin: Instant::now(),
            closed: None,
            unsent: Some(unsent),
        }
    }

    /// Moves bytes until both ends are through, and calls `failed` before this end is told if the connection failed.
    pub fn run(mut self, failed: impl FnOnce(String)) {
        if let Err(reason) = self.move_bytes() {
            failed(reason);
        }
        let _ = self.local.shutdown(Shutdown::Both);
        let _ = self.network.shutdown(Shutdown::Both);
    }

    fn move_bytes(&mut self) -> Result<(), String> {
        let mut buffer = vec![0; PIECE];
        loop {
            let is_through = self.local_has_ended && self.network_has_ended || self.closed.is_some();
            if is_through && !self.connection.wants_write() {
                return Ok(());
            }
            let ready = self.wait()?;
            let any_input = PollFlags::POLLIN | PollFlags::POLLHUP | PollFlags::POLLERR;
            if ready.network.intersects(any_input) && !self.network_has_ended {
                self.receive(&mut buffer)?;
            }
            if ready.local.contains(PollFlags::POLLOUT) && !self.hand_over() {
                return Ok(());
            }
            if ready.local.intersects(any_input) && !self.take_in(&mut buffer, ready.local) {
                return Ok(());
            }
            if self.connection.wants_write() {
                self.send()?;
            }
        }
    }

    /// Waits until there is something to do.
    fn wait(&mut self) -> Result<Ready, String> {
        let is_shaking_hands = self.connection.is_handshaking();
        let flag = |flag, is_wanted| if is_wanted { flag } else { PollFlags::empty() };
        let is_taken = self.to_local.is_empty();
        let network = flag(PollFlags::POLLOUT, self.connection.wants_write())
            | flag(PollFlags::POLLIN, !self.network_has_ended && is_taken);
        let takes_in = !is_shaking_hands && !self.local_has_ended && !self.connection.wants_write();
        let local = flag(PollFlags::POLLOUT, !is_taken) | flag(PollFlags::POLLIN, takes_in);
        let (deadline, late) = match self.closed {
            Some(closed) => (Some(closed + LAST_BYTES_TIMEOUT), "the other end does not read"),
            None => (
                is_shaking_hands.then(|| self.begin + HANDSHAKE_TIMEOUT),
                "no TLS handshake within 10 s: does the other end use TLS?",
            ),
        };
        let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        if left.is_some_and(|left| left.is_zero()) {
            return Err(late.to_owned());
        }
        let timeout = left.map_or(PollTimeout::NONE, |left| {
            PollTimeout::try_from(left + Duration::from_millis(1)).unwrap_or(PollTimeout::MAX)
        });
        let mut sockets = Vec::with_capacity(2);
        // A socket that is closed is ready for ever, whatever is asked of it: each is left out when it has nothing for us.
        let asks_local = !local.is_empty() || self.local_has_ended && self.closed.is_none();
        if asks_local {
            sockets.push(PollFd::new(self.local.as_fd(), local));
        }
        if !network.is_empty() {
            sockets.push(PollFd::new(self.network.as_fd(), network));
        }
        match poll(&mut sockets, timeout) {
            Ok(_) | Err(Errno::EINTR) => {}
            Err(error) => return Err(error.desc().to_owned()),
        }
        let mut events = sockets.iter().map(|socket| socket.revents().unwrap_or(PollFlags::empty()));
        let nothing = PollFlags::empty();
        let local = if asks_local { events.next().unwrap_or(nothing) } else { nothing };
        Ok(Ready { local, network: events.next().unwrap_or(nothing) })
    }

    /// Reads from the network.
    fn receive(&mut self, buffer: &mut [u8]) -> Result<(), String> {
        let has_ended = match self.connection.read_tls(&mut self.network) {
            Ok(length) => length == 0,
            Err(error) if is_no_failure(&error) => return Ok(()),
            Err(error) => return Err(error.to_string()),
        };
        if has_ended && self.connection.is_handshaking() {
            return Err("it was closed within the TLS handshake: does the other end use TLS?".into());
        }
        if let Err(error) = self.connection.process_new_packets() {
            // The other end is told why.
            let _ = self.connection.write_tls(&mut self.network);
            return Err(explained(&error));
        }
        self.network_has_ended = has_ended;
        loop {
            match self.connection.reader().read(buffer) {
                // With a word of farewell; an end without one shows in the messages, each of which has an end.
                Ok(0) => self.network_has_ended = true,
                Ok(length) => {
                    self.to_local.extend_from_slice(&buffer[..length]);
                    continue;
                }
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => self.network_has_ended = true,
                Err(_) => {}
            }
            break;
        }
        if self.network_has_ended && self.to_local.is_empty() {
            let _ = self.local.shutdown(Shutdown::Write);
        }
        Ok(())
    }

    /// Gives to the local socket what has come; false if nobody wants it.
    fn hand_over(&mut self) -> bool {
        match self.local.write(&self.to_local) {
            Ok(length) => drop(self.to_local.drain(..length)),
            Err(error) if is_no_failure(&error) => {}
            Err(_) => return false,
        }
        if self.network_has_ended && self.to_local.is_empty() {
            let _ = self.local.shutdown(Shutdown::Write);
        }
        true
    }

    /// Takes from the local socket what is to be sent; false if that is over.
    fn take_in(&mut self, buffer: &mut [u8], events: PollFlags) -> bool {
        match self.local.read(buffer) {
            Ok(0) => {
                if !std::mem::replace(&mut self.local_has_ended, true) {
                    self.connection.send_close_notify();
                }
                if events.intersects(PollFlags::POLLHUP | PollFlags::POLLERR) {
                    self.closed = Some(Instant::now());
                }
                true
            }
            // The buffer of the connection has no limit of its own, and is empty here.
            Ok(length) => self.connection.writer().write_all(&buffer[..length]).is_ok(),
            Err(error) => is_no_failure(&error),
        }
    }

    fn send(&mut self) -> Result<(), String> {
        while self.connection.wants_write() {
            match self.connection.write_tls(&mut self.network) {
                Ok(_) => {}
                Err(error) if is_no_failure(&error) => return Ok(()),
                Err(error) => return Err(error.to_string()),
            }
        }
        if self.local_has_ended {
            let _ = self.network.shutdown(Shutdown::Write);
            self.unsent = None;
        }
        Ok(())
    }
}

fn is_no_failure(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted)
}

/// What failed, and what to do.
fn explained(error: &rustls::Error) -> String {
    match error {
        // A bad signature is that of a CA that was made anew under its old name.
        rustls::Error::InvalidCertificate(
            CertificateError::UnknownIssuer | CertificateError::BadSignature,
        ) => "its certificate is not signed by the CA of --tls-ca".into(),
        rustls::Error::NoCertificatesPresented => "it has no certificate: --tls-cert and --tls-key".into(),
        rustls::Error::AlertReceived(alert) => {
            format!(
                "it refuses this end's certificate ({alert:?}): both ends need one that the same CA signed"
            )
        }
        rustls::Error::InvalidMessage(_) => "it does not speak TLS".into(),
        other => other.to_string(),
    }
}
