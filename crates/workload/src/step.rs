//! The exchange between worker and workload: regions in, steps out, and errors of a job.

use ferrio_job::{BlockSizes, Direction};

/// The part of a file that a job works on, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Region {
    /// Start of the region in the file.
    pub offset: u64,
    /// Length of the region.
    pub size: u64,
    /// Size of the whole file or device; no I/O ever ends beyond it.
    pub real_size: u64,
}

/// An I/O to issue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Io {
    /// Read, write or trim.
    pub direction: Direction,
    /// Index of the file in the order the regions were given.
    pub file: u32,
    /// Absolute offset in the file, in bytes.
    pub offset: u64,
    /// Length in bytes, at least 1; 0 in a job that does no I/O.
    pub len: u64,
}

/// The call that makes earlier writes durable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SyncKind {
    /// fsync(2)
    Fsync,
    /// fdatasync(2)
    Fdatasync,
    /// sync_file_range(2) over the range written to the file since its last sync.
    FileRange {
        /// `SYNC_FILE_RANGE_*` of sync_file_range(2).
        flags: u8,
        /// First byte of the range.
        offset: u64,
        /// Length in bytes; 0 if nothing was written to this file since its last sync.
        len: u64,
    },
}

/// The next action of a worker.
///
/// Each variant holds plain numbers only: with an enum inside one of them, the steps of all jobs would go through memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Issue this I/O.
    Io(Io),
    /// Issue this sync; it counts neither as data nor for `number_ios`.
    Sync {
        /// Index of the file.
        file: u32,
        /// The call.
        kind: SyncKind,
    },
    /// Open this file: the following I/Os go to it. Only in jobs that open files on demand; all are closed when a pass begins.
    Open {
        /// Index of the file.
        file: u32,
    },
    /// Close this file, which is finished.
    Close {
        /// Index of the file.
        file: u32,
    },
    /// Do nothing until the replay has run this long. Only in jobs that replay a log.
    AwaitReplayTime {
        /// Microseconds.
        us: u64,
    },
    /// Do nothing until the program has run this long. Only in jobs that replay a log.
    AwaitProgramTime {
        /// Milliseconds.
        ms: u64,
    },
    /// Do nothing until more of the log has been read. Only in jobs that replay a log.
    AwaitLog,
    /// The event is complete. Only in jobs whose work is counted in events.
    EventEnd,
    /// Use the CPU until the transaction has used this much of it. Only in sessions of a database model, like the next two.
    Compute {
        /// CPU time since the transaction began, ns.
        ns: u64,
    },
    /// Wait until the appends of the transaction to the log are durable.
    Commit,
    /// Wait while too many changes are not written back.
    AwaitWriteBack,
    /// Wait until there is work. Only in background jobs of a database model, like the next one.
    AwaitWork,
    /// Wait until all earlier I/Os are complete; then changes are written back.
    WrittenBack {
        /// Number of pages or tables; 0 where only the order of I/Os matters.
        count: u32,
    },
    /// All files are finished. Further calls return the same until the next pass begins.
    PassEnd,
}

/// A step of a job over one file, or the end of its pass, in a form that a call returns in two registers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PackedStep {
    offset: u64,
    /// The length, and the direction above it; 0 for the end of the pass.
    rest: u64,
}

impl PackedStep {
    pub(crate) const PASS_END: PackedStep = PackedStep { offset: 0, rest: 0 };

    /// An I/O to file 0.
    #[inline(always)]
    pub(crate) fn io(direction: Direction, offset: u64, len: u64) -> Self {
        debug_assert!(len <= BlockSizes::MAX);
        PackedStep { offset, rest: len | (direction as u64) << BlockSizes::LENGTH_BITS }
    }

    #[inline(always)]
    pub(crate) fn step(self) -> Step {
        if self.rest == 0 {
            return Step::PassEnd;
        }
        let direction = match self.rest >> BlockSizes::LENGTH_BITS {
            0 => Direction::Read,
            1 => Direction::Write,
            _ => Direction::Trim,
        };
        Step::Io(Io { direction, file: 0, offset: self.offset, len: self.rest & BlockSizes::MAX })
    }
}

/// A reason why a job has no valid sequence of I/O.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WorkloadError {
    /// A block size or alignment is zero, a block size is 4 EiB or more, or the smallest exceeds the largest.
    #[error(
        "{direction} block sizes {min}-{max} aligned to {align} cannot be used: they must be at least 1 and below 4 EiB, smallest first"
    )]
    BlockSize {
        /// `read`, `write` or `trim`.
        direction: &'static str,
        /// Smallest block in bytes.
        min: u64,
        /// Largest block in bytes.
        max: u64,
        /// Alignment in bytes.
        align: u64,
    },
    /// A region ends beyond 2^63 bytes.
    #[error("the I/O region of file {file} (offset {offset}, size {size}) ends beyond 2^63 bytes")]
    Region {
        /// Index of the file.
        file: usize,
        /// Start of the region in bytes.
        offset: u64,
        /// Length of the region in bytes.
        size: u64,
    },
    /// The random maps of the job exceed the memory.
    #[error(
        "the random map of {blocks} blocks does not fit into memory: use a larger block size, random_generator=permute, \
         norandommap, or softrandommap=1 to run without a map when there is no memory for it"
    )]
    MapTooLarge {
        /// Blocks in the regions of all files.
        blocks: u64,
    },
    /// There is no memory for the blocks that `sprandom` writes again.
    #[error(
        "there is no memory for {blocks} blocks that sprandom writes again: use a larger block size or a larger spr_num_regions"
    )]
    TooManyRepetitions {
        /// Blocks of one region.
        blocks: u64,
    },
    /// A job of a database model has buffers that are too short.
    #[error(
        "the buffers of the job have {buffer} bytes, and the longest I/O of its part in the database has {needed}"
    )]
    BufferTooShort {
        /// Bytes of the longest I/O.
        needed: u64,
        /// Bytes of a buffer.
        buffer: u64,
    },
    /// There is no memory for the table of duplicates.
    #[error(
        "there is no memory for a dedupe working set of {blocks} blocks: use a smaller dedupe_working_set_percentage or larger blocks"
    )]
    WorkingSetTooLarge {
        /// Blocks in the set.
        blocks: u64,
    },
}
