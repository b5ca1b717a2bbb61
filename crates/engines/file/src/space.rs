//! Operations on the space of a file: reserve it, free it, truncate the file.

use std::os::fd::RawFd;

use ferrio_engine::{EngineError, Op, Request, sync_ops};
use ferrio_job::{FileKind, JobSpec};
use nix::errno::Errno;

/// The system call that each I/O makes.
#[derive(Clone, Copy, Debug)]
pub(crate) enum SpaceOperation {
    /// fallocate(2): reads reserve space and keep the size, writes may extend the file, trims punch holes.
    Allocate,
    /// ftruncate(2): a write truncates the file at the offset of the I/O.
    Truncate,
}

impl SpaceOperation {
    /// fallocate(2), for files that have space on a disk.
    ///
    /// # Errors
    /// One of the files is neither a regular file nor a block device.
    pub(crate) fn allocate(spec: &JobSpec) -> Result<Self, EngineError> {
        let other = |kind| !matches!(kind, FileKind::Regular | FileKind::Block);
        match spec.files.iter().find(|file| other(file.kind)) {
            None => Ok(SpaceOperation::Allocate),
            Some(file) => Err(EngineError::new(format!("open({})", file.path.display()), Errno::EINVAL)
                .hint(
                    "only files and blockdev are supported fallocate: name a regular file or a block device",
                )),
        }
    }

    /// Runs an I/O: its length, or a negated errno.
    pub(crate) fn run(self, fd: RawFd, request: &Request) -> i64 {
        let (offset, len) = (request.offset.cast_signed(), request.len.cast_signed());
        let mode = match (self, request.op) {
            (_, Op::Fsync | Op::Fdatasync | Op::SyncFileRange(_)) => return sync_ops::run(fd, request),
            (SpaceOperation::Truncate, Op::Write) => {
                // SAFETY: ftruncate takes plain numbers and touches no memory of this process.
                return moved(unsafe { libc::ftruncate(fd, offset) }, len);
            }
            (SpaceOperation::Truncate, _) => return -i64::from(libc::EINVAL),
            (SpaceOperation::Allocate, Op::Read) => libc::FALLOC_FL_KEEP_SIZE,
            (SpaceOperation::Allocate, Op::Write) => 0,
            (SpaceOperation::Allocate, Op::Trim) => libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE,
        };
        // SAFETY: as above.
        moved(unsafe { libc::fallocate(fd, mode, offset, len) }, len)
    }
}

fn moved(answer: i32, len: i64) -> i64 {
    let result = sync_ops::outcome(i64::from(answer));
    if result == 0 { len } else { result }
}
