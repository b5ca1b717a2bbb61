//! The I/O buffers of one worker: one stretch of memory of the kind that `mem` asks for, cut into `iodepth` slots.
//!
//! Pages of ordinary memory cost nothing until touched, so a thousand idle jobs with large blocks are cheap. Every slot begins
//! at a multiple of `iomem_align`, and of a page for direct I/O.

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
use huge::SMALLER;
use lent_slot::SharedMemory;

/// Bytes of a page, as direct I/O wants them.
const PAGE: usize = 4096;

/// Bytes of an area that gets all its pages before the first I/O.
const MAX_POPULATED: usize = 64 << 20;

/// Bytes of a slot from which on huge pages pay.
const MIN_ON_HUGE_PAGES: usize = 64 << 10;

/// Memory for `count` I/Os of up to `stride` bytes each.
#[derive(Debug)]
pub struct Buffers {
    base: NonNull<u8>,
    stride: usize,
    /// Bytes from one slot to the next: the stride, or 0 if all slots are one.
    step: usize,
    count: u32,
    /// Slots that [`fill`](Self::fill) gives: all until the first is lent, none from then on. So the check of the range, which is made in
    /// any case, is also the check that nothing is lent.
    fillable: u32,
    /// The kernel was asked for huge pages, and has them.
    on_huge_pages: bool,
    /// Owns what `base` points into, together with the slots that are lent.
    memory: Arc<SharedMemory>,
}

/// What keeps the memory of [`Buffers`].
#[derive(Clone)]
pub struct KeptMemory(#[expect(dead_code, reason = "it is only held")] Arc<SharedMemory>);

impl fmt::Debug for KeptMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("KeptMemory")
    }
}

impl Buffers {
    /// The memory, for an engine that may have to let go of requests while the kernel still owns their buffers: what is held, or
    /// forgotten, is not freed.
    #[must_use]
    pub fn kept(&self) -> KeptMemory {
        KeptMemory(Arc::clone(&self.memory))
    }

    /// Ordinary memory. `size` is rounded up to whole pages when `page_aligned` (direct I/O needs every slot aligned), otherwise
    /// to a multiple of 8.
    ///
    /// # Errors
    /// mmap(2)'s error, ENOMEM when the product does not fit the address space.
    pub fn new(count: u32, size: u64, page_aligned: bool) -> io::Result<Self> {
        Self::allocate(&Memory::default(), count, size, page_aligned).map_err(|e| e.source)
    }

    /// Memory of a kind. `size` is rounded up to a multiple of what slots are aligned to: the alignment of `memory`, whole pages when
    /// `page_aligned`, and 8 in any case.
    ///
    /// # Errors
    /// There is no such memory, or not as much, with advice where something can be done; the file of a mapping cannot be used.
    pub fn allocate(memory: &Memory, count: u32, size: u64, page_aligned: bool) -> Result<Self, EngineError> {
        let too_big = || EngineError::new("init buffers", Errno::ENOMEM).hint(SMALLER);
        // Memory that no I/O uses needs no huge page, of which there may be none.
        let ordinary = Memory::default();
        let memory = if size == 0 && memory.kind.is_huge() { &ordinary } else { memory };
        let align = usize::try_from(memory.align).map_err(|_| too_big())?;
        let unit = align.max(if page_aligned { PAGE } else { 8 });
        let stride = usize::try_from(size.max(1))
            .ok()
            .and_then(|s| s.checked_next_multiple_of(unit))
            .ok_or_else(too_big)?;
        let places = if memory.one_for_all { 1 } else { count.max(1) };
        let length = stride.checked_mul(places as usize).ok_or_else(too_big)?;
        let huge = if stride >= MIN_ON_HUGE_PAGES { huge::transparent_pages(memory, length) } else { None };
        let unit = huge.map_or(unit, |huge| unit.max(huge.page));
        // Areas begin at a page; a larger alignment may need to begin later.
        let slack = if unit > PAGE { unit } else { 0 };
        let area = Area::allocate(memory, length.checked_add(slack).ok_or_else(too_big)?)?;
        let start = area.start();
        let skipped = start.as_ptr().align_offset(unit);
        debug_assert!(skipped <= slack);
        // SAFETY: an area begins at a page, so `skipped` is 0 unless `unit` is larger than a page, and then it is less than
        // `slack`: the sum stays inside the area of `length + slack` bytes.
        let base = unsafe { start.add(skipped) };
        let on_huge_pages = huge.is_some_and(|huge| huge.advise(base));
        let count = count.max(1);
        let step = if memory.one_for_all { 0 } else { stride };
        let memory = Arc::new(SharedMemory::new(area, count));
        Ok(Buffers { base, stride, step, count, fillable: count, on_huge_pages, memory })
    }

