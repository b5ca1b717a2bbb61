//! One mapped region of one file.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};

use ferrio_engine::{EngineError, OpenFile};
use ferrio_job::{Direction, JobSpec};
use nix::errno::Errno;
use nix::sys::stat::{SFlag, fstat};
use nix::unistd::{Whence, lseek};

/// Smallest unit of mapping and write-back, in bytes.
pub(crate) const PAGE_BYTES: u64 = ferrio_job::PAGE_BYTES;

/// How regions are mapped.
pub(crate) struct MappingOptions {
    /// PROT_*
    pub protection: i32,
    /// Destination of writes.
    pub sharing: Sharing,
    /// Bytes that are mapped together; regions are widened to whole units.
    pub unit: u64,
    /// MADV_* for the expected order of accesses.
    pub order: Option<i32>,
}

/// Destination of writes to a mapping.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sharing {
    /// The file.
    Shared,
    /// The file, whose data is durable as soon as CPU caches are written back. Only for persistent memory.
    Synchronous,
    /// Memory of the mapping, with transparent huge pages.
    PrivateHugePages,
}

impl Sharing {
    fn flags(self) -> i32 {
        match self {
            Sharing::Shared => libc::MAP_SHARED,
            Sharing::Synchronous => libc::MAP_SHARED_VALIDATE | libc::MAP_SYNC,
            Sharing::PrivateHugePages => libc::MAP_PRIVATE,
        }
    }
}

/// The PROT_* flags that a job needs.
pub(crate) fn protection(spec: &JobSpec) -> i32 {
    // The files of a job that only verifies are open for reading.
    let writes = spec.writes_data();
    // A job that verifies reads back what it wrote.
    let reads = spec.rw.does(Direction::Read) || spec.verify.is_some();
    match (reads, writes) {
        (true, true) => libc::PROT_READ | libc::PROT_WRITE,
        (false, true) => libc::PROT_WRITE,
        _ => libc::PROT_READ,
    }
}

/// A mapping; its memory stays valid and in place until it is dropped.
pub(crate) struct MappedFile {
    /// First byte of the region.
    base: *mut u8,
    /// File offset of the region.
    offset: u64,
    /// Bytes of the region.
    length: usize,
    /// Bytes mapped before the region, if it begins inside a unit.
    before: usize,
    /// Size of the whole mapping in bytes.
    mapped: usize,
}

/// Advice about a mapping that the kernel refused.
fn advice(errno: i32) -> Option<&'static str> {
    (errno == libc::ENOMEM).then_some(
        "the file does not fit into the address space: use a smaller size, or raise the limit (RLIMIT_AS, `ulimit -v`; \
         vm.max_map_count for many files)",
    )
}

impl MappedFile {
    /// Maps the job's region of the file; an empty mapping for a file that is not open.
    ///
    /// # Errors
    /// EIO if the file is too short for the region, otherwise mmap(2)'s error.
    pub(crate) fn new(file: &OpenFile, options: &MappingOptions) -> Result<Self, EngineError> {
        let empty =
            MappedFile { base: std::ptr::null_mut(), offset: file.offset, length: 0, before: 0, mapped: 0 };
        let Some(fd) = file.fd.as_ref().filter(|_| file.size > 0) else { return Ok(empty) };
        let failed = |errno| EngineError::new("mmap", errno);
        let end = file.offset.checked_add(file.size).ok_or_else(|| failed(Errno::EOVERFLOW))?;
        let length = usize::try_from(file.size).map_err(|_| failed(Errno::ENOMEM))?;
        let found = size_of(fd)?;
        if let Some(found) = found.filter(|&found| found < end) {
            let hint = format!(
                "the file has {found} bytes, but the job's region ends at {end}: a mapping cannot extend a file"
            );
            return Err(failed(Errno::EIO).hint(hint));
        }
        let start = file.offset - file.offset % options.unit;
        let whole = end.checked_next_multiple_of(options.unit).ok_or_else(|| failed(Errno::EOVERFLOW))?;
        let mapped = usize::try_from(whole - start).map_err(|_| failed(Errno::ENOMEM))?;
        // SAFETY: a new mapping at an address of the kernel's choice touches no existing memory.
        let base = unsafe {
            let (flags, at) = (options.sharing.flags(), start.cast_signed());
            libc::mmap(std::ptr::null_mut(), mapped, options.protection, flags, fd.as_raw_fd(), at)
        };
        if base == libc::MAP_FAILED {
            return Err(EngineError::new("mmap", io::Error::last_os_error()).hint_for(advice));
        }
        let before = (file.offset - start) as usize;
        // SAFETY: the mapping has at least `before` bytes, as it ends after the offset.
        let base = unsafe { base.cast::<u8>().add(before) };
        let mapping = MappedFile { base, length, before, mapped, ..empty };
        mapping.advise(options)?;
        Ok(mapping)
    }

