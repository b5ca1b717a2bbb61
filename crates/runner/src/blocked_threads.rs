//! Detects threads that are blocked by an output that nobody reads, and ends the program without its report if they stay so for too long.

use std::io::Write as _;
use std::os::fd::AsFd as _;
use std::time::{Duration, Instant};

use ferrio_kernel::exit_at_once;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

/// Longest time that threads may be blocked after a signal has asked the program to end.
const MAX_BLOCKED_TIME: Duration = Duration::from_secs(10);
/// Time between two checks.
pub(crate) const CHECK_INTERVAL: Duration = Duration::from_millis(500);
/// The status of a program that ends without its report.
const REPORT_LOST_STATUS: u8 = 1;

/// When the threads were first seen blocked, and the number of context switches to them at that time.
#[derive(Debug, Default)]
pub(crate) struct BlockedThreads(Option<(Instant, u64)>);

impl BlockedThreads {
    /// Ends the program without its report if threads have been blocked for ten seconds. `switches` counts how often the kernel has switched
    /// to them; `None` if they are not blocked, or if that is unknown.
    pub(crate) fn exit_if_timed_out(&mut self, switches: Option<u64>) {
        self.0 = switches.map(|switches| {
            self.0.filter(|&(_, known)| known == switches).unwrap_or((Instant::now(), switches))
        });
        if self.0.is_some_and(|(since, _)| since.elapsed() >= MAX_BLOCKED_TIME) {
            give_up();
        }
    }
}

/// Ends the program without its report.
fn give_up() -> ! {
    #[expect(clippy::disallowed_methods, reason = "nothing but a text of its own is written to it")]
    let stderr = std::io::stderr();
    let mut waiting = [PollFd::new(stderr.as_fd(), PollFlags::POLLOUT)];
    // Standard error may be blocked as well.
    if poll(&mut waiting, PollTimeout::ZERO).is_ok_and(|ready| ready > 0) {
        let _ = (&stderr).write_all(
            b"error: ended by a signal while an output was blocked for 10 s (a pipe that nobody reads, or a file whose open does not return); \
              the report is lost\n",
        );
    }
    exit_at_once(REPORT_LOST_STATUS)
}
