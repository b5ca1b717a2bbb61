//! Waiting for a point in time: asleep, busy, or asleep while it is far and busy for the last stretch that a sleep would overshoot.
//! Each way returns early if the main thread asks the job to stop or to report.
//!
//! The cost of a busy stretch is bounded: the job learns while it runs how late sleeps end, and the stretch is that long, 5 to 200 us,
//! plus at most 10 us. A job whose I/Os are due at shorter intervals keeps its CPU busy all the time.

use std::time::Duration;

use ferrio_kernel::sleep;
use ferrio_stats::Clock;

use crate::control::JobControl;

/// Longest sleep, so that a request is seen soon.
const MAX_SLEEP_NS: u64 = 20_000_000;
/// First estimate of how late sleeps end.
const FIRST_ESTIMATE_NS: u64 = 60_000;
/// Bounds of the estimate.
const LATE_NS: std::ops::RangeInclusive<u64> = 5_000..=200_000;
/// Shorter waits are spun, not slept.
const MIN_SLEEP_NS: u64 = 10_000;
/// A sleep that ends later than estimated raises the estimate by the difference divided by this.
const LATE_DIVISOR: u64 = 4;
/// A sleep that ends earlier lowers the estimate by the difference divided by this: about one sleep in twenty ends later than estimated.
const EARLY_DIVISOR: u64 = 64;
/// Used instead of [`EARLY_DIVISOR`] for the replay of logs, where at least 99 % of waits must end on time: more of each wait is spun.
const PUNCTUAL_EARLY_DIVISOR: u64 = 2048;

/// Waits that end on time.
#[derive(Debug)]
pub(crate) struct Waiter {
    clock: Clock,
    /// Lateness of sleeps in ns.
    late_ns: u64,
    early_divisor: u64,
}

impl Waiter {
    /// A waiter for the calling thread, whose timer slack becomes the smallest that the kernel has.
    pub(crate) fn new(clock: Clock) -> Self {
        // This cannot fail. If it did, sleeps would end 50 us later, and the estimate would adapt.
        let _ = nix::sys::prctl::set_timerslack(1);
        Waiter { clock, late_ns: FIRST_ESTIMATE_NS, early_divisor: EARLY_DIVISOR }
    }

    /// A waiter for the replay of a log, with which at least 99 % of waits end on time.
    pub(crate) fn punctual(clock: Clock) -> Self {
        Waiter { early_divisor: PUNCTUAL_EARLY_DIVISOR, ..Waiter::new(clock) }
    }

    /// Time to sleep when `left_ns` are left; `None` if the rest has to be spun.
    #[inline]
    pub(crate) fn sleep_for(&self, left_ns: u64) -> Option<Duration> {
        let ns = left_ns.saturating_sub(self.late_ns);
        (ns >= MIN_SLEEP_NS).then(|| Duration::from_nanos(ns.min(MAX_SLEEP_NS)))
    }

    /// Adapts the estimate to a sleep of `asked` that took `took_ns`. A sleep that ended early, interrupted, is ignored.
    pub(crate) fn slept(&mut self, asked: Duration, took_ns: u64) {
        let Some(late) = took_ns.checked_sub(asked.as_nanos() as u64) else { return };
        let late = late.clamp(*LATE_NS.start(), *LATE_NS.end());
        if late > self.late_ns {
            self.late_ns += (late - self.late_ns) / LATE_DIVISOR;
        } else {
            self.late_ns -= (self.late_ns - late) / self.early_divisor;
        }
    }

    /// Returns when the clock shows `ticks`, or earlier when main wants something.
    pub(crate) fn until(&mut self, ticks: u64, control: &JobControl) {
        loop {
            let now = self.clock.now();
            let left = self.clock.between(now, ticks);
            if left == 0 || control.wants_something() {
                return;
            }
            match self.sleep_for(left) {
                Some(asked) => {
                    sleep(asked);
                    self.slept(asked, self.clock.between(now, self.clock.now()));
                }
                None => std::hint::spin_loop(),
            }
        }
    }
}

