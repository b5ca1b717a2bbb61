//! Engine e4defrag: exchanges the blocks of a part of a file with those of the same part of another file, the donor. The kernel copies the
//! data, so the file keeps its contents and only its place on the disk changes.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, RawFd};
use std::path::PathBuf;

use ferrio_engine::{EngineError, Op, OpenFile, Request, sync_ops};
use ferrio_job::{Direction, FileKind, FileSpec, JobSpec, donor_not_opened, reason};
use ferrio_machine::open_file;
use nix::errno::Errno;
use nix::fcntl::{FallocateFlags, OFlag, fallocate};
use nix::sys::stat::{FileStat, fstat};
use nix::sys::statfs::{EXT4_SUPER_MAGIC, fstatfs};
use nix::unistd::ftruncate;

/// struct move_extent of the kernel's ext4.
#[repr(C)]
struct MoveExtent {
    reserved: u32,
    donor_fd: u32,
    orig_start: u64,
    donor_start: u64,
    len: u64,
    moved_len: u64,
}

/// `_IOWR('f', 15, struct move_extent)`
const EXT4_IOC_MOVE_EXT: libc::Ioctl = libc::_IOWR::<MoveExtent>(b'f' as u32, 15);

/// The donor file of a job.
#[derive(Debug)]
pub(crate) struct DonorFile {
    file: File,
    /// The donor's fstat(2) result.
    stat: FileStat,
    /// File name, for messages.
    name: String,
    /// The path if the job created the donor; removed again if the job cannot use it.
    new: Option<PathBuf>,
    /// True if space is reserved for each I/O and freed after it.
    reserves_per_io: bool,
    /// Block size of the file system in bytes.
    block: u64,
}

impl DonorFile {
    /// Opens the donor, and reserves its space unless each I/O does.
    ///
    /// # Errors
    /// The job does not write, or its files are not regular files; or the donor cannot be opened or given space.
    pub(crate) fn open(spec: &JobSpec) -> Result<Self, EngineError> {
        if spec.rw.does(Direction::Read) || spec.rw.does(Direction::Trim) {
            let hint = "a write moves extents, and e4defrag does nothing else: use rw=write or rw=randwrite";
            return Err(EngineError::new("td_io_queue", Errno::EINVAL).hint(hint));
        }
        if let Some(other) = spec.files.iter().find(|file| file.kind != FileKind::Regular) {
            let hint = "only regular files have extents to move";
            return Err(EngineError::new(format!("open({})", other.path.display()), Errno::EINVAL).hint(hint));
        }
        let donor = &spec.engine_options.donor;
        let name = donor.path.display().to_string();
        let failed = |call: &str, error: io::Error| EngineError::new(format!("{call}({name})"), error);
        let new = (!donor.path.exists()).then(|| donor.path.clone());
        let file = open_file(&donor.path, OFlag::O_WRONLY | OFlag::O_CREAT, 0o644);
        let file = file.map_err(|e| {
            let hint = donor_not_opened(&donor.path, &reason(&e));
            failed("open", e).hint(hint)
        })?;
        let stat = fstat(&file).map_err(|e| failed("fstat", e.into()))?;
        let block = u64::try_from(stat.st_blksize).unwrap_or(0).max(1);
        let donor = DonorFile { file, stat, name, new, reserves_per_io: donor.reserves_per_io, block };
        if !donor.reserves_per_io {
            let (start, end) = region(&spec.files);
            reserve(&donor.file, start, end - start).map_err(|e| {
                donor.remove_new();
                EngineError::new(format!("fallocate({})", donor.name), e)
                    .hint("the donor needs as much space as the job's files")
            })?;
        }
        Ok(donor)
    }

    /// Removes a donor that the job created. A failure to remove it is ignored: the reason why it cannot be used is more helpful.
    fn remove_new(&self) {
        if let Some(path) = &self.new {
            let _ = std::fs::remove_file(path);
        }
    }

    /// Checks that extents of these files can be moved.
    ///
    /// # Errors
    /// A file is not on ext4, not on the donor's file system, or is the donor itself.
    pub(crate) fn check(&self, files: &[OpenFile]) -> Result<(), EngineError> {
        self.suits(files).inspect_err(|_| self.remove_new())
    }

