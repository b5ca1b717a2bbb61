//! A job's figures: at its end, and so far when main asks for them.
//!
//! Before each I/O, and while it waits, the loop loads one word that says whether main wants anything: a stop or the figures. A worker
//! that is in a system call answers when the call returns.

use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use ferrio_engine::Engine;
use ferrio_stats::JobStats;

use super::IoLoop;
use crate::message::{Message, Snapshot};
use crate::result::JobResult;

impl<E: Engine> IoLoop<'_, E> {
    /// True once the job must end. Sends the figures to main if it wants them.
    #[inline(always)]
    pub(super) fn stopped(&mut self) -> bool {
        self.context.control.wants_something() && self.answer_main()
    }

    /// Does what main wants. True when the job must end.
    #[cold]
    #[inline(never)]
    fn answer_main(&mut self) -> bool {
        let control = self.context.control;
        if control.take_figures_request() {
            let (stats, measured) = self.figures();
            let result = JobResult {
                start_ms: control.start_ms.load(Relaxed),
                pid: control.pid.load(Relaxed),
                stats,
                measured,
                in_ramp: self.meter.timing.in_ramp(),
                in_flight: (!self.synchronous).then(|| self.slots.in_flight().0.iter().sum()),
                latency_depth: self.searched_depth(),
                ..JobResult::default()
            };
            let (since, taken) = (self.meter.timing.measuring_since(), self.meter.clock.now());
            let snapshot = Box::new(Snapshot { result, since, taken });
            let _ = self.context.messages.send(Message::Figures { index: self.context.index, snapshot });
        }
        control.stop_requested()
    }

    /// The job's figures and the time that they cover.
    pub(crate) fn into_figures(mut self) -> (JobStats, Duration) {
        if let Some(log) = &mut self.meter.log {
            log.flush();
        }
        self.figures()
    }

    /// The figures so far and the time that they cover.
    fn figures(&mut self) -> (JobStats, Duration) {
        let now = self.meter.clock.now();
        let mut stats = self.meter.figures(now);
        stats.usage = self.usage().since(&self.meter.timing.usage_before());
        stats.block_errors = self.hooks.blocks.as_ref().map(|blocks| blocks.errors());
        (stats, Duration::from_nanos(self.meter.timing.measured_ns(&self.meter.clock, now)))
    }

    /// Clock ticks when measuring began.
    pub(crate) fn measuring_since(&self) -> u64 {
        self.meter.timing.measuring_since()
    }

    /// True until the ramp is over.
    pub(crate) fn in_ramp(&self) -> bool {
        self.meter.timing.in_ramp()
    }

    /// When measuring began again after a ramp, ms since 1970.
    pub(crate) fn restarted_ms(&self) -> Option<u64> {
        self.meter.timing.restarted_ms()
    }
}
