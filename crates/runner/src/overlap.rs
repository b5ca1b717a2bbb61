//! `serialize_overlap`: holds back an I/O that overlaps one in flight. The ranges in flight are in a table of the job's own, or in one that
//! all jobs with `io_submit_mode=offload` share.
//!
//! Ranges in flight never overlap each other: they are kept in order, and only the two neighbours of a new one can overlap it. Finding
//! them is a binary search, and an entry moves those after it by 24 bytes each: at a depth of some thousands that is still below 2 µs.
//! A file is identified by its descriptor, so that two names of one file are the same. Nothing allocates per I/O.

use std::collections::HashMap;
use std::io;
use std::os::fd::AsFd;
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use ferrio_engine::{Completion, EngineError, Op, OpenFile, Request, Submit};
use ferrio_job::{JobSpec, Plan};
use nix::sys::stat::{SFlag, fstat};

/// Bytes of a file that an I/O touches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct FileRange {
    file: u32,
    start: u64,
    /// First byte after the range.
    end: u64,
}

impl FileRange {
    fn overlaps(&self, other: &FileRange) -> bool {
        self.file == other.file && self.start < other.end && other.start < self.end
    }
}

/// Identity of a file, for comparing open files.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Identity {
    /// A file by its file system and number.
    Inode(u64, u64),
    /// A device by its number, whatever node leads to it.
    Device(u64),
    /// A file that is not on a disk, identified by its name.
    Path(PathBuf),
}

impl Identity {
    /// The identity of an open file.
    fn of(file: impl AsFd) -> io::Result<Self> {
        let stat = fstat(file)?;
        Ok(match SFlag::from_bits_truncate(stat.st_mode) & SFlag::S_IFMT {
            SFlag::S_IFBLK | SFlag::S_IFCHR => Identity::Device(stat.st_rdev),
            _ => Identity::Inode(stat.st_dev, stat.st_ino),
        })
    }
}

/// The ranges in flight and the files they are in.
#[derive(Debug, Default)]
struct RangeSet {
    sorted: Vec<FileRange>,
    files: HashMap<Identity, u32>,
}

impl RangeSet {
    /// No file yet, room for `units` ranges.
    fn new(units: u32) -> Self {
        RangeSet { sorted: Vec::with_capacity(units as usize), files: HashMap::new() }
    }

    /// The number that a file has in [`FileRange`].
    fn file(&mut self, identity: Identity) -> u32 {
        let next = self.files.len() as u32;
        *self.files.entry(identity).or_insert(next)
    }

    /// Adds a range and returns true, unless one in flight overlaps it.
    fn try_acquire(&mut self, range: FileRange) -> bool {
        let place =
            self.sorted.partition_point(|other| (other.file, other.start) < (range.file, range.start));
        let before = place.checked_sub(1).and_then(|before| self.sorted.get(before));
        let free = !before.into_iter().chain(self.sorted.get(place)).any(|other| other.overlaps(&range));
        if free {
            self.sorted.insert(place, range);
        }
        free
    }

    /// Removes a range.
    fn release(&mut self, range: FileRange) {
        if let Ok(place) = self.sorted.binary_search(&range) {
            self.sorted.remove(place);
        }
    }
}

/// The table of all jobs of a run that have both `serialize_overlap` and `io_submit_mode=offload`.
///
/// A job that finds its range taken queues up: it goes before those that come later, so that a job that hammers one block does not keep
/// others out. A job removes its ranges from the table when it reaps, and continues to reap while it waits. So each job waits only for
/// ranges that will become free or for a job that came before: there is no deadlock.
#[derive(Debug, Default)]
pub(crate) struct SharedRanges {
    state: Mutex<SharedRangeState>,
    /// Signalled when something is removed from the table or the queue.
    range_released: Condvar,
}

#[derive(Debug, Default)]
struct SharedRangeState {
    ranges: RangeSet,
    /// Jobs and the range each wants, in order of arrival.
    waiting: Vec<(usize, FileRange)>,
}

impl SharedRangeState {
    fn try_acquire(&mut self, job: usize, range: FileRange) -> bool {
        let place = self.waiting.iter().position(|(other, _)| *other == job);
        let ahead = &self.waiting[..place.unwrap_or(self.waiting.len())];
        let free = !ahead.iter().any(|(_, other)| other.overlaps(&range)) && self.ranges.try_acquire(range);
        match (place, free) {
            (Some(place), true) => {
                self.waiting.remove(place);
            }
            (Some(place), false) => self.waiting[place].1 = range,
            (None, true) => {}
            (None, false) => self.waiting.push((job, range)),
        }
        free
    }
}

impl SharedRanges {
    /// The table of a plan; `None` if it has no two jobs that could overlap.
    pub(crate) fn of(plan: &Plan) -> Option<Arc<Self>> {
        let members = plan.jobs.iter().filter(|job| job.spec.offload && job.spec.serialize_overlap).count();
        (members > 1).then(Arc::default)
    }

