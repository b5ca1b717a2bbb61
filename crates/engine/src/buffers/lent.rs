//! A slot of the buffers that another thread works on while the job goes on with the others.

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;
use std::slice;
use std::sync::Arc;

use super::area::Area;

/// The bytes of a slot. Its memory lives as long as this does, whatever becomes of the buffers.
pub struct LentSlot {
    start: NonNull<u8>,
    len: usize,
    _area: Arc<Area>,
}

// SAFETY: the bytes belong to this value alone until it is dropped: whoever lends a slot neither fills it nor uses it in a request
// meanwhile. Memory is not bound to the thread that mapped it, and an area may be given back by any thread.
unsafe impl Send for LentSlot {}

impl LentSlot {
    /// `len` bytes from `start` on, which lie in `area`.
    pub(super) fn new(start: NonNull<u8>, len: usize, area: Arc<Area>) -> Self {
        LentSlot { start, len, _area: area }
    }
}

impl Deref for LentSlot {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // SAFETY: the bytes lie in the area, which this value keeps alive, and nothing else uses them.
        unsafe { slice::from_raw_parts(self.start.as_ptr(), self.len) }
    }
}

impl DerefMut for LentSlot {
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: as above; `&mut self` excludes other slices.
        unsafe { slice::from_raw_parts_mut(self.start.as_ptr(), self.len) }
    }
}

impl fmt::Debug for LentSlot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LentSlot").field("start", &self.start).field("len", &self.len).finish_non_exhaustive()
    }
}
