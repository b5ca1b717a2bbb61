//! The job that writes back changed pages in batches and makes checkpoints.
//!
//! A batch goes to the double-write area first, in one sequential write, and is made durable there; then each page goes to its place.

use ferrio_job::{Direction, PageWriteBack};

use super::dirty_pages::DirtyPages;
use super::{DatabaseCounts, SharedDatabase, Work, sync_kind};
use crate::step::{Io, Step, SyncKind};

/// The steps of the cleaner.
#[derive(Debug)]
pub(super) struct CleanerPath {
    write_back: PageWriteBack,
    /// The batch that is written.
    pages: Vec<u64>,
    stage: Stage,
    /// Where in the double-write area the next batch goes.
    area_offset: u64,
    /// Data files that were written to since their last sync.
    unsynced: Vec<bool>,
    /// The pages that a checkpoint or the end of an interval has still to write back; `None` outside of both.
    left: Option<u64>,
    /// What is left belongs to a checkpoint.
    in_checkpoint: bool,
    /// When the last checkpoint began, ns.
    checkpoint_ns: u64,
    /// When the last interval ended, ns.
    interval_ns: u64,
}

/// What comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// Nothing before there is work.
    Idle,
    /// The batch goes to the double-write area.
    DoubleWrite,
    /// The double-write area has the batch, and is synced if batches are.
    DoubleWriteSync,
    /// Pages of the batch from this one on go to their places.
    InPlace(usize),
    /// Data files from this one on are synced.
    DataSync(usize),
    WrittenBack,
    /// Data files from this one on are synced by a checkpoint.
    CheckpointDataSync(usize),
    CheckpointAppend,
    CheckpointSync,
    CheckpointEnd,
}

impl CleanerPath {
    pub(super) fn new(shared: &SharedDatabase, write_back: PageWriteBack) -> Self {
        CleanerPath {
            write_back,
            pages: Vec::with_capacity(write_back.batch.min(1 << 16) as usize),
            stage: Stage::Idle,
            area_offset: 0,
            unsynced: vec![false; shared.database.data_files as usize],
            left: None,
            in_checkpoint: false,
            checkpoint_ns: 0,
            interval_ns: 0,
        }
    }

    /// What there is to do when the load has run for `now_ns`.
    pub(super) fn work(&mut self, shared: &SharedDatabase, dirty: &DirtyPages, now_ns: u64) -> Work {
        if self.left.is_none() {
            self.begin_due(shared, dirty, now_ns);
        }
        let over = shared.sessions_have_ended();
        let most = match self.left {
            Some(0) if self.in_checkpoint => {
                self.left = None;
                self.stage = Stage::CheckpointDataSync(0);
                return Work::Ready;
            }
            Some(left) => left,
            None if over || dirty.has_batch() => u64::MAX,
            None => 0,
        };
        self.pages.clear();
        dirty.take(most.min(self.most_together()), &mut self.pages, shared.pool.as_ref());
        if self.pages.is_empty() {
            return if over { Work::End } else { Work::Wait(self.next_due(shared, dirty)) };
        }
        if let Some(left) = &mut self.left {
            *left -= self.pages.len() as u64;
            if *left == 0 && !self.in_checkpoint {
                self.left = None;
            }
        }
        let doubled = self.write_back.double_write.is_some();
        self.stage = if doubled { Stage::DoubleWrite } else { Stage::InPlace(0) };
        Work::Ready
    }

    /// Begins a checkpoint or the write-back of an interval, if it is due.
    fn begin_due(&mut self, shared: &SharedDatabase, dirty: &DirtyPages, now_ns: u64) {
        let log_end = shared.log.end();
        let timed = self.write_back.checkpoint.interval.is_some_and(|interval| {
            now_ns >= self.checkpoint_ns.saturating_add(nanoseconds(interval)) && dirty.log_left(log_end) > 0
        });
        if timed || dirty.is_checkpoint_due(log_end) {
            self.checkpoint_ns = now_ns;
            dirty.begin_checkpoint(log_end);
            if let Some(full_pages) = &shared.full_pages {
                full_pages.clear();
            }
            self.in_checkpoint = true;
            self.left = Some(dirty.waiting());
            return;
        }
        let interval = nanoseconds(self.write_back.interval);
        if interval > 0 && now_ns >= self.interval_ns.saturating_add(interval) {
            self.interval_ns = now_ns;
            self.left = Some(dirty.waiting()).filter(|&waiting| waiting > 0);
        }
    }

    /// When something is due, ns, if that is a question of time.
    fn next_due(&self, shared: &SharedDatabase, dirty: &DirtyPages) -> Option<u64> {
        let interval = nanoseconds(self.write_back.interval);
        let batch = (interval > 0).then(|| self.interval_ns.saturating_add(interval));
        // Without anything in the log there is no checkpoint.
        let appended = dirty.log_left(shared.log.end()) > 0;
        let checkpoint = self.write_back.checkpoint.interval.filter(|_| appended);
        let checkpoint = checkpoint.map(|interval| self.checkpoint_ns.saturating_add(nanoseconds(interval)));
        batch.into_iter().chain(checkpoint).min()
    }

