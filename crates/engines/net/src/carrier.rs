//! The system calls that move bytes: each moves what it can, and waits for [`WAIT`](crate::endpoint::WAIT) at most.

use std::io::{PipeReader, PipeWriter, Write, pipe};
use std::os::fd::{AsRawFd, RawFd};
use std::ptr;

use ferrio_engine::EngineError;
use nix::errno::Errno;
use socket2::{SockAddr, Socket};

/// What a call came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// It moved this many bytes.
    Moved(usize),
    /// Nothing moved yet.
    Wait,
    /// The peer is gone.
    End,
    /// It failed with this errno.
    Failed(i32),
}

impl Step {
    /// From the result of a system call that receives (`ends` at a result of 0) or sends.
    fn of(result: isize, ends: bool) -> Self {
        match usize::try_from(result) {
            Ok(0) if ends => Step::End,
            Ok(0) => Step::Wait,
            Ok(moved) => Step::Moved(moved),
            Err(_) => match Errno::last_raw() {
                libc::EAGAIN | libc::EINTR => Step::Wait,
                errno => Step::Failed(errno),
            },
        }
    }
}

/// Sends by send(2) or sendto(2). `more`: other bytes follow soon.
pub(crate) fn send(socket: &Socket, bytes: &[u8], to: Option<&SockAddr>, more: bool) -> Step {
    let flags = libc::MSG_NOSIGNAL | if more { libc::MSG_MORE } else { 0 };
    let (address, size) = to.map_or((ptr::null(), 0), |to| (to.as_ptr().cast(), to.len()));
    // SAFETY: both pointers come from borrows that outlive the call, with their sizes.
    let sent =
        unsafe { libc::sendto(socket.as_raw_fd(), bytes.as_ptr().cast(), bytes.len(), flags, address, size) };
    Step::of(sent, false)
}

/// Receives until the buffer is full, as much as comes in time.
pub(crate) fn receive(socket: &Socket, bytes: &mut [u8]) -> Step {
    // SAFETY: the pointer comes from a borrow that outlives the call, with its size.
    let received =
        unsafe { libc::recv(socket.as_raw_fd(), bytes.as_mut_ptr().cast(), bytes.len(), libc::MSG_WAITALL) };
    Step::of(received, true)
}

/// A pipe, through which the kernel moves bytes between memory and a socket.
pub(crate) struct Pipe {
    reader: PipeReader,
    writer: PipeWriter,
    /// Bytes in it.
    filled: usize,
    /// Bytes to send are copied: the pages of the job change while the socket still has them.
    copies: bool,
}

/// What an empty pipe takes at least.
const CAPACITY: usize = 65536;

impl Pipe {
    /// An empty pipe. `copies`: each unit is sent as it is when it is submitted.
    pub(crate) fn new(copies: bool) -> Result<Self, EngineError> {
        let (reader, writer) = pipe().map_err(|e| EngineError::new("pipe", e))?;
        Ok(Pipe { reader, writer, filled: 0, copies })
    }

    /// Sends what is in the pipe; the bytes are put there first if it is empty.
    pub(crate) fn send(&mut self, socket: &Socket, bytes: &mut [u8], more: bool) -> Step {
        if self.filled == 0 {
            let filled = match self.copies {
                true => self
                    .writer
                    .write(&bytes[..bytes.len().min(CAPACITY)])
                    .map_or_else(|e| Step::Failed(e.raw_os_error().unwrap_or(libc::EIO)), Step::Moved),
                false => map(self.writer.as_raw_fd(), bytes),
            };
            match filled {
                Step::Moved(count) => self.filled = count,
                other => return other,
            }
        }
        let step = splice(self.reader.as_raw_fd(), socket.as_raw_fd(), self.filled, more, false);
        if let Step::Moved(count) = step {
            self.filled -= count;
        }
        step
    }

    /// Receives into the pipe if it is empty, and takes what is in it.
    pub(crate) fn receive(&mut self, socket: &Socket, bytes: &mut [u8]) -> Step {
        if self.filled == 0 {
            match splice(socket.as_raw_fd(), self.writer.as_raw_fd(), bytes.len(), false, true) {
                Step::Moved(count) => self.filled = count,
                other => return other,
            }
        }
        let wanted = self.filled.min(bytes.len());
        let step = map(self.reader.as_raw_fd(), &mut bytes[..wanted]);
        if let Step::Moved(count) = step {
            self.filled -= count;
        }
        step
    }
}

/// vmsplice(2): moves as much as the pipe has or takes.
fn map(pipe: RawFd, bytes: &mut [u8]) -> Step {
    let memory = libc::iovec { iov_base: bytes.as_mut_ptr().cast(), iov_len: bytes.len() };
    // SAFETY: the memory comes from a borrow that outlives the call. The pipe refers to the pages afterwards: should the
    // job change them before the peer has them, the peer gets the newer bytes.
    let moved = unsafe { libc::vmsplice(pipe, &raw const memory, 1, libc::SPLICE_F_NONBLOCK) };
    Step::of(moved, false)
}

/// splice(2)
fn splice(from: RawFd, to: RawFd, len: usize, more: bool, ends: bool) -> Step {
    let flags = if more { libc::SPLICE_F_MORE } else { 0 };
    // SAFETY: splice(2) touches no memory of the program: both offsets are null.
    let moved = unsafe { libc::splice(from, ptr::null_mut(), to, ptr::null_mut(), len, flags) };
    Step::of(moved, ends)
}

#[cfg(test)]
mod tests;
