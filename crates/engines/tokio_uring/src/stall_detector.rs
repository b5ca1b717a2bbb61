//! Detects that the kernel refuses further requests.
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

/// Number of checks without any completion, even of a no-op, after which the kernel is taken to refuse requests.
const MAX_SILENT_CHECKS: u32 = 4;

/// Starts a task that watches for a stall as long as the runtime exists. Call only inside the runtime.
pub(crate) fn spawn(completions: Rc<CompletionQueue>) -> io::Result<()> {
    let timer = TimerFd::new(ClockId::CLOCK_MONOTONIC, TimerFlags::TFD_NONBLOCK | TimerFlags::TFD_CLOEXEC)?;
    timer.set(Expiration::Interval(CHECK_INTERVAL.into()), TimerSetTimeFlags::empty())?;
    // SAFETY: the registration takes ownership of the descriptor, so it refers to the timer as long as it is registered.
    let timer = unsafe { AsyncFd::register(OwnedFd::from(timer)) }?;
    tokio_uring::spawn(async move {
        let mut detector = StallDetector::default();
        while tick(&timer).await.is_ok() {
            match detector.check(&completions) {
                CheckOutcome::Fine => {}
                CheckOutcome::Probe => drop(tokio_uring::spawn(probe(Rc::clone(&completions)))),
                CheckOutcome::Refused => completions.give_up(),
            }
        }
    });
    Ok(())
}

async fn probe(completions: Rc<CompletionQueue>) {
    if tokio_uring::no_op().await.is_ok() {
        completions.count_completion();
    }
}

/// Waits for the next expiry of the timer.
async fn tick(timer: &AsyncFd<OwnedFd>) -> io::Result<()> {
    let mut ready = timer.readable().await?;
    let mut expirations = [0; 8];
    // A spurious wake-up is harmless: the read fails, and the next wait blocks.
    let _ = nix::unistd::read(timer, &mut expirations);
    ready.clear_ready();
    Ok(())
}

/// The action that a check requires.
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
    fn check(&mut self, completions: &CompletionQueue) -> CheckOutcome {
        let completion_count = completions.completion_count();
        if std::mem::replace(&mut self.completion_count, completion_count) != completion_count
            || !completions.is_awaited()
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
        let completions = CompletionQueue::new(4);
        let mut detector = StallDetector::default();
        assert_eq!(
            [(); 9].map(|()| detector.check(&completions)),
            [const { CheckOutcome::Fine }; 9],
            "nothing is awaited"
        );
        completions.simulate_wait();
        let checks = [(); 5].map(|()| detector.check(&completions));
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
        completions.count_completion();
        assert_eq!(detector.check(&completions), CheckOutcome::Fine, "a device may be slow");
        assert_eq!(detector.check(&completions), CheckOutcome::Probe);
    }
}
