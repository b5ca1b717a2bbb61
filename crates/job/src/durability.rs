//! When data is made durable, and whether it waits in the page cache until then.

use crate::choice::choices;
/// `sync_file_range=flags:N`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SyncFileRange {
    /// Linux SYNC_FILE_RANGE_* flags.
    pub flags: u8,
    /// One call after this many writes; 0 is never.
    pub every: u32,
}

choices! {
    /// A step of a call of sync_file_range.
    pub enum SyncFileRangeFlag {
        WaitBefore: "wait_before", "Wait for writes already in progress";
        Write: "write", "Start writing";
        WaitAfter: "wait_after", "Wait for the writes just started";
    }
}

impl SyncFileRangeFlag {
    /// The flag of the system call.
    #[must_use]
    pub const fn bits(self) -> u8 {
        match self {
            SyncFileRangeFlag::WaitBefore => libc::SYNC_FILE_RANGE_WAIT_BEFORE as u8,
            SyncFileRangeFlag::Write => libc::SYNC_FILE_RANGE_WRITE as u8,
            SyncFileRangeFlag::WaitAfter => libc::SYNC_FILE_RANGE_WAIT_AFTER as u8,
        }
    }
}

choices! {
    /// `sync=`: the open flag that makes writes synchronous.
    pub enum OpenSync default None {
        None: "none", "Open without it";
        = None: "0";
        Sync: "sync", "Open with O_SYNC";
        = Sync: "1";
        Dsync: "dsync", "Open with O_DSYNC";
    }
}

choices! {
    /// `fadvise_hint=`: advice to the kernel about the access pattern of regular files and block devices.
    pub enum Fadvise default ByPattern {
        None: "0", "No advice";
        ByPattern: "1", "Advice that matches the job's pattern";
        Random: "random", "Random access";
        Sequential: "sequential", "Sequential access";
        NoReuse: "noreuse", "Data is accessed only once";
    }
}

choices! {
    /// `write_hint=`: how long data that is written is expected to last.
    pub enum WriteHint {
        None: "none", "Data of no known lifetime";
        Short: "short", "Data soon overwritten";
        Medium: "medium", "Data that lasts a while";
        Long: "long", "Data that lasts long";
        Extreme: "extreme", "Data that lasts very long";
    }
}

impl WriteHint {
    /// `RWH_WRITE_LIFE_*` of fcntl(2).
    #[must_use]
    pub const fn lifetime(self) -> u64 {
        match self {
            WriteHint::None => 1,
            WriteHint::Short => 2,
            WriteHint::Medium => 3,
            WriteHint::Long => 4,
            WriteHint::Extreme => 5,
        }
    }
}

/// When data is made durable: while the job runs and when it ends.
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
