//! What a job does between two of its I/Os other than I/O: it pauses (`thinktime`, `thinkcycles`), and it looks whether it is as fast
//! as it must be (`rate_min`, `rate_iops_min`).
//!
//! Only jobs that were asked to come here: for all others it is one branch per I/O.

use std::hint::black_box;
use std::time::Duration;

use ferrio_engine::Engine;
use ferrio_job::JobSpec;
use ferrio_stats::Clock;
use ferrio_workload::{RateFloor, Thinker, TooSlow};

use super::Issuer;
use crate::failure::Failure;
use crate::waiting::{self, Waiter};

/// Turns of the empty loop between two looks at the stop request and the clock.
const CYCLES: u32 = 1 << 20;

/// What follows each data I/O of a job.
#[derive(Debug)]
pub(super) struct Between {
    floor: Option<RateFloor>,
    thinker: Option<Thinker>,
    time: Duration,
    spin: Duration,
    cycles: u32,
    /// Pauses are taken out of the schedule of rates.
    shifts_rates: bool,
    /// For the ends of pauses, which are as exact as the beginnings of I/Os.
    waiter: Waiter,
}

impl Between {
    /// `None` for a job that does one I/O right after the other.
    pub(super) fn new(spec: &JobSpec, clock: Clock) -> Option<Box<Self>> {
        let floor = RateFloor::new(spec);
        let thinker = Thinker::new(spec);
        let cycles = spec.think.cycles;
        (floor.is_some() || thinker.is_some() || cycles > 0).then(|| {
            Box::new(Between {
                floor,
                thinker,
                time: spec.think.time,
                spin: spec.think.spin,
                cycles,
                shifts_rates: spec.rates.ignore_thinktime,
                waiter: Waiter::new(clock),
            })
        })
    }

    /// A new epoch begins, with this many I/Os in flight.
    pub(super) fn restart(&mut self, in_flight: u64) {
        if let Some(floor) = &mut self.floor {
            floor.restart();
        }
        if let Some(thinker) = &mut self.thinker {
            thinker.restart(in_flight);
        }
    }
}

impl<E: Engine> Issuer<'_, E> {
    /// A data I/O was issued.
    #[cold]
    #[inline(never)]
    pub(super) fn between_ios(&mut self) {
        let Some(mut between) = self.between.take() else { return };
        if self.failure.is_none() {
            self.burn(between.cycles);
            self.now = self.clock.now();
            let since = self.timing.measured_ns(&self.clock, self.now);
            if let Some(floor) =
                between.floor.as_mut().filter(|floor| floor.due(since) && !self.timing.in_ramp())
            {
                self.look_at(floor, since);
            }
            let in_flight = self.data_in_flight();
            if between.thinker.as_mut().is_some_and(|thinker| thinker.issued(in_flight, since)) {
                self.pause(&mut between);
            }
        }
        self.between = Some(between);
    }

    /// Ends a job that was slower than its minimum.
    fn look_at(&mut self, floor: &mut RateFloor, since: u64) {
        let [bytes, ios] =
            [self.directions.each_ref().map(|d| d.bytes), self.directions.each_ref().map(|d| d.ios)];
        let message = match floor.check(since, bytes, ios) {
            None => return,
            Some(TooSlow::Bytes { wanted, got }) => {
                format!("rate_min={wanted}B/s not met, got {got}B/s")
            }
            Some(TooSlow::Ios { wanted, got }) => {
                format!("rate_iops_min={wanted} not met, got {got} IOPS")
            }
        };
        self.fail(Failure::new(libc::EIO, "check_min_rate").job_note("rate-below-minimum", message));
    }

    /// Data I/Os that were issued and not completed.
    pub(super) fn data_in_flight(&self) -> u64 {
        u64::from(self.depth) - self.free.len() as u64 - u64::from(self.syncs_in_flight)
    }

    /// Waits for everything in flight, then does nothing for the length of a pause; run time and stop requests cut it.
    fn pause(&mut self, between: &mut Between) {
        self.drain();
        let began = self.clock.now();
        let spun = began.saturating_add(self.clock.ticks(between.spin));
        let over = began.saturating_add(self.clock.ticks(between.time));
        while self.failure.is_none() && !self.stopped() {
            let stop = self.timing.next_milestone();
            waiting::spin_until(&self.clock, spun.min(stop), self.context.control);
            between.waiter.until(over.min(stop), self.context.control);
            self.now = self.clock.now();
            if self.now >= over {
                break;
            }
            // The ramp may end in a pause, which then goes on.
            if self.now >= stop {
                if !self.pass_milestone() {
                    break;
                }
                between.restart(0);
            }
        }
        if between.shifts_rates
            && let Some(paced) = &mut self.paced
        {
            paced.paused(&self.timing, began, self.now);
        }
    }

    /// Runs an empty loop; run time and stop requests cut it.
    fn burn(&mut self, cycles: u32) {
        let over = if self.timing.in_ramp() { u64::MAX } else { self.timing.next_milestone() };
        let mut left = cycles;
        while left > 0 && !self.stopped() && self.clock.now() < over {
            let turns = left.min(CYCLES);
            (0..turns).for_each(|turn| {
                black_box(turn);
            });
            left -= turns;
        }
    }
}
