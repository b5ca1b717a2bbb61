//! What a job sees to before its next I/O when there is something to see to: the end of its ramp or of its run time, a depth that
//! changes (`latency_target`), bytes of a ramp (`ramp_size`), the turns of a flow group (`flow`).
//!
//! The loop asks [`crate::timing::Timing::attention`], one comparison per I/O; jobs without the last two come here only at
//! milestones.

use std::hint::spin_loop;
use std::time::Duration;

use ferrio_engine::Engine;

use super::Issuer;
use crate::waiting;

/// Looks at the turn of a flow group between two system calls.
const LOOKS: u32 = 200;

/// How the loop goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Turn {
    /// With the next I/O.
    Issue,
    /// From the top.
    Again,
    /// Not at all: the time is up.
    Over,
}

impl<E: Engine> Issuer<'_, E> {
    /// Sees to what is due.
    #[cold]
    #[inline(never)]
    pub(super) fn attend(&mut self) -> Turn {
        self.timing.answer();
        if self.ramp.is_some() {
            self.look_at_ramp();
        }
        if self.now >= self.timing.next_milestone() && !self.pass_milestone() {
            return Turn::Over;
        }
        if let Some(verdict) = self.watch.as_mut().and_then(|watch| watch.verdict.take()) {
            self.follow(verdict);
            return Turn::Again;
        }
        // A turn is taken for an I/O only, and nothing can be issued yet.
        if !self.retry.is_empty() || self.free.is_empty() {
            return Turn::Issue;
        }
        match &self.context.flow {
            Some(flow) if !flow.take_turn() => {
                self.wait_for_turn();
                Turn::Again
            }
            _ => Turn::Issue,
        }
    }

    /// Decides whether the loop has to come to [`Issuer::attend`] at every turn.
    pub(super) fn settle_attention(&mut self) {
        self.timing.attend_every_turn(self.ramp.is_some() || self.context.flow.is_some());
    }

    /// Ends the ramp once its bytes are moved.
    fn look_at_ramp(&mut self) {
        let moved = self.directions.iter().map(|direction| direction.bytes).sum();
        if self.ramp.as_mut().is_some_and(|ramp| ramp.is_over(moved)) {
            self.ramp = None;
            self.timing.end_ramp(self.now);
            self.settle_attention();
        }
    }

    /// Lets others of the flow group go first, for the time of `flow_sleep` or for a moment. I/Os in flight are reaped meanwhile.
    fn wait_for_turn(&mut self) {
        let sleep = self.spec.flow.map_or(Duration::ZERO, |flow| flow.sleep);
        if !sleep.is_zero() {
            self.drain();
            let until = self.clock.now().saturating_add(self.clock.ticks(sleep));
            waiting::sleep_until(&self.clock, until.min(self.timing.next_milestone()), self.context.control);
        } else if self.depth_in_use() > 0 {
            self.reap(0, self.depth_in_use());
        } else if let Some(flow) = &self.context.flow {
            let waited = (0..LOOKS).all(|_| {
                spin_loop();
                !flow.is_next()
            });
            if waited {
                std::thread::yield_now();
            }
        }
        self.now = self.clock.now();
    }
}
