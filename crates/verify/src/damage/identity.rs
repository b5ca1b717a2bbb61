//! What identifies a write.

use crate::Header;

/// What identifies a write, as far as it is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Identity {
    /// Seed of the body; not used with a pattern.
    pub(super) seed: u64,
    /// Where the block lies in the file, bytes.
    pub(super) offset: u64,
    /// Number of the write.
    pub(super) number: Option<u64>,
    /// Number of the job, from 1.
    pub(super) thread: Option<u16>,
    /// Time of the write; seconds and nanoseconds as in the header.
    pub(super) time: Option<(u32, u32)>,
}

impl Identity {
    /// The write that a header names, in the interval that begins at byte `start` of its block.
    pub(super) fn of_header(header: &Header, start: usize) -> Self {
        Identity {
            seed: header.seed,
            offset: header.offset.wrapping_sub(start as u64),
            number: Some(header.number),
            thread: Some(header.thread),
            time: Some((header.time_sec, header.time_nsec)),
        }
    }

    /// Whether both may be the same write.
    pub(super) fn agrees(&self, other: &Identity) -> bool {
        fn either<T: PartialEq>(one: Option<T>, other: Option<T>) -> bool {
            one.is_none() || other.is_none() || one == other
        }
        self.seed == other.seed
            && self.offset == other.offset
            && either(self.number, other.number)
            && either(self.thread, other.thread)
    }

    /// The same with what only `other` knows.
    pub(super) fn completed_by(self, other: &Identity) -> Self {
        Identity {
            number: self.number.or(other.number),
            thread: self.thread.or(other.thread),
            time: self.time.or(other.time),
            ..self
        }
    }
}
