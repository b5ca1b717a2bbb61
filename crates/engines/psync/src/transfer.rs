//! Ways to move data between a file and a buffer with one system call.

use std::os::fd::RawFd;

use ferrio_engine::Request;
use ferrio_engine::sync_ops::{outcome, rw_flags, write_flags};
use ferrio_job::JobSpec;
use ferrio_kernel::syscall;

#[cfg(not(target_pointer_width = "64"))]
compile_error!("file offsets are passed to the system calls in one register");

/// One way to move data. Results are bytes moved or a negated errno; nothing is retried.
pub trait Transfer {
    /// The system call that reads.
    const READ: libc::c_long;
    /// The system call that writes, with the same arguments.
    const WRITE: libc::c_long;

    /// Reads the options of the job.
    fn new(spec: &JobSpec) -> Self;

    /// Called after `count` files were opened.
    fn files_opened(&mut self, count: usize) {
        let _ = count;
    }

    /// Called after the file with this index was opened.
    fn file_opened(&mut self, index: usize) {
        let _ = index;
    }

    /// Moves data between the file and the request's buffer by `call`, which is [`READ`](Self::READ) or [`WRITE`](Self::WRITE).
    fn transfer(&mut self, call: libc::c_long, fd: RawFd, request: &Request) -> i64;
}

/// pread(2), pwrite(2)
pub struct PositionedTransfer;

impl Transfer for PositionedTransfer {
    const READ: libc::c_long = libc::SYS_pread64;
    const WRITE: libc::c_long = libc::SYS_pwrite64;

    fn new(_spec: &JobSpec) -> Self {
        PositionedTransfer
    }

    #[inline]
    fn transfer(&mut self, call: libc::c_long, fd: RawFd, r: &Request) -> i64 {
        // SAFETY: the contract of Request: the buffer is valid for `len` bytes.
        unsafe {
            syscall::call(call, [fd as usize, r.buffer as usize, r.len as usize, r.offset as usize, 0, 0])
        }
    }
}

/// lseek(2) unless the position is right already, then read(2), write(2)
pub struct SeekingTransfer {
    /// Position of each file; `None` after an error.
    positions: Vec<Option<u64>>,
}

impl Transfer for SeekingTransfer {
    const READ: libc::c_long = libc::SYS_read;
    const WRITE: libc::c_long = libc::SYS_write;

    fn new(_spec: &JobSpec) -> Self {
        SeekingTransfer { positions: Vec::new() }
    }

    fn files_opened(&mut self, count: usize) {
        self.positions = vec![Some(0); count];
    }

    fn file_opened(&mut self, index: usize) {
        self.positions[index] = Some(0);
    }

    #[inline]
    fn transfer(&mut self, call: libc::c_long, fd: RawFd, r: &Request) -> i64 {
        let position = &mut self.positions[r.file as usize];
        if *position != Some(r.offset) {
            *position = None;
            let sought = seek(fd, r.offset);
            if sought < 0 {
                return sought;
            }
        }
        // SAFETY: the contract of Request: the buffer is valid for `len` bytes.
        let moved = unsafe { syscall::call(call, [fd as usize, r.buffer as usize, r.len as usize, 0, 0, 0]) };
        *position = u64::try_from(moved).ok().map(|moved| r.offset + moved);
        moved
    }
}

/// preadv(2), pwritev(2) with one segment
pub struct VectoredTransfer;

impl Transfer for VectoredTransfer {
    const READ: libc::c_long = libc::SYS_preadv;
    const WRITE: libc::c_long = libc::SYS_pwritev;

    fn new(_spec: &JobSpec) -> Self {
        VectoredTransfer
    }

    #[inline]
    fn transfer(&mut self, call: libc::c_long, fd: RawFd, r: &Request) -> i64 {
        let segment = segment(r);
        // SAFETY: the segment lives until the call returns, its buffer by the contract of Request.
        unsafe { syscall::call(call, [fd as usize, &raw const segment as usize, 1, r.offset as usize, 0, 0]) }
    }
}

