//! A database as its I/O: sessions that do transactions, and jobs in the background that write back what these changed.
//!
//! All jobs of a model have the same files in the same order: those with the data, the log, and the double-write area if there is one.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::Skew;
use crate::choice::choices;

choices! {
    /// `workload`: the database whose I/O is modelled.
    #[derive(Serialize, Deserialize)]
    pub enum DatabaseModel {
        Innodb: "innodb", "Pages are written twice, first to the double-write area";
        Postgres: "postgres", "The first change of a page after a checkpoint puts the whole page into the log";
        Rocksdb: "rocksdb", "Changes are collected in the log, written as sorted tables, and merged with other tables later";
        Etcd: "etcd", "Small records are appended to the log, and each is made durable";
    }
}

choices! {
    /// `commit_sync`: how a commit makes the log durable.
    pub enum CommitSync {
        Fsync: "fsync", "fsync(2)";
        Fdatasync: "fdatasync", "fdatasync(2)";
        Dsync: "dsync", "The log is opened with O_DSYNC: each write is durable when it returns";
        None: "none", "Not at all, except at a checkpoint";
    }
}

choices! {
    /// `write_back_sync`: how pages that were written back become durable.
    pub enum WriteBackSync {
        Fsync: "fsync", "fsync(2)";
        Fdatasync: "fdatasync", "fdatasync(2)";
        None: "none", "Not at all, except at a checkpoint";
    }
}

/// A model with all its parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct Database {
    /// Which one.
    pub model: DatabaseModel,
    /// Jobs that do transactions, at least 1.
    pub sessions: u32,
    /// Bytes of a page: the unit of reads and of write-back.
    pub page: u32,
    /// The first so many files have the data, at least 1.
    pub data_files: u32,
    /// Whole pages in each of them, at least 1.
    pub pages_per_file: u64,
    /// The data files are open with `O_DIRECT`.
    pub direct: bool,
    /// The reads of a transaction.
    pub reads: PageReads,
    /// CPU time of a transaction, including that of its I/O and of background jobs; zero for only what its I/O needs.
    pub cpu: Duration,
    /// Which pages are used more often than others, in reads and changes; `None` for a uniform choice.
    pub skew: Option<Skew>,
    /// The log.
    pub log: DatabaseLog,
    /// How a transaction commits.
    pub commit: Commit,
    /// How changes get into the data files.
    pub write_back: WriteBack,
}

/// The pages that a transaction reads, one after the other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PageReads {
    /// So many on average.
    Count(f64),
    /// Those that it uses and that are not in the buffer pool.
    Pool {
        /// Pages that the pool holds, at least 1.
        pages: u64,
        /// Pages that a transaction uses.
        touched: u32,
    },
}

/// A log, which is a ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DatabaseLog {
    /// Bytes of an append.
    pub block: u32,
    /// Appends of a transaction, each a write of its own.
    pub appends: u32,
    /// Bytes of the log's file: room for one append at least.
    pub size: u64,
    /// The first change of a page after a checkpoint appends the whole page.
    pub full_pages: bool,
    /// The log is open with `O_DIRECT`.
    pub direct: bool,
}

/// How transactions make their part of the log durable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Commit {
    /// The call.
    pub sync: CommitSync,
    /// Most transactions that one sync serves: 1 if each has its own, 0 for all that wait when it begins.
    pub group: u32,
}

/// How changes get into the data files.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum WriteBack {
    /// Changed pages are written to their places.
    Pages(PageWriteBack),
    /// Changes are collected, written as tables, and merged.
    Tables(TableWriteBack),
}

/// The write-back of pages, by one job.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PageWriteBack {
    /// Pages that a transaction changes, on average.
    pub changed: f64,
    /// Transactions wait while more pages than this are changed and not written back.
    pub most_dirty: u32,
    /// Pages that are written back together, at least 1.
    pub batch: u32,
    /// Bytes of the double-write area, the last of the files; `None` without one.
    pub double_write: Option<u64>,
    /// The sync after each batch in each of the two places.
    pub sync: WriteBackSync,
    /// A batch is written so long after the one before, with all that is dirty then; zero for as soon as `batch` pages are dirty.
    pub interval: Duration,
    /// When there is a checkpoint.
    pub checkpoint: Checkpoint,
}

/// A checkpoint: all pages that are dirty are written back, the data files are synced, and a block of the log says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Checkpoint {
    /// After so many bytes of the log.
    pub log: Option<u64>,
    /// So long after the one before.
    pub interval: Option<Duration>,
}

/// The write-back of a store of sorted tables, by two jobs: one writes new tables, the other merges. Each data file is a table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TableWriteBack {
    /// Bytes of the log after which what they changed is written as a table, and bytes of that table.
    pub table: u64,
    /// Bytes of an I/O of these two jobs.
    pub block: u32,
    /// Bytes written to tables for each byte of a new table, itself included: at least 1.
    pub amplification: f64,
    /// The sync of each table that was written.
    pub sync: WriteBackSync,
    /// Transactions wait while more tables than this wait to be written, or more merges than this wait to be done.
    pub most_waiting: u32,
}

/// The part of a job in a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DatabaseRole {
    /// Does transactions.
    Session,
    /// Writes back pages, makes checkpoints.
    Cleaner,
    /// Writes new tables.
    Flusher,
    /// Merges tables.
    Compactor,
}

impl PageWriteBack {
    /// Most pages that a transaction changes.
    #[must_use]
    pub fn most_changed(&self) -> u64 {
        self.changed.ceil() as u64
    }
}

