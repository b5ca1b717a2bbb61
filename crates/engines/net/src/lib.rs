//! The engines net and netsplice: what a job writes goes to a peer, what it reads comes from there. fio at the other end is as good as
//! ferrio.
//!
//! - `endpoint`: how sockets come to be.
//! - `carrier`: the system calls that move bytes.
//! - `wire`: what is sent beside the data.
//!
//! A peer may let a job wait for any time. No call waits longer than some milliseconds: then [`Submit::Full`] gives the loop a chance to
//! see that the time is up, and the request goes on where it was when it is submitted again.

mod carrier;
mod endpoint;
mod wire;

use std::slice;
use std::time::Duration;

use carrier::{Pipe, Step};
use ferrio_engine::{Buffers, Engine, EngineError, FileSet, Op, OpenFile, PEER_ENDED, Request, Submit};
use ferrio_job::{Diagnostic, JobSpec, Network, Prefix, Protocol};
use nix::errno::Errno;
use socket2::{SockAddr, Socket};

/// How long the message that ends a transfer may wait for room.
const GRACE: Duration = Duration::from_millis(500);

/// `ioengine=net` and `ioengine=netsplice`
pub struct Net {
    network: Network,
    /// Datagrams have numbers; those that are verified have none.
    numbered: bool,
    /// Where the peer is, once that is known.
    peer: Option<SockAddr>,
    /// Waits for peers.
    bound: Option<Socket>,
    /// Leads to the peer.
    connection: Option<Socket>,
    /// Bytes go through it, if there is one.
    pipe: Option<Pipe>,
    /// Bytes of the present unit that are moved.
    moved: usize,
    /// The present unit is on its way back (`pingpong`).
    returns: bool,
    /// Number of the next datagram.
    sequence: u64,
    /// Datagrams that never came.
    dropped: u64,
    /// The peer closed the connection without sending the close message.
    peer_vanished: bool,
}

impl Net {
    /// Ends the transfer, if there is one.
    fn disconnect(&mut self) {
        let Some(socket) = self.connection.take() else { return };
        let to = self.peer.as_ref().filter(|_| self.network.protocol.is_datagram());
        // The peer may be gone: then it has no need to know.
        let _ = socket.set_write_timeout(Some(GRACE));
        carrier::send(&socket, &wire::CLOSE, to, false);
        (self.moved, self.returns, self.sequence) = (0, false, 0);
    }

    /// Waits for the message that begins a transfer by datagrams. False if the job is stopped meanwhile.
    fn await_open(&mut self, socket: &Socket, stopped: &dyn Fn() -> bool) -> Result<bool, EngineError> {
        let mut message = [0; wire::OPEN.len()];
        while !stopped() {
            match self.receive_datagram(socket, &mut message) {
                Step::Moved(_) if message == wire::OPEN => return Ok(true),
                Step::Failed(errno) => return Err(EngineError::new("recvfrom", Errno::from_raw(errno))),
                _ => {}
            }
        }
        Ok(false)
    }

    /// Receives one datagram, and remembers whom it is from.
    fn receive_datagram(&mut self, socket: &Socket, bytes: &mut [u8]) -> Step {
        // SAFETY: initialized bytes are valid as possibly uninitialized ones, and the call writes initialized ones only.
        let buffer = unsafe { slice::from_raw_parts_mut(bytes.as_mut_ptr().cast(), bytes.len()) };
        match socket.recv_from(buffer) {
            Ok((count, from)) => {
                if self.network.receives {
                    self.peer = Some(from);
                }
                Step::Moved(count)
            }
            Err(e) => match e.raw_os_error().unwrap_or(libc::EIO) {
                libc::EAGAIN | libc::EINTR => Step::Wait,
                errno => Step::Failed(errno),
            },
        }
    }

    /// Moves the rest of the unit, or a part of it.
    fn step(&mut self, socket: &Socket, unit: &mut [u8], sends: bool) -> Step {
        let rest = &mut unit[self.moved..];
        let more = !self.network.pingpong;
        if self.network.protocol.is_datagram() {
            return if sends {
                if self.numbered && !self.returns {
                    wire::set_sequence(rest, self.sequence);
                    // A datagram is sent as a whole or not at all.
                    return match carrier::send(socket, rest, self.peer.as_ref(), false) {
                        Step::Moved(count) => {
                            self.sequence += 1;
                            Step::Moved(count)
                        }
                        other => other,
                    };
                }
                carrier::send(socket, rest, self.peer.as_ref(), false)
            } else {
                self.receive_numbered(socket, rest)
            };
        }
        match (&mut self.pipe, sends) {
            (Some(pipe), true) => pipe.send(socket, rest, more),
            (Some(pipe), false) => pipe.receive(socket, rest),
            (None, true) => carrier::send(socket, rest, None, more),
            (None, false) => carrier::receive(socket, rest),
        }
    }

    /// Receives a datagram with data.
    fn receive_numbered(&mut self, socket: &Socket, rest: &mut [u8]) -> Step {
        let step = self.receive_datagram(socket, rest);
        let Step::Moved(count) = step else { return step };
        let datagram = &rest[..count];
        if datagram == wire::CLOSE {
            return Step::End;
        }
        // Another sender begins, or nothing was in it.
        if datagram == wire::OPEN || datagram.is_empty() {
            return Step::Wait;
        }
        if self.numbered
            && !self.returns
            && let Some(sequence) = wire::sequence(datagram)
        {
            // One that comes late was counted as lost before.
            self.dropped += sequence.saturating_sub(self.sequence);
            self.sequence = self.sequence.max(sequence.saturating_add(1));
        }
        step
    }

