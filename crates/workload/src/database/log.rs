//! Where the next append to the log goes.

use std::sync::atomic::{
    AtomicU64,
    Ordering::{AcqRel, Acquire, Relaxed},
};

/// The end of a log that begins again at the start of its file when the rest of that has no room for an append.
#[derive(Debug)]
pub(super) struct LogTail {
    size: u64,
    /// Bytes appended and left out so far.
    end: AtomicU64,
}

/// Where an append goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Append {
    /// In the file.
    pub(super) offset: u64,
    /// Where the log ended before it.
    pub(super) from: u64,
    /// Where the log ends with it, after what was left out before it.
    pub(super) end: u64,
}

impl LogTail {
    pub(super) fn new(size: u64) -> Self {
        LogTail { size: size.max(1), end: AtomicU64::new(0) }
    }

    /// Where the next `len` bytes are written, at most as many as the file has.
    pub(super) fn append(&self, len: u32) -> Append {
        let len = u64::from(len).min(self.size);
        let mut end = self.end.load(Relaxed);
        loop {
            let at = end % self.size;
            let begin = if at + len > self.size { end - at + self.size } else { end };
            match self.end.compare_exchange_weak(end, begin + len, AcqRel, Relaxed) {
                Ok(_) => return Append { offset: begin % self.size, from: end, end: begin + len },
                Err(other) => end = other,
            }
        }
    }

    /// Bytes of the log so far, with what was left out at the end of the file.
    pub(super) fn end(&self) -> u64 {
        self.end.load(Acquire)
    }
}