impl DatabaseRole {
    /// The end of the job's name, after the name of the section and a point; `None` for sessions.
    #[must_use]
    pub const fn suffix(self) -> Option<&'static str> {
        match self {
            DatabaseRole::Session => None,
            DatabaseRole::Cleaner => Some("cleaner"),
            DatabaseRole::Flusher => Some("flusher"),
            DatabaseRole::Compactor => Some("compactor"),
        }
    }
}

/// The purpose of a file of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DatabaseFile {
    /// Pages or tables.
    Data,
    /// The log.
    Log,
    /// The double-write area.
    DoubleWrite,
}

impl DatabaseFile {
    /// All kinds, in the order of the files.
    pub const ALL: [DatabaseFile; 3] = [DatabaseFile::Data, DatabaseFile::Log, DatabaseFile::DoubleWrite];
}

/// A part of a transaction that takes time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransactionStep {
    /// All its page reads.
    Read,
    /// All its appends to the log.
    LogWrite,
    /// From the end of the last append until its part of the log is durable.
    Sync,
    /// Waiting because too much is not written back.
    WriteBackWait,
    /// Using the CPU as the statements of a transaction do, between its reads and before its appends.
    Compute,
}

impl TransactionStep {
    /// All steps, in the order of their figures.
    pub const ALL: [TransactionStep; 5] = [
        TransactionStep::Read,
        TransactionStep::LogWrite,
        TransactionStep::Sync,
        TransactionStep::WriteBackWait,
        TransactionStep::Compute,
    ];
}

impl Database {
    /// The purpose of file number `index` of a job.
    #[must_use]
    pub const fn file_kind(&self, index: u32) -> DatabaseFile {
        if index < self.data_files {
            DatabaseFile::Data
        } else if index == self.data_files {
            DatabaseFile::Log
        } else {
            DatabaseFile::DoubleWrite
        }
    }

    /// The index of the log among the files.
    #[must_use]
    pub const fn log_file(&self) -> u32 {
        self.data_files
    }

    /// The roles of the jobs, in their order: the sessions first.
    pub fn roles(&self) -> impl Iterator<Item = DatabaseRole> {
        let background: &[DatabaseRole] = match self.write_back {
            WriteBack::Pages(_) => &[DatabaseRole::Cleaner],
            WriteBack::Tables(_) => &[DatabaseRole::Flusher, DatabaseRole::Compactor],
        };
        let sessions = std::iter::repeat_n(DatabaseRole::Session, self.sessions as usize);
        sessions.chain(background.iter().copied())
    }

    /// Pages that are written back together; 1 without pages.
    #[must_use]
    pub const fn batch(&self) -> u32 {
        match &self.write_back {
            WriteBack::Pages(pages) => pages.batch,
            WriteBack::Tables(_) => 1,
        }
    }

    /// Bytes of the double-write area, if there is one.
    pub fn double_write(&self) -> Option<u64> {
        match &self.write_back {
            WriteBack::Pages(pages) => pages.double_write,
            WriteBack::Tables(_) => None,
        }
    }

    /// Bytes of each table, of a store of tables.
    pub fn table_size(&self) -> Option<u64> {
        match &self.write_back {
            WriteBack::Pages(_) => None,
            WriteBack::Tables(tables) => Some(tables.table),
        }
    }

    /// Bytes of the longest I/O of a job: its buffers are as long.
    #[must_use]
    pub fn largest_io(&self, role: DatabaseRole) -> u64 {
        let page = u64::from(self.page);
        let own = match (role, &self.write_back) {
            (DatabaseRole::Session, _) => page,
            (_, WriteBack::Pages(pages)) => {
                let together = page.saturating_mul(u64::from(pages.batch));
                pages.double_write.map_or(page, |area| together.min(area).max(page))
            }
            (_, WriteBack::Tables(tables)) => return u64::from(tables.block),
        };
        own.max(u64::from(self.log.block))
    }

    /// Most bytes that a transaction appends to the log.
    #[must_use]
    pub fn most_appended(&self) -> u64 {
        let pages = match &self.write_back {
            WriteBack::Pages(pages) if self.log.full_pages => {
                pages.most_changed().saturating_mul(self.page.into())
            }
            _ => 0,
        };
        (u64::from(self.log.block) * u64::from(self.log.appends)).saturating_add(pages)
    }

    /// The log is full when it has so many bytes whose changes no complete checkpoint has written back: transactions wait, and a checkpoint
    /// begins. The rest has room for a transaction of each session, for the block of a checkpoint, and for what is left out at the end of the
    /// file; but it is at most half. `None` where the log is never full: without checkpoints, or without changes.
    #[must_use]
    pub fn full_log(&self) -> Option<u64> {
        let WriteBack::Pages(pages) = &self.write_back else { return None };
        let Checkpoint { log, interval } = pages.checkpoint;
        if pages.changed <= 0.0 || (log.is_none() && interval.is_none()) {
            return None;
        }
        let of_sessions = self.most_appended().saturating_mul(self.sessions.into());
        let longest = if self.log.full_pages { self.log.block.max(self.page) } else { self.log.block };
        let rest = of_sessions.saturating_add(u64::from(self.log.block) + u64::from(longest));
        Some(self.log.size.saturating_sub(rest).max(self.log.size / 2).max(1))
    }

    /// Bytes of all data.
    #[must_use]
    pub const fn data_size(&self) -> u64 {
        self.pages_per_file.saturating_mul(self.page as u64).saturating_mul(self.data_files as u64)
    }
}
