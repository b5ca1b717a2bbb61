//! Sends requests: as many as one call takes, continuing a partly sent one first.

use std::collections::VecDeque;
use std::mem::MaybeUninit;
use std::os::fd::AsRawFd;

use ferrio_machine::InterruptionLimit;
use nix::errno::Errno;
use socket2::Socket;

use crate::message;
use crate::units::Units;

/// Maximum number of pieces in one call; a write has two.
const MAX_PIECES: usize = 128;

/// Requests waiting for space in the socket.
pub(crate) struct Sender {
    units: VecDeque<u32>,
    /// Bytes of the first request that were sent.
    sent: usize,
}

impl Sender {
    /// Creates a sender for `depth` requests in flight.
    pub(crate) fn new(depth: u32) -> Self {
        Sender { units: VecDeque::with_capacity(depth as usize), sent: 0 }
    }

    pub(crate) fn push(&mut self, unit: u32) {
        self.units.push_back(unit);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.units.is_empty()
    }

    pub(crate) fn clear(&mut self) {
        self.units.clear();
        self.sent = 0;
    }

    /// Sends until everything is sent or the socket is full.
    pub(crate) fn send(&mut self, socket: &Socket, units: &Units) -> Result<(), Errno> {
        let mut interrupted = InterruptionLimit::default();
        while !self.units.is_empty() {
            match self.send_once(socket, units) {
                Ok(sent) => self.advance(sent, units),
                Err(Errno::EINTR) if interrupted.should_retry() => {}
                Err(Errno::EAGAIN) => return Ok(()),
                Err(errno) => return Err(errno),
            }
        }
        Ok(())
    }

    fn send_once(&self, socket: &Socket, units: &Units) -> Result<usize, Errno> {
        let mut pieces = [const { MaybeUninit::<libc::iovec>::uninit() }; MAX_PIECES];
        let mut count = 0;
        let mut skip = self.sent;
        let mut push = |from: *const u8, len: usize| {
            let left = len.saturating_sub(skip);
            if left > 0 {
                let from = from.wrapping_add(skip).cast_mut().cast();
                pieces[count].write(libc::iovec { iov_base: from, iov_len: left });
                count += 1;
            }
            skip = skip.saturating_sub(len);
            count + 2 <= MAX_PIECES
        };
        for &unit in &self.units {
            let (header, data, len) = units.on_wire(unit);
            push(header.as_ptr(), header.len());
            if !push(data, len) {
                break;
            }
        }
        let message = message(pieces.as_mut_ptr().cast(), count);
        let flags = libc::MSG_NOSIGNAL | libc::MSG_DONTWAIT;
        // SAFETY: the first `count` pieces are initialized. They point into headers, which live as long as `units`, and into buffers, which
        // are valid until their requests complete; both outlive the call.
        Errno::result(unsafe { libc::sendmsg(socket.as_raw_fd(), &message, flags) }).map(|sent| sent as usize)
    }

    /// Accounts for `sent` bytes.
    fn advance(&mut self, sent: usize, units: &Units) {
        self.sent += sent;
        while let Some(&first) = self.units.front() {
            let (header, _, len) = units.on_wire(first);
            let whole = header.len() + len;
            if self.sent < whole {
                return;
            }
            self.sent -= whole;
            self.units.pop_front();
        }
    }
}