    /// The number that a file has in [`FileRange`].
    fn file(&self, identity: Identity) -> u32 {
        self.state().ranges.file(identity)
    }

    /// Adds a range of a job and returns true, unless a range in flight overlaps it or an earlier job waits for a part of it. After false,
    /// the job must try again with the same range until this succeeds.
    fn try_acquire(&self, job: usize, range: FileRange) -> bool {
        self.state().try_acquire(job, range)
    }

    /// Waits until a range is free and adds it. Only for a job without ranges in the table: another job could wait for one of those.
    fn acquire(&self, job: usize, range: FileRange) {
        let mut state = self.state();
        while !state.try_acquire(job, range) {
            state = self.range_released.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Removes ranges.
    fn release(&self, ranges: impl Iterator<Item = FileRange>) {
        let mut state = self.state();
        ranges.for_each(|range| state.ranges.release(range));
        if !state.waiting.is_empty() {
            self.range_released.notify_all();
        }
    }

    /// Removes a job from the queue of a range.
    fn withdraw(&self, job: usize) {
        self.state().waiting.retain(|(other, _)| *other != job);
        self.range_released.notify_all();
    }

    fn state(&self) -> MutexGuard<'_, SharedRangeState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The ranges in flight of a job with `serialize_overlap`.
pub(crate) struct JobRanges {
    table: RangeOwner,
    /// The number in the table of each of the job's files.
    files: Vec<u32>,
    /// True for engines that open no files: files are then identified by their names.
    identifies_by_name: bool,
    /// The range in flight of each unit.
    units: Vec<Option<FileRange>>,
    /// Number of units with a range in flight.
    busy: u32,
}

enum RangeOwner {
    Own(RangeSet),
    /// The table shared with other jobs, and this job's number.
    Shared(Arc<SharedRanges>, usize),
}

impl JobRanges {
    /// The ranges of job number `job`, in the shared table if there is one. `None` without `serialize_overlap`.
    pub(crate) fn of(spec: &JobSpec, shared: Option<Arc<SharedRanges>>, job: usize) -> Option<Self> {
        if !spec.serialize_overlap {
            return None;
        }
        let table = match shared {
            None => RangeOwner::Own(RangeSet::new(spec.units())),
            Some(table) => RangeOwner::Shared(table, job),
        };
        let mut own = JobRanges {
            table,
            files: vec![0; spec.files.len()],
            identifies_by_name: spec.engine.is_diskless(),
            units: vec![None; spec.units() as usize],
            busy: 0,
        };
        if own.identifies_by_name {
            for (index, file) in spec.files.iter().enumerate() {
                own.identify(index, Identity::Path(file.path.clone()));
            }
        }
        Some(own)
    }

    fn identify(&mut self, index: usize, identity: Identity) {
        self.files[index] = match &mut self.table {
            RangeOwner::Own(ranges) => ranges.file(identity),
            RangeOwner::Shared(table, _) => table.file(identity),
        };
    }

    /// Records which file a descriptor refers to. A closed file is recorded when it is opened.
    pub(crate) fn set_file(&mut self, index: usize, file: &OpenFile) -> Result<(), EngineError> {
        if let Some(fd) = file.fd.as_ref().filter(|_| !self.identifies_by_name) {
            let identity = Identity::of(fd).map_err(|e| EngineError::new("fstat", e))?;
            self.identify(index, identity);
        }
        Ok(())
    }

    /// The range of a request; syncs have none.
    fn range(&self, request: &Request) -> Option<FileRange> {
        let Request { op, file, offset, len, .. } = *request;
        let touches = matches!(op, Op::Read | Op::Write | Op::Trim) && len > 0;
        let file = self.files[file as usize];
        touches.then(|| FileRange { file, start: offset, end: offset.saturating_add(len) })
    }

    /// Acquires a range for the job. False if it is in use and the job must reap first; a job with nothing in flight waits instead.
    fn acquire(&mut self, range: FileRange) -> bool {
        match &mut self.table {
            RangeOwner::Own(ranges) => ranges.try_acquire(range),
            RangeOwner::Shared(table, job) if self.busy > 0 => table.try_acquire(*job, range),
            RangeOwner::Shared(table, job) => {
                table.acquire(*job, range);
                true
            }
        }
    }

    /// Submits a request, unless its range is in use: then the engine counts as full, so that the loop reaps and tries again.
    pub(crate) fn submit(&mut self, request: &Request, submit: impl FnOnce() -> Submit) -> Submit {
        let Some(range) = self.range(request) else { return submit() };
        if !self.acquire(range) {
            return Submit::Full;
        }
        let outcome = submit();
        match outcome {
            Submit::Queued => {
                self.units[request.unit as usize] = Some(range);
                self.busy += 1;
            }
            Submit::Done(_) | Submit::Full => self.release([range].into_iter()),
        }
        outcome
    }

    /// Frees ranges.
    fn release(&mut self, ranges: impl Iterator<Item = FileRange>) {
        match &mut self.table {
            RangeOwner::Own(table) => ranges.for_each(|range| table.release(range)),
            RangeOwner::Shared(table, _) => table.release(ranges),
        }
    }

    /// Frees the ranges of completed requests.
    pub(crate) fn release_completed(&mut self, done: &[Completion]) {
        if done.is_empty() {
            return;
        }
        let mut units = std::mem::take(&mut self.units);
        let mut freed = 0;
        self.release(done.iter().filter_map(|completion| {
            let range = units[completion.unit as usize].take();
            freed += u32::from(range.is_some());
            range
        }));
        self.busy -= freed;
        self.units = units;
    }
}

impl Drop for JobRanges {
    fn drop(&mut self) {
        if let RangeOwner::Shared(table, job) = &self.table {
            table.release(self.units.iter().flatten().copied());
            table.withdraw(*job);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};

    use super::*;

    fn range(file: u32, start: u64, end: u64) -> FileRange {
        FileRange { file, start, end }
    }

    #[test]
    fn ranges_that_share_a_byte_of_a_file_exclude_each_other() {
        let mut ranges = RangeSet::new(8);
        assert!(ranges.try_acquire(range(1, 100, 200)));
        for (start, end) in [(0, 101), (100, 200), (120, 130), (199, 300), (0, 1000)] {
            assert!(!ranges.try_acquire(range(1, start, end)), "{start}..{end}");
        }
        assert!(ranges.try_acquire(range(1, 0, 100)), "up to it");
        assert!(ranges.try_acquire(range(1, 200, 300)), "right after it");
        assert!(ranges.try_acquire(range(0, 100, 200)), "another file");
        ranges.release(range(1, 100, 200));
        assert!(ranges.try_acquire(range(1, 120, 130)));
    }

    #[test]
    fn the_order_agrees_with_looking_at_every_range() {
        let mut state = 7_u64;
        let mut draw = |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % below
        };
        let mut ranges = RangeSet::new(32);
        let mut units = [None; 32];
        for _ in 0..20_000 {
            let unit = draw(32) as usize;
            if let Some(old) = units[unit].take() {
                ranges.release(old);
                continue;
            }
            let start = draw(200);
            let new = range(draw(2) as u32, start, start + 1 + draw(16));
            let free = !units.iter().flatten().any(|other| new.overlaps(other));
            assert_eq!(ranges.try_acquire(new), free, "{new:?} among {units:?}");
            units[unit] = free.then_some(new);
        }
    }

    #[test]
    fn two_names_of_a_file_are_one_file() {
        let dir = tempfile::tempdir().unwrap();
        let [a, b, other] = ["a", "b", "other"].map(|name| dir.path().join(name));
        fs::write(&a, "").unwrap();
        fs::write(&other, "").unwrap();
        fs::hard_link(&a, &b).unwrap();
        let [a, b, other] = [a, b, other].map(|path| Identity::of(File::open(path).unwrap()).unwrap());
        let null = Identity::of(File::open("/dev/null").unwrap()).unwrap();
        let mut ranges = RangeSet::default();
        assert_eq!([a, b, other, null].map(|file| ranges.file(file)), [0, 0, 1, 2]);
        assert_eq!(ranges.file(Identity::Path("a".into())), 3);
    }

    #[test]
    fn who_waits_longer_goes_first() {
        let table = SharedRanges::default();
        let wanted = range(0, 0, 10);
        assert!(table.try_acquire(0, wanted));
        assert!(
            !table.try_acquire(1, wanted)
                && !table.try_acquire(2, wanted)
                && !table.try_acquire(0, range(0, 5, 6))
        );
        table.release([wanted].into_iter());
        assert!(!table.try_acquire(2, wanted) && !table.try_acquire(0, range(0, 5, 6)), "job 1 came before");
        assert!(table.try_acquire(2, range(0, 10, 20)), "no job waits for that");
        assert!(!table.try_acquire(2, wanted), "now after the others");
        assert!(table.try_acquire(1, wanted));
        table.release([wanted].into_iter());
        assert!(!table.try_acquire(2, wanted));
        table.withdraw(0);
        assert!(table.try_acquire(2, wanted));
    }

    #[test]
    fn a_table_is_shared_by_two_jobs_or_more_that_set_both_options() {
        let table = |wanted: &[(bool, bool)]| {
            let job = |&(offload, serialize_overlap): &(bool, bool)| JobSpec {
                offload,
                serialize_overlap,
                ..ferrio_plan::testing::default_job("a")
            };
            SharedRanges::of(&ferrio_plan::testing::plan(wanted.iter().map(job))).is_some()
        };
        assert!(!table(&[(true, true), (true, false), (false, true)]));
        assert!(table(&[(true, true), (false, false), (true, true)]));
    }
}
