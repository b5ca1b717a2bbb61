//! What is in flight, byte by byte, for jobs with `serialize_overlap`: a table of a job's own, or one that all jobs with
//! `io_submit_mode=offload` share.
//!
//! Ranges in flight never overlap each other: they are kept in order, and a look at the two neighbours of a new one tells. A look
//! costs a binary search, an entry moves those behind it by 24 bytes each: at a depth of some thousands that is still below 2 µs.
//! A file is what its descriptor says it is, so that two names of one file are the same.

use std::collections::HashMap;
use std::io;
use std::os::fd::AsFd;
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use ferrio_job::Plan;
use nix::sys::stat::{SFlag, fstat};

/// Bytes of a file that an I/O touches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Range {
    pub(crate) file: u32,
    pub(crate) start: u64,
    /// First byte after it.
    pub(crate) end: u64,
}

impl Range {
    fn overlaps(&self, other: &Range) -> bool {
        self.file == other.file && self.start < other.end && other.start < self.end
    }
}

/// What makes two files the same one.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Identity {
    /// A file by its file system and number.
    Inode(u64, u64),
    /// A device by its number, whatever node leads to it.
    Device(u64),
    /// Nothing on a disk: there is only the name.
    Path(PathBuf),
}

impl Identity {
    /// What an open file is.
    pub(crate) fn of(file: impl AsFd) -> io::Result<Self> {
        let stat = fstat(file)?;
        Ok(match SFlag::from_bits_truncate(stat.st_mode) & SFlag::S_IFMT {
            SFlag::S_IFBLK | SFlag::S_IFCHR => Identity::Device(stat.st_rdev),
            _ => Identity::Inode(stat.st_dev, stat.st_ino),
        })
    }
}

/// The ranges in flight and the files they are in.
#[derive(Debug, Default)]
pub(crate) struct Ranges {
    sorted: Vec<Range>,
    files: HashMap<Identity, u32>,
}

impl Ranges {
    /// No file yet, room for so many ranges.
    pub(crate) fn new(units: u32) -> Self {
        Ranges { sorted: Vec::with_capacity(units as usize), files: HashMap::new() }
    }

    /// The number that a file has in [`Range`].
    pub(crate) fn file(&mut self, identity: Identity) -> u32 {
        let next = self.files.len() as u32;
        *self.files.entry(identity).or_insert(next)
    }

    /// Enters a range, unless one in flight overlaps it.
    pub(crate) fn enter(&mut self, range: Range) -> bool {
        let place =
            self.sorted.partition_point(|other| (other.file, other.start) < (range.file, range.start));
        let before = place.checked_sub(1).and_then(|before| self.sorted.get(before));
        let free = !before.into_iter().chain(self.sorted.get(place)).any(|other| other.overlaps(&range));
        if free {
            self.sorted.insert(place, range);
        }
        free
    }

    /// Takes a range out.
    pub(crate) fn leave(&mut self, range: Range) {
        if let Ok(place) = self.sorted.binary_search(&range) {
            self.sorted.remove(place);
        }
    }
}

/// The table of all jobs of a run that have both `serialize_overlap` and `io_submit_mode=offload`.
///
/// Who finds its range taken queues up: it goes before those that come later, so that nobody who hammers one block keeps others
/// out. A job takes what it has in flight out of the table when it reaps, and goes on reaping while it waits; so each waits for
/// ranges that will be free, or for somebody who came before, and never in a circle.
#[derive(Debug, Default)]
pub(crate) struct SharedRanges {
    state: Mutex<RangeTable>,
    /// Something left the table or the queue.
    left: Condvar,
}

#[derive(Debug, Default)]
struct RangeTable {
    ranges: Ranges,
    /// Jobs and what each wants, who came first before the others.
    waiting: Vec<(usize, Range)>,
}

