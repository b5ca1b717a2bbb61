//! The I/O of a database: the reads, appends and changes of its sessions, and the writes of its background jobs.
//!
//! The jobs share the end of the log, the durability of transactions, and the changes that are not written back. Nothing here waits: the
//! runner asks whether a job must wait, and is told which jobs to wake. Jobs are identified by their number in the load, the sessions
//! first.

mod buffer_pool;
mod cleaner;
mod dirty_pages;
mod group_commit;
mod log;
mod mean_count;
mod page_choice;
mod session;
mod tables;
mod waiters;

use std::sync::atomic::{
    AtomicBool, AtomicU32, AtomicU64,
    Ordering::{AcqRel, Acquire, Relaxed},
};

use ferrio_job::{CommitSync, Database, DatabaseRole, PageReads, WriteBack, WriteBackSync};

use crate::step::{Step, SyncKind};
use buffer_pool::BufferPool;
use cleaner::CleanerPath;
use dirty_pages::{DirtyPages, FullPages};
pub use group_commit::{CommitTurn, GroupCommit};
use log::LogTail;
use page_choice::PageChoice;
use session::SessionPath;
use tables::{TablePath, TableProgress};
use waiters::Waiters;

/// The state that the jobs of a model share.
#[derive(Debug)]
pub struct SharedDatabase {
    database: Database,
    seed: u64,
    log: LogTail,
    commits: GroupCommit,
    /// The buffer pool, if it is simulated.
    pool: Option<BufferPool>,
    write_back: SharedWriteBack,
    /// The pages changed since the last checkpoint, if that matters.
    full_pages: Option<FullPages>,
    /// CPU time of background jobs that no transaction has counted as its own, ns.
    background_cpu_ns: AtomicU64,
    /// Number of sessions that have not ended.
    sessions_left: AtomicU32,
    /// Whether each session has ended.
    ended: Vec<AtomicBool>,
}

/// The changes that are not written back.
#[derive(Debug)]
enum SharedWriteBack {
    Pages(DirtyPages),
    Tables(TableProgress),
}

/// The next work of a background job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BackgroundWork {
    /// The following steps.
    Ready,
    /// None before the job is woken, or before the load has run for this many nanoseconds.
    Wait(Option<u64>),
    /// None any more: all sessions have ended, and their changes are written back.
    End,
}

/// Counts of a job beside its I/Os.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DatabaseCounts {
    /// Pages that transactions used and found in the buffer pool.
    pub pool_hits: u64,
    /// Whole pages that were written to the log.
    pub full_pages: u64,
    /// Pages or tables that were written back.
    pub written_back: u64,
    /// Number of checkpoints.
    pub checkpoints: u64,
}

impl SharedDatabase {
    /// The state before the first transaction; `seed` determines all choices.
    pub(crate) fn new(database: &Database, seed: u64) -> Self {
        let pages = database.pages_per_file * u64::from(database.data_files);
        let write_back = match database.write_back {
            WriteBack::Pages(pages) => SharedWriteBack::Pages(DirtyPages::new(&pages, database)),
            WriteBack::Tables(tables) => {
                SharedWriteBack::Tables(TableProgress::new(tables, database.sessions))
            }
        };
        let pool = match database.reads {
            PageReads::Count(_) => None,
            PageReads::Pool { pages: room, .. } => {
                let pool = BufferPool::new(room, pages);
                // The same seed as for a session that does not exist.
                let mut choice = PageChoice::new(database, seed, u32::MAX);
                pool.warm_up(|| choice.next());
                Some(pool)
            }
        };
        SharedDatabase {
            seed,
            log: LogTail::new(database.log.size),
            commits: GroupCommit::new(database.commit.group, database.sessions),
            pool,
            write_back,
            full_pages: database.log.full_pages.then(|| FullPages::new(pages)),
            background_cpu_ns: AtomicU64::new(0),
            sessions_left: AtomicU32::new(database.sessions),
            ended: (0..database.sessions).map(|_| AtomicBool::new(false)).collect(),
            database: database.clone(),
        }
    }

    /// The parameters.
    #[must_use]
    pub fn parameters(&self) -> &Database {
        &self.database
    }

    /// Whether transactions [compute](Step::Compute).
    #[must_use]
    pub fn uses_cpu(&self) -> bool {
        !self.database.cpu.is_zero()
    }

    /// Adds CPU time that a background job has used.
    pub fn add_background_cpu(&self, ns: u64) {
        self.background_cpu_ns.fetch_add(ns, Relaxed);
    }

    /// CPU time of background jobs that a transaction which begins counts as its own, ns: at most as much as it may use.
    pub fn take_background_cpu(&self) -> u64 {
        let most = u64::try_from(self.database.cpu.as_nanos()).unwrap_or(u64::MAX);
        let taken =
            self.background_cpu_ns.fetch_update(Relaxed, Relaxed, |all| Some(all.saturating_sub(most)));
        taken.map_or(0, |all| all.min(most))
    }

    /// The transactions that wait until they are durable.
    #[must_use]
    pub fn commits(&self) -> &GroupCommit {
        &self.commits
    }

    /// The sync of a commit; `None` if the log needs none.
    #[must_use]
    pub fn commit_sync(&self) -> Option<SyncKind> {
        match self.database.commit.sync {
            CommitSync::Fsync => Some(SyncKind::Fsync),
            CommitSync::Fdatasync => Some(SyncKind::Fdatasync),
            CommitSync::Dsync | CommitSync::None => None,
        }
    }

