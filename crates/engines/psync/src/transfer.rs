//! The ways to move data between a file and a buffer with one system call.

use std::os::fd::RawFd;

use ferrio_engine::{Request, sync_ops::outcome};
use ferrio_job::JobSpec;

#[cfg(not(target_pointer_width = "64"))]
compile_error!("file offsets are passed to the system calls in one register");

/// Polled completion.
const RWF_HIPRI: u32 = 0x01;
/// EAGAIN instead of waiting.
const RWF_NOWAIT: u32 = 0x08;
/// Drop the pages from the page cache afterwards (Linux 6.14).
const RWF_DONTCACHE: u32 = 0x80;

/// One way to move data. Results are bytes moved or a negated errno; nothing is retried.
pub trait Transfer {
    /// Reads the options of the job.
    fn new(spec: &JobSpec) -> Self;

    /// `count` freshly opened files follow.
    fn attach(&mut self, count: usize) {
        let _ = count;
    }

    /// The file with this index is freshly opened.
    fn attach_one(&mut self, index: usize) {
        let _ = index;
    }

    /// Reads into the request's buffer.
    fn read(&mut self, fd: RawFd, request: &Request) -> i64;

    /// Writes the request's buffer.
    fn write(&mut self, fd: RawFd, request: &Request) -> i64;
}

/// pread(2), pwrite(2)
pub struct Positioned;

impl Transfer for Positioned {
    fn new(_spec: &JobSpec) -> Self {
        Positioned
    }

    #[inline]
    fn read(&mut self, fd: RawFd, r: &Request) -> i64 {
        // SAFETY: the contract of Request: the buffer is valid for `len` bytes.
        outcome(unsafe { libc::syscall(libc::SYS_pread64, fd, r.buffer, r.len as usize, r.offset) })
    }

    #[inline]
    fn write(&mut self, fd: RawFd, r: &Request) -> i64 {
        // SAFETY: as in `read`.
        outcome(unsafe { libc::syscall(libc::SYS_pwrite64, fd, r.buffer, r.len as usize, r.offset) })
    }
}

/// lseek(2) unless the file is there already, then read(2), write(2)
pub struct Seeking {
    /// Position of each file; `None` after an error.
    positions: Vec<Option<u64>>,
}

impl Seeking {
    #[inline]
    fn at(&mut self, fd: RawFd, r: &Request, transfer: impl FnOnce() -> i64) -> i64 {
        let position = &mut self.positions[r.file as usize];
        if *position != Some(r.offset) {
            *position = None;
            let sought = seek(fd, r.offset);
            if sought < 0 {
                return sought;
            }
        }
        let moved = transfer();
        *position = u64::try_from(moved).ok().map(|moved| r.offset + moved);
        moved
    }
}

impl Transfer for Seeking {
    fn new(_spec: &JobSpec) -> Self {
        Seeking { positions: Vec::new() }
    }

    fn attach(&mut self, count: usize) {
        self.positions = vec![Some(0); count];
    }

    fn attach_one(&mut self, index: usize) {
        self.positions[index] = Some(0);
    }

    #[inline]
    fn read(&mut self, fd: RawFd, r: &Request) -> i64 {
        // SAFETY: the contract of Request: the buffer is valid for `len` bytes.
        self.at(fd, r, || outcome(unsafe { libc::syscall(libc::SYS_read, fd, r.buffer, r.len as usize) }))
    }

    #[inline]
    fn write(&mut self, fd: RawFd, r: &Request) -> i64 {
        // SAFETY: as in `read`.
        self.at(fd, r, || outcome(unsafe { libc::syscall(libc::SYS_write, fd, r.buffer, r.len as usize) }))
    }
}

/// lseek(2), then readv(2), writev(2) with one segment
pub struct SeekingVector;

impl Transfer for SeekingVector {
    fn new(_spec: &JobSpec) -> Self {
        SeekingVector
    }

    #[inline]
    fn read(&mut self, fd: RawFd, r: &Request) -> i64 {
        let sought = seek(fd, r.offset);
        if sought < 0 {
            return sought;
        }
        let segment = segment(r);
        // SAFETY: the segment lives until the call returns, its buffer by the contract of Request.
        outcome(unsafe { libc::syscall(libc::SYS_readv, fd, &raw const segment, 1usize) })
    }

