//! State shared by main and a worker while the worker runs: stop requests, the worker's state, its live counters.

use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64};
use std::sync::{Mutex, PoisonError};

use ferrio_engine::{Interrupter, StopRequest};
use ferrio_job::debug_class;
use ferrio_results::JobState;
use ferrio_stats::LiveCounters;
use log::debug;

/// The job must end after the I/Os in flight.
const STOP: u8 = 1;
/// The worker must send its figures so far.
const FIGURES: u8 = 2;
/// A signal asked for the end of the run.
const SIGNAL: u8 = 4;
/// A second signal asked for the end of the run.
const SECOND_SIGNAL: u8 = 8;

/// The shared state of one job.
#[derive(Debug, Default)]
pub struct JobControl {
    /// Number of the job, from 1.
    number: u32,
    /// Requests of main to the worker: [`STOP`] and [`FIGURES`], and the number of signals that asked for a stop. A single word, so that
    /// one load per I/O shows that there are none.
    wanted: AtomicU8,
    state: AtomicU8,
    /// True once the job's verify state is in its file.
    state_saved: AtomicBool,
    /// Ends requests that wait for a peer.
    interrupter: Mutex<Option<Interrupter>>,
    /// Number of files that the worker has open.
    pub open_files: AtomicU32,
    measuring_since: AtomicU64,
    /// Clock ticks at which the job began its I/O; 0 before.
    pub running_since: AtomicU64,
    /// Thread ID of the worker; 0 before it exists.
    pub pid: AtomicU32,
    /// Time at which the job's I/O (or the part after its ramp) began, in ms since 1970; 0 before.
    pub start_ms: AtomicU64,
    /// Counters of measured I/O; they restart at the end of a ramp.
    pub live: LiveCounters,
    /// Counters of the ramp, once it is over.
    pub ramp: LiveCounters,
}

impl JobControl {
    pub fn new(number: u32) -> Self {
        JobControl { number, ..JobControl::default() }
    }

    /// Asks the job to end. A worker that sees the request also sees earlier writes of the caller.
    pub fn request_stop(&self) {
        self.wanted.fetch_or(STOP, Release);
    }

    /// Counts a signal, before it asks the job to end.
    pub fn count_signal(&self) {
        let before = self.wanted.fetch_or(SIGNAL, Relaxed);
        if before & SIGNAL != 0 {
            self.wanted.fetch_or(SECOND_SIGNAL, Relaxed);
        }
        if let Some(interrupter) = &*self.interrupter.lock().unwrap_or_else(PoisonError::into_inner) {
            (interrupter.0)();
        }
    }

    /// Sets the handle that ends the worker's requests in flight when a signal asks for the end.
    pub(crate) fn set_interrupter(&self, interrupter: Option<Interrupter>) {
        *self.interrupter.lock().unwrap_or_else(PoisonError::into_inner) = interrupter;
    }

    /// Number of signals that asked for the end: 0, 1, or 2 for more. A worker that has seen a stop request also sees the signal that
    /// caused it.
    pub fn signals(&self) -> u32 {
        (self.wanted.load(Relaxed) & (SIGNAL | SECOND_SIGNAL)).count_ones()
    }

    /// True once the job must end.
    #[inline]
    pub fn stop_requested(&self) -> bool {
        self.wanted.load(Acquire) & STOP != 0
    }

    /// Asks the worker for its figures so far.
    pub fn request_figures(&self) {
        self.wanted.fetch_or(FIGURES, Relaxed);
    }

    /// Takes a request for figures: true if there was one.
    pub fn take_figures_request(&self) -> bool {
        self.wanted.fetch_and(!FIGURES, Relaxed) & FIGURES != 0
    }

    /// The stop request for an engine that waits for a peer.
    pub(crate) fn stop_request(&self) -> StopRequest {
        match (self.stop_requested(), self.signals()) {
            (false, _) => StopRequest::No,
            (true, 0 | 1) => StopRequest::Soon,
            (true, _) => StopRequest::AtOnce,
        }
    }

    /// True if there is any request to the worker.
    #[inline]
    pub fn wants_something(&self) -> bool {
        self.wanted.load(Relaxed) != 0
    }

    /// Returns true to the first caller, which has to save the job's verify state.
    pub fn save_state_once(&self) -> bool {
        !self.state_saved.swap(true, Relaxed)
    }

    /// True once the verify state is saved.
    pub fn is_state_saved(&self) -> bool {
        self.state_saved.load(Relaxed)
    }

    /// Starts measuring at these clock ticks, with the I/O or at the end of the ramp. Call it after the live counters were reset.
    pub fn begin_measuring(&self, now: u64) {
        self.measuring_since.store(now, Release);
        self.set_state(JobState::Running);
    }

    /// Clock ticks at which measuring began; 0 before. Live counters read after this call belong to the measurement.
    pub fn measuring_since(&self) -> u64 {
        self.measuring_since.load(Acquire)
    }

    /// Publishes the job's state.
    pub fn set_state(&self, state: JobState) {
        let before = state_of(self.state.swap(state as u8, Relaxed));
        debug!(target: debug_class::PROCESS, job = self.number; "job {}: {} -> {}", self.number, before.word(), state.word());
    }

    /// The state published last.
    pub fn state(&self) -> JobState {
        state_of(self.state.load(Relaxed))
    }
}

/// The state of this number.
fn state_of(number: u8) -> JobState {
    JobState::ALL[usize::from(number).min(JobState::ALL.len() - 1)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_state_survives_the_trip_through_the_atomic() {
        let control = JobControl::default();
        assert_eq!(control.state(), JobState::NotCreated);
        for &state in JobState::ALL {
            control.set_state(state);
            assert_eq!(control.state(), state);
        }
    }

    #[test]
    fn figures_are_told_once_per_request_and_a_stop_request_stays() {
        let control = JobControl::default();
        assert!(!control.wants_something());
        control.request_figures();
        assert!(control.wants_something() && !control.stop_requested());
        assert!(control.take_figures_request() && !control.take_figures_request());
        assert!(!control.wants_something());
        control.request_stop();
        control.request_figures();
        assert!(control.take_figures_request() && control.stop_requested() && control.wants_something());
    }

    #[test]
    fn signals_are_counted_up_to_two_and_are_no_stop_request() {
        let control = JobControl::default();
        let counted = [0, 1, 2, 2].map(|want| {
            let seen = control.signals();
            control.count_signal();
            seen == want
        });
        assert!(counted == [true; 4] && !control.stop_requested());
    }

    #[test]
    fn measuring_begins_with_the_job_running() {
        let control = JobControl::default();
        assert_eq!(control.measuring_since(), 0);
        control.begin_measuring(7);
        assert_eq!((control.measuring_since(), control.state()), (7, JobState::Running));
    }
}