    /// Gives the slots their pages now, so that first I/Os do not wait for them. Areas of more than 64 MiB get theirs as they are used:
    /// not all of their slots may be. Kernels before Linux 5.14 do nothing.
    pub fn populate(&self) {
        if !self.is_populated_first() {
            return;
        }
        let length = self.length();
        let start = self.base.as_ptr().map_addr(|address| address & !(PAGE - 1));
        let length = length + (self.base.as_ptr().addr() - start.addr());
        // SAFETY: the range lies in the area, which begins at a page; this advice makes its pages and changes no contents. A page that
        // cannot be had now is made when it is touched.
        unsafe { libc::madvise(start.cast(), length, libc::MADV_POPULATE_WRITE) };
    }

    /// True if all slots together are small enough to get their pages before the first I/O.
    #[must_use]
    pub fn is_populated_first(&self) -> bool {
        self.length() <= MAX_POPULATED
    }

    /// True if the kernel puts whole huge pages of the slots on such pages, as far as there are any.
    #[must_use]
    pub fn on_huge_pages(&self) -> bool {
        self.on_huge_pages
    }

    /// Bytes of all slots.
    fn length(&self) -> usize {
        self.step * (self.count - 1) as usize + self.stride
    }

    /// For memory of a file: keeps it accessible if the file is cut short or its disk fails, and calls `on_loss`, which ends the job, in a
    /// signal handler: it may do nothing but change atomic values. Then what the slots hold is lost, as [`check`](Self::check) tells.
    ///
    /// # Errors
    /// Those of sigaction(2).
    pub fn watch(&self, on_loss: impl Fn() + Send + Sync + 'static) -> Result<(), EngineError> {
        self.memory.area.watch(on_loss)
    }

    /// To be called after the last I/O: finds out whether pages of the memory's file were missing.
    ///
    /// # Errors
    /// EFAULT if so.
    pub fn check(&self) -> Result<(), EngineError> {
        let area = &self.memory.area;
        let Some((file, offset)) = area.file().zip(area.lost()) else { return Ok(()) };
        let hint = format!(
            "the buffers of the job are in this file, and its page at byte {offset} went missing during the run: it became \
             shorter, its file system is full, or its disk failed"
        );
        Err(EngineError::new(format!("mmap({})", file.path().display()), Errno::EFAULT).hint(hint))
    }

    /// Removes the file of the memory if it was created for this. The memory stays.
    ///
    /// # Errors
    /// Those of unlink(2), except ENOENT.
    pub fn remove_file(&self) -> Result<(), EngineError> {
        let Some(file) = self.memory.area.file() else { return Ok(()) };
        let path = file.path().display();
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

    /// Bytes of a slot.
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

    /// The first `len` bytes of slot `unit`, to fill. No request that uses the slot may be in flight, and none at all if all slots are one.
    /// For jobs that lend no slots.
    #[inline]
    pub fn fill(&mut self, unit: u32, len: usize) -> &mut [u8] {
        assert!(
            unit < self.fillable && len <= self.stride,
            "slot {unit} of {} or {len} of {} bytes",
            self.fillable,
            self.stride
        );
        // SAFETY: in range by the assertion, and no slot was ever lent; `&mut self` excludes other slices, and callers fill a slot only
        // while no request that uses it is in flight (a slot is free until it is submitted).
        unsafe { std::slice::from_raw_parts_mut(self.slot(unit), len) }
    }

    /// The same for jobs that lend slots. `None` while the slot is lent, and where there are not as many slots or bytes.
    pub fn fill_unless_lent(&mut self, unit: u32, len: usize) -> Option<&mut [u8]> {
        if unit >= self.count || len > self.stride || self.memory.is_lent(unit) {
            return None;
        }
        // SAFETY: in range and not lent, as was just checked; otherwise as in `fill`.
        Some(unsafe { std::slice::from_raw_parts_mut(self.slot(unit), len) })
    }

    /// The first `len` bytes of slot `unit`, for another thread. No request that uses the slot may be in flight, and none may be made until
    /// what this returns is dropped. `None` while the slot is lent, and where there are not as many slots or bytes.
    pub fn lend(&mut self, unit: u32, len: usize) -> Option<LentSlot> {
        let start = NonNull::from(self.fill_unless_lent(unit, len)?).cast();
        self.fillable = 0;
        LentSlot::new(start, len, unit, &self.memory)
    }
}