    #[inline]
    fn write(&mut self, fd: RawFd, r: &Request) -> i64 {
        let sought = seek(fd, r.offset);
        if sought < 0 {
            return sought;
        }
        let segment = segment(r);
        // SAFETY: as in `read`.
        outcome(unsafe { libc::syscall(libc::SYS_writev, fd, &raw const segment, 1usize) })
    }
}

/// preadv(2), pwritev(2) with one segment
pub struct Vectored;

impl Transfer for Vectored {
    fn new(_spec: &JobSpec) -> Self {
        Vectored
    }

    #[inline]
    fn read(&mut self, fd: RawFd, r: &Request) -> i64 {
        let segment = segment(r);
        // SAFETY: the segment lives until the call returns, its buffer by the contract of Request.
        outcome(unsafe { libc::syscall(libc::SYS_preadv, fd, &raw const segment, 1usize, r.offset, 0usize) })
    }

    #[inline]
    fn write(&mut self, fd: RawFd, r: &Request) -> i64 {
        let segment = segment(r);
        // SAFETY: as in `read`.
        outcome(unsafe { libc::syscall(libc::SYS_pwritev, fd, &raw const segment, 1usize, r.offset, 0usize) })
    }
}

/// preadv2(2), pwritev2(2) with one segment and RWF flags
pub struct Flagged {
    flags: u32,
    /// Share of polled I/Os in percent.
    polled: u32,
    draws: Draws,
}

impl Flagged {
    #[inline]
    fn flags(&mut self) -> u32 {
        match self.polled {
            0 => self.flags,
            100.. => self.flags | RWF_HIPRI,
            share if self.draws.percent() < share => self.flags | RWF_HIPRI,
            _ => self.flags,
        }
    }
}

impl Transfer for Flagged {
    fn new(spec: &JobSpec) -> Self {
        let options = &spec.engine_options;
        let nowait = if options.nowait { RWF_NOWAIT } else { 0 };
        let uncached = if options.uncached && !spec.direct { RWF_DONTCACHE } else { 0 };
        let polled = if options.hipri { options.hipri_percentage } else { 0 };
        Flagged { flags: nowait | uncached, polled, draws: Draws(0x9e37_79b9_7f4a_7c15) }
    }

    #[inline]
    fn read(&mut self, fd: RawFd, r: &Request) -> i64 {
        let (segment, flags) = (segment(r), self.flags());
        // SAFETY: the segment lives until the call returns, its buffer by the contract of Request.
        outcome(unsafe {
            libc::syscall(libc::SYS_preadv2, fd, &raw const segment, 1usize, r.offset, 0usize, flags)
        })
    }

    #[inline]
    fn write(&mut self, fd: RawFd, r: &Request) -> i64 {
        let (segment, flags) = (segment(r), self.flags());
        // SAFETY: as in `read`.
        outcome(unsafe {
            libc::syscall(libc::SYS_pwritev2, fd, &raw const segment, 1usize, r.offset, 0usize, flags)
        })
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

/// xorshift64 with a fixed seed: which I/Os are polled does not depend on `randseed`.
struct Draws(u64);

impl Draws {
    /// A number in 0..100.
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

    fn flagged(change: impl FnOnce(&mut JobSpec)) -> Flagged {
        let mut spec = default_job("flags");
        change(&mut spec);
        Flagged::new(&spec)
    }

    #[test]
    fn hipri_percentage_is_the_share_of_polled_ios() {
        let polled = |share| {
            let mut transfer = flagged(|spec| {
                spec.engine_options.hipri = true;
                spec.engine_options.hipri_percentage = share;
            });
            (0..10_000).filter(|_| transfer.flags() == RWF_HIPRI).count()
        };
        assert_eq!(polled(0), 0);
        assert_eq!(polled(100), 10_000);
        assert!((2_800..3_200).contains(&polled(30)), "{}", polled(30));
    }

    #[test]
    fn uncached_counts_only_for_buffered_jobs() {
        assert_eq!(flagged(|spec| spec.engine_options.uncached = true).flags(), RWF_DONTCACHE);
        let direct = |spec: &mut JobSpec| {
            spec.direct = true;
            spec.engine_options.uncached = true;
            spec.engine_options.nowait = true;
        };
        assert_eq!(flagged(direct).flags(), RWF_NOWAIT);
    }
}
