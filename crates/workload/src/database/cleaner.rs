//! The job that writes back changed pages in batches and makes checkpoints.
//!
//! A batch is first written sequentially to the double-write area and made durable there; then each page is written to its place.

use ferrio_job::{Direction, PageWriteBack};

use super::dirty_pages::DirtyPages;
use super::{BackgroundWork, DatabaseCounts, SharedDatabase, sync_kind};
use crate::step::{Io, Step, SyncKind};

/// The steps of the cleaner.
#[derive(Debug)]
pub(super) struct CleanerPath {
    write_back: PageWriteBack,
    /// The current batch.
    pages: Vec<u64>,
    stage: CleanerStage,
    /// Offset of the next batch in the double-write area.
    area_offset: u64,
    /// Whether each data file was written to since its last sync.
    unsynced: Vec<bool>,
    /// Pages that a checkpoint or the end of an interval still has to write back; `None` outside of both.
    left: Option<u64>,
    /// Whether these belong to a checkpoint.
    in_checkpoint: bool,
    /// Start of the last checkpoint, ns.
    checkpoint_ns: u64,
    /// End of the last interval, ns.
    interval_ns: u64,
}

/// The next step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CleanerStage {
    /// No step before there is work.
    Idle,
    /// Writes the batch to the double-write area.
    DoubleWrite,
    /// Syncs the double-write area, if batches are synced.
    DoubleWriteSync,
    /// Writes the pages of the batch from this one on to their places.
    InPlace(usize),
    /// Syncs the data files from this one on.
    DataSync(usize),
    WrittenBack,
    /// Syncs the data files from this one on for a checkpoint.
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
            stage: CleanerStage::Idle,
            area_offset: 0,
            unsynced: vec![false; shared.database.data_files as usize],
            left: None,
            in_checkpoint: false,
            checkpoint_ns: 0,
            interval_ns: 0,
        }
    }

    /// The work when the load has run for `now_ns`.
    pub(super) fn work(
        &mut self,
        shared: &SharedDatabase,
        dirty: &DirtyPages,
        now_ns: u64,
    ) -> BackgroundWork {
        if self.left.is_none() {
            self.begin_due(shared, dirty, now_ns);
        }
        let over = shared.sessions_have_ended();
        let most = match self.left {
            Some(0) if self.in_checkpoint => {
                self.left = None;
                self.stage = CleanerStage::CheckpointDataSync(0);
                return BackgroundWork::Ready;
            }
            Some(left) => left,
            None if over || dirty.has_batch() => u64::MAX,
            None => 0,
        };
        self.pages.clear();
        dirty.take(most.min(self.most_together()), &mut self.pages, shared.pool.as_ref());
        if self.pages.is_empty() {
            return if over {
                BackgroundWork::End
            } else {
                BackgroundWork::Wait(self.next_due(shared, dirty))
            };
        }
        if let Some(left) = &mut self.left {
            *left -= self.pages.len() as u64;
            if *left == 0 && !self.in_checkpoint {
                self.left = None;
            }
        }
        let doubled = self.write_back.double_write.is_some();
        self.stage = if doubled { CleanerStage::DoubleWrite } else { CleanerStage::InPlace(0) };
        BackgroundWork::Ready
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

    /// The next time at which something becomes due, ns, if time matters.
    fn next_due(&self, shared: &SharedDatabase, dirty: &DirtyPages) -> Option<u64> {
        let interval = nanoseconds(self.write_back.interval);
        let batch = (interval > 0).then(|| self.interval_ns.saturating_add(interval));
        // Without anything in the log there is no checkpoint.
        let appended = dirty.log_left(shared.log.end()) > 0;
        let checkpoint = self.write_back.checkpoint.interval.filter(|_| appended);
        let checkpoint = checkpoint.map(|interval| self.checkpoint_ns.saturating_add(nanoseconds(interval)));
        batch.into_iter().chain(checkpoint).min()
    }

    /// Most pages in a batch. The pages of an interval are one batch, unless the double-write area limits it.
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
                CleanerStage::Idle => return Step::AwaitWork,
                CleanerStage::DoubleWrite => {
                    self.stage = CleanerStage::DoubleWriteSync;
                    return self.double_write(shared);
                }
                CleanerStage::DoubleWriteSync => {
                    self.stage = CleanerStage::InPlace(0);
                    return match sync_kind(self.write_back.sync) {
                        Some(kind) => Step::Sync { file: database.log_file() + 1, kind },
                        // No page is written to its place before the area contains it, durable or not.
                        None => Step::WrittenBack { count: 0 },
                    };
                }
                CleanerStage::InPlace(index) => match self.pages.get(index) {
                    Some(&page) => {
                        self.stage = CleanerStage::InPlace(index + 1);
                        let (file, offset) = shared.place(page);
                        self.unsynced[file as usize] = true;
                        let len = database.page.into();
                        return Step::Io(Io { direction: Direction::Write, file, offset, len });
                    }
                    None => self.stage = CleanerStage::DataSync(0),
                },
                CleanerStage::DataSync(from) => {
                    let kind = sync_kind(self.write_back.sync);
                    match kind.and_then(|kind| self.sync_data(from, kind, CleanerStage::DataSync)) {
                        Some(step) => return step,
                        None => self.stage = CleanerStage::WrittenBack,
                    }
                }
                CleanerStage::WrittenBack => {
                    self.stage = CleanerStage::Idle;
                    counts.written_back += self.pages.len() as u64;
                    return Step::WrittenBack { count: self.pages.len() as u32 };
                }
                CleanerStage::CheckpointDataSync(from) => {
                    match self.sync_data(from, self.checkpoint_sync(), CleanerStage::CheckpointDataSync) {
                        Some(step) => return step,
                        None => self.stage = CleanerStage::CheckpointAppend,
                    }
                }
                CleanerStage::CheckpointAppend => {
                    self.stage = CleanerStage::CheckpointSync;
                    let append = shared.log.append(database.log.block);
                    dirty.checkpoint_appended(append);
                    let (file, offset, len) = (database.log_file(), append.offset, database.log.block.into());
                    return Step::Io(Io { direction: Direction::Write, file, offset, len });
                }
                CleanerStage::CheckpointSync => {
                    self.stage = CleanerStage::CheckpointEnd;
                    let kind = shared.commit_sync().unwrap_or(SyncKind::Fsync);
                    return Step::Sync { file: database.log_file(), kind };
                }
                CleanerStage::CheckpointEnd => {
                    counts.checkpoints += 1;
                    self.in_checkpoint = false;
                    self.stage = CleanerStage::Idle;
                    dirty.end_checkpoint();
                    // Releases the sessions that a full log blocks.
                    return Step::WrittenBack { count: 0 };
                }
            }
        }
    }

    /// Writes the batch to the double-write area, which is a ring with room for at least one batch.
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

    /// Syncs the next unsynced data file from this one on; `then` makes the following stage.
    fn sync_data(&mut self, from: usize, kind: SyncKind, then: fn(usize) -> CleanerStage) -> Option<Step> {
        let file = from + self.unsynced[from..].iter().position(|&unsynced| unsynced)?;
        self.unsynced[file] = false;
        self.stage = then(file + 1);
        Some(Step::Sync { file: file as u32, kind })
    }

    /// The sync of data files in checkpoints: the same as for batches, if they are synced.
    fn checkpoint_sync(&self) -> SyncKind {
        sync_kind(self.write_back.sync).unwrap_or(SyncKind::Fsync)
    }
}

fn nanoseconds(time: std::time::Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}
