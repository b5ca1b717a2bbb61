//! Ends a program whose outputs are blocked: a pipe that nobody reads, a file that does not open. Signals are blocked for the sake of the
//! report, before and after a run in [`OutputWatch`]. During a run they are waited for, but it is the main thread that acts on them, and
//! it may be blocked itself. Without this, only SIGKILL would end the program then.

use std::io::Write as _;
use std::os::fd::AsFd as _;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Release};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use ferrio_kernel::exit_at_once;
use ferrio_machine::{pending_signals, switches_of_blocked_main, switches_of_other_threads};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use crate::signals::{ENDING, asks_for_end, spawn_without_signals};

/// Longest time that threads may be blocked while somebody wants the end.
const PATIENCE: Duration = Duration::from_secs(10);
/// Time between two checks.
pub(crate) const CHECK: Duration = Duration::from_millis(500);
/// The status of a program that ends without its report.
const LOST: u8 = 1;

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
            let mut standstill = Standstill::default();
            loop {
                // Most outputs are over by then, and nothing was asked.
                thread::park_timeout(CHECK);
                if seen.is_over.load(Acquire) {
                    return;
                }
                // A thread that is blocked for good is never switched to. One that waits for a slow reader is, each time there is room.
                standstill.end_if_over(match has_pending() {
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

/// Since when threads are blocked, with how often the kernel had switched to them.
#[derive(Debug, Default)]
pub(crate) struct Standstill(Option<(Instant, u64)>);

impl Standstill {
    /// Ends the program without its report if threads have been blocked for ten seconds. `switches` counts how often the kernel has switched
    /// to them; `None` if they are not blocked, or if that is unknown.
    pub(crate) fn end_if_over(&mut self, switches: Option<u64>) {
        self.0 = switches.map(|switches| {
            self.0.filter(|&(_, known)| known == switches).unwrap_or((Instant::now(), switches))
        });
        if self.0.is_some_and(|(since, _)| since.elapsed() >= PATIENCE) {
            give_up();
        }
    }
}

/// True if a signal is pending by which somebody asks for the end.
fn has_pending() -> bool {
    let pending = pending_signals();
    let asks = ENDING.iter().filter(|&&signal| asks_for_end(signal as i32));
    asks.into_iter().any(|&signal| pending & (1 << (signal as u32 - 1)) != 0)
}

/// Ends the program without its report.
fn give_up() -> ! {
    #[expect(clippy::disallowed_methods, reason = "nothing but a text of its own is written to it")]
    let stderr = std::io::stderr();
    let mut waiting = [PollFd::new(stderr.as_fd(), PollFlags::POLLOUT)];
    // Nobody may read messages either.
    if poll(&mut waiting, PollTimeout::ZERO).is_ok_and(|ready| ready > 0) {
        let _ = (&stderr).write_all(
            b"error: ended by a signal while an output was blocked for 10 s (a pipe that nobody reads, or a file whose open does not return); \
              the report is lost\n",
        );
    }
    exit_at_once(LOST)
}
