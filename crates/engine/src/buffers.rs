//! The I/O buffers of one worker: one memory area of the kind that `mem` selects, divided into `iodepth` slots.
//!
//! Pages of ordinary memory cost nothing until touched, so a thousand idle jobs with large blocks are cheap. Every slot is aligned to
//! `iomem_align`, and to a page for direct I/O.

mod area;
mod file;
mod huge;
mod lent_slot;
mod locked;
#[cfg(test)]
mod tests;

pub use lent_slot::LentSlot;
pub use locked::LockedMemory;

use std::ptr::NonNull;
use std::sync::Arc;
use std::{fmt, io};

use ferrio_job::Memory;
use nix::errno::Errno;

use crate::EngineError;
use area::Area;
use huge::SMALLER_BUFFERS;
use lent_slot::SharedMemory;

/// Page size that direct I/O requires, in bytes.
const PAGE_BYTES: usize = 4096;

/// Largest area whose pages are all allocated before the first I/O, in bytes.
const MAX_POPULATED_BYTES: usize = 64 << 20;

/// Smallest slot for which huge pages pay, in bytes.
const MIN_HUGE_SLOT_BYTES: usize = 64 << 10;

/// Memory for `count` I/Os of up to `stride` bytes each.
#[derive(Debug)]
pub struct Buffers {
    base: NonNull<u8>,
    stride: usize,
    /// Bytes from one slot to the next: the stride, or 0 if all slots share the same memory.
    step: usize,
    count: u32,
    /// Number of slots that [`fill`](Self::fill) accepts: all of them until the first is lent, 0 afterwards. The range check, which is
    /// needed in any case, thus also checks that no slot is lent.
    fillable: u32,
    /// True if the kernel was asked for huge pages and has them.
    on_huge_pages: bool,
    /// Owns the memory at `base`, together with the lent slots.
    memory: Arc<SharedMemory>,
}

/// Keeps the memory of [`Buffers`] alive.
#[derive(Clone)]
pub struct BufferMemory(#[expect(dead_code, reason = "it is only held")] Arc<SharedMemory>);

impl fmt::Debug for BufferMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("BufferMemory")
    }
}

impl Buffers {
    /// A handle that keeps the memory alive, for an engine that may have to abandon requests while the kernel still owns their buffers.
    /// Holding or forgetting the handle prevents the memory from being freed.
    #[must_use]
    pub fn memory(&self) -> BufferMemory {
        BufferMemory(Arc::clone(&self.memory))
    }

    /// Allocates ordinary memory. `size` is rounded up to whole pages when `page_aligned` (direct I/O needs every slot aligned), otherwise
    /// to a multiple of 8.
    ///
    /// # Errors
    /// mmap(2)'s error, ENOMEM when the product does not fit the address space.
    pub fn new(count: u32, size: u64, page_aligned: bool) -> io::Result<Self> {
        Self::allocate(&Memory::default(), count, size, page_aligned).map_err(|e| e.source)
    }

    /// Allocates memory as `memory` describes. `size` is rounded up to a multiple of the slot alignment: that of `memory`, a page when
    /// `page_aligned`, and at least 8.
    ///
    /// # Errors
    /// The memory is unavailable or insufficient, or the file of a mapping cannot be used. The error has advice where something can be
    /// done.
    pub fn allocate(memory: &Memory, count: u32, size: u64, page_aligned: bool) -> Result<Self, EngineError> {
        let too_big = || EngineError::new("init buffers", Errno::ENOMEM).hint(SMALLER_BUFFERS);
        // Memory that no I/O uses needs no huge page; there may be none left.
        let ordinary = Memory::default();
        let memory = if size == 0 && memory.kind.is_huge() { &ordinary } else { memory };
        let align = usize::try_from(memory.align).map_err(|_| too_big())?;
        let unit = align.max(if page_aligned { PAGE_BYTES } else { 8 });
        let stride = usize::try_from(size.max(1))
            .ok()
            .and_then(|s| s.checked_next_multiple_of(unit))
            .ok_or_else(too_big)?;
        let places = if memory.one_for_all { 1 } else { count.max(1) };
        let length = stride.checked_mul(places as usize).ok_or_else(too_big)?;
        let huge = if stride >= MIN_HUGE_SLOT_BYTES { huge::transparent_pages(memory, length) } else { None };
        let unit = huge.map_or(unit, |huge| unit.max(huge.page));
        // Areas are page-aligned; a larger alignment may move the start.
        let slack = if unit > PAGE_BYTES { unit } else { 0 };
        let area = Area::allocate(memory, length.checked_add(slack).ok_or_else(too_big)?)?;
        let start = area.start();
        let skipped = start.as_ptr().align_offset(unit);
        debug_assert!(skipped <= slack);
        // SAFETY: areas are page-aligned, so `skipped` is 0 unless `unit` is larger than a page, and then it is less than `slack`: the sum
        // stays inside the area of `length + slack` bytes.
        let base = unsafe { start.add(skipped) };
        let on_huge_pages = huge.is_some_and(|huge| huge.advise(base));
        let count = count.max(1);
        let step = if memory.one_for_all { 0 } else { stride };
        let memory = Arc::new(SharedMemory::new(area, count));
        Ok(Buffers { base, stride, step, count, fillable: count, on_huge_pages, memory })
    }

