//! One mapped region of one file.

use std::io;
use std::os::fd::RawFd;

use ferrio_engine::{EngineError, OpenFile};

/// Smallest unit of mapping and write-back, bytes.
pub(crate) const PAGE: u64 = 4096;

/// The expected order of accesses, for madvise(2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Advice {
    None,
    Random,
    Sequential,
}

/// How regions are mapped.
pub(crate) struct How {
    /// PROT_*
    pub protection: i32,
    /// A private mapping with transparent huge pages.
    pub huge_pages: bool,
    pub advice: Advice,
}

/// A mapping; its memory stays valid and in place until it is dropped.
pub(crate) struct MappedFile {
    base: *mut u8,
    /// File offset of the first byte.
    offset: u64,
    length: usize,
}

impl MappedFile {
    /// Maps the job's region of the file; an empty mapping for one that is not open.
    ///
    /// # Errors
    /// EIO when the file ends before the region does, EINVAL for a region that does not start at a page, else the kernel's.
    pub(crate) fn new(file: &OpenFile, how: &How) -> Result<Self, EngineError> {
        let empty = MappedFile { base: std::ptr::null_mut(), offset: file.offset, length: 0 };
        if file.size == 0 || file.fd.is_none() {
            return Ok(empty);
        }
        if !file.offset.is_multiple_of(PAGE) {
            let hint = format!("a mapping starts at a page: offset {} is no multiple of {PAGE}", file.offset);
            return Err(failed("mmap", libc::EINVAL).hint(hint));
        }
        let end = file.offset.checked_add(file.size).ok_or_else(|| failed("mmap", libc::EOVERFLOW))?;
        let length = usize::try_from(file.size).map_err(|_| failed("mmap", libc::ENOMEM))?;
        let found = size_of(file.raw_fd())?;
        if let Some(found) = found.filter(|&found| found < end) {
            let hint = format!(
                "the file has {found} bytes, the job's region ends at {end}: a mapping cannot extend a file"
            );
            return Err(failed("mmap", libc::EIO).hint(hint));
        }
        let sharing = if how.huge_pages { libc::MAP_PRIVATE } else { libc::MAP_SHARED };
        // SAFETY: a new mapping at an address of the kernel's choice touches no existing memory.
        let base = unsafe {
            let at = file.offset.cast_signed();
            libc::mmap(std::ptr::null_mut(), length, how.protection, sharing, file.raw_fd(), at)
        };
        if base == libc::MAP_FAILED {
            return Err(EngineError::new("mmap", io::Error::last_os_error()));
        }
        let mapping = MappedFile { base: base.cast(), length, ..empty };
        mapping.advise(how)?;
        Ok(mapping)
    }

    fn advise(&self, how: &How) -> Result<(), EngineError> {
        let order = match how.advice {
            Advice::None => None,
            Advice::Random => Some(libc::MADV_RANDOM),
            Advice::Sequential => Some(libc::MADV_SEQUENTIAL),
        };
        let huge = how.huge_pages.then_some(libc::MADV_HUGEPAGE);
        for advice in [huge, order].into_iter().flatten() {
            // SAFETY: the range is this mapping; none of the advices changes what is in it.
            if unsafe { libc::madvise(self.base.cast(), self.length, advice) } != 0 {
                let refused = EngineError::new("madvise", io::Error::last_os_error());
                let no_huge_pages = advice == libc::MADV_HUGEPAGE && refused.errno() == libc::EINVAL;
                return Err(if no_huge_pages {
                    refused.hint("this kernel has no transparent huge pages: drop thp")
                } else {
                    refused
                });
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
fn size_of(fd: RawFd) -> Result<Option<u64>, EngineError> {
    // SAFETY: all-zero bytes are a valid stat, and fstat writes one.
    let (answer, stat) = unsafe {
        let mut stat: libc::stat = std::mem::zeroed();
        (libc::fstat(fd, &raw mut stat), stat)
    };
    if answer != 0 {
        return Err(EngineError::new("fstat", io::Error::last_os_error()));
    }
    let size = match stat.st_mode & libc::S_IFMT {
        libc::S_IFREG => stat.st_size,
        // SAFETY: takes plain numbers. The mapping does not care about the position.
        libc::S_IFBLK => unsafe { libc::lseek(fd, 0, libc::SEEK_END) },
        _ => return Ok(None),
    };
    u64::try_from(size).map(Some).map_err(|_| EngineError::new("lseek", io::Error::last_os_error()))
}

fn failed(func: &str, errno: i32) -> EngineError {
    EngineError::new(func, io::Error::from_raw_os_error(errno))
}
