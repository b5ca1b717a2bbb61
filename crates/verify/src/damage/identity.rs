//! The identity of a write.

use crate::BlockHeader;

/// The identity of a write, as far as it is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct WriteIdentity {
    /// Seed of the body; not used with a pattern.
    pub(super) seed: u64,
    /// Offset of the block in the file, bytes.
    pub(super) offset: u64,
    /// Number of the write.
    pub(super) number: Option<u64>,
    /// Number of the job, from 1.
    pub(super) thread: Option<u16>,
    /// Time of the write; seconds and nanoseconds as in the header.
    pub(super) time: Option<(u32, u32)>,
}

impl WriteIdentity {
    /// The write that a header names, in the interval that begins at byte `start` of its block.
    pub(super) fn of_header(header: &BlockHeader, start: usize) -> Self {
        WriteIdentity {
            seed: header.seed,
            offset: header.offset.wrapping_sub(start as u64),
            number: Some(header.number),
            thread: Some(header.thread),
            time: Some((header.time_sec, header.time_nsec)),
        }
    }

    /// Whether both may be the same write.
    pub(super) fn agrees(&self, other: &WriteIdentity) -> bool {
        fn either<T: PartialEq>(one: Option<T>, other: Option<T>) -> bool {
            one.is_none() || other.is_none() || one == other
        }
        self.seed == other.seed
            && self.offset == other.offset
            && either(self.number, other.number)
            && either(self.thread, other.thread)
    }

    /// Fills the unknown fields from `other`.
    pub(super) fn completed_by(self, other: &WriteIdentity) -> Self {
        WriteIdentity {
            number: self.number.or(other.number),
            thread: self.thread.or(other.thread),
            time: self.time.or(other.time),
            ..self
        }
    }
}
