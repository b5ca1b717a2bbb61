//! One mapped region of one file.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};

use ferrio_engine::{EngineError, OpenFile};
use nix::errno::Errno;
use nix::sys::stat::{SFlag, fstat};
use nix::unistd::{Whence, lseek};

/// Smallest unit of mapping and write-back, bytes.
pub(crate) const PAGE: u64 = 4096;

/// How regions are mapped.
pub(crate) struct MappingOptions {
    /// PROT_*
    pub protection: i32,
    /// A private mapping with transparent huge pages.
    pub huge_pages: bool,
    /// MADV_* for the expected order of accesses.
    pub order: Option<i32>,
}

impl MappingOptions {
    fn sharing(&self) -> i32 {
        if self.huge_pages { libc::MAP_PRIVATE } else { libc::MAP_SHARED }
    }
}

/// A mapping; its memory stays valid and in place until it is dropped.
pub(crate) struct MappedFile {
    base: *mut u8,
    /// File offset of the first byte.
    offset: u64,
    length: usize,
}

/// What to do about a mapping that the kernel refused.
fn advice(errno: i32) -> Option<&'static str> {
    (errno == libc::ENOMEM).then_some(
        "the file does not fit into the address space: use a smaller size, or raise the limit (RLIMIT_AS, `ulimit -v`; \
         vm.max_map_count for many files)",
    )
}

impl MappedFile {
    /// Maps the job's region of the file; an empty mapping for one that is not open.
    ///
    /// # Errors
    /// EIO when the file ends before the region does, EINVAL for a region that does not start at a page, else the kernel's.
    pub(crate) fn new(file: &OpenFile, options: &MappingOptions) -> Result<Self, EngineError> {
        let empty = MappedFile { base: std::ptr::null_mut(), offset: file.offset, length: 0 };
        let Some(fd) = file.fd.as_ref().filter(|_| file.size > 0) else { return Ok(empty) };
        let failed = |errno| EngineError::new("mmap", errno);
        if !file.offset.is_multiple_of(PAGE) {
            let hint = format!(
                "a mapping begins at a page boundary, but offset {} is not a multiple of {PAGE}",
                file.offset
            );
            return Err(failed(Errno::EINVAL).hint(hint));
        }
        let end = file.offset.checked_add(file.size).ok_or_else(|| failed(Errno::EOVERFLOW))?;
        let length = usize::try_from(file.size).map_err(|_| failed(Errno::ENOMEM))?;
        let found = size_of(fd)?;
        if let Some(found) = found.filter(|&found| found < end) {
            let hint = format!(
                "the file has {found} bytes, but the job's region ends at {end}: a mapping cannot extend a file"
            );
            return Err(failed(Errno::EIO).hint(hint));
        }
        // SAFETY: a new mapping at an address of the kernel's choice touches no existing memory.
        let base = unsafe {
            let at = file.offset.cast_signed();
            libc::mmap(
                std::ptr::null_mut(),
                length,
                options.protection,
                options.sharing(),
                fd.as_raw_fd(),
                at,
            )
        };
        if base == libc::MAP_FAILED {
            return Err(EngineError::new("mmap", io::Error::last_os_error()).hint_for(advice));
        }
        let mapping = MappedFile { base: base.cast(), length, ..empty };
        mapping.advise(options)?;
        Ok(mapping)
    }

    fn advise(&self, options: &MappingOptions) -> Result<(), EngineError> {
        let huge = options.huge_pages.then_some(libc::MADV_HUGEPAGE);
        for advice in [huge, options.order].into_iter().flatten() {
            // SAFETY: the range is this mapping; none of the advices changes what is in it.
            if unsafe { libc::madvise(self.base.cast(), self.length, advice) } != 0 {
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

    /// The memory of a range of the file; `None` when it leaves the region.
    #[inline]
    pub(crate) fn at(&self, offset: u64, len: usize) -> Option<*mut u8> {
        let start = usize::try_from(offset.wrapping_sub(self.offset)).ok()?;
        let inside = start <= self.length && len <= self.length - start;
        // SAFETY: start <= length.
        inside.then(|| unsafe { self.base.add(start) })
    }

    /// Maps a range of the file again in which a copy found pages missing. Returns what the I/O came to: the bytes before the end of a
    /// file that is shorter now, or a negated errno.
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
        let before = memory.addr() % PAGE as usize;
        // SAFETY: the pages belong to this mapping, whose first byte is at the start of a page; no reference points into it.
        let again = unsafe {
            let at = (offset - before as u64).cast_signed();
            let flags = options.sharing() | libc::MAP_FIXED;
            libc::mmap(memory.sub(before).cast(), before + len, options.protection, flags, fd, at)
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

    /// Writes a range of the file back and waits: 0 or a negated errno.
    pub(crate) fn sync(&self, offset: u64, len: usize) -> i64 {
        let Some(memory) = self.at(offset, len) else {
            return -i64::from(libc::EINVAL);
        };
        // SAFETY: the range is inside the mapping.
        let answer = unsafe { libc::msync(memory.cast(), len, libc::MS_SYNC) };
        ferrio_engine::sync_ops::outcome(i64::from(answer))
    }

    /// Writes the whole mapping back and waits: 0 or a negated errno.
    pub(crate) fn sync_all(&self) -> i64 {
        if self.length == 0 { 0 } else { self.sync(self.offset, self.length) }
    }
}

impl Drop for MappedFile {
    fn drop(&mut self) {
        if self.length > 0 {
            // SAFETY: base and length are those of the mapping made in `new`; requests on it end in the submitting call.
            unsafe { libc::munmap(self.base.cast(), self.length) };
        }
    }
}

/// Size of a regular file or block device; `None` for anything else.
fn size_of(fd: impl AsFd) -> Result<Option<u64>, EngineError> {
    let stat = fstat(&fd).map_err(|e| EngineError::new("fstat", e))?;
    let size = match SFlag::from_bits_truncate(stat.st_mode) & SFlag::S_IFMT {
        SFlag::S_IFREG => stat.st_size,
        // The mapping does not care about the position.
        SFlag::S_IFBLK => lseek(&fd, 0, Whence::SeekEnd).map_err(|e| EngineError::new("lseek", e))?,
        _ => return Ok(None),
    };
    Ok(u64::try_from(size).ok())
}
