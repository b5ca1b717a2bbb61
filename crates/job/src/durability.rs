//! When data is made durable, and whether it waits in the page cache until then.

use crate::{EngineKind, JobSpec, OpenSync};

/// `sync_file_range=flags:N`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SyncFileRange {
    /// Linux SYNC_FILE_RANGE_* flags.
    pub flags: u32,
    /// One call after this many writes; 0 is never.
    pub every: u32,
}

/// When data is made durable while the job runs and when it ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Durability {
    /// fsync after every N writes, 0 never.
    pub fsync: u32,
    /// fdatasync after every N writes, 0 never.
    pub fdatasync: u32,
    /// sync_file_range after every N writes.
    pub sync_file_range: SyncFileRange,
    /// fsync every file at the end of each pass.
    pub end_fsync: bool,
    /// fsync when a file is closed.
    pub fsync_on_close: bool,
    /// At the end of each pass syncfs every file system with files of the job, instead of the fsyncs there.
    pub end_syncfs: bool,
}

impl JobSpec {
    /// True when its I/O goes through the page cache.
    #[must_use]
    pub fn is_buffered(&self) -> bool {
        // A mapping is the page cache, whatever the open flags say.
        let mapped = self.engine == EngineKind::Mmap;
        (!self.direct || mapped) && !self.engine.is_diskless()
    }

    /// True when writes are made durable while it runs or when it ends.
    #[must_use]
    pub fn is_durable(&self) -> bool {
        let durability = &self.durability;
        durability.fsync > 0
            || durability.fdatasync > 0
            || durability.end_fsync
            || durability.fsync_on_close
            || durability.end_syncfs
            || self.open_sync != OpenSync::None
    }
}