    /// Allocates the pages of the slots now, so that the first I/Os do not wait for them. Areas of more than 64 MiB are left to allocate
    /// their pages on use, as not all of their slots may be used. Does nothing before Linux 5.14.
    pub fn populate(&self) {
        if !self.is_populated_first() {
            return;
        }
        let length = self.length();
        let start = self.base.as_ptr().map_addr(|address| address & !(PAGE_BYTES - 1));
        let length = length + (self.base.as_ptr().addr() - start.addr());
        // SAFETY: the range lies in the area, which is page-aligned. This advice allocates pages and changes no contents. A page that
        // cannot be allocated now is allocated when it is touched.
        unsafe { libc::madvise(start.cast(), length, libc::MADV_POPULATE_WRITE) };
    }

    /// True if all slots together are small enough for their pages to be allocated before the first I/O.
    #[must_use]
    pub fn is_populated_first(&self) -> bool {
        self.length() <= MAX_POPULATED_BYTES
    }

    /// True if the kernel was asked for huge pages and uses them where it has enough.
    #[must_use]
    pub fn on_huge_pages(&self) -> bool {
        self.on_huge_pages
    }

    /// Size of all slots together, in bytes.
    fn length(&self) -> usize {
        self.step * (self.count - 1) as usize + self.stride
    }

    /// For memory of a file: keeps the memory accessible if the file is truncated or its disk fails, and calls `on_loss`, which must end
    /// the job. `on_loss` runs in a signal handler and may only change atomic values. The contents of the slots are lost then;
    /// [`check`](Self::check) reports that.
    ///
    /// # Errors
    /// sigaction(2)'s error.
    pub fn watch(&self, on_loss: impl Fn() + Send + Sync + 'static) -> Result<(), EngineError> {
        self.memory.area.watch(on_loss)
    }

    /// Checks, after the last I/O, whether pages of the memory's file were missing.
    ///
    /// # Errors
    /// EFAULT if pages were missing.
    pub fn check(&self) -> Result<(), EngineError> {
        let area = &self.memory.area;
        let Some((file, offset)) = area.file().zip(area.lost()) else { return Ok(()) };
        let hint = format!(
            "the buffers of the job are in this file, and its page at byte {offset} went missing during the run: it became \
             shorter, its file system is full, or its disk failed"
        );
        Err(EngineError::new(format!("mmap({})", file.path.display()), Errno::EFAULT).hint(hint))
    }

    /// Removes the file of the memory if it was created for this job. The memory stays.
    ///
    /// # Errors
    /// unlink(2)'s error, except ENOENT.
    pub fn remove_file(&self) -> Result<(), EngineError> {
        let Some(file) = self.memory.area.file() else { return Ok(()) };
        let path = file.path.display();
        file.remove().map_err(|e| {
            let hint = "this file of `mem` was created for the job, and cannot be removed: remove it by hand";
            EngineError::new(format!("unlink({path})"), e).hint(hint)
        })
    }

    /// Number of slots.
    #[must_use]
    pub fn count(&self) -> u32 {
        self.count
    }

    /// Size of a slot in bytes.
    #[must_use]
    pub fn stride(&self) -> usize {
        self.stride
    }

    /// First byte of slot `unit`.
    #[inline]
    #[must_use]
    pub fn slot(&self, unit: u32) -> *mut u8 {
        debug_assert!(unit < self.count);
        debug_assert!(!self.memory.is_lent(unit), "slot {unit} is lent");
        // SAFETY: unit < count, so the offset stays inside the count * step bytes from `base` on.
        unsafe { self.base.as_ptr().add(unit as usize * self.step) }
    }

    /// The first `len` bytes of slot `unit`, to fill. No request that uses the slot may be in flight, and no request at all if all slots
    /// share the same memory. Only for jobs that lend no slots.
    #[inline]
    pub fn fill(&mut self, unit: u32, len: usize) -> &mut [u8] {
        assert!(
            unit < self.fillable && len <= self.stride,
            "slot {unit} of {} or {len} of {} bytes",
            self.fillable,
            self.stride
        );
        // SAFETY: in range by the assertion, and no slot was ever lent. `&mut self` excludes other slices, and callers fill a slot only
        // while no request that uses it is in flight (a slot is free until it is submitted).
        unsafe { std::slice::from_raw_parts_mut(self.slot(unit), len) }
    }

    /// Like [`fill`](Self::fill), for jobs that lend slots. `None` while the slot is lent, and if `unit` or `len` is out of range.
    pub fn fill_unless_lent(&mut self, unit: u32, len: usize) -> Option<&mut [u8]> {
        if unit >= self.count || len > self.stride || self.memory.is_lent(unit) {
            return None;
        }
        // SAFETY: in range and not lent, as just checked; otherwise as in `fill`.
        Some(unsafe { std::slice::from_raw_parts_mut(self.slot(unit), len) })
    }

    /// Lends the first `len` bytes of slot `unit` to another thread. No request that uses the slot may be in flight, and none may be made
    /// until the returned value is dropped. `None` while the slot is already lent, and if `unit` or `len` is out of range.
    pub fn lend(&mut self, unit: u32, len: usize) -> Option<LentSlot> {
        let start = NonNull::from(self.fill_unless_lent(unit, len)?).cast();
        self.fillable = 0;
        LentSlot::new(start, len, unit, &self.memory)
    }
}
