//! The writes so far of a job that writes and verifies. A worker counts its writes, and main can read them at any time: a trigger saves
//! the verify states of all jobs, also of those that hang in a system call.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::{Mutex, PoisonError};

use ferrio_job::{Direction, JobSpec, Verify, VerifyPolicy};

/// No write is in flight in this place of the queue.
const NONE: u64 = u64::MAX;

/// The writes of one job: one store when a write is issued, two more when it is numbered and when it ends.
#[derive(Debug)]
pub(crate) struct WriteProgress {
    /// How many writes the state covers.
    number: AtomicU64,
    /// Number of the write in flight, for each place of the queue.
    in_flight: Box<[AtomicU64]>,
    /// Writes that failed in the queue of an asynchronous engine.
    failed: Mutex<Vec<u64>>,
    /// Writes below the number that the state does not cover.
    except: Mutex<Vec<u64>>,
    /// Held while the state is saved.
    pub(crate) saving: Mutex<()>,
}

impl WriteProgress {
    /// Before the first write. `None` for a job that writes nothing that can be verified.
    pub(crate) fn new(spec: &JobSpec) -> Option<Self> {
        let counts = spec.verify.is_some() && spec.rw.does(Direction::Write);
        counts.then(|| WriteProgress {
            number: AtomicU64::new(0),
            in_flight: (0..spec.depth.iodepth).map(|_| AtomicU64::new(NONE)).collect(),
            failed: Mutex::default(),
            except: Mutex::default(),
            saving: Mutex::default(),
        })
    }

    /// Unit `unit` is about to issue this write.
    pub(crate) fn issued(&self, unit: u32, number: u64) {
        self.place(unit).store(number, Release);
    }

    /// A state that is saved from now on covers this many writes. Who sees the number also sees which of them are in flight.
    pub(crate) fn covers(&self, number: u64) {
        self.number.store(number, Release);
    }

    /// A state that is saved from now on covers this many writes, without these.
    pub(crate) fn covers_except(&self, number: u64, except: Vec<u64>) {
        let mut excepted = self.except.lock().unwrap_or_else(PoisonError::into_inner);
        *excepted = except;
        self.covers(number);
    }

    /// Numbers of the writes in flight.
    pub(crate) fn in_flight(&self) -> impl Iterator<Item = u64> {
        self.in_flight.iter().map(|slot| slot.load(Relaxed)).filter(|&number| number != NONE)
    }

    /// The write of unit `unit` has ended. Who sees that also sees what was listed before.
    pub(crate) fn completed(&self, unit: u32) {
        self.place(unit).store(NONE, Release);
    }

    /// The place of a unit. A synchronous job may have more units than places, and one write at a time.
    fn place(&self, unit: u32) -> &AtomicU64 {
        &self.in_flight[unit as usize % self.in_flight.len()]
    }

    /// The write of unit `unit` in the queue of an asynchronous engine failed. At no time is it neither in flight nor among those.
    pub(crate) fn failed(&self, unit: u32, number: u64) {
        self.failed.lock().unwrap_or_else(PoisonError::into_inner).push(number);
        self.completed(unit);
    }

    /// The number and the slots of a state.
    pub(crate) fn snapshot(&self) -> (u64, Vec<Option<u64>>) {
        let except = self.except.lock().unwrap_or_else(PoisonError::into_inner);
        let number = self.number.load(Acquire);
        let in_flight = self.in_flight.iter().map(|slot| slot.load(Acquire));
        let mut slots: Vec<Option<u64>> = in_flight.map(|n| (n != NONE).then_some(n)).collect();
        // Only now: what fails is listed before its slot is cleared.
        let failed = self.failed.lock().unwrap_or_else(PoisonError::into_inner);
        slots.extend(failed.iter().chain(except.iter()).copied().map(Some));
        (number, slots)
    }
}

/// True for a job whose state is kept current for a crash: after each sync it has what must survive. fio knows no such state.
pub(crate) fn saves_at_syncs(spec: &JobSpec) -> bool {
    let synced = |verify: &Verify| verify.policy == VerifyPolicy::Fsynced && !verify.only;
    spec.compat.saves_states_at_syncs && spec.saves_state() && spec.verify.as_ref().is_some_and(synced)
}

#[cfg(test)]
mod tests {
    use ferrio_plan::testing::spec_of;

    use super::*;

    #[test]
    fn a_write_that_fails_while_a_state_is_made_is_in_the_state() {
        const WRITES: u64 = 5000;
        let progress = WriteProgress::new(&spec_of(
            "[a]\nioengine=libaio\niodepth=3\nsize=64k\nfilename=/tmp/x\nrw=write\nverify=md5\n",
        ))
        .unwrap();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for number in 0..WRITES {
                    progress.issued(0, number);
                    progress.covers(number + 1);
                    progress.failed(0, number);
                }
            });
            let mut covered = 0;
            while covered < WRITES {
                let (number, slots) = progress.snapshot();
                let mut listed: Vec<u64> = slots.into_iter().flatten().filter(|&n| n < number).collect();
                listed.sort_unstable();
                listed.dedup();
                assert_eq!(listed.len() as u64, number);
                covered = number;
            }
        });
    }
}
