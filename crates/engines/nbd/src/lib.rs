//! The nbd engine: a client of the network block device protocol. All requests of a job use one connection, up to `iodepth` at once; the
//! server answers in any order.
//!
//! - `sender`: requests waiting for space in the socket.
//! - `receiver`: replies.
//! - `units`: requests in flight.
//!
//! No call waits for the server longer than a tick before it checks the job: a server that stops answering does not delay a job that has to
//! end.

mod receiver;
mod sender;
mod units;

use std::io;
use std::os::fd::AsFd;
use std::ptr;
use std::time::{Duration, Instant};

use ferrio_engine::{Buffers, Completion, Engine, EngineError, Op, Request, StopRequest, Submit};
use ferrio_job::{Diagnostic, Direction, JobSpec, OpenSync};
use ferrio_nbd::wire::{FLAG_FUA, RequestType};
use ferrio_nbd::{ExportFlags, NbdError, Uri};
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::time::TimeSpec;
use receiver::Receiver;
use sender::Sender;
use socket2::Socket;
use units::Units;

/// Longest wait before the engine checks whether the job has to end.
const POLL_INTERVAL: Duration = Duration::from_millis(100);
/// Longest wait of a job that has to end for a silent server.
const STOP_TIMEOUT: Duration = Duration::from_secs(10);

/// `ioengine=nbd`
pub struct Nbd<'a> {
    socket: Socket,
    flags: ExportFlags,
    /// Flags of write requests.
    write_flags: u16,
    units: Units,
    sender: Sender,
    receiver: Receiver,
    /// Requests submitted since the last flush.
    submitted: u32,
    /// The reason why no more requests can be answered.
    broken: Option<String>,
    /// Start of the server's silence, if the job has to end.
    silent_since: Option<Instant>,
    stop_request: Box<dyn Fn() -> StopRequest + 'a>,
    notes: Vec<Diagnostic>,
}

impl<'a> Nbd<'a> {
    /// Connects to the export of the job. `stop_request` returns whether the job has to end.
    ///
    /// # Errors
    /// The export does not exist, or lacks a feature that the job needs.
    pub fn new(spec: &JobSpec, stop_request: Box<dyn Fn() -> StopRequest + 'a>) -> Result<Self, EngineError> {
        let uri = spec.engine_options.uri.parse::<Uri>().map_err(|error| refused(&error))?;
        let (socket, export) =
            ferrio_nbd::open(&uri, &|| stop_request() != StopRequest::No).map_err(|error| refused(&error))?;
        let synchronous = spec.rw.does(Direction::Write) && spec.opening.open_sync != OpenSync::None;
        if synchronous && !export.flags.can_fua() {
            return Err(EngineError::new("nbd_connect_uri", Errno::EOPNOTSUPP).hint(
                "the export has no synchronous writes (FUA): replace `sync` by fsync=1, which flushes after each write",
            ));
        }
        wait_in_receive(&socket).map_err(|e| EngineError::new("setsockopt", e))?;
        let depth = spec.units();
        let connected = || Diagnostic::note("connected to NBD server").code("connected-to-server");
        Ok(Nbd {
            socket,
            flags: export.flags,
            write_flags: if synchronous { FLAG_FUA } else { 0 },
            units: Units::new(depth),
            sender: Sender::new(depth),
            receiver: Receiver::new(depth),
            submitted: 0,
            broken: None,
            silent_since: None,
            stop_request,
            notes: spec.compat.has_words_of_fio.then(connected).into_iter().collect(),
        })
    }

    /// The protocol's command and flags for a request; an errno if this export does not support it.
    fn command(&self, op: Op) -> Result<(RequestType, u16), i32> {
        let able = |able: bool, command| if able { Ok((command, 0)) } else { Err(libc::EOPNOTSUPP) };
        match op {
            Op::Read => Ok((RequestType::Read, 0)),
            Op::Write => Ok((RequestType::Write, self.write_flags)),
            Op::Trim => able(self.flags.can_trim(), RequestType::Trim),
            // The protocol has one kind of sync, after which all completed writes are stable.
            Op::Fsync | Op::Fdatasync | Op::SyncFileRange(_) => {
                able(self.flags.can_flush(), RequestType::Flush)
            }
        }
    }

    /// Gives up the connection: all requests in flight fail.
    #[cold]
    fn give_up(&mut self, errno: i32, why: String) {
        self.receiver.fail_all(&mut self.units, errno);
        self.sender.clear();
        self.broken.get_or_insert(why);
    }

    /// Sends as much as the socket takes.
    fn send(&mut self) {
        if self.broken.is_none()
            && let Err(errno) = self.sender.send(&self.socket, &self.units)
        {
            self.give_up(
                libc::ENOTCONN,
                format!("the connection to the NBD server is lost: {}", errno.desc()),
            );
        }
    }

