//! System calls that move bytes. Each moves what it can, and waits for [`WAIT_TIMEOUT`](crate::endpoint::WAIT_TIMEOUT) at most.

use std::io::{PipeReader, PipeWriter, Write, pipe};
use std::os::fd::{AsRawFd, RawFd};
use std::ptr;

use ferrio_engine::EngineError;
use nix::errno::Errno;
use socket2::{SockAddr, Socket};

/// The result of a call that moves bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TransferStep {
    Moved(usize),
    /// Nothing was moved in time.
    Wait,
    /// The peer closed the connection.
    End,
    /// The call failed with this errno.
    Failed(i32),
}

impl TransferStep {
    /// Converts the result of a system call. A result of 0 is the end if `ends`.
    fn of(result: isize, ends: bool) -> Self {
        match usize::try_from(result) {
            Ok(0) if ends => TransferStep::End,
            Ok(0) => TransferStep::Wait,
            Ok(moved) => TransferStep::Moved(moved),
            Err(_) => match Errno::last_raw() {
                libc::EAGAIN | libc::EINTR => TransferStep::Wait,
                errno => TransferStep::Failed(errno),
            },
        }
    }
}

/// Sends by send(2) or sendto(2). `more` announces that other bytes follow soon.
pub(crate) fn send(socket: &Socket, bytes: &[u8], to: Option<&SockAddr>, more: bool) -> TransferStep {
    let flags = libc::MSG_NOSIGNAL | if more { libc::MSG_MORE } else { 0 };
    let (address, size) = to.map_or((ptr::null(), 0), |to| (to.as_ptr().cast(), to.len()));
    // SAFETY: both pointers come from borrows that outlive the call, with their sizes.
    let sent =
        unsafe { libc::sendto(socket.as_raw_fd(), bytes.as_ptr().cast(), bytes.len(), flags, address, size) };
    TransferStep::of(sent, false)
}

/// Receives until the buffer is full or the wait times out.
pub(crate) fn receive(socket: &Socket, bytes: &mut [u8]) -> TransferStep {
    // SAFETY: the pointer comes from a borrow that outlives the call, with its size.
    let received =
        unsafe { libc::recv(socket.as_raw_fd(), bytes.as_mut_ptr().cast(), bytes.len(), libc::MSG_WAITALL) };
    TransferStep::of(received, true)
}

/// A pipe through which the kernel moves bytes between memory and a socket.
pub(crate) struct SocketPipe {
    reader: PipeReader,
    writer: PipeWriter,
    /// Bytes in the pipe.
    filled: usize,
    /// True if bytes to send are copied, as the job changes the pages while the socket still uses them.
    copies: bool,
}

/// Minimum capacity of an empty pipe in bytes.
const MIN_PIPE_BYTES: usize = 65536;

impl SocketPipe {
    /// Creates an empty pipe. With `copies`, each unit is sent as it is at submission.
    pub(crate) fn new(copies: bool) -> Result<Self, EngineError> {
        let (reader, writer) = pipe().map_err(|e| EngineError::new("pipe", e))?;
        Ok(SocketPipe { reader, writer, filled: 0, copies })
    }

    /// Sends the contents of the pipe, after filling it with `bytes` if it is empty.
    pub(crate) fn send(&mut self, socket: &Socket, bytes: &mut [u8], more: bool) -> TransferStep {
        if self.filled == 0 {
            let filled = match self.copies {
                true => self.writer.write(&bytes[..bytes.len().min(MIN_PIPE_BYTES)]).map_or_else(
                    |e| TransferStep::Failed(e.raw_os_error().unwrap_or(libc::EIO)),
                    TransferStep::Moved,
                ),
                false => map(self.writer.as_raw_fd(), bytes),
            };
            match filled {
                TransferStep::Moved(count) => self.filled = count,
                other => return other,
            }
        }
        let step = splice(self.reader.as_raw_fd(), socket.as_raw_fd(), self.filled, more, false);
        if let TransferStep::Moved(count) = step {
            self.filled -= count;
        }
        step
    }

    /// Fills the pipe from the socket if it is empty, then takes its contents.
    pub(crate) fn receive(&mut self, socket: &Socket, bytes: &mut [u8]) -> TransferStep {
        if self.filled == 0 {
            match splice(socket.as_raw_fd(), self.writer.as_raw_fd(), bytes.len(), false, true) {
                TransferStep::Moved(count) => self.filled = count,
                other => return other,
            }
        }
        let wanted = self.filled.min(bytes.len());
        let step = map(self.reader.as_raw_fd(), &mut bytes[..wanted]);
        if let TransferStep::Moved(count) = step {
            self.filled -= count;
        }
        step
    }
}

/// vmsplice(2): moves as many bytes as the pipe has or takes.
fn map(pipe: RawFd, bytes: &mut [u8]) -> TransferStep {
    let memory = libc::iovec { iov_base: bytes.as_mut_ptr().cast(), iov_len: bytes.len() };
    // SAFETY: the memory comes from a borrow that outlives the call. The pipe refers to the pages afterwards: if the job changes them
    // before the peer has them, the peer gets the newer bytes.
    let moved = unsafe { libc::vmsplice(pipe, &raw const memory, 1, libc::SPLICE_F_NONBLOCK) };
    TransferStep::of(moved, false)
}

/// splice(2)
fn splice(from: RawFd, to: RawFd, len: usize, more: bool, ends: bool) -> TransferStep {
    let flags = if more { libc::SPLICE_F_MORE } else { 0 };
    // SAFETY: splice(2) touches no memory of the program: both offsets are null.
    let moved = unsafe { libc::splice(from, ptr::null_mut(), to, ptr::null_mut(), len, flags) };
    TransferStep::of(moved, ends)
}

#[cfg(test)]
mod tests;
