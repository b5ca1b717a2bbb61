//! When writes are made durable while a job runs: `fsync`, `fdatasync` and `sync_file_range` after every N writes.

use ferrio_job::{Durability, SyncFileRange};

use crate::step::SyncKind;

/// The periods of a job's syncs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Syncs {
    fsync: Period,
    fdatasync: Period,
    range: Period,
    range_flags: u8,
}

/// Counts writes down; 0 writes is never.
#[derive(Clone, Copy, Debug)]
struct Period {
    every: u32,
    left: u32,
    /// The last write completed a period.
    due: bool,
}

impl Period {
    fn new(every: u32) -> Self {
        Period { every, left: every, due: false }
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
    /// The periods of a job, `None` when it never syncs.
    pub(crate) fn new(durability: &Durability) -> Option<Self> {
        let Durability { fsync, fdatasync, sync_file_range: SyncFileRange { flags, every }, .. } =
            *durability;
        let [fsync, fdatasync, range] = [fsync, fdatasync, every].map(Period::new);
        let syncs = Syncs { fsync, fdatasync, range, range_flags: flags };
        [fsync, fdatasync, range].iter().any(|p| p.every > 0).then_some(syncs)
    }

    /// A write was issued.
    #[inline]
    pub(crate) fn wrote(&mut self) {
        for period in [&mut self.fsync, &mut self.fdatasync, &mut self.range] {
            if period.every > 0 {
                period.wrote();
            }
        }
    }

    /// The count of writes starts again.
    pub(crate) fn restart(&mut self) {
        for period in [&mut self.fsync, &mut self.fdatasync, &mut self.range] {
            *period = Period::new(period.every);
        }
    }

    /// The sync that the last operation, a write, made due; only one even if several periods end with it. `dirty` is what was
    /// written since the last sync to the file whose turn it is.
    #[inline]
    pub(crate) fn due(&self, dirty: &Dirty) -> Option<SyncKind> {
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
    pub(crate) fn wrote(&mut self, offset: u64, len: u64) {
        let end = offset + len;
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
