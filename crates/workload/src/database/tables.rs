//! The write-back of a store of sorted tables: what the log has collected becomes a table, and tables are merged later.
//!
//! Each data file is a table. New tables and the results of merges take the files in turn. A merge reads as much as it writes.

use std::sync::atomic::{
    AtomicU64,
    Ordering::{AcqRel, Acquire},
};

use ferrio_job::{Database, Direction, TableWriteBack};

use super::waiters::Waiters;
use super::{DatabaseCounts, SharedDatabase, Work, sync_kind};
use crate::step::{Io, Step};

/// How far the log, the new tables and the merges are.
#[derive(Debug)]
pub(super) struct Tables {
    write_back: TableWriteBack,
    /// Bytes that transactions have appended to the log.
    appended: AtomicU64,
    /// Tables of these bytes that the flusher was woken for.
    announced: AtomicU64,
    /// Tables that are written.
    written: AtomicU64,
    /// Those of them whose merges are done.
    merged: AtomicU64,
    /// Files taken so far, in turn.
    files_taken: AtomicU64,
    pub(super) waiters: Waiters,
}

impl Tables {
    pub(super) fn new(write_back: TableWriteBack, sessions: u32) -> Self {
        Tables {
            write_back,
            appended: AtomicU64::new(0),
            announced: AtomicU64::new(0),
            written: AtomicU64::new(0),
            merged: AtomicU64::new(0),
            files_taken: AtomicU64::new(0),
            waiters: Waiters::new(sessions),
        }
    }

    /// A transaction appends to the log.
    pub(super) fn append(&self, len: u32) {
        self.appended.fetch_add(len.into(), AcqRel);
    }

    /// Tables that the log has been enough for.
    fn collected(&self) -> u64 {
        self.appended.load(Acquire) / self.write_back.table.max(1)
    }

    /// Tables that are not written, and written ones whose merges are not done.
    fn waiting(&self) -> (u64, u64) {
        let written = self.written.load(Acquire);
        let unmerged = written.saturating_sub(self.merged.load(Acquire));
        (self.collected().saturating_sub(written), unmerged)
    }

    /// True if a table waits that the flusher was not woken for.
    pub(super) fn announces(&self) -> bool {
        let collected = self.collected();
        self.announced.load(Acquire) < collected && self.announced.fetch_max(collected, AcqRel) < collected
    }

    fn are_too_many(&self) -> bool {
        let (tables, merges) = self.waiting();
        tables.max(merges) > self.write_back.most_waiting.into()
    }

    /// True if a session must wait, which is then in the queue of the waiters: all have the same place, as a table makes room for all.
    pub(super) fn must_wait(&self, thread: u32) -> bool {
        self.waiters.must_wait(thread, 0, || !self.are_too_many())
    }

    /// So many new tables are written, or the merges of so many are done.
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
    /// Writes new tables; otherwise merges.
    is_flusher: bool,
    /// Bytes of a table.
    table: u64,
    /// Bytes to write for each of them: itself, or what is merged because of it.
    each: u64,
    /// Bytes of these that are left.
    left: u64,
    /// The file of the table that is written, and where in it the next block goes.
    file: u32,
    offset: u64,
    stage: Stage,
}

/// What comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// Nothing before there is work.
    Idle,
    /// Another table, if something is left.
    Table,
    /// A block of the table, if it is not complete. A merge reads it first.
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
        // Direct I/O is of whole pages.
        let each = if is_flusher { table } else { merged - merged % page };
        TablePath { is_flusher, table, each, left: 0, file: 0, offset: 0, stage: Stage::Idle }
    }

    /// What there is to do.
    pub(super) fn work(&mut self, shared: &SharedDatabase, tables: &Tables) -> Work {
        // In this order: what the sessions that have ended have appended is seen.
        let over = shared.sessions_have_ended();
        let (unwritten, unmerged) = tables.waiting();
        if (if self.is_flusher { unwritten } else { unmerged }) > 0 {
            self.left = self.each;
            self.stage = Stage::Table;
            return Work::Ready;
        }
        let is_last = self.is_flusher || unwritten == 0;
        if over && is_last { Work::End } else { Work::Wait(None) }
    }

    /// The next step.
    pub(super) fn next(
        &mut self,
        shared: &SharedDatabase,
        tables: &Tables,
        counts: &mut DatabaseCounts,
    ) -> Step {
        loop {
            match self.stage {
                Stage::Idle => return Step::AwaitWork,
                Stage::Table if self.left == 0 => {
                    self.stage = Stage::Idle;
                    counts.written_back += u64::from(self.is_flusher);
                    return Step::WrittenBack { count: 1 };
                }
                Stage::Table => {
                    (self.file, self.offset) = (tables.take_file(&shared.database), 0);
                    self.stage = Stage::Block;
                }
                Stage::Block if self.left == 0 || self.offset >= self.table => self.stage = Stage::Sync,
                Stage::Block => {
                    self.stage = Stage::Write;
                    if !self.is_flusher {
                        // Half of all tables away from the one that is written.
                        let files = shared.database.data_files.max(1);
                        return self.block(Direction::Read, (self.file + files / 2) % files, tables);
                    }
                }
                Stage::Write => {
                    self.stage = Stage::Block;
                    let step = self.block(Direction::Write, self.file, tables);
                    let len = self.len(tables);
                    self.left -= len;
                    self.offset += len;
                    return step;
                }
                Stage::Sync => {
                    self.stage = Stage::Table;
                    if let Some(kind) = sync_kind(tables.write_back.sync) {
                        return Step::Sync { file: self.file, kind };
                    }
                }
            }
        }
    }

    /// The next block of the table, of this file.
    fn block(&self, direction: Direction, file: u32, tables: &Tables) -> Step {
        Step::Io(Io { direction, file, offset: self.offset, len: self.len(tables) })
    }

    /// Bytes of the next block.
    fn len(&self, tables: &Tables) -> u64 {
        u64::from(tables.write_back.block).min(self.table - self.offset).min(self.left).max(1)
    }
}
