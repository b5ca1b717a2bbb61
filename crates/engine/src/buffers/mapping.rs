//! Memory by mmap(2): anonymous, of huge pages, or of a file.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::ptr::NonNull;

use super::huge::{self, SMALLER};
use crate::EngineError;

/// Mapped memory, readable and writable.
#[derive(Debug)]
pub(super) struct MappedMemory {
    start: NonNull<u8>,
    length: usize,
}

impl MappedMemory {
    /// Private memory; nothing is set aside for it.
    pub(super) fn anonymous(length: usize) -> Result<Self, EngineError> {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        Self::map(length, flags, -1).map_err(|e| EngineError::new("init buffers", e).hint(SMALLER))
    }

    /// Private huge pages, set aside at once: a page that is missing shows here and not when it is touched. `length` is a multiple
    /// of the page.
    pub(super) fn anonymous_huge(length: usize, page: u64) -> Result<Self, EngineError> {
        let flags = libc::MAP_PRIVATE
            | libc::MAP_ANONYMOUS
            | libc::MAP_HUGETLB
            | huge::size_flag(page, libc::MAP_HUGE_SHIFT);
        Self::map(length, flags, -1).map_err(|e| EngineError::new("init buffers", e))
    }

    /// The beginning of a file that has at least `length` bytes. `kind` is MAP_PRIVATE or MAP_SHARED.
    pub(super) fn of_file(file: &File, length: usize, kind: libc::c_int) -> Result<Self, EngineError> {
        Self::map(length, kind, file.as_raw_fd()).map_err(|e| EngineError::new("init buffers", e))
    }

    fn map(length: usize, flags: libc::c_int, fd: libc::c_int) -> io::Result<Self> {
        let access = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: a new mapping at an address of the kernel's choice touches no existing memory.
        let start = unsafe { libc::mmap(std::ptr::null_mut(), length, access, flags, fd, 0) };
        if start == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let start = NonNull::new(start.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(MappedMemory { start, length })
    }

    /// The first byte.
    pub(super) fn start(&self) -> NonNull<u8> {
        self.start
    }
}

impl Drop for MappedMemory {
    fn drop(&mut self) {
        // SAFETY: start and length are those of the mapping made in `map`; nothing outlives the worker that owns it.
        unsafe { libc::munmap(self.start.as_ptr().cast(), self.length) };
    }
}
