//! The schedule of `rate` and `rate_iops`: when each I/O is due, and when the ones in flight were. Response times count from
//! then, even if an I/O could be issued only later.

use std::time::Duration;

use ferrio_job::{Direction, JobSpec};
use ferrio_stats::Clock;
use ferrio_workload::rate::RatePacer;
use ferrio_workload::{Io, SEEDS};

use crate::timing::Timing;
use crate::waiting::Waiter;

/// Stands for no time.
const NEVER: u64 = u64::MAX;

/// The schedule of a job and when its I/Os were due.
#[derive(Debug)]
pub(crate) struct RateSchedule {
    pub(crate) pacer: RatePacer,
    pub(crate) waiter: Waiter,
    clock: Clock,
    /// Clock ticks at which the I/O in each unit was due, [`NEVER`] for one without a time.
    due: Box<[u64]>,
    /// Clock ticks at which the I/O that is issued next is due.
    next_due: u64,
}

impl RateSchedule {
    /// `None` for a job without rates.
    pub(crate) fn new(spec: &JobSpec, entropy: [u64; SEEDS], clock: Clock) -> Option<Box<Self>> {
        let pacer = RatePacer::new(spec, entropy)?;
        let due = vec![NEVER; spec.units() as usize].into_boxed_slice();
        Some(Box::new(RateSchedule { pacer, waiter: Waiter::new(clock), clock, due, next_due: NEVER }))
    }

    /// Clock ticks to wait for before the next I/O of this direction is issued. `None` when it may go at `now`: then it is noted when
    /// it was due.
    pub(crate) fn wait_for(&mut self, direction: Direction, timing: &Timing, now: u64) -> Option<u64> {
        if !self.pacer.limits(direction) {
            self.next_due = NEVER;
            return None;
        }
        let since = self.clock.ticks(Duration::from_nanos(self.pacer.due_ns(direction)));
        let due = timing.measuring_since.saturating_add(since);
        if due > now {
            return Some(due);
        }
        self.next_due = due;
        None
    }

    /// The I/O that was waited for is issued in `unit`.
    #[inline]
    pub(crate) fn issued(&mut self, unit: u32, io: &Io) {
        self.pacer.issued(io.direction, io.len);
        self.due[unit as usize] = self.next_due;
    }

    /// ns from the moment the I/O in `unit` was due to its end at `now`; `None` for one without a time.
    #[inline]
    pub(crate) fn response_ns(&self, unit: u32, now: u64) -> Option<u64> {
        let due = self.due[unit as usize];
        (due != NEVER).then(|| self.clock.between(due, now))
    }

    /// The I/O that is issued in `unit` is not on the schedule.
    pub(crate) fn is_unscheduled(&mut self, unit: u32) {
        self.due[unit as usize] = NEVER;
    }

    /// Excludes a pause between these clock readings, which is not caught up with.
    pub(crate) fn paused(&mut self, timing: &Timing, began: u64, ended: u64) {
        let since = |ticks| timing.measured_ns(&self.clock, ticks);
        self.pacer.paused(since(began), since(ended));
    }

    /// Another pass begins.
    pub(crate) fn begin_pass(&mut self) {
        self.pacer.begin_pass();
    }

    /// A new epoch begins (end of the ramp): the schedule starts again, what is in flight keeps its times.
    pub(crate) fn restart(&mut self) {
        self.pacer.restart();
    }
}

#[cfg(test)]
mod tests {
    use ferrio_job::{PerDirection, ReadWrite};
    use ferrio_plan::testing::default_job;
    use ferrio_stats::ThreadUsage;

    use super::*;

    /// A mix of two I/Os in flight in which 1000 reads a second are due, and the clock of a job that began at 1 s.
    fn job() -> (RateSchedule, JobSpec, Timing) {
        let mut spec = default_job("a");
        spec.rw = ReadWrite::Mixed;
        spec.engine = ferrio_job::EngineKind::IoUring;
        spec.depth.iodepth = 2;
        spec.rates.iops = PerDirection([1000, 0, 0]);
        let clock = Clock::monotonic();
        let timing = Timing::start(1_000_000_000, &clock, &spec, ThreadUsage::default());
        (*RateSchedule::new(&spec, [0; SEEDS], clock).unwrap(), spec, timing)
    }

