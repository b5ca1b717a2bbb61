//! Waiting under `rate` and `rate_iops`: each I/O is issued once it is due by the job's [`RateSchedule`](crate::rate_schedule).
//!
//! While a job waits, I/Os in flight continue and are reaped when they complete: a slow I/O delays only an I/O that needs
//! its slot in the queue.

use std::time::Duration;

use ferrio_engine::Engine;
use ferrio_job::Direction;
use ferrio_workload::Step;

use super::IoLoop;
use crate::control::JobControl;
use crate::failure::Failure;

/// Time between two polls of an engine that cannot wait for completions with a limit.
const POLL_INTERVAL: Duration = Duration::from_micros(20);

impl<E: Engine> IoLoop<'_, E> {
    /// Waits until the next step is due and performs it. False when the pass is over.
    #[cold]
    #[inline(never)]
    pub(super) fn perform_when_due(&mut self) -> bool {
        // No step: the wait was interrupted.
        self.next_when_due().is_none_or(|step| self.perform(step))
    }

    /// Waits until the next step is due and returns it. `None` when the wait was interrupted.
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

    /// Waits until the next I/O of this direction is due. False when the job ends first.
    fn wait_until_due(&mut self, direction: Direction) -> bool {
        loop {
            let Some(rates) = &mut self.hooks.rates else { return true };
            let Some(due) = rates.wait_for(direction, &self.meter.timing, self.meter.now) else {
                return true;
            };
            let milestone = self.meter.timing.next_milestone();
            self.reap_until(due.min(milestone));
            self.meter.now = self.meter.clock.now();
            if self.failure.is_some() || self.must_end() {
                return false;
            }
            // At the end of the ramp the schedule starts again.
            if self.meter.now >= milestone && !self.pass_milestone() {
                return false;
            }
        }
    }

    /// Reaps completions until the clock shows `ticks`, the job fails or the main thread wants something.
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

    /// Reaps completions, waiting at most `sleep` for them; `now` is the current time in ticks.
    fn reap_within(&mut self, sleep: Duration, now: u64) {
        self.flush();
        self.slots.completions.clear();
        match self.engine.reap_within(sleep, self.slots.submitted(), &mut self.slots.completions) {
            Err(e) => self.fail(Failure::from_io(&e, "get_events")),
            Ok(true) if self.slots.completions.is_empty() => {
                if let Some(waiter) = self.hooks.waiter() {
                    waiter.slept(sleep, self.meter.clock.between(now, self.meter.clock.now()));
                }
            }
            Ok(true) => self.complete_now(),
            Ok(false) => {
                self.reap(0, self.slots.submitted());
                if self.slots.completions.is_empty() {
                    ferrio_kernel::sleep(sleep.min(POLL_INTERVAL));
                }
            }
        }
    }
}
