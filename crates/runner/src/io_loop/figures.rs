//! Snapshots of the statistics of a job: at its end, and when the main thread requests one.
//!
//! Before each I/O, and while it waits, the loop loads one word that says whether the main thread wants anything: a stop or
//! a snapshot. A worker that is in a system call answers when the call returns.

use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use ferrio_engine::Engine;
use ferrio_job::{Direction, Optimisations};

use super::IoLoop;
use crate::context::{Message, Snapshot};

impl<E: Engine> IoLoop<'_, E> {
    /// True once the job must end. Also sends the main thread a snapshot if it has requested one.
    #[inline(always)]
    pub(super) fn must_end(&mut self) -> bool {
        self.context.control.wants_something() && self.answer_main()
    }

    /// Does what the main thread has requested. True when the job must end.
    #[cold]
    #[inline(never)]
    fn answer_main(&mut self) -> bool {
        let control = self.context.control;
        if control.take_figures_request() {
            let mut snapshot = self.snapshot();
            snapshot.result.in_flight = (!self.synchronous).then(|| self.slots.in_flight().0.iter().sum());
            let _ = self.context.messages.send(Message::Figures { index: self.context.index, snapshot });
        }
        control.stop_requested()
    }

    /// The final statistics of the job.
    pub(crate) fn final_snapshot(&mut self) -> Box<Snapshot> {
        self.end_last_interval();
        self.meter.flush_log();
        if let Some(checkers) = self.hooks.verification.as_mut().and_then(|v| v.checkers.as_mut()) {
            checkers.end();
        }
        self.snapshot()
    }

    /// The statistics so far. Built in place on the heap, as a run may have thousands of threads, each of which would need more stack.
    fn snapshot(&mut self) -> Box<Snapshot> {
        let taken = self.meter.clock.now();
        self.end_intervals_until(taken);
        let mut snapshot = Box::<Snapshot>::default();
        let usage = self.usage().since(&self.meter.timing.usage_before);
        self.meter.figures(taken, &mut snapshot.result.stats);
        snapshot.result.stats.directions[Direction::Read as usize].dropped = self.engine.lost_reads();
        let (control, timing) = (self.context.control, &self.meter.timing);
        snapshot.since = timing.measuring_since;
        snapshot.taken = taken;
        let result = &mut snapshot.result;
        result.stats.usage = usage;
        result.stats.block_errors = self.hooks.blocks.as_ref().map(|blocks| blocks.errors());
        result.start_ms = control.start_ms.load(Relaxed);
        result.pid = control.pid.load(Relaxed);
        result.measured = Duration::from_nanos(timing.measured_ns(&self.meter.clock, taken));
        result.in_ramp = timing.in_ramp();
        result.optimisations = self.engine.optimisations()
            | self.files.optimisations
            | Optimisations::HUGE_PAGES.when(self.buffers.on_huge_pages());
        result.latency_depth = self.hooks.searched_depth();
        result.events = self
            .hooks
            .events
            .as_ref()
            .map(|events| Box::new(events.figures(self.workload.database_counts())));
        if let Some(verification) = &self.hooks.verification {
            result.damage = verification.damage.clone();
        }
        snapshot
    }
}
