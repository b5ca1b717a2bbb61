//! Detects that the kernel takes no more requests.
//!
//! The runtime submits requests when it goes to sleep, ignores the error of that call, and then waits for completions that cannot come.
//! While nothing completes, a timer therefore wakes it at intervals: the runtime submits again when it goes back to sleep, which resolves
//! temporary errors. A no-op distinguishes a slow device from a kernel that refuses requests: it completes as soon as it is submitted.

use std::io;
use std::os::fd::OwnedFd;
use std::rc::Rc;
use std::time::Duration;

use nix::sys::timerfd::{ClockId, Expiration, TimerFd, TimerFlags, TimerSetTimeFlags};
use tokio::io::unix::AsyncFd;

use crate::completion_queue::CompletionQueue;

/// Time between two checks.
const CHECK_INTERVAL: Duration = Duration::from_millis(250);

/// Number of checks without any completion, even of a no-op, after which the kernel counts as refusing.
const MAX_SILENT_CHECKS: u32 = 4;

/// Watches the requests of a runtime as long as it exists. Call only inside the runtime.
pub(crate) fn start(finished: Rc<CompletionQueue>) -> io::Result<()> {
    let timer = TimerFd::new(ClockId::CLOCK_MONOTONIC, TimerFlags::TFD_NONBLOCK | TimerFlags::TFD_CLOEXEC)?;
    timer.set(Expiration::Interval(CHECK_INTERVAL.into()), TimerSetTimeFlags::empty())?;
    // SAFETY: the descriptor is the timer's until its owner, which the registration takes, closes it.
    let timer = unsafe { AsyncFd::register(OwnedFd::from(timer)) }?;
    tokio_uring::spawn(async move {
        let mut silence = StallDetector::default();
        while tick(&timer).await.is_ok() {
            match silence.check(&finished) {
                CheckOutcome::Fine => {}
                CheckOutcome::Probe => drop(tokio_uring::spawn(probe(Rc::clone(&finished)))),
                CheckOutcome::Refused => finished.give_up(),
            }
        }
    });
    Ok(())
}

async fn probe(finished: Rc<CompletionQueue>) {
    if tokio_uring::no_op().await.is_ok() {
        finished.count_completion();
    }
}

/// Waits for the next expiry of the timer.
async fn tick(timer: &AsyncFd<OwnedFd>) -> io::Result<()> {
    let mut ready = timer.readable().await?;
    let mut expirations = [0; 8];
    // If the timer has not expired, the next wait shows that.
    let _ = nix::unistd::read(timer, &mut expirations);
    ready.clear_ready();
    Ok(())
}

/// What to do after a check.
#[derive(Debug, PartialEq, Eq)]
enum CheckOutcome {
    Fine,
    Probe,
    Refused,
}

/// Measures how long nothing has completed.
#[derive(Debug, Default)]
struct StallDetector {
    completion_count: u64,
    checks: u32,
}

impl StallDetector {
    fn check(&mut self, finished: &CompletionQueue) -> CheckOutcome {
        let completion_count = finished.completion_count();
        if std::mem::replace(&mut self.completion_count, completion_count) != completion_count
            || !finished.is_awaited()
        {
            self.checks = 0;
            return CheckOutcome::Fine;
        }
        self.checks += 1;
        match self.checks {
            1 => CheckOutcome::Probe,
            checks if checks > MAX_SILENT_CHECKS => CheckOutcome::Refused,
            _ => CheckOutcome::Fine,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn silence_is_a_refusal_only_if_something_is_awaited_and_the_probe_does_not_complete() {
        let finished = CompletionQueue::new(4);
        let mut silence = StallDetector::default();
        assert_eq!(
            [(); 9].map(|()| silence.check(&finished)),
            [const { CheckOutcome::Fine }; 9],
            "nothing is awaited"
        );
        finished.simulate_wait();
        let checks = [(); 5].map(|()| silence.check(&finished));
        assert_eq!(
            checks,
            [
                CheckOutcome::Probe,
                CheckOutcome::Fine,
                CheckOutcome::Fine,
                CheckOutcome::Fine,
                CheckOutcome::Refused
            ]
        );
        finished.count_completion();
        assert_eq!(silence.check(&finished), CheckOutcome::Fine, "a device may be slow");
        assert_eq!(silence.check(&finished), CheckOutcome::Probe);
    }
}
