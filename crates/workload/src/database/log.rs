//! The place of the next append to the log.

use std::sync::atomic::{
    AtomicU64,
    Ordering::{AcqRel, Acquire, Relaxed},
};

/// The end of a log that restarts at the beginning of its file if the rest of it has no room for an append.
#[derive(Debug)]
pub(super) struct LogTail {
    size: u64,
    /// Bytes appended and skipped so far.
    end: AtomicU64,
}

/// The place of an append.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Append {
    /// Offset in the file.
    pub(super) offset: u64,
    /// End of the log before the append.
    pub(super) from: u64,
    /// End of the log after it, including bytes skipped before it.
    pub(super) end: u64,
}

impl LogTail {
    pub(super) fn new(size: u64) -> Self {
        LogTail { size: size.max(1), end: AtomicU64::new(0) }
    }

    /// The place of the next `len` bytes, at most as many as the file has.
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

    /// Bytes of the log so far, including those skipped at the end of the file.
    pub(super) fn end(&self) -> u64 {
        self.end.load(Acquire)
    }
}