    /// Whether a session that has changed something must wait because too much is not written back. Then it [`waits`](Self::waits) until it
    /// is released and woken, or [leaves](Self::leave). To be asked once per transaction.
    pub fn must_wait(&self, thread: u32) -> bool {
        match &self.write_back {
            SharedWriteBack::Pages(dirty) => dirty.must_wait(thread),
            SharedWriteBack::Tables(tables) => tables.must_wait(thread),
        }
    }

    /// Whether a session that must wait has not been released.
    #[must_use]
    pub fn waits(&self, thread: u32) -> bool {
        self.waiters().waits(thread)
    }

    /// Ends the wait of a session that was not released.
    pub fn leave(&self, thread: u32) {
        self.waiters().leave(thread);
    }

    fn waiters(&self) -> &Waiters {
        match &self.write_back {
            SharedWriteBack::Pages(dirty) => &dirty.waiters,
            SharedWriteBack::Tables(tables) => &tables.waiters,
        }
    }

    /// Wakes the background jobs that have work after the changes of a transaction.
    pub fn wake_background(&self, wake: &dyn Fn(u32)) {
        let is_work = match &self.write_back {
            SharedWriteBack::Pages(dirty) => dirty.has_batch() || dirty.is_checkpoint_due(self.log.end()),
            SharedWriteBack::Tables(tables) => tables.announces(),
        };
        if is_work {
            // The cleaner or the flusher.
            wake(self.database.sessions);
        }
    }

    /// Counts pages or tables that job number `thread` has written, or whose merges it has done; wakes the jobs that waited for that.
    pub fn written_back(&self, thread: u32, count: u32, wake: &dyn Fn(u32)) {
        match &self.write_back {
            SharedWriteBack::Pages(dirty) => dirty.written_back(count, wake),
            SharedWriteBack::Tables(tables) => {
                let (flusher, compactor) = (self.database.sessions, self.database.sessions + 1);
                tables.written_back(thread == flusher, count, wake);
                if thread == flusher {
                    wake(compactor);
                }
            }
        }
    }

    /// Ends a session; wakes the background jobs after the last one. Further calls for a session do nothing.
    pub fn session_ended(&self, thread: u32, wake: &dyn Fn(u32)) {
        let Some(ended) = self.ended.get(thread as usize) else { return };
        if ended.swap(true, AcqRel) {
            return;
        }
        if let SharedWriteBack::Pages(dirty) = &self.write_back {
            // Others may wait for a checkpoint that needed the log of this session.
            dirty.session_ended(thread);
            self.wake_background(wake);
        }
        if self.sessions_left.fetch_sub(1, AcqRel) == 1 {
            let jobs = self.database.roles().count() as u32;
            (self.database.sessions..jobs).for_each(wake);
        }
    }

    fn sessions_have_ended(&self) -> bool {
        self.sessions_left.load(Acquire) == 0
    }

    /// The file of a page and the offset in it.
    fn place(&self, page: u64) -> (u32, u64) {
        let per_file = self.database.pages_per_file;
        ((page / per_file) as u32, page % per_file * u64::from(self.database.page))
    }
}

/// The steps of one job.
#[derive(Debug)]
pub(crate) struct DatabasePath {
    role: RolePath,
    pub(crate) counts: DatabaseCounts,
}

#[derive(Debug)]
enum RolePath {
    Session(SessionPath),
    Cleaner(CleanerPath),
    Table(TablePath),
    /// The job has no part in the model.
    None,
}

impl DatabasePath {
    pub(crate) fn new(shared: &SharedDatabase, thread: u32) -> Self {
        let database = &shared.database;
        let role = match (database.roles().nth(thread as usize), &database.write_back) {
            (Some(DatabaseRole::Session), _) => RolePath::Session(SessionPath::new(shared, thread)),
            (Some(DatabaseRole::Cleaner), WriteBack::Pages(pages)) => {
                RolePath::Cleaner(CleanerPath::new(shared, *pages))
            }
            (Some(role), WriteBack::Tables(tables)) => {
                RolePath::Table(TablePath::new(database, tables, role == DatabaseRole::Flusher))
            }
            _ => RolePath::None,
        };
        DatabasePath { role, counts: DatabaseCounts::default() }
    }

    /// The next step.
    pub(crate) fn next(&mut self, shared: &SharedDatabase) -> Step {
        match (&mut self.role, &shared.write_back) {
            (RolePath::Session(path), _) => path.next(shared, &mut self.counts),
            (RolePath::Cleaner(path), SharedWriteBack::Pages(dirty)) => {
                path.next(shared, dirty, &mut self.counts)
            }
            (RolePath::Table(path), SharedWriteBack::Tables(tables)) => {
                path.next(shared, tables, &mut self.counts)
            }
            _ => Step::PassEnd,
        }
    }

    /// The next work of a background job when the load has run for `now_ns`.
    pub(crate) fn work(&mut self, shared: &SharedDatabase, now_ns: u64) -> BackgroundWork {
        match (&mut self.role, &shared.write_back) {
            (RolePath::Cleaner(path), SharedWriteBack::Pages(dirty)) => path.work(shared, dirty, now_ns),
            (RolePath::Table(path), SharedWriteBack::Tables(tables)) => path.work(shared, tables),
            _ => BackgroundWork::End,
        }
    }
}

/// The call for a sync that may be left out.
fn sync_kind(sync: WriteBackSync) -> Option<SyncKind> {
    match sync {
        WriteBackSync::Fsync => Some(SyncKind::Fsync),
        WriteBackSync::Fdatasync => Some(SyncKind::Fdatasync),
        WriteBackSync::None => None,
    }
}

/// Number of pages that a transaction uses, on average.
fn pages_used(reads: PageReads) -> f64 {
    match reads {
        PageReads::Count(count) => count,
        PageReads::Pool { touched, .. } => touched.into(),
    }
}

#[cfg(test)]
mod tests;
