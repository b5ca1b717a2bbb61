//! The engines net and netsplice: writes send data to a peer, reads receive data from it. The peer may be fio or ferrio.
//!
//! - `endpoint`: sets up sockets.
//! - `carrier`: system calls that move bytes.
//! - `wire`: messages and numbers besides the data.
//!
//! A peer may be silent for any time. No call waits longer than some milliseconds: then [`Submit::Full`] lets the loop check the run time,
//! and the request continues where it was when it is submitted again.

mod carrier;
mod endpoint;
mod wire;

use std::slice;
use std::time::Duration;

use carrier::{SocketPipe, TransferStep};
use ferrio_engine::{Buffers, Engine, EngineError, FileSet, Op, PEER_ENDED, Request, Submit};
use ferrio_job::{Diagnostic, JobSpec, Network, Prefix, Protocol};
use nix::errno::Errno;
use socket2::{SockAddr, Socket};

/// Longest wait to send the message that ends a transfer.
const CLOSE_TIMEOUT: Duration = Duration::from_millis(500);

/// `ioengine=net` and `ioengine=netsplice`
pub struct Net {
    network: Network,
    /// True if datagrams are numbered; verified ones are not.
    numbered: bool,
    /// Address of the peer, once it is known.
    peer: Option<SockAddr>,
    /// Socket that waits for peers.
    bound: Option<Socket>,
    /// Socket connected to the peer.
    connection: Option<Socket>,
    /// Pipe for the data, if used.
    pipe: Option<SocketPipe>,
    /// Bytes moved of the current unit.
    moved: usize,
    /// True while the current unit is returned (`pingpong`).
    returns: bool,
    /// Number of the next datagram.
    sequence: u64,
    /// Number of datagrams that were lost.
    lost_reads: u64,
    /// True if the peer closed the connection without the close message.
    peer_vanished: bool,
}

impl Net {
    /// Ends the transfer, if there is one.
    fn disconnect(&mut self) {
        let Some(socket) = self.connection.take() else { return };
        let to = self.peer.as_ref().filter(|_| self.network.protocol.is_datagram());
        // A failure is ignored, as the peer may have closed the connection.
        let _ = socket.set_write_timeout(Some(CLOSE_TIMEOUT));
        carrier::send(&socket, &wire::CLOSE, to, false);
        (self.moved, self.returns, self.sequence) = (0, false, 0);
    }

    /// Waits for the message that begins a transfer by datagrams. False if the job is stopped first.
    fn await_open(&mut self, socket: &Socket, stopped: &dyn Fn() -> bool) -> Result<bool, EngineError> {
        let mut message = [0; wire::OPEN.len()];
        while !stopped() {
            match self.receive_datagram(socket, &mut message) {
                TransferStep::Moved(_) if message == wire::OPEN => return Ok(true),
                TransferStep::Failed(errno) => {
                    return Err(EngineError::new("recvfrom", Errno::from_raw(errno)));
                }
                _ => {}
            }
        }
        Ok(false)
    }

    /// Receives one datagram and stores its sender.
    fn receive_datagram(&mut self, socket: &Socket, bytes: &mut [u8]) -> TransferStep {
        // SAFETY: initialized bytes may be viewed as possibly uninitialized ones, and the call writes initialized ones only.
        let buffer = unsafe { slice::from_raw_parts_mut(bytes.as_mut_ptr().cast(), bytes.len()) };
        match socket.recv_from(buffer) {
            Ok((count, from)) => {
                if self.network.receives {
                    self.peer = Some(from);
                }
                TransferStep::Moved(count)
            }
            Err(e) => match e.raw_os_error().unwrap_or(libc::EIO) {
                libc::EAGAIN | libc::EINTR => TransferStep::Wait,
                errno => TransferStep::Failed(errno),
            },
        }
    }

    /// Moves the rest of the unit or a part of it.
    fn step(&mut self, socket: &Socket, unit: &mut [u8], sends: bool) -> TransferStep {
        let rest = &mut unit[self.moved..];
        let more = !self.network.pingpong;
        if self.network.protocol.is_datagram() {
            return if sends {
                if self.numbered && !self.returns {
                    wire::set_sequence(rest, self.sequence);
                    // A datagram is sent completely or not at all.
                    return match carrier::send(socket, rest, self.peer.as_ref(), false) {
                        TransferStep::Moved(count) => {
                            self.sequence += 1;
                            TransferStep::Moved(count)
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

    /// Receives a numbered datagram.
    fn receive_numbered(&mut self, socket: &Socket, rest: &mut [u8]) -> TransferStep {
        let step = self.receive_datagram(socket, rest);
        let TransferStep::Moved(count) = step else { return step };
        let datagram = &rest[..count];
        if datagram == wire::CLOSE {
            return TransferStep::End;
        }
        // The open message of another sender, or an empty datagram.
        if datagram == wire::OPEN || datagram.is_empty() {
            return TransferStep::Wait;
        }
        if self.numbered
            && !self.returns
            && let Some(sequence) = wire::sequence(datagram)
        {
            // A late datagram was counted as lost before.
            self.lost_reads += sequence.saturating_sub(self.sequence);
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
                TransferStep::Moved(count) => self.moved += count,
                TransferStep::Wait => break Submit::Full,
                TransferStep::End => {
                    self.peer_vanished |= self.network.protocol.is_tcp();
                    break Submit::Done(PEER_ENDED);
                }
                TransferStep::Failed(errno) => break Submit::Done(-i64::from(errno)),
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
            .then(|| SocketPipe::new(spec.verify.is_some()))
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
            lost_reads: 0,
            peer_vanished: false,
        })
    }

    /// Binds the socket here, so that peers that start at the same time as this job can connect.
    fn attach(&mut self, _files: &FileSet) -> Result<(), EngineError> {
        if self.network.waits_for_peer && self.bound.is_none() {
            let group = self.peer.as_ref().filter(|_| self.network.protocol.is_datagram());
            self.bound = Some(endpoint::bound(&self.network, group)?);
        }
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
            TransferStep::Failed(errno) => Err(EngineError::new("sendto", Errno::from_raw(errno))),
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
            // Syncs and trims do nothing: sent data cannot be made more durable.
            Op::Fsync | Op::Fdatasync | Op::SyncFileRange(_) => Submit::Done(0),
        }
    }

    fn lost_reads(&self) -> u64 {
        self.lost_reads
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
