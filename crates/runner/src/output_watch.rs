//! Ends a program whose outputs are blocked: a pipe that nobody reads, a file that does not open. Before and after a run, signals are blocked
//! for the sake of the report; without this, only SIGKILL would end the program then.

use std::io::Write as _;
use std::os::fd::AsFd as _;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::{Acquire, Release};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use ferrio_engine::kernel::exit_at_once;
use ferrio_machine::pending_signals;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use crate::signals::ENDING;

/// An output may take this long, whatever signals come.
const PATIENCE: Duration = Duration::from_secs(10);
/// Time between two checks.
const CHECK: Duration = Duration::from_millis(500);
/// The status of a program that ends without its report.
const LOST: u8 = 1;

/// Ends the program if a signal is pending while an output is blocked, until this is dropped.
#[derive(Debug)]
pub struct OutputWatch {
    thread: JoinHandle<()>,
    is_over: Arc<AtomicBool>,
}

impl OutputWatch {
    /// Begins to watch: from ten seconds after this call on, a pending signal ends the program at once. `None` if no thread can be started.
    #[must_use]
    pub fn begin() -> Option<Self> {
        let is_over = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&is_over);
        let began = Instant::now();
        let watch = move || {
            while !seen.load(Acquire) {
                if began.elapsed() >= PATIENCE && has_pending() {
                    give_up();
                }
                thread::park_timeout(CHECK);
            }
        };
        let thread = thread::Builder::new().name("ferrio-output".to_owned()).spawn(watch).ok()?;
        Some(OutputWatch { thread, is_over })
    }
}

impl Drop for OutputWatch {
    fn drop(&mut self) {
        self.is_over.store(true, Release);
        self.thread.thread().unpark();
    }
}

/// True if a signal that ends a run is pending.
fn has_pending() -> bool {
    let pending = pending_signals();
    ENDING.iter().any(|&signal| pending & (1 << (signal as u32 - 1)) != 0)
}

/// Ends the program without its report.
pub(crate) fn give_up() -> ! {
    let stderr = std::io::stderr();
    let mut waiting = [PollFd::new(stderr.as_fd(), PollFlags::POLLOUT)];
    // Nobody may read messages either.
    if poll(&mut waiting, PollTimeout::ZERO).is_ok_and(|ready| ready > 0) {
        let _ = (&stderr).write_all(
            b"ferrio: ended by a signal while an output was blocked (a pipe that nobody reads, or a file that does not open); the report is lost\n",
        );
    }
    exit_at_once(LOST)
}
