//! A job's figures: at its end, and so far when main asks for them.
//!
//! The loop looks at one word that says whether main wants anything, a stop or the figures; all that follows happens here, off its
//! path. Where a job waits it looks there too. A worker that the kernel keeps in a call answers when it comes back.

use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use ferrio_engine::Engine;
use ferrio_job::Direction;
use ferrio_stats::JobStats;

use super::Issuer;
use crate::message::{Message, Snapshot};
use crate::result::JobResult;

impl<E: Engine> Issuer<'_, E> {
    /// True once the job shall end. Tells main the figures if they are wanted.
    #[inline(always)]
    pub(super) fn stopped(&mut self) -> bool {
        self.context.control.wants_something() && self.heed()
    }

    /// Does what main wants. True when the job shall end.
    #[cold]
    #[inline(never)]
    fn heed(&mut self) -> bool {
        let control = self.context.control;
        if control.take_figures_request() {
            let (stats, measured) = self.figures();
            let result = JobResult {
                start_ms: control.start_ms.load(Relaxed),
                pid: control.pid.load(Relaxed),
                stats,
                measured,
                in_ramp: self.timing.in_ramp(),
                in_flight: (!self.synchronous).then(|| self.in_flight().0.iter().sum()),
                latency_depth: self.searched_depth(),
                ..JobResult::default()
            };
            let (since, taken) = (self.timing.measuring_since(), self.clock.now());
            let snapshot = Box::new(Snapshot { result, since, taken });
            let _ = self.context.messages.send(Message::Figures { index: self.context.index, snapshot });
        }
        control.stop_requested()
    }

    /// The job's figures and the time that they cover.
    pub(crate) fn into_stats(mut self) -> (JobStats, Duration) {
        if let Some(log) = &mut self.log {
            log.flush();
        }
        self.figures()
    }

    /// The figures so far and the time that they cover. The time of the loop or the read-back phase that runs counts up to now.
    fn figures(&mut self) -> (JobStats, Duration) {
        self.record_recent();
        let now = self.clock.now();
        let run_ms = self.timing.loop_ns(&self.clock, now).div_ceil(1_000_000);
        let verify_ticks = self.verify_ticks + self.verifying_ticks(now);
        let verify_ms = self.clock.ns(verify_ticks).div_ceil(1_000_000);
        let reads = self.spec.rw.does(Direction::Read);
        let read_ms = if reads { run_ms + verify_ms } else { verify_ms };
        let usage = self.used();
        let mut stats = self.stats.clone();
        let [read, write, trim] = &self.directions;
        stats.directions = [read.finish(read_ms), write.finish(run_ms), trim.finish(run_ms)];
        let measured_ns = self.timing.measured_ns(&self.clock, now);
        stats.job_runtime_ms = measured_ns / 1_000_000;
        stats.usage = usage.since(&self.timing.usage_before());
        stats.wear = self.blocks.as_ref().map(|blocks| blocks.wear());
        if self.synchronous {
            let ios = stats.total_ios() + stats.sync.ios;
            stats.depth.record(1, ios);
            // fio's null engine at depth 1 counts no calls: there is nothing that could be batched.
            if !self.spec.engine.is_diskless() {
                stats.submit.add_small(ios);
                stats.complete.add_small(ios);
            }
        }
        (stats, Duration::from_nanos(measured_ns))
    }

    /// Ticks in the read-back phase that runs; the part of it that was ramp is not measured.
    pub(super) fn verifying_ticks(&self, now: u64) -> u64 {
        now.saturating_sub(self.verify_began.max(self.timing.measuring_since()))
    }
}
