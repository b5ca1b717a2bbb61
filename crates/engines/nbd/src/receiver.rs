//! Receives replies. They are read ahead into a small buffer; the data of large reads goes directly to its I/O buffer.

use std::collections::VecDeque;
use std::os::fd::AsRawFd;
use std::ptr;

use ferrio_engine::Completion;
use ferrio_machine::InterruptionLimit;
use ferrio_nbd::wire::{self, ChunkKind, Reply, u16_at, u32_at, u64_at};
use nix::errno::Errno;
use socket2::Socket;

use crate::message;
use crate::units::Units;

/// Size of the read-ahead buffer.
const READ_AHEAD_BYTES: usize = 64 << 10;
/// Maximum length of an error message, including its numbers.
const MAX_ERROR_BYTES: usize = 8 << 10;

/// Data that is being received into an I/O buffer.
#[derive(Clone, Copy)]
struct PendingData {
    unit: u32,
    /// Offset of the next byte in the unit's buffer.
    at: u32,
    left: u32,
    /// True if the reply is complete after this data.
    last: bool,
}

/// Receives and parses the server's replies.
pub(crate) struct Receiver {
    /// Bytes received and not parsed yet, from `start` to `end`.
    ahead: Box<[u8]>,
    start: usize,
    end: usize,
    /// If present, the next bytes belong to an I/O buffer.
    data: Option<PendingData>,
    /// Completed and not reaped.
    ready: VecDeque<Completion>,
}

impl Receiver {
    /// Creates a receiver for `depth` requests in flight.
    pub(crate) fn new(depth: u32) -> Self {
        Receiver {
            ahead: vec![0; READ_AHEAD_BYTES].into(),
            start: 0,
            end: 0,
            data: None,
            ready: VecDeque::with_capacity(depth as usize),
        }
    }

    /// Number of completions that can be taken.
    pub(crate) fn ready(&self) -> usize {
        self.ready.len()
    }

    /// Takes up to `max` completions.
    pub(crate) fn take(&mut self, max: usize, done: &mut Vec<Completion>) {
        done.extend(self.ready.drain(..max.min(self.ready.len())));
    }

    /// Fails all requests in flight.
    pub(crate) fn fail_all(&mut self, units: &mut Units, errno: i32) {
        self.data = None;
        (self.start, self.end) = (0, 0);
        for unit in units.waiting() {
            units.fail(unit, errno, None);
            self.complete(unit, units);
        }
    }

    /// Receives until no more data is available. With `waits`, waits for the first bytes as long as the socket's timeout allows. True if
    /// something was received.
    ///
    /// # Errors
    /// The reason why no more data will arrive.
    pub(crate) fn receive(
        &mut self,
        socket: &Socket,
        units: &mut Units,
        mut waits: bool,
    ) -> Result<bool, String> {
        let mut came = false;
        let mut interrupted = InterruptionLimit::default();
        loop {
            let room = self.room();
            match self.receive_once(socket, units, waits) {
                Ok(0) => {
                    return Err("the NBD server closed the connection".to_owned());
                }
                Ok(count) => {
                    self.arrived(count, units)?;
                    came = true;
                    // A call that was not filled has taken everything.
                    if count < room {
                        return Ok(true);
                    }
                    waits = false;
                }
                Err(Errno::EAGAIN) => return Ok(came),
                Err(Errno::EINTR) if interrupted.should_retry() => {}
                Err(errno) => {
                    return Err(format!("the connection to the NBD server is lost: {}", errno.desc()));
                }
            }
        }
    }

    /// Number of bytes that one call can take.
    fn room(&self) -> usize {
        READ_AHEAD_BYTES - self.end + self.data.map_or(0, |data| data.left as usize)
    }

    fn receive_once(&mut self, socket: &Socket, units: &Units, waits: bool) -> Result<usize, Errno> {
        let rest = &mut self.ahead[self.end..];
        let rest = libc::iovec { iov_base: rest.as_mut_ptr().cast(), iov_len: rest.len() };
        let mut pieces = [rest, rest];
        let mut count = 1;
        if let Some(data) = &self.data {
            let target = units.target(data.unit, data.at).cast();
            pieces[0] = libc::iovec { iov_base: target, iov_len: data.left as usize };
            count = 2;
        }
        let mut message = message(pieces.as_mut_ptr(), count);
        let flags = if waits { 0 } else { libc::MSG_DONTWAIT };
        // SAFETY: the pieces are a part of `ahead` and the rest of a buffer, whose request is in flight: it has room for `left` bytes at
        // `at`, as the range of the data was checked when it was announced. Both outlive the call, and nothing else uses them.
        Errno::result(unsafe { libc::recvmsg(socket.as_raw_fd(), &mut message, flags) })
            .map(|received| received as usize)
    }

    /// Accounts for `count` received bytes.
    fn arrived(&mut self, mut count: usize, units: &mut Units) -> Result<(), String> {
        if let Some(data) = &mut self.data {
            debug_assert!(self.start == self.end, "what was read ahead goes to the buffer first");
            let direct = count.min(data.left as usize);
            (data.at, data.left) = (data.at + direct as u32, data.left - direct as u32);
            count -= direct;
            self.finish_data(units);
        }
        self.end += count;
        self.interpret(units)
    }

