//! Which writes must survive a crash: those that were complete when a sync of their file began that succeeded.
//!
//! fio counts all writes that were issued before the sync. With a queue some of them are still in flight then, and with several files the
//! sync is one of another file: a check after a crash would take such a write for a lost one.

use std::collections::VecDeque;

/// The file of a write that is never covered: no sync is one of it.
const FAILED: u32 = u32::MAX;

/// The writes of a job, by their numbers.
#[derive(Debug)]
pub(crate) struct SyncedWrites {
    /// Writes that no sync has covered, oldest first, with their files.
    open: VecDeque<(u64, u32)>,
    /// The sync of each unit.
    syncs: Vec<PendingSync>,
    /// How many writes had been issued when the last sync that succeeded began.
    number: u64,
}

/// A sync in flight.
#[derive(Clone, Debug, Default)]
struct PendingSync {
    file: u32,
    /// Writes that had been issued.
    issued: u64,
    /// Writes that had not ended, by ascending number.
    in_flight: Vec<u64>,
}

impl SyncedWrites {
    /// Of a job with this many units that wrote nothing yet.
    pub(crate) fn new(units: usize) -> Self {
        SyncedWrites { open: VecDeque::new(), syncs: vec![PendingSync::default(); units], number: 0 }
    }

    pub(crate) fn issued(&mut self, number: u64, file: u32) {
        self.open.push_back((number, file));
    }

    /// A write failed: it is never covered.
    pub(crate) fn failed(&mut self, number: u64) {
        if let Some(write) = self.open.iter_mut().rfind(|write| write.0 == number) {
            write.1 = FAILED;
        }
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
        (sync.file, sync.issued) = (file, issued);
        sync.in_flight.clear();
        sync.in_flight.extend(in_flight);
        sync.in_flight.sort_unstable();
    }

    /// The sync of unit `unit` succeeded.
    pub(crate) fn end_sync(&mut self, unit: u32) {
        let PendingSync { file, issued, in_flight } = &self.syncs[unit as usize];
        self.open
            .retain(|(number, of)| of != file || number >= issued || in_flight.binary_search(number).is_ok());
        self.number = self.number.max(*issued);
    }

    /// A sync of this file failed. Linux takes what it could not write for written once it has said so, and a sync that succeeds later says
    /// nothing about it: what the file has open is never covered. That includes writes issued after this sync began, which it may have
    /// met, too.
    pub(crate) fn fail_sync(&mut self, file: u32) {
        self.open.iter_mut().filter(|write| write.1 == file).for_each(|write| write.1 = FAILED);
    }

    /// All files were synced when nothing was in flight.
    pub(crate) fn synced_all(&mut self, issued: u64) {
        self.open.retain(|write| write.1 == FAILED);
        self.number = self.number.max(issued);
    }

    /// A number such that each write below it must survive, and the exceptions.
    pub(crate) fn covered(&self) -> (u64, Vec<u64>) {
        let open = self.open.iter().map(|write| write.0);
        (self.number, open.take_while(|&number| number < self.number).collect())
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

    #[test]
    fn a_sync_covers_what_was_complete_when_it_began() {
        let mut synced = written(&[(0, 0), (1, 0), (2, 0)]);
        synced.begin_sync(3, 0, 3, [1].into_iter());
        synced.issued(3, 0);
        assert_eq!(synced.covered(), (0, vec![]), "it has not ended");
        synced.end_sync(3);
        assert_eq!(synced.covered(), (3, vec![1]));
        synced.begin_sync(2, 0, 4, [].into_iter());
        synced.end_sync(2);
        assert_eq!(synced.covered(), (4, vec![]));
    }

    #[test]
    fn an_older_sync_that_ends_later_takes_nothing_back() {
        let mut synced = written(&[(0, 0), (1, 0)]);
        synced.begin_sync(0, 0, 1, [0].into_iter());
        synced.begin_sync(1, 0, 2, [].into_iter());
        synced.end_sync(1);
        synced.end_sync(0);
        assert_eq!(synced.covered(), (2, vec![]));
    }

    #[test]
    fn a_sync_of_one_file_covers_no_write_to_another() {
        let mut synced = written(&[(0, 0), (1, 1), (2, 0)]);
        synced.begin_sync(0, 0, 3, [].into_iter());
        synced.end_sync(0);
        assert_eq!(synced.covered(), (3, vec![1]));
        synced.synced_all(3);
        assert_eq!(synced.covered(), (3, vec![]));
    }

    #[test]
    fn what_a_failed_sync_has_met_is_covered_by_none_that_comes_after() {
        let mut synced = written(&[(0, 0), (1, 1), (2, 0)]);
        synced.begin_sync(0, 0, 2, [1].into_iter());
        synced.fail_sync(0);
        synced.issued(3, 0);
        for file in [0, 1] {
            synced.begin_sync(0, file, 4, [].into_iter());
            synced.end_sync(0);
        }
        assert_eq!(synced.covered(), (4, vec![0, 2]));
        synced.synced_all(4);
        assert_eq!(synced.covered(), (4, vec![0, 2]));
    }

    #[test]
    fn what_was_synced_before_stays_covered_when_a_sync_fails() {
        let mut synced = written(&[(0, 0)]);
        synced.begin_sync(0, 0, 1, [].into_iter());
        synced.end_sync(0);
        synced.fail_sync(0);
        assert_eq!(synced.covered(), (1, vec![]));
    }

    #[test]
    fn a_write_that_failed_is_never_covered() {
        let mut synced = written(&[(0, 0), (1, 0)]);
        synced.failed(0);
        synced.begin_sync(0, 0, 2, [].into_iter());
        synced.end_sync(0);
        synced.synced_all(2);
        assert_eq!(synced.covered(), (2, vec![0]));
    }
}