    /// Receives available data. With `waits`, waits up to a tick for it. True if something was received.
    fn receive(&mut self, waits: bool) -> bool {
        if self.broken.is_some() {
            return false;
        }
        match self.receiver.receive(&self.socket, &mut self.units, waits) {
            Ok(came) => came,
            Err(why) => {
                self.give_up(libc::ENOTCONN, why);
                true
            }
        }
    }

    /// Waits until data can be received, or pending data can be sent.
    fn wait(&mut self, timeout: Duration) {
        let mut events = PollFlags::POLLIN;
        if !self.sender.is_empty() {
            events |= PollFlags::POLLOUT;
        }
        let mut waiting = [PollFd::new(self.socket.as_fd(), events)];
        // A signal ends the wait early, and an error shows when the socket is used.
        let _ = ppoll(&mut waiting, Some(TimeSpec::from_duration(timeout)), None);
    }

    /// Gives up if the job has to end and the server stays silent.
    #[cold]
    fn check_stop_request(&mut self) {
        let stop_request = (self.stop_request)();
        if stop_request == StopRequest::No {
            return;
        }
        let silent_since = *self.silent_since.get_or_insert_with(Instant::now);
        if stop_request == StopRequest::AtOnce || silent_since.elapsed() >= STOP_TIMEOUT {
            let why = "the NBD server did not answer before the job was ended";
            self.give_up(libc::ETIMEDOUT, why.to_owned());
        }
    }
}

/// The argument of a call that sends or receives `count` pieces.
fn message(pieces: *mut libc::iovec, count: usize) -> libc::msghdr {
    libc::msghdr {
        msg_name: ptr::null_mut(),
        msg_namelen: 0,
        msg_iov: pieces,
        msg_iovlen: count as _,
        msg_control: ptr::null_mut(),
        msg_controllen: 0,
        msg_flags: 0,
    }
}

/// Limits each receiving call to a wait of one tick.
fn wait_in_receive(socket: &Socket) -> io::Result<()> {
    socket.set_nonblocking(false)?;
    socket.set_read_timeout(Some(POLL_INTERVAL))
}

fn refused(error: &NbdError) -> EngineError {
    EngineError::new("nbd_connect_uri", io::Error::from_raw_os_error(error.errno())).hint(error.to_string())
}

impl Engine for Nbd<'_> {
    fn open(spec: &JobSpec, _buffers: &Buffers) -> Result<Self, EngineError> {
        Nbd::new(spec, Box::new(|| StopRequest::No))
    }

    fn submit(&mut self, request: &Request) -> Submit {
        if self.broken.is_some() {
            return Submit::Done(-i64::from(libc::ENOTCONN));
        }
        let (command, flags) = match self.command(request.op) {
            Ok(command) => command,
            Err(errno) => return Submit::Done(-i64::from(errno)),
        };
        self.units.begin(request, command, flags);
        self.sender.push(request.unit);
        self.submitted += 1;
        Submit::Queued
    }

    fn flush(&mut self) -> io::Result<u32> {
        self.send();
        Ok(std::mem::take(&mut self.submitted))
    }

    fn reap(&mut self, min: u32, max: u32, done: &mut Vec<Completion>) -> io::Result<()> {
        let (min, max) = (min as usize, (max as usize).max(1));
        if self.receiver.ready() < min.max(1) {
            self.send();
            self.receive(false);
        }
        while self.receiver.ready() < min {
            let came = if self.sender.is_empty() {
                self.receive(true)
            } else {
                self.wait(POLL_INTERVAL);
                self.send();
                self.receive(false)
            };
            if came {
                self.silent_since = None;
            } else {
                self.check_stop_request();
            }
        }
        self.receiver.take(max, done);
        Ok(())
    }

    fn reap_within(&mut self, timeout: Duration, max: u32, done: &mut Vec<Completion>) -> io::Result<bool> {
        if self.receiver.ready() == 0 && self.units.in_flight() > 0 {
            self.wait(timeout);
            self.send();
            self.receive(false);
        }
        self.receiver.take(max as usize, done);
        Ok(true)
    }

    fn failure_details(&self, unit: u32) -> Option<String> {
        let said = self.units.details(unit).map(|text| format!("the NBD server says: {text}"));
        said.or_else(|| self.broken.clone())
    }

    fn notes(&mut self) -> Vec<Diagnostic> {
        std::mem::take(&mut self.notes)
    }
}

impl Drop for Nbd<'_> {
    fn drop(&mut self) {
        if self.broken.is_none() && self.units.in_flight() == 0 {
            ferrio_nbd::disconnect(&self.socket);
        }
    }
}

#[cfg(test)]
mod tests;
