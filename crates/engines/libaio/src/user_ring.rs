//! The completion ring of an AIO context, which the kernel maps into the process: reading it costs no system call.

use std::sync::atomic::{AtomicU32, Ordering};

use ferrio_engine::Completion;

use crate::abi::{ContextId, IoEvent};

/// The magic number of the ring layout that this module reads.
const MAGIC: u32 = 0xa10a_10a1;

/// `struct aio_ring`
#[repr(C)]
struct AioRingHeader {
    id: u32,
    /// Number of slots.
    slots: u32,
    /// Next event to read, written by the reader.
    head: AtomicU32,
    /// Next slot to fill, written by the kernel.
    tail: AtomicU32,
    magic: u32,
    compatible_features: u32,
    incompatible_features: u32,
    header_length: u32,
}

/// The reader's side of the ring.
pub(crate) struct UserRing {
    header: *const AioRingHeader,
    events: *const IoEvent,
    slots: u32,
}

impl UserRing {
    /// `None` if the kernel's ring has an unknown layout.
    pub(crate) fn new(context: ContextId) -> Option<Self> {
        let header = context.0 as *const AioRingHeader;
        // SAFETY: a context ID is the address of its ring, mapped until io_destroy(2), which comes after the last use.
        let known = unsafe { &*header };
        let length = known.header_length as usize;
        if known.magic != MAGIC || known.incompatible_features != 0 || length < size_of::<AioRingHeader>() {
            return None;
        }
        // SAFETY: the events follow the header inside the mapping.
        let events = unsafe { header.cast::<u8>().add(length).cast::<IoEvent>() };
        Some(UserRing { header, events, slots: known.slots })
    }

    /// Takes at most `max` events, if at least `min` are available. Returns how many it took.
    #[inline]
    pub(crate) fn take(&self, min: u32, max: u32, done: &mut Vec<Completion>) -> u32 {
        // SAFETY: mapped as long as the context lives (see `new`); both sides share only the two atomic words.
        let header = unsafe { &*self.header };
        let mut head = header.head.load(Ordering::Relaxed);
        let tail = header.tail.load(Ordering::Acquire);
        let ready = if tail >= head { tail - head } else { self.slots - head + tail };
        if ready < min {
            return 0;
        }
        let count = ready.min(max);
        for _ in 0..count {
            // SAFETY: head < slots, and the kernel does not touch slots between head and tail.
            let event = unsafe { &*self.events.add(head as usize) };
            done.push(Completion { unit: event.data as u32, result: event.result });
            head += 1;
            if head == self.slots {
                head = 0;
            }
        }
        header.head.store(head, Ordering::Release);
        count
    }
}
