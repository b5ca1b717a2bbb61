//! The memory block that the events of `sysbench memory` read and write word by word.
#![allow(unsafe_code)]

use std::io;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use ferrio_engine::EngineError;
use nix::errno::Errno;

/// 64-bit words in an anonymous mapping.
pub(crate) struct MemoryBlock {
    start: NonNull<AtomicU64>,
    /// Number of words in use.
    count: usize,
    /// Size of the mapping in bytes.
    length: usize,
}

// SAFETY: the mapping belongs to the process, and its words are atomic.
unsafe impl Send for MemoryBlock {}
// SAFETY: as above.
unsafe impl Sync for MemoryBlock {}

impl MemoryBlock {
    /// Allocates zeroed words, in huge pages of `huge_page_bytes` if it is given. All pages are touched here, to keep page faults out of
    /// the measurement.
    ///
    /// # Errors
    /// There is not enough memory, or not enough huge pages.
    pub(crate) fn new(bytes: u64, huge_page_bytes: Option<u64>) -> Result<Self, EngineError> {
        let call = if huge_page_bytes.is_some() { "mmap(MAP_HUGETLB)" } else { "mmap" };
        let failed =
            |error: io::Error| EngineError::new(call, error).hint("the memory of the test does not fit");
        let rounded = match huge_page_bytes {
            Some(page) => bytes.checked_next_multiple_of(page.max(1)),
            None => Some(bytes),
        };
        let length = rounded.and_then(|length| usize::try_from(length).ok());
        let length = length
            .filter(|&length| length >= size_of::<u64>())
            .ok_or_else(|| failed(Errno::ENOMEM.into()))?;
        let huge = match huge_page_bytes {
            Some(page) => libc::MAP_HUGETLB | (page.trailing_zeros() as libc::c_int) << libc::MAP_HUGE_SHIFT,
            None => 0,
        };
        let (access, flags) =
            (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | huge);
        // SAFETY: a new mapping at an address of the kernel's choice touches no existing memory.
        let start = unsafe { libc::mmap(std::ptr::null_mut(), length, access, flags, -1, 0) };
        if start == libc::MAP_FAILED {
            return Err(failed(io::Error::last_os_error()));
        }
        let start = NonNull::new(start.cast()).ok_or_else(|| failed(io::Error::last_os_error()))?;
        let words = MemoryBlock { start, count: (bytes / 8) as usize, length };
        for word in words.as_slice() {
            word.store(0, Relaxed);
        }
        Ok(words)
    }

    pub(crate) fn as_slice(&self) -> &[AtomicU64] {
        // SAFETY: the mapping has at least `count` words, page-aligned, and zeros are valid words. It stays mapped until this is dropped,
        // and is only changed through atomic words.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.count) }
    }
}

impl Drop for MemoryBlock {
    fn drop(&mut self) {
        // SAFETY: start and length are those of the mapping; borrowed words borrow `self`.
        unsafe { libc::munmap(self.start.as_ptr().cast(), self.length) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_has_its_words() {
        let words = MemoryBlock::new(1024, None).unwrap();
        assert_eq!(words.as_slice().len(), 128);
        words.as_slice()[127].store(7, Relaxed);
        assert_eq!(words.as_slice().iter().map(|word| word.load(Relaxed)).sum::<u64>(), 7);
    }

    #[test]
    fn a_block_that_does_not_fit_is_an_error() {
        for (bytes, page) in
            [(1 << 62, None), (u64::MAX, None), (u64::MAX, Some(2 << 20)), (1 << 50, Some(2 << 20))]
        {
            let error = MemoryBlock::new(bytes, page).err().unwrap();
            let call = if page.is_some() { "mmap(MAP_HUGETLB)" } else { "mmap" };
            assert_eq!((error.func.as_str(), error.errno()), (call, libc::ENOMEM), "{bytes}");
        }
    }
}
