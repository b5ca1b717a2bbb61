//! Operations common to several engines: fsync(2), fdatasync(2), sync_file_range(2) and the discard of a range of a block device in the
//! submitting call, the flags of reads and writes, and the conversion of a system call's return value into a result.

use std::os::fd::RawFd;

use ferrio_job::JobSpec;
use ferrio_machine::InterruptionLimit;

use crate::{Op, Request};

/// `BLKDISCARD`: discard a byte range of a block device.
const BLKDISCARD: libc::Ioctl = 0x1277;

/// The RWF_* flags of the job's reads and writes: `nowait`, and `uncached` (Linux 6.14) unless I/O is direct.
#[must_use]
pub fn rw_flags(spec: &JobSpec) -> i32 {
    let nowait = if spec.engine_options.calls.nowait { libc::RWF_NOWAIT } else { 0 };
    let uncached =
        if spec.engine_options.calls.uncached && !spec.opening.direct { libc::RWF_DONTCACHE } else { 0 };
    nowait | uncached
}

/// The flags of writes: those of [`rw_flags`], and RWF_ATOMIC (Linux 6.11) for `atomic`.
#[must_use]
pub fn write_flags(spec: &JobSpec) -> i32 {
    let atomic = if spec.engine_options.calls.atomic { libc::RWF_ATOMIC } else { 0 };
    rw_flags(spec) | atomic
}

/// Converts the return value of a system call that sets `errno` into the result of a request.
#[inline]
#[must_use]
pub fn outcome(answer: i64) -> i64 {
    if answer < 0 { last_error() } else { answer }
}

/// The negated errno of the system call that just failed.
#[cold]
fn last_error() -> i64 {
    -i64::from(std::io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO))
}

/// Runs a request that moves no data. Returns 0 for syncs, the length for a trim, or a negated errno. EINTR is retried. Reads and writes
/// are not supported: -EINVAL.
#[must_use]
pub fn run(fd: RawFd, request: &Request) -> i64 {
    match request.op {
        // SAFETY: fsync and fdatasync take a descriptor and touch no memory of this process.
        Op::Fsync => until_done(|| i64::from(unsafe { libc::fsync(fd) })),
        // SAFETY: as above.
        Op::Fdatasync => until_done(|| i64::from(unsafe { libc::fdatasync(fd) })),
        Op::SyncFileRange(flags) => until_done(|| sync_file_range(fd, request.offset, request.len, flags)),
        Op::Trim => match until_done(|| discard(fd, request.offset, request.len)) {
            0 => request.len.cast_signed(),
            error => error,
        },
        Op::Read | Op::Write => -i64::from(libc::EINVAL),
    }
}

fn until_done(mut call: impl FnMut() -> i64) -> i64 {
    let mut interrupted = InterruptionLimit::default();
    loop {
        let result = outcome(call());
        if result != -i64::from(libc::EINTR) || !interrupted.should_retry() {
            return result;
        }
    }
}

fn sync_file_range(fd: RawFd, offset: u64, len: u64, flags: u8) -> i64 {
    // Offsets beyond i64::MAX become negative, which the kernel correctly refuses with EINVAL.
    // SAFETY: the call takes plain numbers and touches no memory of this process.
    i64::from(unsafe { libc::sync_file_range(fd, offset.cast_signed(), len.cast_signed(), flags.into()) })
}

fn discard(fd: RawFd, offset: u64, len: u64) -> i64 {
    let range = [offset, len];
    // SAFETY: BLKDISCARD reads two 64-bit numbers, which live until the call returns.
    i64::from(unsafe { libc::ioctl(fd, BLKDISCARD, range.as_ptr()) })
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsRawFd;

    use super::*;

    fn result(fd: RawFd, op: Op) -> i64 {
        run(
            fd,
            &Request {
                op,
                unit: 0,
                file: 0,
                len: 4096,
                offset: 0,
                priority: 0,
                buffer: std::ptr::null_mut(),
            },
        )
    }

    #[test]
    fn syncs_of_a_regular_file_succeed_with_0() {
        let file = tempfile::tempfile().unwrap();
        for op in [Op::Fsync, Op::Fdatasync, Op::SyncFileRange(2)] {
            assert_eq!(result(file.as_raw_fd(), op), 0, "{op:?}");
        }
    }

    #[test]
    fn a_trim_of_a_regular_file_is_enotty() {
        let file = tempfile::tempfile().unwrap();
        assert_eq!(result(file.as_raw_fd(), Op::Trim), -i64::from(libc::ENOTTY));
    }

    #[test]
    fn errors_are_negated_errnos() {
        assert_eq!(result(-1, Op::Fsync), -i64::from(libc::EBADF));
        assert_eq!(result(0, Op::Read), -i64::from(libc::EINVAL));
    }
}