    fn suits(&self, files: &[OpenFile]) -> Result<(), EngineError> {
        let name = &self.name;
        let failed = |errno, hint: String| EngineError::new(format!("e4defrag({name})"), errno).hint(hint);
        for fd in files.iter().filter_map(|file| file.fd.as_ref()) {
            let file_system = fstatfs(fd).map_err(|e| EngineError::new("fstatfs", e))?;
            if file_system.filesystem_type() != EXT4_SUPER_MAGIC {
                let hint =
                    "a file of the job is not on ext4, and no other file system can move extents like this";
                return Err(failed(Errno::ENOTTY, hint.to_owned()));
            }
            let stat = fstat(fd).map_err(|e| EngineError::new("fstat", e))?;
            if stat.st_dev != self.stat.st_dev {
                let hint = format!("{name} is on another file system than a file of the job");
                return Err(failed(Errno::EXDEV, hint));
            }
            if stat.st_ino == self.stat.st_ino {
                return Err(failed(Errno::EINVAL, format!("{name} is a file of the job itself")));
            }
        }
        Ok(())
    }

    /// Runs an I/O: the bytes whose blocks were moved, or a negated errno.
    pub(crate) fn run(&self, fd: RawFd, request: &Request) -> i64 {
        match request.op {
            Op::Write if self.reserves_per_io => {
                let result = match reserve(&self.file, request.offset, request.len) {
                    Ok(()) => self.swap(fd, request),
                    Err(errno) => -i64::from(errno as i32),
                };
                match ftruncate(&self.file, 0) {
                    Err(errno) if result >= 0 => -i64::from(errno as i32),
                    _ => result,
                }
            }
            Op::Write => self.swap(fd, request),
            Op::Read | Op::Trim => -i64::from(libc::EINVAL),
            Op::Fsync | Op::Fdatasync | Op::SyncFileRange(_) => sync_ops::run(fd, request),
        }
    }

    fn swap(&self, fd: RawFd, request: &Request) -> i64 {
        let blocks = blocks(request.offset, request.len, self.block);
        let mut extent = MoveExtent {
            reserved: 0,
            donor_fd: self.file.as_fd().as_raw_fd().cast_unsigned(),
            orig_start: blocks.start,
            donor_start: blocks.start,
            len: blocks.end - blocks.start,
            moved_len: 0,
        };
        // SAFETY: the kernel reads and writes one struct move_extent, which lives until the call returns.
        let answer = unsafe { libc::ioctl(fd, EXT4_IOC_MOVE_EXT, &raw mut extent) };
        match sync_ops::outcome(i64::from(answer)) {
            error if error < 0 => error,
            _ => moved(extent.moved_len, request, self.block),
        }
    }
}

/// The file system blocks that a range of bytes touches.
fn blocks(offset: u64, len: u64, block: u64) -> std::ops::Range<u64> {
    offset / block..offset.saturating_add(len).div_ceil(block)
}

/// The bytes of the request in the first `moved` of its blocks; EINVAL if `moved` is 0.
fn moved(moved: u64, request: &Request, block: u64) -> i64 {
    match moved.saturating_mul(block).saturating_sub(request.offset % block) {
        0 => -i64::from(libc::EINVAL),
        bytes => bytes.min(request.len).cast_signed(),
    }
}

/// The smallest range of bytes that includes all ranges the job uses of its files.
fn region(files: &[FileSpec]) -> (u64, u64) {
    let start = files.iter().map(|file| file.offset).min().unwrap_or(0);
    (start, files.iter().map(FileSpec::end).max().unwrap_or(start))
}

fn reserve(file: &File, offset: u64, len: u64) -> nix::Result<()> {
    fallocate(file, FallocateFlags::empty(), offset.cast_signed(), len.cast_signed())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_moves_with_all_blocks_that_it_touches() {
        assert_eq!(blocks(0, 4096, 4096), 0..1);
        assert_eq!(blocks(8192, 65536, 4096), 2..18);
        assert_eq!(blocks(6000, 6000, 4096), 1..3);
        assert_eq!(blocks(4095, 2, 4096), 0..2);
    }

    #[test]
    fn what_has_moved_is_counted_in_bytes_of_the_request() {
        let request = |offset, len| Request {
            op: Op::Write,
            unit: 0,
            file: 0,
            len,
            priority: 0,
            offset,
            buffer: std::ptr::null_mut(),
        };
        assert_eq!(moved(16, &request(65536, 65536), 4096), 65536);
        assert_eq!(moved(10, &request(65536, 65536), 4096), 40960, "the rest is tried again");
        assert_eq!(moved(2, &request(6000, 6000), 4096), 6000);
        assert_eq!(moved(1, &request(6000, 6000), 4096), 8192 - 6000);
        assert_eq!(moved(0, &request(6000, 6000), 4096), -i64::from(libc::EINVAL));
    }
}
