//! The pipe that data passes through.

use std::os::fd::{AsRawFd, OwnedFd, RawFd};

use ferrio_engine::Request;
use nix::errno::Errno;
use nix::fcntl::OFlag;
use nix::unistd::pipe2;

/// Largest piece in bytes.
const MAX_PIECE_BYTES: u64 = 64 << 10;

/// A pipe, empty between transfers.
pub(crate) struct SplicePipe {
    out: OwnedFd,
    into: OwnedFd,
    /// True if the kernel cannot vmsplice(2) from a pipe to memory, so that read(2) is used.
    reads: bool,
}

/// Bytes moved, and the error that stopped the transfer. Fewer bytes without an error mean the end of the file.
type TransferOutcome = (u64, Option<Errno>);

impl SplicePipe {
    pub(crate) fn new() -> nix::Result<Self> {
        let (out, into) = pipe2(OFlag::O_CLOEXEC)?;
        Ok(SplicePipe { out, into, reads: false })
    }

    #[cfg(test)]
    pub(crate) fn use_read(&mut self) {
        self.reads = true;
    }

    /// Discards the contents of the pipe.
    pub(crate) fn discard_contents(&mut self) -> nix::Result<()> {
        let reads = self.reads;
        *self = SplicePipe { reads, ..SplicePipe::new()? };
        Ok(())
    }

    /// Moves data from the file to the request's buffer.
    ///
    /// # Safety
    /// The buffer is valid for `len` bytes, and nothing else uses it during the call.
    pub(crate) unsafe fn read(&mut self, fd: RawFd, request: &Request) -> TransferOutcome {
        let mut moved = 0;
        while moved < request.len {
            let rest = request.len - moved;
            let flags = if rest > MAX_PIECE_BYTES { libc::SPLICE_F_MORE } else { 0 };
            let mut offset = request.offset.wrapping_add(moved).cast_signed();
            // SAFETY: the offset lives until the call returns.
            let piece = count(unsafe {
                libc::splice(
                    fd,
                    &raw mut offset,
                    self.into.as_raw_fd(),
                    std::ptr::null_mut(),
                    rest.min(MAX_PIECE_BYTES) as usize,
                    flags,
                )
            });
            let mut left = match piece {
                Ok(0) => break,
                Ok(piece) => piece,
                Err(errno) => return (moved, Some(errno)),
            };
            while left > 0 {
                // SAFETY: `moved + left` is at most `len`, so these bytes are the request's.
                match unsafe { self.copy_out(request.buffer.wrapping_add(moved as usize), left) } {
                    // `left` bytes are in the pipe.
                    Ok(0) => return (moved, Some(Errno::EIO)),
                    Ok(copied) => (moved, left) = (moved + copied, left - copied),
                    Err(errno) => return (moved, Some(errno)),
                }
            }
        }
        (moved, None)
    }

    /// Moves data from the request's buffer to the file.
    ///
    /// # Safety
    /// See [`read`](Self::read).
    pub(crate) unsafe fn write(&mut self, fd: RawFd, request: &Request) -> TransferOutcome {
        let mut moved = 0;
        while moved < request.len {
            let segment = libc::iovec {
                iov_base: request.buffer.wrapping_add(moved as usize).cast(),
                iov_len: (request.len - moved).min(MAX_PIECE_BYTES) as usize,
            };
            // SAFETY: the segment lives until the call returns. The pipe refers to the memory until the bytes are in the file or the pipe is
            // closed, both of which happen before the request ends.
            let piece = count(unsafe {
                libc::vmsplice(self.into.as_raw_fd(), &raw const segment, 1, libc::SPLICE_F_NONBLOCK)
            });
            let mut left = match piece {
                Ok(piece) => piece,
                Err(errno) => return (moved, Some(errno)),
            };
            while left > 0 {
                let mut offset = request.offset.wrapping_add(moved).cast_signed();
                // SAFETY: the offset lives until the call returns.
                let written = count(unsafe {
                    libc::splice(
                        self.out.as_raw_fd(),
                        std::ptr::null_mut(),
                        fd,
                        &raw mut offset,
                        left as usize,
                        0,
                    )
                });
                match written {
                    // `left` bytes are in the pipe.
                    Ok(0) => return (moved, Some(Errno::EIO)),
                    Ok(written) => (moved, left) = (moved + written, left - written),
                    Err(errno) => return (moved, Some(errno)),
                }
            }
        }
        (moved, None)
    }

    /// Copies at most `len` bytes of the pipe to memory.
    ///
    /// # Safety
    /// `to` is valid for `len` bytes, and nothing else uses them during the call.
    unsafe fn copy_out(&mut self, to: *mut u8, len: u64) -> nix::Result<u64> {
        if !self.reads {
            let segment = libc::iovec { iov_base: to.cast(), iov_len: len as usize };
            // SAFETY: the segment lives until the call returns; its memory is guaranteed by the caller.
            let copied = count(unsafe {
                libc::vmsplice(self.out.as_raw_fd(), &raw const segment, 1, libc::SPLICE_F_MOVE)
            });
            if copied != Err(Errno::EBADF) {
                return copied;
            }
            self.reads = true;
        }
        // SAFETY: guaranteed by the caller.
        count(unsafe { libc::read(self.out.as_raw_fd(), to.cast(), len as usize) })
    }
}

/// Converts the return value of a system call that counts bytes, at most [`MAX_PIECE_BYTES`].
fn count(answer: isize) -> nix::Result<u64> {
    u64::try_from(answer).map_err(|_| Errno::last())
}