/// preadv2(2), pwritev2(2) with one segment and RWF flags
pub struct FlaggedTransfer {
    flags: i32,
    write_flags: i32,
    /// Percentage of polled I/Os.
    polled_percent: u32,
    poll_choice: PercentGenerator,
}

impl FlaggedTransfer {
    #[inline]
    fn flags(&mut self, call: libc::c_long) -> i32 {
        let flags = if call == Self::WRITE { self.write_flags } else { self.flags };
        match self.polled_percent {
            0 => flags,
            100.. => flags | libc::RWF_HIPRI,
            share if self.poll_choice.percent() < share => flags | libc::RWF_HIPRI,
            _ => flags,
        }
    }
}

impl Transfer for FlaggedTransfer {
    const READ: libc::c_long = libc::SYS_preadv2;
    const WRITE: libc::c_long = libc::SYS_pwritev2;

    fn new(spec: &JobSpec) -> Self {
        let options = &spec.engine_options;
        let polled_percent = if options.calls.hipri { options.calls.hipri_percentage } else { 0 };
        FlaggedTransfer {
            flags: rw_flags(spec),
            write_flags: write_flags(spec),
            polled_percent,
            poll_choice: PercentGenerator(0x9e37_79b9_7f4a_7c15),
        }
    }

    #[inline]
    fn transfer(&mut self, call: libc::c_long, fd: RawFd, r: &Request) -> i64 {
        let (segment, flags) = (segment(r), self.flags(call));
        let arguments = [fd as usize, &raw const segment as usize, 1, r.offset as usize, 0, flags as usize];
        // SAFETY: the segment lives until the call returns, its buffer by the contract of Request.
        unsafe { syscall::call(call, arguments) }
    }
}

#[inline]
fn segment(r: &Request) -> libc::iovec {
    libc::iovec { iov_base: r.buffer.cast(), iov_len: r.len as usize }
}

fn seek(fd: RawFd, offset: u64) -> i64 {
    // SAFETY: the call takes plain numbers and touches no memory of this process.
    outcome(unsafe { libc::lseek(fd, offset.cast_signed(), libc::SEEK_SET) })
}

/// xorshift64 with a fixed seed: the choice of polled I/Os does not depend on `randseed`.
struct PercentGenerator(u64);

impl PercentGenerator {
    /// A random number in 0..100.
    fn percent(&mut self) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (((self.0 >> 32) * 100) >> 32) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferrio_plan::testing::default_job;

    fn flagged(change: impl FnOnce(&mut JobSpec)) -> FlaggedTransfer {
        let mut spec = default_job("flags");
        change(&mut spec);
        FlaggedTransfer::new(&spec)
    }

    #[test]
    fn hipri_percentage_is_the_share_of_polled_ios() {
        let polled = |share| {
            let mut transfer = flagged(|spec| {
                spec.engine_options.calls.hipri = true;
                spec.engine_options.calls.hipri_percentage = share;
            });
            (0..10_000).filter(|_| transfer.flags(FlaggedTransfer::READ) == libc::RWF_HIPRI).count()
        };
        assert_eq!(polled(0), 0);
        assert_eq!(polled(100), 10_000);
        assert!((2_800..3_200).contains(&polled(30)), "{}", polled(30));
    }

    #[test]
    fn only_writes_are_atomic() {
        let mut transfer = flagged(|spec| spec.engine_options.calls.atomic = true);
        assert_eq!(
            [FlaggedTransfer::READ, FlaggedTransfer::WRITE].map(|call| transfer.flags(call)),
            [0, libc::RWF_ATOMIC]
        );
    }

    #[test]
    fn uncached_counts_only_for_buffered_jobs() {
        assert_eq!(
            flagged(|spec| spec.engine_options.calls.uncached = true).flags(FlaggedTransfer::READ),
            libc::RWF_DONTCACHE
        );
        let direct = |spec: &mut JobSpec| {
            spec.opening.direct = true;
            spec.engine_options.calls.uncached = true;
            spec.engine_options.calls.nowait = true;
        };
        assert_eq!(flagged(direct).flags(FlaggedTransfer::READ), libc::RWF_NOWAIT);
    }
}
