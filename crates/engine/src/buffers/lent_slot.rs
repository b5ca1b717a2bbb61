//! A buffer slot that another thread works on while the job continues with the others.

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;
use std::slice;
use std::sync::Arc;
use std::sync::atomic::{
    AtomicBool,
    Ordering::{AcqRel, Acquire, Release},
};

use super::area::Area;

/// The memory of all slots, with a mark for each lent slot. Lives as long as the buffers or any lent slot.
#[derive(Debug)]
pub(super) struct SharedMemory {
    pub(super) area: Area,
    lent: Box<[AtomicBool]>,
}

impl SharedMemory {
    pub(super) fn new(area: Area, slots: u32) -> Self {
        SharedMemory { area, lent: (0..slots).map(|_| AtomicBool::new(false)).collect() }
    }

    /// True while the slot is lent, and for a slot that does not exist.
    pub(super) fn is_lent(&self, unit: u32) -> bool {
        // Acquire: whoever sees that the slot is back also sees what the borrower wrote.
        self.lent.get(unit as usize).is_none_or(|lent| lent.load(Acquire))
    }

    /// Marks the slot as lent. False if it already is, or does not exist.
    fn lend(&self, unit: u32) -> bool {
        self.lent.get(unit as usize).is_some_and(|lent| !lent.swap(true, AcqRel))
    }
}

/// The bytes of a lent slot. The memory stays valid until this is dropped, even if the buffers are dropped first, and is not used otherwise
/// meanwhile.
pub struct LentSlot {
    start: NonNull<u8>,
    len: usize,
    unit: u32,
    memory: Arc<SharedMemory>,
}

// SAFETY: the bytes belong to this value alone until it is dropped: it exists only while its slot is marked as lent, and such a slot is
// neither filled nor lent again. Memory is not bound to the thread that mapped it, and any thread may free an area.
unsafe impl Send for LentSlot {}

impl LentSlot {
    /// Lends the slot `unit`, whose first `len` bytes begin at `start` and lie in `memory`. `None` while it is already lent.
    pub(super) fn new(start: NonNull<u8>, len: usize, unit: u32, memory: &Arc<SharedMemory>) -> Option<Self> {
        memory.lend(unit).then(|| LentSlot { start, len, unit, memory: Arc::clone(memory) })
    }
}

impl Deref for LentSlot {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // SAFETY: this value keeps the memory alive, and nothing else uses the bytes while the slot is lent.
        unsafe { slice::from_raw_parts(self.start.as_ptr(), self.len) }
    }
}

impl DerefMut for LentSlot {
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: as above; `&mut self` excludes other slices.
        unsafe { slice::from_raw_parts_mut(self.start.as_ptr(), self.len) }
    }
}

impl Drop for LentSlot {
    fn drop(&mut self) {
        if let Some(lent) = self.memory.lent.get(self.unit as usize) {
            lent.store(false, Release);
        }
    }
}

impl fmt::Debug for LentSlot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LentSlot").field("unit", &self.unit).field("len", &self.len).finish_non_exhaustive()
    }
}
