//! A request's buffer in the form the runtime takes: an owned value that points to memory which stays where it is.

use ferrio_engine::Request;
use tokio_uring::buf::{IoBuf, IoBufMut};

/// The bytes of one request. Owns nothing.
pub(crate) struct Slot {
    start: *mut u8,
    len: usize,
}

impl Slot {
    /// The buffer of `request`.
    ///
    /// # Safety
    /// `len` bytes from `buffer` are initialised memory that nothing else touches and that outlives the operation this goes into.
    pub(crate) unsafe fn new(request: &Request) -> Self {
        Slot { start: request.buffer, len: request.len as usize }
    }
}

// SAFETY: the address is stored, not computed from where the Slot is, so it stays when the Slot moves; the memory stays valid and
// is initialised by the contract of `Slot::new`.
unsafe impl IoBuf for Slot {
    fn stable_ptr(&self) -> *const u8 {
        self.start
    }

    fn bytes_init(&self) -> usize {
        self.len
    }

    fn bytes_total(&self) -> usize {
        self.len
    }
}

// SAFETY: as above; nothing else touches the memory meanwhile.
unsafe impl IoBufMut for Slot {
    fn stable_mut_ptr(&mut self) -> *mut u8 {
        self.start
    }

    /// All bytes are initialised from the start.
    unsafe fn set_init(&mut self, _count: usize) {}
}