/// Returns when the clock shows `ticks`, a little later, or earlier if main wants something. Never spins, however near the time is: the
/// caller waits for other threads, which need the CPU.
pub(crate) fn sleep_until(clock: &Clock, ticks: u64, control: &JobControl) {
    loop {
        let left = clock.between(clock.now(), ticks);
        if left == 0 || control.wants_something() {
            return;
        }
        sleep(Duration::from_nanos(left.min(MAX_SLEEP_NS)));
    }
}

/// Keeps the CPU busy until the clock shows `ticks`.
pub(crate) fn spin_until(clock: &Clock, ticks: u64, control: &JobControl) {
    while clock.now() < ticks && !control.wants_something() {
        std::hint::spin_loop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waiter() -> Waiter {
        Waiter::new(Clock::monotonic())
    }

    /// The guess after `count` sleeps that ended as late as `late_ns` says.
    fn guess(late_ns: impl Fn(u32) -> u64, count: u32) -> u64 {
        let mut waiter = waiter();
        let asked = Duration::from_millis(1);
        (0..count).for_each(|i| waiter.slept(asked, 1_000_000 + late_ns(i)));
        waiter.late_ns
    }

    #[test]
    fn a_wait_is_never_over_too_early_and_a_sleep_leaves_what_it_may_overshoot() {
        let mut waiter = waiter();
        let control = JobControl::default();
        for us in [0, 3, 50, 300, 2000] {
            let due = waiter.clock.now() + waiter.clock.ticks(Duration::from_micros(us));
            waiter.until(due, &control);
            assert!(waiter.clock.now() >= due, "{us} us");
        }
        waiter.late_ns = 60_000;
        assert_eq!(waiter.sleep_for(69_999), None);
        assert_eq!(waiter.sleep_for(100_000), Some(Duration::from_micros(40)));
        assert_eq!(waiter.sleep_for(u64::MAX), Some(Duration::from_nanos(MAX_SLEEP_NS)));
    }

    #[test]
    fn a_request_ends_a_wait() {
        for request in [JobControl::request_stop, JobControl::request_figures] {
            let control = JobControl::default();
            request(&control);
            waiter().until(u64::MAX, &control);
            sleep_until(&Clock::monotonic(), u64::MAX, &control);
            spin_until(&Clock::monotonic(), u64::MAX, &control);
        }
    }

    #[test]
    fn the_shortest_wait_for_others_leaves_them_the_cpu() {
        use nix::sys::resource::{UsageWho, getrusage};

        let sleeps = || getrusage(UsageWho::RUSAGE_THREAD).unwrap().voluntary_context_switches();
        let (clock, before) = (Clock::monotonic(), sleeps());
        // A thread that loses its CPU before a wait may find it over.
        for _ in 0..200 {
            sleep_until(&clock, clock.now() + clock.ticks(Duration::from_micros(20)), &JobControl::default());
        }
        assert!(sleeps() - before >= 20);
    }

    #[test]
    fn a_punctual_guess_covers_what_is_late_once_in_two_hundred() {
        let asked = Duration::from_millis(1);
        let guess = |mut waiter: Waiter| {
            let late = |i| if i % 200 == 199 { 80_000 } else { 20_000 };
            (0..20_000).for_each(|i| waiter.slept(asked, 1_000_000 + late(i)));
            waiter.late_ns
        };
        let (usual, punctual) = (guess(waiter()), guess(Waiter::punctual(Clock::monotonic())));
        assert!(punctual > 60_000 && usual < 50_000, "{usual} and {punctual}");
    }

    #[test]
    fn the_guess_follows_how_late_sleeps_end_within_its_bounds() {
        assert!(guess(|_| 30_000, 2000).abs_diff(30_000) < 100);
        assert!(guess(|_| 0, 2000).abs_diff(5_000) < 100);
        assert!(guess(|_| 7_000_000, 100).abs_diff(200_000) < 100);
        let mut interrupted = waiter();
        interrupted.slept(Duration::from_millis(1), 999_999);
        assert_eq!(interrupted.late_ns, FIRST_ESTIMATE_NS);
        let mostly = guess(|i| if i % 100 == 99 { 9_000_000 } else { 30_000 }, 2099);
        assert!(mostly < 60_000, "an occasional late one does not make all others spin: {mostly}");
    }
}
