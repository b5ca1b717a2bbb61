//! The writes that must survive a crash: those that were complete before a successful sync of their file began.
//!
//! fio counts all writes that were issued before the sync. Some of them may still be in flight then, or belong to other files: a check
//! after a crash would report them as lost.
//!
//! Linux reports an error of writeback once per open file. If two syncs are in flight, one may get the error and the other success,
//! although both met the same error. Therefore a sync covers nothing until all syncs of its file that were in flight with it have ended.

use std::collections::VecDeque;

/// Stands for the file of writes that are never covered, because no sync is one of this file.
const FAILED: u32 = u32::MAX;
/// Stands for the files of writes whose files are forgotten. Only a sync of all files covers them.
const ANY: u32 = u32::MAX - 1;

/// The most runs that are kept. If a job has more without a sync, the files of the later writes are forgotten.
const MAX_RUNS: usize = 1 << 16;
/// The most exceptions in a verify state. Writes from the next exception on are not covered.
const MAX_EXCEPTIONS: usize = 1 << 16;

/// The writes of a job, by their numbers.
#[derive(Debug)]
pub(crate) struct SyncedWrites {
    /// Writes that no sync has covered, oldest first.
    open: VecDeque<Run>,
    /// The sync of each unit.
    syncs: Vec<Sync>,
    /// Syncs that succeeded while others of their file were in flight, with how many syncs had begun by then.
    held: Vec<(Sync, u64)>,
    /// How many syncs have begun.
    begun: u64,
    /// How many writes had been issued when the last sync that covers any began.
    number: u64,
}

/// Consecutive writes to one file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Run {
    first: u64,
    /// The number after the last one.
    end: u64,
    file: u32,
}

/// The last sync of a unit.
#[derive(Clone, Debug, Default)]
struct Sync {
    file: u32,
    /// How many syncs had begun before, while it is in flight.
    in_flight_since: Option<u64>,
    /// Writes that had been issued.
    issued: u64,
    /// Writes that had not ended, by ascending number.
    in_flight: Vec<u64>,
}

impl Sync {
    /// The part of a run that this sync does not cover.
    fn leaves(&self, run: Run) -> impl Iterator<Item = Run> {
        let is_other = run.file != self.file;
        let covered_end = if is_other { run.first } else { run.end.min(self.issued).max(run.first) };
        let in_flight =
            self.in_flight.iter().filter(move |&number| (run.first..covered_end).contains(number));
        let in_flight = in_flight.map(move |&number| Run { first: number, end: number + 1, ..run });
        let rest = Run { first: covered_end, ..run };
        in_flight.chain([rest].into_iter().filter(|rest| rest.first < rest.end))
    }
}

impl SyncedWrites {
    /// Nothing is written yet, by a job with this many units.
    pub(crate) fn new(units: usize) -> Self {
        SyncedWrites {
            open: VecDeque::new(),
            syncs: vec![Sync::default(); units],
            held: Vec::new(),
            begun: 0,
            number: 0,
        }
    }

    pub(crate) fn issued(&mut self, number: u64, file: u32) {
        let is_full = self.open.len() >= MAX_RUNS;
        match self.open.back_mut() {
            Some(last) if last.file == file && last.end == number => last.end += 1,
            Some(last) if is_full && last.file != FAILED => (last.end, last.file) = (number + 1, ANY),
            _ => self.open.push_back(Run { first: number, end: number + 1, file }),
        }
    }

    /// A write failed: it is never covered.
    pub(crate) fn failed(&mut self, number: u64) {
        let Some(at) = self.open.iter().rposition(|run| (run.first..run.end).contains(&number)) else {
            return;
        };
        let Some(run) = self.open.remove(at) else { return };
        let parts = [
            Run { end: number, ..run },
            Run { first: number, end: number + 1, file: FAILED },
            Run { first: number + 1, ..run },
        ];
        let parts = parts.into_iter().filter(|part| part.first < part.end);
        parts.rev().for_each(|part| self.open.insert(at, part));
    }

    /// Unit `unit` is about to sync a file, when `issued` writes have been issued.
    pub(crate) fn begin_sync(
        &mut self,
        unit: u32,
        file: u32,
        issued: u64,
        in_flight: impl Iterator<Item = u64>,
    ) {
        let sync = &mut self.syncs[unit as usize];
        (sync.file, sync.issued, sync.in_flight_since) = (file, issued, Some(self.begun));
        sync.in_flight.clear();
        sync.in_flight.extend(in_flight);
        sync.in_flight.sort_unstable();
        self.begun += 1;
    }

