//! Waiting under `rate` and `rate_iops`: each I/O is issued once it is due by the job's [`RateSchedule`](crate::rate_schedule).
//!
//! While a job waits, what is in flight goes on and is reaped when it completes: a slow I/O delays only what needs its place in
//! the queue.

use std::time::Duration;

use ferrio_engine::Engine;
use ferrio_job::Direction;
use ferrio_workload::Step;

use super::IoLoop;
use crate::control::JobControl;
use crate::failure::Failure;

/// Time between two polls of an engine that cannot wait for completions with a limit.
const LOOK: Duration = Duration::from_micros(20);

impl<E: Engine> IoLoop<'_, E> {
    /// A step under a rate limit, once it is due. False when the pass is over.
    #[cold]
    #[inline(never)]
    pub(super) fn perform_when_due(&mut self) -> bool {
        // Without a step the wait was cut short.
        self.next_when_due().is_none_or(|step| self.perform(step))
    }

    /// The next step under a rate limit, after waiting for its time. `None` when the wait was cut short.
    pub(super) fn next_when_due(&mut self) -> Option<Step> {
        self.meter.now = self.meter.clock.now();
        let since = self.meter.measured_ns();
        let pacer = &self.hooks.rates.as_ref()?.pacer;
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
            let Some(rates) = &mut self.hooks.rates else { return true };
            let Some(due) = rates.wait_for(direction, &self.meter.timing, self.meter.now) else {
                return true;
            };
            let milestone = self.meter.timing.next_milestone();
            self.reap_until(due.min(milestone));
            self.meter.now = self.meter.clock.now();
            if self.failure.is_some() || self.stopped() {
                return false;
            }
            // At the end of the ramp the schedule starts again.
            if self.meter.now >= milestone && !self.pass_milestone() {
                return false;
            }
        }
    }

    /// Takes what completes until the clock shows `ticks`, the job fails or main wants something.
    pub(super) fn reap_until(&mut self, ticks: u64) {
        let control: &JobControl = self.context.control;
        while self.failure.is_none() && !control.wants_something() {
            if !self.slots.retry.is_empty() {
                self.submit_retry();
                continue;
            }
            let Some(waiter) = self.hooks.waiter() else { return };
            if self.slots.is_idle() {
                return waiter.until(ticks, control);
            }
            let now = self.meter.clock.now();
            let left = self.meter.clock.between(now, ticks);
            if left == 0 {
                return;
            }
            match waiter.sleep_for(left) {
                Some(sleep) => self.reap_within(sleep, now),
                None => self.reap(0, self.slots.submitted()),
            }
        }
    }

    /// Takes what is complete, after `sleep` at most; `now` is the clock.
    fn reap_within(&mut self, sleep: Duration, now: u64) {
        self.flush();
        self.slots.done.clear();
        match self.engine.reap_within(sleep, self.slots.submitted(), &mut self.slots.done) {
            Err(e) => self.fail(Failure::from_io(&e, "get_events")),
            Ok(true) if self.slots.done.is_empty() => {
                if let Some(waiter) = self.hooks.waiter() {
                    waiter.slept(sleep, self.meter.clock.between(now, self.meter.clock.now()));
                }
            }
            Ok(true) => self.complete_all(),
            Ok(false) => {
                self.reap(0, self.slots.submitted());
                if self.slots.done.is_empty() {
                    ferrio_kernel::sleep(sleep.min(LOOK));
                }
            }
        }
    }
}
