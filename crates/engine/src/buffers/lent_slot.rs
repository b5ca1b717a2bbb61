//! A slot of the buffers that another thread works on while the job goes on with the others.

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

/// The memory of all slots, and which of them are lent. It lives as long as the buffers or any slot that is lent.
#[derive(Debug)]
pub(super) struct SharedMemory {
    /// Given back when this is dropped.
    pub(super) area: Area,
    lent: Box<[AtomicBool]>,
}

impl SharedMemory {
    /// Memory for this many slots, none of which is lent.
    pub(super) fn new(area: Area, slots: u32) -> Self {
        SharedMemory { area, lent: (0..slots).map(|_| AtomicBool::new(false)).collect() }
    }

    /// True while the slot is lent, and for one that does not exist.
    pub(super) fn is_lent(&self, unit: u32) -> bool {
        // What the borrower has written is seen by those who see that the slot is back.
        self.lent.get(unit as usize).is_none_or(|lent| lent.load(Acquire))
    }

    /// Marks the slot as lent. False if it already is, or does not exist.
    fn lend(&self, unit: u32) -> bool {
        self.lent.get(unit as usize).is_some_and(|lent| !lent.swap(true, AcqRel))
    }
}

/// The bytes of a slot. Its memory lives as long as this does, whatever becomes of the buffers, and nobody else gets it meanwhile.
pub struct LentSlot {
    start: NonNull<u8>,
    len: usize,
    unit: u32,
    memory: Arc<SharedMemory>,
}

// SAFETY: the bytes belong to this value alone until it is dropped: it exists only while its slot is marked as lent, and such a slot is
// neither filled nor lent again. Memory is not bound to the thread that mapped it, and an area may be given back by any thread.
unsafe impl Send for LentSlot {}

impl LentSlot {
    /// Lends the slot `unit`, whose first `len` bytes begin at `start` and lie in `memory`. `None` while it is lent.
    pub(super) fn new(start: NonNull<u8>, len: usize, unit: u32, memory: &Arc<SharedMemory>) -> Option<Self> {
        memory.lend(unit).then(|| LentSlot { start, len, unit, memory: Arc::clone(memory) })
    }
}

impl Deref for LentSlot {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // SAFETY: the bytes lie in the memory that this value keeps alive, and nothing else uses them while the slot is lent.
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
