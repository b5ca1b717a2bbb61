//! I/O under `rate` and `rate_iops`: each waits until it is due, and its response time counts from then on, however late it could be
//! issued.
//!
//! While a job waits, what is in flight goes on and is reaped when it completes: a slow I/O holds nothing back but what needs its
//! place in the queue.

use std::time::Duration;

use ferrio_engine::Engine;
use ferrio_job::{Direction, JobSpec};
use ferrio_stats::Clock;
use ferrio_workload::pacing::Pacer;
use ferrio_workload::{Io, SEEDS, Step};

use super::Issuer;
use crate::control::JobControl;
use crate::failure::Failure;
use crate::timing::Timing;
use crate::waiting::Waiter;

/// Stands for no time.
const NEVER: u64 = u64::MAX;
/// Time between two looks for completions of an engine that cannot wait for them with a limit.
const LOOK: Duration = Duration::from_micros(20);

/// The schedule of a job and when its I/Os were due.
#[derive(Debug)]
pub(super) struct Paced {
    pacer: Pacer,
    waiter: Waiter,
    clock: Clock,
    /// Clock ticks at which the I/O in each unit was due, [`NEVER`] for one without a time.
    due: Box<[u64]>,
    /// The same for the I/O that is issued next.
    next_due: u64,
}

impl Paced {
    /// `None` for a job without rates.
    pub(super) fn new(spec: &JobSpec, entropy: [u64; SEEDS], clock: Clock) -> Option<Box<Self>> {
        let pacer = Pacer::new(spec, entropy)?;
        let due = vec![NEVER; spec.units() as usize].into_boxed_slice();
        Some(Box::new(Paced { pacer, waiter: Waiter::new(clock), clock, due, next_due: NEVER }))
    }

    /// Clock ticks to wait for before the next I/O of this direction is issued. `None` when it may go at `now`: then it is noted when
    /// it was due.
    fn wait_for(&mut self, direction: Direction, timing: &Timing, now: u64) -> Option<u64> {
        if !self.pacer.limits(direction) {
            self.next_due = NEVER;
            return None;
        }
        let since = self.clock.ticks(Duration::from_nanos(self.pacer.due_ns(direction)));
        let due = timing.measuring_since().saturating_add(since);
        if due > now {
            return Some(due);
        }
        self.next_due = due;
        None
    }

    /// The I/O that was waited for is issued in `unit`.
    #[inline]
    pub(super) fn issued(&mut self, unit: u32, io: &Io) {
        self.pacer.issued(io.direction, io.len);
        self.due[unit as usize] = self.next_due;
    }

    /// ns from the moment the I/O in `unit` was due to its end at `now`; `None` for one without a time.
    #[inline]
    pub(super) fn response_ns(&self, unit: u32, now: u64) -> Option<u64> {
        let due = self.due[unit as usize];
        (due != NEVER).then(|| self.clock.between(due, now))
    }

    /// What follows is not on the schedule. Nothing is in flight.
    pub(super) fn forget(&mut self) {
        self.due.fill(NEVER);
    }

    /// The job paused between these clock readings, which is not caught up with.
    pub(super) fn paused(&mut self, timing: &Timing, began: u64, ended: u64) {
        let since = |ticks| timing.measured_ns(&self.clock, ticks);
        self.pacer.paused(since(began), since(ended));
    }

    /// Another pass begins.
    pub(super) fn begin_pass(&mut self) {
        self.pacer.begin_pass();
    }

    /// A new epoch begins (end of the ramp): the schedule starts again, what is in flight keeps its times.
    pub(super) fn restart(&mut self) {
        self.pacer.restart();
    }
}

