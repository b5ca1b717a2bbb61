//! `rate_min` and `rate_iops_min`: checks whether a job is as fast as it must be.
//!
//! Checked after I/Os, as in fio: not in the first two seconds, then once a cycle, each time against the average since the previous check.
//! Unlike in fio, the end of the run time is a check too, so that a pause or a slow I/O does not hide the last cycle.
//!
//! All times are ns since the job's epoch, as in [`crate::rate`].

use ferrio_job::{Direction, JobSpec};

/// Time in which a job must reach its speed.
const GRACE_NS: u64 = 2_000_000_000;

/// The minimum rates of a job, and its progress at the last check.
#[derive(Clone, Debug)]
pub struct MinRate {
    /// Bytes per second, 0 for no minimum.
    bytes: [u64; 3],
    /// I/Os per second, 0 for no minimum.
    ios: [u64; 3],
    cycle_ns: u64,
    /// Time of the next check.
    due_ns: u64,
    last: Option<RateCheck>,
}

#[derive(Clone, Copy, Debug)]
struct RateCheck {
    at_ns: u64,
    bytes: [u64; 3],
    ios: [u64; 3],
}

/// A minimum that was missed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MissedRate {
    /// `rate_min`, bytes per second.
    Bytes {
        /// The required rate.
        wanted: u64,
        /// The measured rate.
        got: u64,
    },
    /// `rate_iops_min`, I/Os per second.
    Ios {
        /// The required rate.
        wanted: u64,
        /// The measured rate.
        got: u64,
    },
}

impl MinRate {
    /// The minimum rates of `spec`; `None` if no direction in use has one.
    #[must_use]
    pub fn new(spec: &JobSpec) -> Option<Self> {
        let used =
            |values: [u64; 3]| Direction::ALL.map(|d| if spec.rw.does(d) { values[d as usize] } else { 0 });
        let (bytes, ios) = (used(spec.rates.min_bytes.0), used(spec.rates.min_iops.0));
        let any = bytes.iter().chain(&ios).any(|&minimum| minimum > 0);
        let cycle_ns = u64::try_from(spec.rates.cycle.as_nanos()).unwrap_or(u64::MAX);
        any.then_some(MinRate { bytes, ios, cycle_ns, due_ns: GRACE_NS, last: None })
    }

    /// Whether [`MinRate::check`] is due.
    #[inline]
    #[must_use]
    pub fn due(&self, now_ns: u64) -> bool {
        now_ns >= self.due_ns
    }

    /// Whether the run time ends late enough after a check for another one: half a cycle.
    #[must_use]
    pub fn due_at_end(&self, now_ns: u64) -> bool {
        self.last.is_some_and(|last| now_ns.saturating_sub(last.at_ns) >= self.cycle_ns / 2)
    }

    /// Compares the progress of each direction with the last check. The first check only records it.
    pub fn check(&mut self, now_ns: u64, bytes: [u64; 3], ios: [u64; 3]) -> Option<MissedRate> {
        let check = RateCheck { at_ns: now_ns, bytes, ios };
        self.due_ns = now_ns.saturating_add(self.cycle_ns);
        let last = self.last.replace(check)?;
        let ms = (now_ns - last.at_ns) / 1_000_000;
        if ms == 0 {
            return None;
        }
        let per_second = |now: u64, before: u64| {
            u64::try_from(u128::from(now - before) * 1000 / u128::from(ms)).unwrap_or(u64::MAX)
        };
        (0..3).filter(|&d| bytes[d] > 0).find_map(|d| {
            let (moved, done) = (per_second(bytes[d], last.bytes[d]), per_second(ios[d], last.ios[d]));
            if moved < self.bytes[d] {
                Some(MissedRate::Bytes { wanted: self.bytes[d], got: moved })
            } else if done < self.ios[d] {
                Some(MissedRate::Ios { wanted: self.ios[d], got: done })
            } else {
                None
            }
        })
    }

    /// Begins a new epoch at the end of the ramp.
    pub fn restart(&mut self) {
        self.due_ns = GRACE_NS;
        self.last = None;
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use ferrio_job::PerDirection;

    use super::*;
    use crate::tests::support::job;

    const SECOND: u64 = 1_000_000_000;

    fn min_rate(bytes: u64, ios: u64) -> Option<MinRate> {
        let mut spec = job();
        spec.rates.min_bytes = PerDirection([bytes, 5, 5]);
        spec.rates.min_iops = PerDirection([ios, 0, 0]);
        spec.rates.cycle = Duration::from_millis(1000);
        MinRate::new(&spec)
    }

    #[test]
    fn the_end_of_the_run_time_is_a_check_if_half_a_cycle_has_passed() {
        let mut minimum = min_rate(4096, 0).unwrap();
        assert!(!minimum.due_at_end(9 * SECOND), "there is nothing to compare with");
        assert_eq!(minimum.check(2 * SECOND, [4096, 0, 0], [1, 0, 0]), None);
        assert!(!minimum.due_at_end(5 * SECOND / 2 - 1));
        assert!(minimum.due_at_end(5 * SECOND / 2));
    }

    #[test]
    fn minimums_of_directions_the_job_does_not_use_ask_nothing() {
        assert!(min_rate(0, 0).is_none());
        assert!(min_rate(1, 0).is_some() && min_rate(0, 1).is_some());
    }

    #[test]
    fn the_first_check_after_two_seconds_only_records_and_the_next_one_judges_the_cycle() {
        let mut min_rate = min_rate(92_160, 0).unwrap();
        assert!(!min_rate.due(2 * SECOND - 1));
        assert!(min_rate.due(2 * SECOND));
        assert_eq!(min_rate.check(2 * SECOND, [1 << 30, 0, 0], [9, 0, 0]), None);
        assert!(!min_rate.due(3 * SECOND - 1));
        let after = (1 << 30) + 40_960;
        let slow = MissedRate::Bytes { wanted: 92_160, got: 40_960 };
        assert_eq!(min_rate.check(3 * SECOND, [after, 0, 0], [19, 0, 0]), Some(slow));
    }

    #[test]
    fn ios_are_judged_over_the_time_that_passed() {
        let mut min_rate = min_rate(0, 90).unwrap();
        min_rate.check(2 * SECOND, [1, 0, 0], [100, 0, 0]);
        assert_eq!(min_rate.check(4 * SECOND, [2, 0, 0], [280, 0, 0]), None, "exactly the minimum");
        let slow = MissedRate::Ios { wanted: 90, got: 50 };
        assert_eq!(min_rate.check(5 * SECOND, [3, 0, 0], [330, 0, 0]), Some(slow));
        min_rate.restart();
        assert!(!min_rate.due(SECOND));
        assert_eq!(min_rate.check(2 * SECOND, [4, 0, 0], [331, 0, 0]), None);
    }
}
