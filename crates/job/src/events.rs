//! Work that is counted in events and shared by several jobs: a request of a test of sysbench, or a transaction of a database model.
//!
//! The jobs of one load (its threads, its sessions) take their events from one limit and one schedule of arrivals.

use std::sync::Arc;

use crate::{Database, DatabaseRole, Sessions};

/// The part of one job in a load.
#[derive(Clone, Debug, PartialEq)]
pub struct EventPart {
    /// The load, shared by its jobs.
    pub load: Arc<EventLoad>,
    /// Which of them this job is, from 0.
    pub thread: u32,
}

impl EventPart {
    /// The model of a database that the job belongs to, and what it does for it.
    #[must_use]
    pub fn database(&self) -> Option<(&Database, DatabaseRole)> {
        let EventKind::Database(database) = &self.load.kind else { return None };
        let role = database.roles().nth(self.thread as usize)?;
        Some((database, role))
    }
}

/// Events that several jobs do together.
#[derive(Clone, Debug, PartialEq)]
pub struct EventLoad {
    /// Tells the loads of a plan apart.
    pub id: u32,
    /// Events to do in all; `None` without a limit.
    pub limit: Option<u64>,
    /// Mean arrivals per second in all, at random times (a Poisson process); `None` if each job begins an event when it has ended the one
    /// before.
    pub rate: Option<f64>,
    /// Seeds the choices; `None` for other ones in each run.
    pub seed: Option<u64>,
    /// The kind of its events.
    pub kind: EventKind,
}

/// Kinds of events.
#[derive(Clone, Debug, PartialEq)]
pub enum EventKind {
    /// A request of sysbench's test `fileio`.
    Fileio(Fileio),
    /// A piece of work without I/O.
    Work(EventWork),
    /// A call of a session that the caller of the run provides: a transaction that goes to a real database, for one.
    Sessions(Sessions),
    /// A transaction of a database. The first jobs are its sessions; the others work in the background and have no events.
    Database(Box<Database>),
}

/// A piece of work without I/O.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventWork {
    /// Finds the primes from 3 to below a number, by trial division of 64 bits: sysbench's test `cpu`.
    Primes {
        /// The number.
        below: u32,
    },
    /// Takes a lock again and again and yields the CPU each time it has it; the next event of any job takes the next lock: sysbench's test
    /// `threads`.
    Yields {
        /// How often.
        yields: u64,
        /// How many locks there are, at least 1.
        locks: u32,
    },
    /// Takes locks, each time one of many by chance, in one event of each job: sysbench's test `mutex`.
    Mutexes {
        /// How many there are, at least 1.
        mutexes: u32,
        /// How often one is taken.
        locks: u64,
        /// Turns of an empty loop before each.
        loops: u64,
    },
    /// Goes through a block of memory in words of 64 bits: sysbench's test `memory`.
    Memory {
        /// Bytes of the block: a power of two, at least 8.
        block: u64,
        /// All jobs use one block.
        is_shared: bool,
        /// The access to each word.
        operation: MemoryOperation,
        /// Words are chosen at random, as many as the block has.
        is_random: bool,
        /// The block is in huge pages.
        in_huge_pages: bool,
        /// How often each job goes through its block; `None` without a limit.
        times: Option<u64>,
    },
}

impl EventWork {
    /// How many events each job does at most.
    #[must_use]
    pub const fn events_of_a_job(&self) -> Option<u64> {
        match self {
            EventWork::Primes { .. } | EventWork::Yields { .. } => None,
            EventWork::Mutexes { .. } => Some(1),
            EventWork::Memory { times, .. } => *times,
        }
    }
}

/// The access to a word of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryOperation {
    /// It is read.
    Read,
    /// It is written.
    Write,
    /// Nothing: the event is empty.
    None,
}

/// Which requests `fileio` makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileioMode {
    /// `seqwr`, `seqrewr`: writes at consecutive offsets.
    SequentialWrite,
    /// `seqrd`: reads at consecutive offsets.
    SequentialRead,
    /// `rndrd`: reads at random offsets.
    RandomRead,
    /// `rndwr`: writes at random offsets.
    RandomWrite,
    /// `rndrw`: reads and writes at random offsets.
    RandomMix,
}

/// The requests and syncs of `fileio`.
#[derive(Clone, Debug, PartialEq)]
pub struct Fileio {
    /// Which requests.
    pub mode: FileioMode,
    /// Bytes of a request.
    pub block: u64,
    /// Bytes of a sequential request: several blocks that are merged, at least one.
    pub sequential_block: u64,
    /// Number of files, at least 1.
    pub files: u32,
    /// Bytes of each file.
    pub file_size: u64,
    /// Bytes that random offsets are drawn from: `--file-total-size`, which may be a little more than all files have.
    pub total_size: u64,
    /// Reads for each write of a random mix.
    pub rw_ratio: f64,
    /// All files are synced after this many requests, 0 for never.
    pub sync_every: u64,
    /// A write and the sync of its file are one event.
    pub sync_each_write: bool,
    /// Each job syncs all files when it has done its last event.
    pub sync_at_end: bool,
    /// Syncs are `fdatasync`.
    pub sync_data_only: bool,
    /// Blocks have checksums, which reads compare.
    pub validate: bool,
    /// The files are removed and made again before the first event.
    pub creates: bool,
    /// Each event takes one random number more than it needs, as an event of sysbench does that is counted in its histogram.
    pub extra_draw: bool,
}

impl Fileio {
    /// True if requests write.
    #[must_use]
    pub const fn writes(&self) -> bool {
        !matches!(self.mode, FileioMode::SequentialRead | FileioMode::RandomRead)
    }

    /// Bytes of the longest request.
    #[must_use]
    pub const fn largest_request(&self) -> u64 {
        match self.mode {
            FileioMode::SequentialWrite | FileioMode::SequentialRead => self.sequential_block,
            FileioMode::RandomRead | FileioMode::RandomWrite | FileioMode::RandomMix => self.block,
        }
    }
}
