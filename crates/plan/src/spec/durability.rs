//! When data is made durable.

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