    const fn io(direction: Direction) -> Io {
        Io { direction, file: 0, offset: 0, len: 4096 }
    }

    /// ns after the start of the job.
    const fn at(ns: u64) -> u64 {
        1_000_000_000 + ns
    }

    #[test]
    fn response_times_count_from_when_an_io_was_due_however_late_it_was_issued() {
        let (mut paced, _, timing) = job();
        assert_eq!(paced.wait_for(Direction::Read, &timing, at(40_000)), None, "the first is due at once");
        paced.issued(0, &io(Direction::Read));
        assert_eq!(paced.wait_for(Direction::Read, &timing, at(50_000)), Some(at(1_000_000)));
        assert_eq!(paced.wait_for(Direction::Read, &timing, at(1_000_000)), None);
        paced.issued(1, &io(Direction::Read));
        // The first one stalls; so the next two are issued after 9 ms.
        assert_eq!(paced.response_ns(1, at(1_020_000)), Some(20_000));
        assert_eq!(paced.response_ns(0, at(9_000_000)), Some(9_000_000));
        for (unit, response_ns) in [(0, 7_100_000), (1, 6_100_000)] {
            assert_eq!(paced.wait_for(Direction::Read, &timing, at(9_000_000)), None);
            paced.issued(unit, &io(Direction::Read));
            assert_eq!(paced.response_ns(unit, at(9_100_000)), Some(response_ns));
        }
    }

    #[test]
    fn a_direction_without_a_rate_goes_at_once_and_has_no_response_time() {
        let (mut paced, _, timing) = job();
        paced.wait_for(Direction::Read, &timing, at(0));
        paced.issued(0, &io(Direction::Read));
        assert_eq!(paced.wait_for(Direction::Write, &timing, at(0)), None);
        paced.issued(0, &io(Direction::Write));
        assert_eq!(paced.response_ns(0, at(5)), None);
    }

    #[test]
    fn at_the_end_of_the_ramp_the_schedule_starts_again_and_what_is_in_flight_keeps_its_time() {
        let (mut paced, mut spec, _) = job();
        spec.limits.ramp_time = Duration::from_millis(100);
        let mut timing = Timing::start(at(0), &Clock::monotonic(), &spec, ThreadUsage::default());
        for (unit, now) in [(0, at(0)), (1, at(90_000_000))] {
            assert_eq!(paced.wait_for(Direction::Read, &timing, now), None);
            paced.issued(unit, &io(Direction::Read));
        }
        timing.reached(at(100_000_000), ThreadUsage::default());
        paced.restart();
        assert_eq!(paced.response_ns(1, at(101_000_000)), Some(100_000_000));
        assert_eq!(paced.wait_for(Direction::Read, &timing, at(101_000_000)), None);
        paced.issued(0, &io(Direction::Read));
        assert_eq!(paced.response_ns(0, at(101_000_000)), Some(1_000_000));
        assert_eq!(paced.wait_for(Direction::Read, &timing, at(100_100_000)), Some(at(101_000_000)));
    }

    #[test]
    fn a_pause_over_the_end_of_the_ramp_is_taken_out_as_far_as_the_schedule_saw_it() {
        let (mut paced, _, timing) = job();
        paced.wait_for(Direction::Read, &timing, at(0));
        paced.issued(0, &io(Direction::Read));
        // It began 50 ms before measuring did.
        paced.paused(&timing, at(0) - 50_000_000, at(20_000_000));
        assert_eq!(paced.wait_for(Direction::Read, &timing, at(20_500_000)), None);
        paced.issued(1, &io(Direction::Read));
        assert_eq!(paced.response_ns(1, at(20_500_000)), Some(500_000));
        assert_eq!(paced.wait_for(Direction::Read, &timing, at(20_500_000)), Some(at(21_000_000)));
        paced.is_unscheduled(1);
        assert_eq!(paced.response_ns(1, at(20_500_000)), None);
    }
}