    /// Most pages that are written back together. All those of an interval are, unless the double-write area has to hold them.
    fn most_together(&self) -> u64 {
        let in_batches = self.write_back.interval.is_zero() || self.write_back.double_write.is_some();
        if in_batches { self.write_back.batch.max(1).into() } else { u64::from(u32::MAX) }
    }

    /// The next step.
    pub(super) fn next(
        &mut self,
        shared: &SharedDatabase,
        dirty: &DirtyPages,
        counts: &mut DatabaseCounts,
    ) -> Step {
        let database = &shared.database;
        loop {
            match self.stage {
                Stage::Idle => return Step::AwaitWork,
                Stage::DoubleWrite => {
                    self.stage = Stage::DoubleWriteSync;
                    return self.double_write(shared);
                }
                Stage::DoubleWriteSync => {
                    self.stage = Stage::InPlace(0);
                    return match sync_kind(self.write_back.sync) {
                        Some(kind) => Step::Sync { file: database.log_file() + 1, kind },
                        // Nothing goes to its place before the area has it, durable or not.
                        None => Step::WrittenBack { count: 0 },
                    };
                }
                Stage::InPlace(index) => match self.pages.get(index) {
                    Some(&page) => {
                        self.stage = Stage::InPlace(index + 1);
                        let (file, offset) = shared.place(page);
                        self.unsynced[file as usize] = true;
                        return Step::Io(Io {
                            direction: Direction::Write,
                            file,
                            offset,
                            len: database.page.into(),
                        });
                    }
                    None => self.stage = Stage::DataSync(0),
                },
                Stage::DataSync(from) => {
                    let kind = sync_kind(self.write_back.sync);
                    match kind.and_then(|kind| self.sync_data(from, kind, Stage::DataSync)) {
                        Some(step) => return step,
                        None => self.stage = Stage::WrittenBack,
                    }
                }
                Stage::WrittenBack => {
                    self.stage = Stage::Idle;
                    counts.written_back += self.pages.len() as u64;
                    return Step::WrittenBack { count: self.pages.len() as u32 };
                }
                Stage::CheckpointDataSync(from) => {
                    match self.sync_data(from, self.checkpoint_sync(), Stage::CheckpointDataSync) {
                        Some(step) => return step,
                        None => self.stage = Stage::CheckpointAppend,
                    }
                }
                Stage::CheckpointAppend => {
                    self.stage = Stage::CheckpointSync;
                    let (file, len) = (database.log_file(), database.log.block);
                    let append = shared.log.append(len);
                    dirty.checkpoint_appended(append);
                    return Step::Io(Io {
                        direction: Direction::Write,
                        file,
                        offset: append.offset,
                        len: len.into(),
                    });
                }
                Stage::CheckpointSync => {
                    self.stage = Stage::CheckpointEnd;
                    let kind = shared.commit_sync().unwrap_or(SyncKind::Fsync);
                    return Step::Sync { file: database.log_file(), kind };
                }
                Stage::CheckpointEnd => {
                    counts.checkpoints += 1;
                    self.in_checkpoint = false;
                    self.stage = Stage::Idle;
                    dirty.end_checkpoint();
                    // Lets the sessions go on that a full log holds.
                    return Step::WrittenBack { count: 0 };
                }
            }
        }
    }

    /// The write of the batch to the double-write area, which is a ring with room for at least one.
    fn double_write(&mut self, shared: &SharedDatabase) -> Step {
        let len = self.pages.len() as u64 * u64::from(shared.database.page);
        if self.area_offset + len > self.write_back.double_write.unwrap_or(0) {
            self.area_offset = 0;
        }
        let file = shared.database.log_file() + 1;
        let io = Io { direction: Direction::Write, file, offset: self.area_offset, len };
        self.area_offset += len;
        Step::Io(io)
    }

    /// The sync of the next data file from this one on that was written to; `then` is the stage that follows it.
    fn sync_data(&mut self, from: usize, kind: SyncKind, then: fn(usize) -> Stage) -> Option<Step> {
        let file = from + self.unsynced[from..].iter().position(|&unsynced| unsynced)?;
        self.unsynced[file] = false;
        self.stage = then(file + 1);
        Some(Step::Sync { file: file as u32, kind })
    }

    /// How a checkpoint syncs data files: as batches are synced, if they are.
    fn checkpoint_sync(&self) -> SyncKind {
        sync_kind(self.write_back.sync).unwrap_or(SyncKind::Fsync)
    }
}

fn nanoseconds(time: std::time::Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}