impl RangeTable {
    fn enter(&mut self, job: usize, range: Range) -> bool {
        let place = self.waiting.iter().position(|(other, _)| *other == job);
        let ahead = &self.waiting[..place.unwrap_or(self.waiting.len())];
        let free = !ahead.iter().any(|(_, other)| other.overlaps(&range)) && self.ranges.enter(range);
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

    /// The number that a file has in [`Range`].
    pub(crate) fn file(&self, identity: Identity) -> u32 {
        self.state().ranges.file(identity)
    }

    /// Enters a range of a job, unless one in flight overlaps it or somebody who wants a part of it came before. The job must then
    /// try again; nothing else of it waits until it has succeeded.
    pub(crate) fn enter(&self, job: usize, range: Range) -> bool {
        self.state().enter(job, range)
    }

    /// Enters a range of a job as soon as it is free. Only for a job that has none in the table: others could wait for that.
    pub(crate) fn enter_when_free(&self, job: usize, range: Range) {
        let mut state = self.state();
        while !state.enter(job, range) {
            state = self.left.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Takes ranges out.
    pub(crate) fn leave(&self, ranges: impl Iterator<Item = Range>) {
        let mut state = self.state();
        ranges.for_each(|range| state.ranges.leave(range));
        if !state.waiting.is_empty() {
            self.left.notify_all();
        }
    }

    /// A job wants nothing any more.
    pub(crate) fn withdraw(&self, job: usize) {
        self.state().waiting.retain(|(other, _)| *other != job);
        self.left.notify_all();
    }

    fn state(&self) -> MutexGuard<'_, RangeTable> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};

    use super::*;

    fn range(file: u32, start: u64, end: u64) -> Range {
        Range { file, start, end }
    }

    #[test]
    fn ranges_that_share_a_byte_of_a_file_exclude_each_other() {
        let mut ranges = Ranges::new(8);
        assert!(ranges.enter(range(1, 100, 200)));
        for (start, end) in [(0, 101), (100, 200), (120, 130), (199, 300), (0, 1000)] {
            assert!(!ranges.enter(range(1, start, end)), "{start}..{end}");
        }
        assert!(ranges.enter(range(1, 0, 100)), "up to it");
        assert!(ranges.enter(range(1, 200, 300)), "right behind it");
        assert!(ranges.enter(range(0, 100, 200)), "another file");
        ranges.leave(range(1, 100, 200));
        assert!(ranges.enter(range(1, 120, 130)));
    }

    #[test]
    fn the_order_agrees_with_looking_at_every_range() {
        let mut state = 7_u64;
        let mut draw = |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % below
        };
        let mut ranges = Ranges::new(32);
        let mut units = [None; 32];
        for _ in 0..20_000 {
            let unit = draw(32) as usize;
            if let Some(old) = units[unit].take() {
                ranges.leave(old);
                continue;
            }
            let start = draw(200);
            let new = range(draw(2) as u32, start, start + 1 + draw(16));
            let free = !units.iter().flatten().any(|other| new.overlaps(other));
            assert_eq!(ranges.enter(new), free, "{new:?} among {units:?}");
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
        let mut ranges = Ranges::default();
        assert_eq!([a, b, other, null].map(|file| ranges.file(file)), [0, 0, 1, 2]);
        assert_eq!(ranges.file(Identity::Path("a".into())), 3);
    }

    #[test]
    fn who_waits_longer_goes_first() {
        let table = SharedRanges::default();
        let wanted = range(0, 0, 10);
        assert!(table.enter(0, wanted));
        assert!(!table.enter(1, wanted) && !table.enter(2, wanted) && !table.enter(0, range(0, 5, 6)));
        table.leave([wanted].into_iter());
        assert!(!table.enter(2, wanted) && !table.enter(0, range(0, 5, 6)), "job 1 came before");
        assert!(table.enter(2, range(0, 10, 20)), "nobody wants that");
        assert!(!table.enter(2, wanted), "now behind the others");
        assert!(table.enter(1, wanted));
        table.leave([wanted].into_iter());
        assert!(!table.enter(2, wanted));
        table.withdraw(0);
        assert!(table.enter(2, wanted));
    }

    #[test]
    fn a_table_is_shared_by_two_jobs_or_more_that_set_both_options() {
        let table = |wanted: &[(bool, bool)]| {
            let job = |&(offload, serialize_overlap): &(bool, bool)| ferrio_job::JobSpec {
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
