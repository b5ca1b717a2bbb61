//! What main and a worker share while the worker runs: a stop request, the worker's state, its live counters.

use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64, Ordering::Relaxed};
use std::sync::{Condvar, Mutex, PoisonError};

use ferrio_stats::LiveCounters;

use crate::event::JobState;

const STATES: [JobState; 10] = [
    JobState::NotCreated,
    JobState::Initialized,
    JobState::SettingUp,
    JobState::Ramp,
    JobState::Running,
    JobState::Verifying,
    JobState::Fsyncing,
    JobState::Finishing,
    JobState::Reaped,
    JobState::Failed,
];

/// Shared part of one job.
#[derive(Debug, Default)]
pub struct JobControl {
    /// Set once to end the job after the I/Os in flight.
    stop: AtomicBool,
    state: AtomicU8,
    /// Files the worker has open.
    pub open_files: AtomicU32,
    /// Clock ticks when measuring began (start of I/O, or end of the ramp); 0 before.
    pub measuring_since: AtomicU64,
    /// Clock ticks when the job began to do I/O; 0 before.
    pub running_since: AtomicU64,
    /// Counters of what is measured; they start again at the end of a ramp.
    pub live: LiveCounters,
}

impl JobControl {
    /// Asks the job to end.
    pub fn request_stop(&self) {
        self.stop.store(true, Relaxed);
    }

    /// True once the job shall end.
    #[inline]
    pub fn stop_requested(&self) -> bool {
        self.stop.load(Relaxed)
    }

    /// Announces the job's state.
    pub fn set_state(&self, state: JobState) {
        let index = STATES.iter().position(|&s| s == state).unwrap_or_default();
        self.state.store(index as u8, Relaxed);
    }

    /// The state announced last.
    pub fn state(&self) -> JobState {
        STATES[usize::from(self.state.load(Relaxed)).min(STATES.len() - 1)]
    }
}

/// Holds the workers of one wave back until main lets all of them go.
#[derive(Debug, Default)]
pub struct Gate {
    open: Mutex<bool>,
    changed: Condvar,
}

impl Gate {
    /// Waits until the gate is open.
    pub fn wait(&self) {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        while !*open {
            open = self.changed.wait(open).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Opens it for good.
    pub fn open(&self) {
        *self.open.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_state_survives_the_trip_through_the_atomic() {
        let control = JobControl::default();
        assert_eq!(control.state(), JobState::NotCreated);
        for state in STATES {
            control.set_state(state);
            assert_eq!(control.state(), state);
        }
    }
}
