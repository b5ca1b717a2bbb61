//! How long the main thread ("main") waits for jobs that a signal has told to end. Time in which a thread of the run or a command waits
//! for a CPU is not counted: jobs that do not get to run are not stuck.

use std::time::{Duration, Instant};

use ferrio_machine::CpuWaits;

/// Time after the first signal until the user is told which jobs go on.
const HINT_TIMEOUT: Duration = Duration::from_secs(3);

/// Time for jobs to end after the second signal, not counting waits for a CPU.
const END_TIMEOUT: Duration = Duration::from_secs(2);
/// Time for jobs to end after the second signal, counting all waits.
const MAX_TOTAL_TIME: Duration = Duration::from_secs(60);
/// Time between two readings of these waits.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// How long main waits for jobs that a signal has told to end.
#[derive(Debug, Default)]
pub(super) enum EndDeadline {
    /// There was no signal.
    #[default]
    Unlimited,
    /// After one signal. At this time, the user is told which jobs have not ended.
    UntilHint(Instant),
    /// After one signal, and the user was told.
    UntilSignal,
    /// After another signal. When this time is over, the run ends without them.
    UntilEnd(RemainingTime),
    /// The run ends without them.
    Over,
}

/// Time that jobs have to end.
#[derive(Debug)]
pub(super) struct RemainingTime {
    /// The rest of [`END_TIMEOUT`].
    left: Duration,
    /// The rest of [`MAX_TOTAL_TIME`].
    total_left: Duration,
    waits: CpuWaits,
    /// The time was over at the last reading. One more is made: main may have waited for a CPU too and not have seen yet that jobs ended.
    was_over: bool,
}

impl RemainingTime {
    fn new() -> Self {
        RemainingTime {
            left: END_TIMEOUT,
            total_left: MAX_TOTAL_TIME,
            waits: CpuWaits::begin(),
            was_over: false,
        }
    }

    /// Returns how long main may sleep, `None` when the time is over.
    pub(super) fn poll(&mut self) -> Option<Duration> {
        let (passed, waited) = self.waits.poll();
        self.deduct(passed, waited)
    }

    /// Takes off time that has `passed`, during some of which a thread `waited` for a CPU.
    fn deduct(&mut self, passed: Duration, waited: Duration) -> Option<Duration> {
        self.left = self.left.saturating_sub(passed.saturating_sub(waited));
        self.total_left = self.total_left.saturating_sub(passed);
        let left = self.left.min(self.total_left).min(POLL_INTERVAL);
        let was_over = std::mem::replace(&mut self.was_over, left.is_zero());
        (!(was_over && left.is_zero())).then_some(left)
    }
}

impl EndDeadline {
    /// A signal told all jobs to end.
    pub(super) fn signal(&mut self, now: Instant) {
        match *self {
            EndDeadline::Unlimited => *self = EndDeadline::UntilHint(now + HINT_TIMEOUT),
            EndDeadline::UntilHint(_) | EndDeadline::UntilSignal => {
                *self = EndDeadline::UntilEnd(RemainingTime::new())
            }
            EndDeadline::UntilEnd(_) | EndDeadline::Over => {}
        }
    }

    /// True if the run ends without the jobs that have not ended.
    pub(super) const fn is_over(&self) -> bool {
        matches!(self, EndDeadline::Over)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: fn(u64) -> Duration = Duration::from_millis;

    #[test]
    fn jobs_have_their_time_without_the_waits_for_a_cpu_and_main_looks_once_more() {
        let mut time = RemainingTime::new();
        assert_eq!(time.deduct(MS(1950), MS(0)), Some(MS(50)));
        assert_eq!(time.deduct(MS(900), MS(880)), Some(MS(30)));
        assert_eq!(time.deduct(MS(100), MS(100)), Some(MS(30)));
        // Main slept too long: what came meanwhile is handled first.
        assert_eq!(time.deduct(MS(5000), MS(0)), Some(MS(0)));
        assert_eq!(time.deduct(MS(1), MS(0)), None);
    }

    #[test]
    fn jobs_that_never_get_a_cpu_do_not_hold_the_run_for_ever() {
        let mut time = RemainingTime::new();
        let looks = (0..10_000).take_while(|_| time.deduct(MS(100), MS(100)).is_some()).count();
        assert_eq!(looks, 600);
    }
}
