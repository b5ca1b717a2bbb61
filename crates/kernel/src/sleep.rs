//! Sleeping without the standard library's own sleep, which panics if the kernel or a filter refuses the call.

use std::thread;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::sys::time::TimeSpec;
use nix::time::{ClockId, ClockNanosleepFlags, clock_nanosleep};

/// Returns after this time at the earliest.
pub fn sleep(time: Duration) {
    let began = Instant::now();
    loop {
        let Some(left) = time.checked_sub(began.elapsed()).filter(|left| !left.is_zero()) else { return };
        match clock_nanosleep(
            ClockId::CLOCK_MONOTONIC,
            ClockNanosleepFlags::empty(),
            &TimeSpec::from_duration(left),
        ) {
            Ok(_) => return,
            Err(Errno::EINTR) => {}
            // Waits for a futex.
            Err(_) => thread::park_timeout(left),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sleep_is_not_over_early() {
        for time in [Duration::ZERO, Duration::from_nanos(1), Duration::from_millis(2)] {
            let began = Instant::now();
            sleep(time);
            assert!(began.elapsed() >= time);
        }
    }
}
