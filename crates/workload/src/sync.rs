//! Syncs while a job runs: `fsync`, `fdatasync` and `sync_file_range` after every N writes.

use ferrio_job::{Durability, SyncFileRange};

use crate::step::SyncKind;

/// The periods of a job's syncs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Syncs {
    fsync: SyncPeriod,
    fdatasync: SyncPeriod,
    range: SyncPeriod,
    range_flags: u8,
}

/// Counts writes down; 0 writes means never.
#[derive(Clone, Copy, Debug)]
struct SyncPeriod {
    every: u32,
    left: u32,
    /// Whether the last write completed a period.
    due: bool,
}

impl SyncPeriod {
    fn new(every: u32) -> Self {
        SyncPeriod { every, left: every, due: false }
    }

    #[inline]
    fn wrote(&mut self) {
        self.left = self.left.wrapping_sub(1);
        self.due = self.left == 0;
        if self.due {
            self.left = self.every;
        }
    }
}

impl Syncs {
    /// The periods of a job; `None` if it never syncs.
    pub(crate) fn new(durability: &Durability) -> Option<Self> {
        let Durability { fsync, fdatasync, sync_file_range: SyncFileRange { flags, every }, .. } =
            *durability;
        let [fsync, fdatasync, range] = [fsync, fdatasync, every].map(SyncPeriod::new);
        let syncs = Syncs { fsync, fdatasync, range, range_flags: flags };
        [fsync, fdatasync, range].iter().any(|p| p.every > 0).then_some(syncs)
    }

    /// Counts an issued write.
    #[inline]
    pub(crate) fn wrote(&mut self) {
        for period in [&mut self.fsync, &mut self.fdatasync, &mut self.range] {
            if period.every > 0 {
                period.wrote();
            }
        }
    }

    /// Restarts the count of writes.
    pub(crate) fn restart(&mut self) {
        for period in [&mut self.fsync, &mut self.fdatasync, &mut self.range] {
            *period = SyncPeriod::new(period.every);
        }
    }

    /// The sync that the last operation, a write, made due; only one even if several periods end with it. `dirty` is the range written
    /// since the last sync to the current file.
    #[inline]
    pub(crate) fn due(&self, dirty: &DirtyRange) -> Option<SyncKind> {
        if self.fsync.due {
            Some(SyncKind::Fsync)
        } else if self.fdatasync.due {
            Some(SyncKind::Fdatasync)
        } else if self.range.due {
            let (offset, len) = dirty.range();
            Some(SyncKind::FileRange { flags: self.range_flags, offset, len })
        } else {
            None
        }
    }
}

/// The lowest and highest byte written to a file since its last sync.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct DirtyRange {
    first: u64,
    /// Exclusive; 0 if nothing was written.
    end: u64,
}

impl DirtyRange {
    /// Adds an issued write.
    #[inline]
    pub(crate) fn wrote(&mut self, offset: u64, len: u64) {
        let end = offset + len;
        *self = if self.end == 0 {
            DirtyRange { first: offset, end }
        } else {
            DirtyRange { first: self.first.min(offset), end: self.end.max(end) }
        };
    }

    /// Offset and length of the written range.
    pub(crate) fn range(&self) -> (u64, u64) {
        (self.first, self.end - self.first)
    }
}