    /// Ends data that has been received completely.
    fn finish_data(&mut self, units: &mut Units) {
        if let Some(PendingData { unit, left: 0, last, .. }) = self.data {
            self.data = None;
            if last {
                self.complete(unit, units);
            }
        }
    }

    fn complete(&mut self, unit: u32, units: &mut Units) {
        let result = units.finish(unit);
        self.ready.push_back(Completion { unit, result });
    }

    /// Parses everything that is complete in the read-ahead buffer.
    fn interpret(&mut self, units: &mut Units) -> Result<(), String> {
        loop {
            if let Some(data) = &mut self.data {
                let count = (self.end - self.start).min(data.left as usize);
                let from = self.ahead[self.start..self.start + count].as_ptr();
                // SAFETY: the target has room for `left` bytes, as above, and is not part of `ahead`.
                unsafe { ptr::copy_nonoverlapping(from, units.target(data.unit, data.at), count) };
                (data.at, data.left) = (data.at + count as u32, data.left - count as u32);
                self.start += count;
                self.finish_data(units);
            }
            if self.data.is_some() || !self.next_reply(units)? {
                break;
            }
        }
        if self.start == self.end {
            (self.start, self.end) = (0, 0);
        } else if self.start > 0 {
            // The start of a reply.
            self.ahead.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
        }
        Ok(())
    }

    /// Parses the next reply. False if it is incomplete; data may follow it.
    fn next_reply(&mut self, units: &mut Units) -> Result<bool, String> {
        let bytes = &self.ahead[self.start..self.end];
        let parsed = Reply::parse(bytes);
        let Some((reply, header)) =
            parsed.map_err(|magic| broken(&format!("sent {magic:#010x} for a reply")))?
        else {
            return Ok(false);
        };
        match reply {
            Reply::Simple { error, cookie } => {
                let unit = answered(units, cookie)?;
                self.start += header;
                if error != 0 {
                    units.fail(unit, wire::errno(error), None);
                    self.complete(unit, units);
                } else if units.is_read(unit) {
                    let left = units.len(unit);
                    units.count(unit, left);
                    self.data = Some(PendingData { unit, at: 0, left, last: true });
                    self.finish_data(units);
                } else {
                    self.complete(unit, units);
                }
                Ok(true)
            }
            Reply::Chunk { last, kind, cookie, len } => {
                self.next_chunk(header, last, kind, answered(units, cookie)?, len as usize, units)
            }
        }
    }

    /// Parses a chunk whose header is complete.
    fn next_chunk(
        &mut self,
        header: usize,
        last: bool,
        kind: ChunkKind,
        unit: u32,
        len: usize,
        units: &mut Units,
    ) -> Result<bool, String> {
        // The data itself need not be complete.
        let needed = match kind {
            ChunkKind::None if len == 0 => 0,
            ChunkKind::Data if len > 8 => 8,
            ChunkKind::Hole if len == 12 => 12,
            ChunkKind::Error(_) if (6..=MAX_ERROR_BYTES).contains(&len) => len,
            _ => {
                return Err(broken(&format!(
                    "sent a chunk of {len} bytes and an unexpected type ({kind:?})"
                )));
            }
        };
        let bytes = &self.ahead[self.start + header..self.end];
        if bytes.len() < needed {
            return Ok(false);
        }
        let misplaced = || broken("sent data that was not asked for");
        match kind {
            ChunkKind::Data => {
                let left = (len - 8) as u32;
                let at = units.place(unit, u64_at(bytes, 0), left).ok_or_else(misplaced)?;
                units.count(unit, left);
                self.data = Some(PendingData { unit, at, left, last });
            }
            ChunkKind::Hole => {
                let hole = u32_at(bytes, 8);
                let at = units.place(unit, u64_at(bytes, 0), hole).ok_or_else(misplaced)?;
                units.count(unit, hole);
                // SAFETY: the buffer has room for `hole` bytes at `at`, and the request is in flight.
                unsafe { ptr::write_bytes(units.target(unit, at), 0, hole as usize) };
            }
            ChunkKind::Error(_) => {
                let said = bytes.get(6..6 + usize::from(u16_at(bytes, 4))).unwrap_or_default();
                let said: String =
                    String::from_utf8_lossy(said).chars().filter(|c| !c.is_control()).take(256).collect();
                units.fail(unit, wire::errno(u32_at(bytes, 0)), Some(said).filter(|said| !said.is_empty()));
            }
            ChunkKind::None | ChunkKind::Unknown(_) => {}
        }
        self.start += header + needed;
        if last && self.data.is_none() {
            self.complete(unit, units);
        }
        Ok(true)
    }
}

fn answered(units: &Units, cookie: u64) -> Result<u32, String> {
    units.answered_by(cookie).ok_or_else(|| broken("answered a request that was not made"))
}

fn broken(what: &str) -> String {
    format!("the NBD server {what}: this is no NBD, and the connection is closed")
}
