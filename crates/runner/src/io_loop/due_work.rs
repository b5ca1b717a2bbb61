//! Work that may be due before the next I/O: the end of the ramp or of the run time, a depth that changes (`latency_target`), bytes
//! of a ramp (`ramp_size`), the turns of a flow group (`flow`), the first I/Os of other jobs.
//!
//! The loop compares the clock with [`crate::timing::Timing::next_due`]; only jobs with `ramp_size`, `flow`, a verify state or
//! `verify_async` come here at every I/O.

use std::hint::spin_loop;
use std::time::Duration;

use ferrio_engine::Engine;

use super::{IoLoop, NextAction};
use crate::verification::Verification;
use crate::waiting;

/// Checks of the turn of a flow group between two system calls.
const CHECKS: u32 = 200;

impl<E: Engine> IoLoop<'_, E> {
    /// Does what is due.
    #[cold]
    #[inline(never)]
    pub(super) fn do_due_work(&mut self) -> NextAction {
        self.meter.timing.due_work_done();
        self.take_back_checked();
        if self.lets_others_begin {
            self.let_others_begin();
        }
        if self.hooks.ramp.is_some() {
            self.check_ramp_size();
        }
        if self.meter.now >= self.meter.timing.next_milestone() && !self.pass_milestone() {
            return NextAction::End;
        }
        if self.must_end_by_state() {
            return NextAction::End;
        }
        if let Some(verdict) = self.hooks.latency.as_mut().and_then(|watch| watch.verdict.take()) {
            self.apply_verdict(verdict);
            return NextAction::Again;
        }
        // A turn is taken for an I/O only, and nothing can be issued yet.
        if !self.slots.retry.is_empty() || self.slots.free.is_empty() {
            return NextAction::Issue;
        }
        match &self.context.flow {
            Some(flow) if !flow.take_turn() => {
                self.wait_for_turn();
                NextAction::Again
            }
            _ => NextAction::Issue,
        }
    }

    /// Decides whether work may be due before every I/O.
    pub(super) fn update_due_every_io(&mut self) {
        let stops_or_lends =
            |verification: &Verification| verification.stops_reads || verification.checkers.is_some();
        let due = self.hooks.verification.as_deref().is_some_and(stops_or_lends)
            || self.hooks.ramp.is_some()
            || self.context.flow.is_some();
        self.meter.timing.set_due_every_io(due || self.lets_others_begin);
    }

    /// After the first I/O: lets the other jobs of a wave that has more of them than there are CPUs issue theirs. A job with more slots to
    /// fill does not wait: what is in flight would have the wait in its latency.
    fn let_others_begin(&mut self) {
        let begun = self.meter.directions.iter().any(|direction| direction.ios > 0);
        let waits_for_slot = self.slots.free.is_empty();
        if !begun || waits_for_slot {
            return;
        }
        self.lets_others_begin = false;
        self.update_due_every_io();
        if self.slots.is_idle() {
            self.context.gate.wait_for_first_ios();
            self.meter.now = self.meter.clock.now();
        }
    }

    /// Ends the ramp once its bytes are moved.
    fn check_ramp_size(&mut self) {
        let moved = self.meter.directions.iter().map(|direction| direction.bytes).sum();
        if self.hooks.ramp.as_mut().is_some_and(|ramp| ramp.is_over(moved)) {
            self.hooks.ramp = None;
            self.meter.timing.end_ramp(self.meter.now);
            self.update_due_every_io();
        }
    }

    /// Lets others of the flow group go first, for the time of `flow_sleep` or for a moment. I/Os in flight are reaped meanwhile.
    fn wait_for_turn(&mut self) {
        let sleep = self.spec.flow.map_or(Duration::ZERO, |flow| flow.sleep);
        if !sleep.is_zero() {
            self.drain();
            let until = self.meter.clock.now().saturating_add(self.meter.clock.ticks(sleep));
            waiting::sleep_until(
                &self.meter.clock,
                until.min(self.meter.timing.next_milestone()),
                self.context.control,
            );
        } else if self.slots.submitted() > 0 {
            self.reap(0, self.slots.submitted());
        } else if let Some(flow) = &self.context.flow {
            let waited = (0..CHECKS).all(|_| {
                spin_loop();
                !flow.may_take_turn()
            });
            if waited {
                std::thread::yield_now();
            }
        }
        self.meter.now = self.meter.clock.now();
    }
}