    /// The sync of unit `unit` succeeded. `covers` is false for one that leaves data in the device's cache.
    pub(crate) fn end_sync(&mut self, unit: u32, covers: bool) {
        let sync = &mut self.syncs[unit as usize];
        if sync.in_flight_since.take().is_some() && covers {
            self.held.push((sync.clone(), self.begun));
        }
        self.settle();
    }

    /// The sync of unit `unit` failed. After Linux has reported that it could not write data, it treats the data as written, and a later
    /// sync succeeds without it. So no write of this file that is open now is ever covered, not even one that was issued after this sync
    /// began: the sync may have met it, too.
    pub(crate) fn fail_sync(&mut self, unit: u32) {
        let sync = &mut self.syncs[unit as usize];
        sync.in_flight_since = None;
        let file = sync.file;
        self.open.iter_mut().filter(|run| [file, ANY].contains(&run.file)).for_each(|run| run.file = FAILED);
        self.held.retain(|(held, _)| held.file != file);
        self.settle();
    }

    /// All files were synced when nothing was in flight.
    pub(crate) fn synced_all(&mut self, issued: u64) {
        self.open.retain(|run| run.file == FAILED);
        self.held.clear();
        self.number = self.number.max(issued);
    }

    /// A number such that each write below it must survive, and the exceptions.
    pub(crate) fn covered(&self) -> (u64, Vec<u64>) {
        let open = self.open.iter().flat_map(|run| run.first..run.end);
        let mut except: Vec<u64> =
            open.take_while(|&number| number < self.number).take(MAX_EXCEPTIONS + 1).collect();
        match except.len() > MAX_EXCEPTIONS {
            true => (except.pop().unwrap_or_default(), except),
            false => (self.number, except),
        }
    }