    /// Moves a unit, and with `pingpong` moves it back.
    fn transfer(&mut self, request: &Request) -> Submit {
        // SAFETY: the buffer is valid for `len` bytes until the request completes, and nobody else uses it.
        let unit = unsafe { slice::from_raw_parts_mut(request.buffer, request.len as usize) };
        let Some(socket) = self.connection.take() else {
            return Submit::Done(-i64::from(libc::ENOTCONN));
        };
        let outcome = loop {
            let sends = (request.op == Op::Write) != self.returns;
            match self.step(&socket, unit, sends) {
                Step::Moved(count) => self.moved += count,
                Step::Wait => break Submit::Full,
                Step::End => {
                    self.peer_vanished |= self.network.protocol.is_tcp();
                    break Submit::Done(PEER_ENDED);
                }
                Step::Failed(errno) => break Submit::Done(-i64::from(errno)),
            }
            if !sends && self.moved == wire::CLOSE.len() && unit.starts_with(&wire::CLOSE) {
                break Submit::Done(PEER_ENDED);
            }
            if self.moved < unit.len() {
                continue;
            }
            self.moved = 0;
            self.returns = self.network.pingpong && !self.returns;
            if !self.returns {
                break Submit::Done(request.len.cast_signed());
            }
        };
        self.connection = Some(socket);
        outcome
    }
}

impl Engine for Net {
    fn open(spec: &JobSpec, _buffers: &Buffers) -> Result<Self, EngineError> {
        let network = spec.network.as_deref().cloned().unwrap_or_default();
        let peer = endpoint::peer_address(&network)?;
        let pipe = (network.splices && network.protocol.is_tcp())
            .then(|| Pipe::new(spec.verify.is_some()))
            .transpose()?;
        Ok(Net {
            numbered: spec.verify.is_none(),
            network,
            peer,
            bound: None,
            connection: None,
            pipe,
            moved: 0,
            returns: false,
            sequence: 0,
            dropped: 0,
            peer_vanished: false,
        })
    }

    /// From now on peers can connect: also those that begin at the same time as this job.
    fn attach(&mut self, _files: &FileSet) -> Result<(), EngineError> {
        if self.network.waits_for_peer && self.bound.is_none() {
            let group = self.peer.as_ref().filter(|_| self.network.protocol.is_datagram());
            self.bound = Some(endpoint::bound(&self.network, group)?);
        }
        Ok(())
    }

    fn attach_one(&mut self, _index: usize, _file: &OpenFile) -> Result<(), EngineError> {
        Ok(())
    }

    fn connect(&mut self, stopped: &dyn Fn() -> bool) -> Result<(), EngineError> {
        self.disconnect();
        if let Some(bound) = self.bound.take() {
            if self.network.protocol.is_datagram() {
                let shared = bound.try_clone().map_err(|e| EngineError::new("dup", e))?;
                self.connection = self.await_open(&bound, stopped)?.then_some(shared);
            } else {
                self.connection = endpoint::accepted(&self.network, &bound, stopped)?;
            }
            self.bound = Some(bound);
            return Ok(());
        }
        let Some(peer) = &self.peer else { return Ok(()) };
        if !self.network.protocol.is_datagram() {
            self.connection = endpoint::connected(&self.network, peer, stopped)?;
            return Ok(());
        }
        let socket = endpoint::sender(&self.network, peer)?;
        match carrier::send(&socket, &wire::OPEN, Some(peer), false) {
            Step::Failed(errno) => Err(EngineError::new("sendto", Errno::from_raw(errno))),
            _ => {
                self.connection = Some(socket);
                Ok(())
            }
        }
    }

    fn submit(&mut self, request: &Request) -> Submit {
        match request.op {
            Op::Read | Op::Write => self.transfer(request),
            Op::Trim => Submit::Done(-i64::from(libc::EOPNOTSUPP)),
            // What is sent cannot be made more durable.
            Op::Fsync | Op::Fdatasync | Op::SyncFileRange(_) => Submit::Done(0),
        }
    }

    fn dropped(&self) -> u64 {
        self.dropped
    }

    fn notes(&mut self) -> Vec<Diagnostic> {
        let waits = self.network.waits_for_peer;
        waits
            .then(|| Diagnostic::note("waiting for connection").code("waiting-for-peer"))
            .into_iter()
            .collect()
    }

    fn notes_at_end(&mut self) -> Vec<Diagnostic> {
        let message = "the peer closed the connection without sending the close message: it may have crashed";
        let note = || Diagnostic::note(message).code("peer-vanished").prefix(Prefix::Job);
        self.peer_vanished.then(note).into_iter().collect()
    }
}

impl Drop for Net {
    fn drop(&mut self) {
        self.disconnect();
        if self.network.protocol == Protocol::Unix && self.bound.take().is_some() {
            endpoint::remove_socket(&self.network);
        }
    }
}
