//! The write-back of a store of sorted tables: the contents of the log become a table, and tables are merged later.
//!
//! Each data file is a table. New tables and the results of merges use the files in turn. A merge reads as much as it writes.

use std::sync::atomic::{
    AtomicU64,
    Ordering::{AcqRel, Acquire},
};

use ferrio_job::{Database, Direction, TableWriteBack};

use super::waiters::Waiters;
use super::{BackgroundWork, DatabaseCounts, SharedDatabase, sync_kind};
use crate::step::{Io, Step};

/// The progress of the log, the new tables and the merges.
#[derive(Debug)]
pub(super) struct TableProgress {
    write_back: TableWriteBack,
    /// Bytes that transactions have appended to the log.
    appended: AtomicU64,
    /// Number of tables for which the flusher was woken.
    announced: AtomicU64,
    /// Number of written tables.
    written: AtomicU64,
    /// Number of written tables whose merges are done.
    merged: AtomicU64,
    /// Number of files used so far, in turn.
    files_taken: AtomicU64,
    pub(super) waiters: Waiters,
}

impl TableProgress {
    pub(super) fn new(write_back: TableWriteBack, sessions: u32) -> Self {
        TableProgress {
            write_back,
            appended: AtomicU64::new(0),
            announced: AtomicU64::new(0),
            written: AtomicU64::new(0),
            merged: AtomicU64::new(0),
            files_taken: AtomicU64::new(0),
            waiters: Waiters::new(sessions),
        }
    }

    /// Counts an append of a transaction to the log.
    pub(super) fn append(&self, len: u32) {
        self.appended.fetch_add(len.into(), AcqRel);
    }

    /// Number of tables that the log suffices for.
    fn collected(&self) -> u64 {
        self.appended.load(Acquire) / self.write_back.table.max(1)
    }

    /// Number of tables that are not written, and of written ones whose merges are not done.
    fn waiting(&self) -> (u64, u64) {
        let written = self.written.load(Acquire);
        let unmerged = written.saturating_sub(self.merged.load(Acquire));
        (self.collected().saturating_sub(written), unmerged)
    }

    /// Whether a table waits for which the flusher was not woken.
    pub(super) fn announces(&self) -> bool {
        let collected = self.collected();
        self.announced.load(Acquire) < collected && self.announced.fetch_max(collected, AcqRel) < collected
    }

    fn are_too_many(&self) -> bool {
        let (tables, merges) = self.waiting();
        tables.max(merges) > self.write_back.most_waiting.into()
    }

    /// Whether a session must wait; if so, it is added to the queue of the waiters. All have the same place, because a table makes room for
    /// all.
    pub(super) fn must_wait(&self, thread: u32) -> bool {
        self.waiters.must_wait(thread, 0, || !self.are_too_many())
    }

    /// Counts new tables that are written, or tables whose merges are done.
    pub(super) fn written_back(&self, by_flusher: bool, count: u32, wake: &dyn Fn(u32)) {
        let done = if by_flusher { &self.written } else { &self.merged };
        done.fetch_add(count.into(), AcqRel);
        self.waiters.let_through(|_| !self.are_too_many(), wake);
    }

    /// The next file in turn.
    fn take_file(&self, database: &Database) -> u32 {
        (self.files_taken.fetch_add(1, AcqRel) % u64::from(database.data_files.max(1))) as u32
    }
}

/// The steps of the jobs that write tables.
#[derive(Debug)]
pub(super) struct TablePath {
    /// Whether it writes new tables; otherwise it merges.
    is_flusher: bool,
    /// Bytes of a table.
    table: u64,
    /// Bytes to write per table: the table itself, or the merges that it causes.
    each: u64,
    /// Bytes of these that are left.
    left: u64,
    /// The file of the current table and the offset of the next block.
    file: u32,
    offset: u64,
    stage: TableStage,
}

/// The next step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TableStage {
    /// No step before there is work.
    Idle,
    /// Begins another table, if something is left.
    Table,
    /// Writes a block of the table, if it is incomplete. A merge reads it first.
    Block,
    Write,
    Sync,
}

impl TablePath {
    pub(super) fn new(database: &Database, write_back: &TableWriteBack, is_flusher: bool) -> Self {
        let page = u64::from(database.page).max(1);
        // A table is one file.
        let table = write_back.table.min(database.pages_per_file.saturating_mul(page)).max(1);
        let merged = (table as f64 * (write_back.amplification - 1.0)).max(0.0).round() as u64;
        // Direct I/O needs whole pages.
        let each = if is_flusher { table } else { merged - merged % page };
        TablePath { is_flusher, table, each, left: 0, file: 0, offset: 0, stage: TableStage::Idle }
    }

    /// The current work.
    pub(super) fn work(&mut self, shared: &SharedDatabase, tables: &TableProgress) -> BackgroundWork {
        // In this order: the appends of ended sessions are visible.
        let over = shared.sessions_have_ended();
        let (unwritten, unmerged) = tables.waiting();
        if (if self.is_flusher { unwritten } else { unmerged }) > 0 {
            self.left = self.each;
            self.stage = TableStage::Table;
            return BackgroundWork::Ready;
        }
        let is_last = self.is_flusher || unwritten == 0;
        if over && is_last { BackgroundWork::End } else { BackgroundWork::Wait(None) }
    }

    pub(super) fn next(
        &mut self,
        shared: &SharedDatabase,
        tables: &TableProgress,
        counts: &mut DatabaseCounts,
    ) -> Step {
        loop {
            match self.stage {
                TableStage::Idle => return Step::AwaitWork,
                TableStage::Table if self.left == 0 => {
                    self.stage = TableStage::Idle;
                    counts.written_back += u64::from(self.is_flusher);
                    return Step::WrittenBack { count: 1 };
                }
                TableStage::Table => {
                    (self.file, self.offset) = (tables.take_file(&shared.database), 0);
                    self.stage = TableStage::Block;
                }
                TableStage::Block if self.left == 0 || self.offset >= self.table => {
                    self.stage = TableStage::Sync
                }
                TableStage::Block => {
                    self.stage = TableStage::Write;
                    if !self.is_flusher {
                        // Half of all tables away from the one that is written.
                        let files = shared.database.data_files.max(1);
                        return self.block(Direction::Read, (self.file + files / 2) % files, tables);
                    }
                }
                TableStage::Write => {
                    self.stage = TableStage::Block;
                    let step = self.block(Direction::Write, self.file, tables);
                    let len = self.len(tables);
                    self.left -= len;
                    self.offset += len;
                    return step;
                }
                TableStage::Sync => {
                    self.stage = TableStage::Table;
                    if let Some(kind) = sync_kind(tables.write_back.sync) {
                        return Step::Sync { file: self.file, kind };
                    }
                }
            }
        }
    }

    /// The next block of the table in this file.
    fn block(&self, direction: Direction, file: u32, tables: &TableProgress) -> Step {
        Step::Io(Io { direction, file, offset: self.offset, len: self.len(tables) })
    }

    /// Bytes of the next block.
    fn len(&self, tables: &TableProgress) -> u64 {
        u64::from(tables.write_back.block).min(self.table - self.offset).min(self.left).max(1)
    }
}
