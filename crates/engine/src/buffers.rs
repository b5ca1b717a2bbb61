//! The I/O buffers of one worker: one page-aligned anonymous mapping, cut into `iodepth` slots.
//!
//! Pages cost nothing until touched, so a thousand idle jobs with large blocks are cheap.

use std::io;
use std::ptr::NonNull;

/// Page-aligned memory for `count` I/Os of up to `stride` bytes each.
#[derive(Debug)]
pub struct Buffers {
    base: NonNull<u8>,
    length: usize,
    stride: usize,
    count: u32,
}

impl Buffers {
    /// Maps the memory. `size` is rounded up to whole pages when `page_aligned` (direct I/O needs every slot aligned), otherwise
    /// to a multiple of 8.
    ///
    /// # Errors
    /// mmap(2)'s error, ENOMEM when the product does not fit the address space.
    pub fn new(count: u32, size: u64, page_aligned: bool) -> io::Result<Self> {
        let too_big = || io::Error::from_raw_os_error(libc::ENOMEM);
        let unit = if page_aligned { 4096 } else { 8 };
        let stride = usize::try_from(size.max(1))
            .ok()
            .and_then(|s| s.checked_next_multiple_of(unit))
            .ok_or_else(too_big)?;
        let length = stride.checked_mul(count.max(1) as usize).ok_or_else(too_big)?;
        // SAFETY: a fresh anonymous mapping at an address of the kernel's choice touches no existing memory.
        let base = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                length,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
                -1,
                0,
            )
        };
        if base == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let base = NonNull::new(base.cast()).ok_or_else(too_big)?;
        Ok(Buffers { base, length, stride, count: count.max(1) })
    }

    /// Number of slots.
    #[must_use]
    pub fn count(&self) -> u32 {
        self.count
    }

    /// Bytes from one slot to the next.
    #[must_use]
    pub fn stride(&self) -> usize {
        self.stride
    }

    /// First byte of slot `unit`.
    #[inline]
    #[must_use]
    pub fn slot(&self, unit: u32) -> *mut u8 {
        debug_assert!(unit < self.count);
        // SAFETY: unit < count, so the offset stays inside the mapping of count * stride bytes.
        unsafe { self.base.as_ptr().add(unit as usize * self.stride) }
    }

    /// The first `len` bytes of slot `unit`, to fill.
    #[inline]
    pub fn fill(&mut self, unit: u32, len: usize) -> &mut [u8] {
        assert!(
            unit < self.count && len <= self.stride,
            "slot {unit} of {} or {len} of {} bytes",
            self.count,
            self.stride
        );
        // SAFETY: in range by the assertion; `&mut self` excludes other slices, and callers fill a slot only while no request
        // that uses it is in flight (a slot is free until it is submitted).
        unsafe { std::slice::from_raw_parts_mut(self.slot(unit), len) }
    }
}

impl Drop for Buffers {
    fn drop(&mut self) {
        // SAFETY: base and length are those of the mapping made in `new`; nothing outlives the worker that owns it.
        unsafe { libc::munmap(self.base.as_ptr().cast(), self.length) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_are_page_aligned_for_direct_io_and_do_not_overlap() {
        let mut buffers = Buffers::new(3, 5000, true).unwrap();
        assert_eq!(buffers.stride(), 8192);
        assert_eq!(buffers.slot(1) as usize % 4096, 0);
        buffers.fill(0, 8192).fill(1);
        buffers.fill(1, 8192).fill(2);
        assert!(buffers.fill(0, 8192).iter().all(|&b| b == 1));
    }

    #[test]
    fn an_impossible_size_is_an_error() {
        assert!(Buffers::new(u32::MAX, u64::MAX / 2, true).is_err());
    }
}
