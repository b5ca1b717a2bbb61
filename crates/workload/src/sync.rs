//! When writes are made durable while a job runs: `fsync`, `fdatasync` and `sync_file_range` after every N writes.

use ferrio_plan::{Durability, SyncFileRange};

use crate::step::SyncKind;

/// The periods of a job's syncs, in writes; 0 is never.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Syncs {
    fsync: u64,
    fdatasync: u64,
    range: SyncFileRange,
}

impl Syncs {
    /// The periods of a job, `None` when it never syncs.
    pub(crate) fn new(durability: &Durability) -> Option<Self> {
        let syncs = Syncs {
            fsync: u64::from(durability.fsync),
            fdatasync: u64::from(durability.fdatasync),
            range: durability.sync_file_range,
        };
        (syncs.fsync > 0 || syncs.fdatasync > 0 || syncs.range.every > 0).then_some(syncs)
    }

    /// The sync that is due after `writes` issued writes, the last operation being one of them. `dirty` is what was written to
    /// the file since its last sync.
    #[inline]
    pub(crate) fn due(&self, writes: u64, dirty: &Dirty) -> Option<SyncKind> {
        let hits = |every: u64| every > 0 && writes > 0 && writes.is_multiple_of(every);
        if hits(self.fsync) {
            Some(SyncKind::Fsync)
        } else if hits(self.fdatasync) {
            Some(SyncKind::Fdatasync)
        } else if hits(u64::from(self.range.every)) {
            let (offset, len) = dirty.range();
            Some(SyncKind::FileRange { flags: self.range.flags, offset, len })
        } else {
            None
        }
    }
}

/// Lowest and highest byte written to a file since its last sync.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Dirty {
    first: u64,
    /// Exclusive; 0 when nothing was written.
    end: u64,
}

impl Dirty {
    /// A write was issued.
    #[inline]
    pub(crate) fn wrote(&mut self, offset: u64, len: u32) {
        let end = offset + u64::from(len);
        *self = if self.end == 0 {
            Dirty { first: offset, end }
        } else {
            Dirty { first: self.first.min(offset), end: self.end.max(end) }
        };
    }

    /// Offset and length of what was written.
    pub(crate) fn range(&self) -> (u64, u64) {
        (self.first, self.end - self.first)
    }
}