impl<E: Engine> Issuer<'_, E> {
    /// The next step under a rate limit, after waiting for its time. `None` when the wait was cut short.
    #[cold]
    #[inline(never)]
    pub(super) fn paced_step(&mut self) -> Option<Step> {
        self.now = self.clock.now();
        let since = self.timing.measured_ns(&self.clock, self.now);
        let pacer = &self.paced.as_ref()?.pacer;
        let step = self.workload.next_paced(|direction| pacer.choose(direction, since));
        if let Step::Io(io) = step
            && !self.wait_until_due(io.direction)
        {
            return None;
        }
        Some(step)
    }

    /// Waits until the next I/O of this direction is due. False when the job ends before.
    fn wait_until_due(&mut self, direction: Direction) -> bool {
        loop {
            let Some(paced) = &mut self.paced else { return true };
            let Some(due) = paced.wait_for(direction, &self.timing, self.now) else { return true };
            let milestone = self.timing.next_milestone();
            self.reap_until(due.min(milestone));
            self.now = self.clock.now();
            if self.failure.is_some() || self.stopped() {
                return false;
            }
            // At the end of the ramp the schedule starts again.
            if self.now >= milestone && !self.pass_milestone() {
                return false;
            }
        }
    }

    /// Takes what completes until the clock shows `ticks`, the job fails or main wants something.
    fn reap_until(&mut self, ticks: u64) {
        let control: &JobControl = self.context.control;
        while self.failure.is_none() && !control.wants_something() {
            if !self.retry.is_empty() {
                self.submit_retry();
                continue;
            }
            let Some(paced) = &mut self.paced else { return };
            if self.free.len() == self.depth as usize {
                return paced.waiter.until(ticks, control);
            }
            let now = self.clock.now();
            let left = self.clock.between(now, ticks);
            if left == 0 {
                return;
            }
            match paced.waiter.sleep_for(left) {
                Some(sleep) => self.reap_within(sleep, now),
                None => self.reap(0, self.depth_in_use()),
            }
        }
    }

    /// Takes what is complete, after `sleep` at most; `now` is the clock.
    fn reap_within(&mut self, sleep: Duration, now: u64) {
        self.flush();
        self.done.clear();
        match self.engine.reap_within(sleep, self.depth_in_use(), &mut self.done) {
            Err(e) => self.fail(Failure::from_io(&e, "get_events")),
            Ok(true) if self.done.is_empty() => {
                if let Some(paced) = &mut self.paced {
                    paced.waiter.slept(sleep, self.clock.between(now, self.clock.now()));
                }
            }
            Ok(true) => self.complete_all(),
            Ok(false) => {
                self.reap(0, self.depth_in_use());
                if self.done.is_empty() {
                    std::thread::sleep(sleep.min(LOOK));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use ferrio_job::{PerDirection, ReadWrite};
    use ferrio_stats::Usage;

    use super::*;

    /// A mix of two I/Os in flight in which 1000 reads a second are due, and the clock of a job that began at 1 s.
    fn job() -> (Paced, JobSpec, Timing) {
        let mut spec = JobSpec::bare("a");
        spec.rw = ReadWrite::Mixed;
        spec.engine = ferrio_job::EngineKind::IoUring;
        spec.depth.iodepth = 2;
        spec.rates.iops = PerDirection([1000, 0, 0]);
        let clock = Clock::monotonic();
        let timing = Timing::start(1_000_000_000, &clock, &spec.limits, Usage::default());
        (*Paced::new(&spec, [0; SEEDS], clock).unwrap(), spec, timing)
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
    fn at_the_end_of_the_ramp_the_schedule_begins_anew_and_what_is_in_flight_keeps_its_time() {
        let (mut paced, mut spec, _) = job();
        spec.limits.ramp_time = Duration::from_millis(100);
        let mut timing = Timing::start(at(0), &Clock::monotonic(), &spec.limits, Usage::default());
        for (unit, now) in [(0, at(0)), (1, at(90_000_000))] {
            assert_eq!(paced.wait_for(Direction::Read, &timing, now), None);
            paced.issued(unit, &io(Direction::Read));
        }
        timing.reached(at(100_000_000), Usage::default());
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
        // It began before measuring did, 50 ms of it are behind.
        paced.paused(&timing, at(0) - 50_000_000, at(20_000_000));
        assert_eq!(paced.wait_for(Direction::Read, &timing, at(20_500_000)), None);
        paced.issued(1, &io(Direction::Read));
        assert_eq!(paced.response_ns(1, at(20_500_000)), Some(500_000));
        assert_eq!(paced.wait_for(Direction::Read, &timing, at(20_500_000)), Some(at(21_000_000)));
        paced.forget();
        assert_eq!(paced.response_ns(1, at(20_500_000)), None);
    }
}
