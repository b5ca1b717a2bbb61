//! The writes of a job that syncs have covered (`verify_policy=fsynced`), for its checks and for its verify state.

use super::Verification;
use crate::synced_writes::SyncedWrites;

/// The writes that syncs have covered.
pub(super) struct SyncedCount {
    /// All writes below this number.
    pub(super) number: u64,
    /// Writes issued before the sync of each unit.
    submitted: Vec<u64>,
    /// The writes that must survive a crash, for a state that is kept current for that.
    exactly: Option<SyncedWrites>,
}

impl SyncedCount {
    /// Nothing is covered yet. `exactly`: the job's verify state is kept current for a crash.
    pub(super) fn new(units: usize, exactly: bool) -> Self {
        SyncedCount {
            number: 0,
            submitted: vec![0; units],
            exactly: exactly.then(|| SyncedWrites::new(units)),
        }
    }
}

impl Verification {
    /// Unit `unit` issues the write that has the next number.
    pub(super) fn follow_write(&mut self, unit: u32, file: u32) {
        let Some(progress) = &self.progress else { return };
        progress.issued(unit, self.number);
        match &mut self.synced {
            Some(SyncedCount { exactly: Some(exactly), .. }) => exactly.issued(self.number, file),
            Some(_) => {}
            None => progress.covers(self.number + 1),
        }
    }

    /// The write `number` of unit `unit` has failed.
    pub(super) fn follow_failure(&mut self, unit: u32, number: u64) {
        let Some(progress) = &self.progress else { return };
        if let Some(exactly) = self.synced.as_mut().and_then(|synced| synced.exactly.as_mut()) {
            exactly.failed(number);
            progress.completed(unit);
        } else if self.lists_failures {
            progress.failed(unit, number);
        } else {
            progress.completed(unit);
        }
    }

    /// Unit `unit` is about to sync a file.
    pub(crate) fn before_sync(&mut self, unit: u32, file: u32) {
        let Some(synced) = &mut self.synced else { return };
        synced.submitted[unit as usize] = self.number;
        if let (Some(exactly), Some(progress)) = (&mut synced.exactly, &self.progress) {
            exactly.begin_sync(unit, file, self.number, progress.in_flight());
        }
    }

    /// The sync of unit `unit` succeeded. `waits_for_device` is false for one that leaves data in the device's cache.
    pub(crate) fn synced(&mut self, unit: u32, waits_for_device: bool) {
        let Some(synced) = &mut self.synced else { return };
        synced.number = synced.number.max(synced.submitted[unit as usize]);
        if let Some(exactly) = &mut synced.exactly {
            exactly.end_sync(unit, waits_for_device);
        }
        self.publish_synced();
    }

    /// The sync of unit `unit` failed.
    pub(crate) fn fail_sync(&mut self, unit: u32) {
        if let Some(exactly) = self.synced.as_mut().and_then(|synced| synced.exactly.as_mut()) {
            exactly.fail_sync(unit);
        }
    }

    /// Everything that was written was synced.
    pub(crate) fn synced_all(&mut self) {
        let Some(synced) = &mut self.synced else { return };
        synced.number = self.number;
        if let Some(exactly) = &mut synced.exactly {
            exactly.synced_all(self.number);
        }
        self.publish_synced();
    }

    /// The state has what syncs cover now.
    fn publish_synced(&self) {
        let (Some(synced), Some(progress)) = (&self.synced, &self.progress) else { return };
        match &synced.exactly {
            None => progress.covers(synced.number),
            Some(exactly) => {
                let (number, except) = exactly.covered();
                progress.covers_except(number, except);
            }
        }
    }
}