    /// Counts what is covered by syncs that have no longer to wait for another one.
    fn settle(&mut self) {
        let Self { open, syncs, held, number, .. } = self;
        held.retain(|(sync, begun)| {
            let is_before = |other: &Sync| other.in_flight_since.is_some_and(|since| since < *begun);
            let waits = syncs.iter().any(|other| other.file == sync.file && is_before(other));
            if !waits {
                *open = open.drain(..).flat_map(|run| sync.leaves(run)).collect();
                *number = (*number).max(sync.issued);
            }
            waits
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(writes: &[(u64, u32)]) -> SyncedWrites {
        let mut synced = SyncedWrites::new(4);
        writes.iter().for_each(|&(number, file)| synced.issued(number, file));
        synced
    }

    /// A sync while nothing is in flight.
    fn sync(synced: &mut SyncedWrites, file: u32, issued: u64) {
        synced.begin_sync(0, file, issued, [].into_iter());
        synced.end_sync(0, true);
    }

    #[test]
    fn a_sync_covers_what_was_complete_when_it_began() {
        let mut synced = written(&[(0, 0), (1, 0), (2, 0)]);
        synced.begin_sync(3, 0, 3, [1].into_iter());
        synced.issued(3, 0);
        assert_eq!(synced.covered(), (0, vec![]), "it has not ended");
        synced.end_sync(3, true);
        assert_eq!(synced.covered(), (3, vec![1]));
        synced.begin_sync(2, 0, 4, [].into_iter());
        synced.end_sync(2, true);
        assert_eq!(synced.covered(), (4, vec![]));
    }

    #[test]
    fn an_older_sync_that_ends_later_takes_nothing_back() {
        let mut synced = written(&[(0, 0), (1, 0)]);
        synced.begin_sync(0, 0, 1, [0].into_iter());
        synced.begin_sync(1, 0, 2, [].into_iter());
        synced.end_sync(1, true);
        synced.end_sync(0, true);
        assert_eq!(synced.covered(), (2, vec![]));
    }

    #[test]
    fn a_sync_of_one_file_covers_no_write_to_another() {
        let mut synced = written(&[(0, 0), (1, 1), (2, 0)]);
        sync(&mut synced, 0, 3);
        assert_eq!(synced.covered(), (3, vec![1]));
        synced.synced_all(3);
        assert_eq!(synced.covered(), (3, vec![]));
    }

    #[test]
    fn a_sync_that_leaves_data_in_the_cache_of_the_device_covers_nothing() {
        let mut synced = written(&[(0, 0)]);
        synced.begin_sync(0, 0, 1, [].into_iter());
        synced.end_sync(0, false);
        assert_eq!(synced.covered(), (0, vec![]));
        sync(&mut synced, 0, 1);
        assert_eq!(synced.covered(), (1, vec![]), "it is no longer waited for");
    }

    #[test]
    fn what_a_failed_sync_has_met_is_covered_by_none_that_comes_after() {
        let mut synced = written(&[(0, 0), (1, 1), (2, 0)]);
        synced.begin_sync(0, 0, 2, [1].into_iter());
        synced.fail_sync(0);
        synced.issued(3, 0);
        [0, 1].into_iter().for_each(|file| sync(&mut synced, file, 4));
        assert_eq!(synced.covered(), (4, vec![0, 2]));
        synced.synced_all(4);
        assert_eq!(synced.covered(), (4, vec![0, 2]));
    }

    #[test]
    fn a_sync_that_succeeds_beside_one_that_fails_covers_nothing() {
        for fails_first in [false, true] {
            let mut synced = written(&[(0, 0), (1, 1), (2, 0)]);
            synced.begin_sync(0, 0, 3, [].into_iter());
            synced.begin_sync(1, 0, 3, [].into_iter());
            if fails_first {
                synced.fail_sync(1);
            }
            synced.end_sync(0, true);
            let (number, except) = synced.covered();
            assert_eq!(except, (0..number).collect::<Vec<_>>(), "fails first: {fails_first}");
            if !fails_first {
                synced.fail_sync(1);
            }
            synced.issued(3, 0);
            [0, 1].into_iter().for_each(|file| sync(&mut synced, file, 4));
            assert_eq!(synced.covered(), (4, vec![0, 2]));
        }
    }

    #[test]
    fn a_sync_waits_for_those_of_its_file_that_began_before_it_ended_and_for_no_others() {
        let mut synced = written(&[(0, 0), (1, 1)]);
        synced.begin_sync(0, 0, 2, [].into_iter());
        synced.begin_sync(1, 0, 2, [].into_iter());
        synced.begin_sync(2, 1, 2, [].into_iter());
        synced.end_sync(0, true);
        synced.begin_sync(3, 0, 2, [].into_iter());
        assert_eq!(synced.covered(), (0, vec![]));
        synced.end_sync(1, true);
        assert_eq!(synced.covered(), (2, vec![1]), "the first two are over, a third one is in flight");
        synced.fail_sync(3);
        synced.end_sync(2, true);
        assert_eq!(synced.covered(), (2, vec![]), "what they have covered stays");
    }

    #[test]
    fn what_was_synced_before_stays_covered_when_a_sync_fails() {
        let mut synced = written(&[(0, 0)]);
        sync(&mut synced, 0, 1);
        synced.begin_sync(0, 0, 1, [].into_iter());
        synced.fail_sync(0);
        assert_eq!(synced.covered(), (1, vec![]));
    }

    #[test]
    fn a_write_that_failed_is_never_covered() {
        let mut synced = written(&[(0, 0), (1, 0), (2, 0)]);
        synced.failed(1);
        sync(&mut synced, 0, 3);
        synced.synced_all(3);
        assert_eq!(synced.covered(), (3, vec![1]));
    }

    #[test]
    fn writes_that_are_never_synced_take_bounded_memory() {
        let mut synced = SyncedWrites::new(1);
        (0..1 << 20).for_each(|number| synced.issued(number, 0));
        assert_eq!(synced.open.len(), 1);
        let mut synced = SyncedWrites::new(1);
        (0..1 << 18).for_each(|number| synced.issued(number, number as u32 % 2));
        assert_eq!(synced.open.len(), MAX_RUNS);
        sync(&mut synced, 0, 1 << 18);
        let (number, except) = synced.covered();
        let untold = MAX_RUNS as u64 - 1;
        assert!(except.len() == MAX_EXCEPTIONS && except.iter().all(|&n| n % 2 == 1 || n >= untold));
        assert!(number < 1 << 18, "what no exception can be made for is not covered");
        synced.synced_all(1 << 18);
        assert_eq!(synced.covered(), (1 << 18, vec![]));
    }
}