    fn advise(&self, options: &MappingOptions) -> Result<(), EngineError> {
        let huge = (options.sharing == Sharing::PrivateHugePages).then_some(libc::MADV_HUGEPAGE);
        for advice in [huge, options.order].into_iter().flatten() {
            // SAFETY: the range is this mapping; the advice used here does not change its contents.
            if unsafe { libc::madvise(self.base.sub(self.before).cast(), self.mapped, advice) } != 0 {
                let refused = EngineError::new("madvise", io::Error::last_os_error());
                return Err(refused.hint_for(|errno| match (advice, errno) {
                    (libc::MADV_HUGEPAGE, libc::EINVAL) => {
                        Some("this kernel has no transparent huge pages: remove thp")
                    }
                    _ => None,
                }));
            }
        }
        Ok(())
    }

    /// The memory of a range of the file; `None` if the range leaves the region.
    #[inline]
    pub(crate) fn at(&self, offset: u64, len: usize) -> Option<*mut u8> {
        let start = usize::try_from(offset.wrapping_sub(self.offset)).ok()?;
        let inside = start <= self.length && len <= self.length - start;
        // SAFETY: start <= length.
        inside.then(|| unsafe { self.base.add(start) })
    }

    /// Maps a range of the file again after a copy found pages missing. Returns the result of the I/O: the bytes before the end of a
    /// truncated file, or a negated errno.
    #[cold]
    pub(crate) fn after_missing_page(
        &self,
        fd: RawFd,
        options: &MappingOptions,
        offset: u64,
        len: usize,
    ) -> i64 {
        let Some(memory) = self.at(offset, len) else {
            return -i64::from(libc::EINVAL);
        };
        let unit = options.unit as usize;
        // Aligned by file offset: the kernel aligns addresses to pages only, which may be smaller than a unit.
        let before = (offset % options.unit) as usize;
        let again = (before + len).next_multiple_of(unit);
        // SAFETY: the units belong to this mapping, which begins at a unit of the file; no reference points into it.
        let again = unsafe {
            let at = (offset - before as u64).cast_signed();
            let flags = options.sharing.flags() | libc::MAP_FIXED;
            libc::mmap(memory.sub(before).cast(), again, options.protection, flags, fd, at)
        };
        if again == libc::MAP_FAILED {
            return ferrio_engine::sync_ops::outcome(-1);
        }
        // SAFETY: the descriptor is open as long as its mapping is in use.
        let fd = unsafe { BorrowedFd::borrow_raw(fd) };
        match size_of(fd) {
            Ok(Some(size)) if size < offset + len as u64 => size.saturating_sub(offset).cast_signed(),
            _ => -i64::from(libc::EIO),
        }
    }

    /// Writes a range of the file back and waits, by msync(2) with these flags. Returns 0 or a negated errno.
    pub(crate) fn sync(&self, offset: u64, len: usize, flags: i32) -> i64 {
        let Some(memory) = self.at(offset, len) else {
            return -i64::from(libc::EINVAL);
        };
        // SAFETY: the range is inside the mapping.
        let answer = unsafe { libc::msync(memory.cast(), len, flags) };
        ferrio_engine::sync_ops::outcome(i64::from(answer))
    }

    /// Writes the whole mapping back and waits. Returns 0 or a negated errno.
    pub(crate) fn sync_all(&self, flags: i32) -> i64 {
        if self.length == 0 { 0 } else { self.sync(self.offset, self.length, flags) }
    }
}

// SAFETY: the mapping belongs to the process, and the value has no other state. Engines copy from and to it in all threads: the bytes are
// plain data of a file, which other processes may change as well.
unsafe impl Send for MappedFile {}
// SAFETY: as above.
unsafe impl Sync for MappedFile {}

impl Drop for MappedFile {
    fn drop(&mut self) {
        if self.mapped > 0 {
            // SAFETY: this is the mapping made in `new`; requests on it end in the submitting call.
            unsafe { libc::munmap(self.base.sub(self.before).cast(), self.mapped) };
        }
    }
}

/// The size of a regular file or block device; `None` for other files.
fn size_of(fd: impl AsFd) -> Result<Option<u64>, EngineError> {
    let stat = fstat(&fd).map_err(|e| EngineError::new("fstat", e))?;
    let size = match SFlag::from_bits_truncate(stat.st_mode) & SFlag::S_IFMT {
        SFlag::S_IFREG => stat.st_size,
        // Changing the file position is harmless: a mapping does not use it.
        SFlag::S_IFBLK => lseek(&fd, 0, Whence::SeekEnd).map_err(|e| EngineError::new("lseek", e))?,
        _ => return Ok(None),
    };
    Ok(u64::try_from(size).ok())
}
