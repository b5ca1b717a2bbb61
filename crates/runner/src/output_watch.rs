//! Ends a program whose outputs are blocked: a pipe that nobody reads, a file that does not open. Signals are blocked for the sake of the
//! report, before and after a run in [`OutputWatch`]. During a run they are waited for, but it is the main thread that acts on them, and
//! it may be blocked itself. Without this, only SIGKILL would end the program then.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Release};
use std::thread::{self, JoinHandle};

use ferrio_machine::{SignalMask, switches_of_blocked_main, switches_of_other_threads};

use crate::blocked_threads::{BlockedThreads, CHECK_INTERVAL};
use crate::signals::{ENDING, asks_for_end, spawn_without_signals};

/// Ends the program if a signal is pending while an output is blocked, until this is dropped.
#[derive(Debug)]
pub struct OutputWatch {
    thread: JoinHandle<()>,
    state: Arc<WatchState>,
}

/// State shared by the thread and its owner.
#[derive(Debug, Default)]
struct WatchState {
    is_over: AtomicBool,
    is_asked: AtomicBool,
}

impl OutputWatch {
    /// Begins to watch: a signal ends the program if it is pending for ten seconds in which no thread of the program runs, so that an output
    /// that is merely slow is not cut. There is one watch at a time. `None` if no thread can be started.
    #[must_use]
    pub fn begin() -> Option<Self> {
        let state = Arc::new(WatchState::default());
        let seen = Arc::clone(&state);
        let watch = move || {
            let mut blocked = BlockedThreads::default();
            loop {
                // Most outputs are over by then, and nothing was asked.
                thread::park_timeout(CHECK_INTERVAL);
                if seen.is_over.load(Acquire) {
                    return;
                }
                // A thread that is blocked for good is never switched to. One that waits for a slow reader is, each time there is room.
                blocked.exit_if_timed_out(match has_pending() {
                    true => switches_of_other_threads(),
                    false if seen.is_asked.load(Acquire) => switches_of_blocked_main(),
                    false => None,
                });
            }
        };
        let thread = thread::Builder::new().name("ferrio-output".to_owned());
        Some(OutputWatch { thread: spawn_without_signals(thread, watch).ok()?, state })
    }

    /// A signal has ended the run: the program ends although no other one is pending, if the main thread is blocked by an output.
    pub fn signalled(&self, signal: i32) {
        self.state.is_asked.fetch_or(asks_for_end(signal), AcqRel);
    }
}

impl Drop for OutputWatch {
    fn drop(&mut self) {
        self.state.is_over.store(true, Release);
        self.thread.thread().unpark();
    }
}

/// True if a signal is pending by which somebody asks for the end.
fn has_pending() -> bool {
    let pending = SignalMask::pending();
    ENDING.into_iter().any(|signal| asks_for_end(signal as i32) && pending.contains(signal))
}
