//! Work after the issue of an I/O: pauses (`thinktime`, `thinkcycles`), and the check whether the job is as fast as it must be (`rate_min`,
//! `rate_iops_min`).

use std::hint::black_box;

use ferrio_engine::Engine;
use ferrio_workload::{MinRate, MissedRate};

use super::IoLoop;
use super::hooks::AfterIssue;
use crate::failure::Failure;
use crate::waiting;

/// Turns of the empty loop between two checks of the stop request and the clock.
const CYCLES: u32 = 1 << 20;

impl<E: Engine> IoLoop<'_, E> {
    /// A data I/O was issued.
    #[cold]
    #[inline(never)]
    pub(super) fn after_issue(&mut self) {
        let Some(mut after_issue) = self.hooks.after_issue.take() else { return };
        if self.failure.is_none() {
            self.burn(self.spec.think.cycles);
            self.meter.now = self.meter.clock.now();
            let since = self.meter.measured_ns();
            if let Some(minimum) = &mut after_issue.minimum
                && minimum.due(since)
                && !self.meter.timing.in_ramp()
            {
                self.check_minimum_rate(minimum, since);
            }
            let in_flight = self.slots.data_in_flight();
            if after_issue.thinker.as_mut().is_some_and(|thinker| thinker.issued(in_flight, since)) {
                self.pause(&mut after_issue);
            }
        }
        self.hooks.after_issue = Some(after_issue);
    }

    /// The check of the minimum rate at the end of the run time.
    pub(super) fn check_minimum_rate_at_end(&mut self) {
        self.meter.now = self.meter.clock.now();
        if self.failure.is_some() || self.must_end() || !self.meter.timing.is_over(self.meter.now) {
            return;
        }
        let Some(mut after_issue) = self.hooks.after_issue.take() else { return };
        let since = self.meter.measured_ns();
        if let Some(minimum) = after_issue.minimum.as_mut().filter(|minimum| minimum.due_at_end(since)) {
            self.check_minimum_rate(minimum, since);
        }
        self.hooks.after_issue = Some(after_issue);
    }

    /// Ends a job that was slower than its minimum.
    fn check_minimum_rate(&mut self, minimum: &mut MinRate, since: u64) {
        let directions = self.meter.directions.each_ref();
        let (bytes, ios) =
            (directions.map(|direction| direction.bytes), directions.map(|direction| direction.ios));
        let message = match minimum.check(since, bytes, ios) {
            None => return,
            Some(MissedRate::Bytes { wanted, got }) => format!("rate_min={wanted}B/s not met, got {got}B/s"),
            Some(MissedRate::Ios { wanted, got }) => {
                format!("rate_iops_min={wanted} not met, got {got} IOPS")
            }
        };
        self.fail(Failure::new(libc::EIO, "check_min_rate").job_note("rate-below-minimum", message));
    }

    /// Waits for everything in flight, then does nothing for the length of a pause; run time and stop requests cut it.
    fn pause(&mut self, after_issue: &mut AfterIssue) {
        self.drain();
        let began = self.meter.clock.now();
        let spun = began.saturating_add(self.meter.clock.ticks(self.spec.think.spin));
        let time = self.engine.think_time().unwrap_or(self.spec.think.time);
        let over = began.saturating_add(self.meter.clock.ticks(time));
        while self.failure.is_none() && !self.must_end() {
            let stop = self.meter.timing.next_milestone();
            waiting::spin_until(&self.meter.clock, spun.min(stop), self.context.control);
            after_issue.waiter.until(over.min(stop), self.context.control);
            self.meter.now = self.meter.clock.now();
            if self.meter.now >= over {
                break;
            }
            // The ramp may end in a pause, which then goes on.
            if self.meter.now >= stop {
                if !self.pass_milestone() {
                    break;
                }
                after_issue.restart(0);
            }
        }
        // Pauses do not count in the schedule then.
        if self.spec.rates.ignore_thinktime
            && let Some(rates) = &mut self.hooks.rates
        {
            rates.paused(&self.meter.timing, began, self.meter.now);
        }
    }

    /// Runs an empty loop; run time and stop requests cut it.
    fn burn(&mut self, cycles: u32) {
        let over = if self.meter.timing.in_ramp() { u64::MAX } else { self.meter.timing.next_milestone() };
        let mut left = cycles;
        while left > 0 && !self.must_end() && self.meter.clock.now() < over {
            let turns = left.min(CYCLES);
            (0..turns).for_each(|turn| {
                black_box(turn);
            });
            left -= turns;
        }
    }
}
