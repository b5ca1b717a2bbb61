//! Waiting for a point in time: asleep, busy, or asleep while it is far and busy for the last stretch that a sleep would overshoot.
//! Each way returns early when the job shall stop.

use std::thread::sleep;
use std::time::Duration;

use ferrio_stats::Clock;

use crate::control::JobControl;

/// A sleep ends up to this much late; what is nearer is spun.
const SPIN_NS: u64 = 70_000;
/// Longest sleep, so that a stop request is seen soon.
const SLICE_NS: u64 = 20_000_000;

/// Returns when the clock shows `ticks`, or earlier when the job shall stop.
pub(crate) fn until(clock: &Clock, ticks: u64, control: &JobControl) {
    loop {
        let left = clock.between(clock.now(), ticks);
        if left == 0 || control.stop_requested() {
            return;
        }
        if left > SPIN_NS {
            sleep(Duration::from_nanos((left - SPIN_NS).min(SLICE_NS)));
        } else {
            std::hint::spin_loop();
        }
    }
}

/// As [`until`], but leaves the CPU alone for the last stretch too and rather comes back a little late.
pub(crate) fn sleep_until(clock: &Clock, ticks: u64, control: &JobControl) {
    loop {
        let left = clock.between(clock.now(), ticks);
        if left == 0 || control.stop_requested() {
            return;
        }
        // What is shorter than the shortest sleep would take twice as long.
        if left > SPIN_NS {
            sleep(Duration::from_nanos(left.min(SLICE_NS)));
        } else {
            std::hint::spin_loop();
        }
    }
}

/// Keeps the CPU busy until the clock shows `ticks`.
pub(crate) fn spin_until(clock: &Clock, ticks: u64, control: &JobControl) {
    while clock.now() < ticks && !control.stop_requested() {
        std::hint::spin_loop();
    }
}
