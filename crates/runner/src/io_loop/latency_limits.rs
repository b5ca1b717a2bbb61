//! Latencies that a job must keep: an I/O above `max_latency` ends it, and `latency_target` decides how many are in flight.
//!
//! A change of the depth waits until work is due before the next I/O ([`super::due_work`]), when nothing is half done.

use ferrio_engine::Engine;
use ferrio_job::{Diagnostic, Direction, Prefix};
use ferrio_workload::WindowVerdict;

use super::IoLoop;
use super::slots::InFlightIo;
use crate::failure::Failure;

impl<E: Engine> IoLoop<'_, E> {
    /// A data I/O ended now, after this time by its figures, ns.
    #[cold]
    #[inline(never)]
    pub(super) fn check_latency(&mut self, unit: &InFlightIo, latency: u64) {
        let Some(limits) = &mut self.hooks.latency else { return };
        let max = limits.max[unit.direction];
        if latency > max {
            return self.fail_late(unit, latency, max);
        }
        let Some(search) = limits.search.as_mut().filter(|_| !self.meter.timing.in_ramp()) else { return };
        let now = self.meter.measured_ns();
        match search.completed(latency, now) {
            None => {}
            Some(WindowVerdict::Late) => {
                let target = search.target_ns();
                self.fail_late(unit, latency, target);
            }
            Some(verdict) => {
                limits.verdict = Some(verdict);
                self.meter.timing.set_due_now();
            }
        }
    }

    fn fail_late(&mut self, unit: &InFlightIo, latency: u64, max: u64) {
        let request = &unit.request;
        let message = format!(
            "latency of {latency} nsec exceeds specified max ({max} nsec): {} {} {} {}",
            self.file_name(request.file),
            Direction::ALL[unit.direction].name(),
            request.offset,
            request.len
        );
        self.fail(
            Failure::new(libc::ETIMEDOUT, "max latency exceeded").note("latency-above-maximum", message),
        );
    }

    /// Does what the end of a window asks for, and begins the next one.
    pub(super) fn apply_verdict(&mut self, verdict: WindowVerdict) {
        match verdict {
            WindowVerdict::Done => return self.context.control.request_stop(),
            WindowVerdict::GoOn | WindowVerdict::Late => {}
            WindowVerdict::Retreat => self.drain(),
            WindowVerdict::Found => {
                self.drain();
                self.meter.now = self.meter.clock.now();
                self.meter.timing.restart(self.meter.now, ferrio_stats::ThreadUsage::of_this_thread());
                self.restart_figures();
            }
        }
        let Some(depth) = self.hooks.searched_depth() else { return };
        if self.failure.is_some() {
            return;
        }
        self.await_checks();
        self.slots.set_depth(depth);
        self.begin_window();
    }

    /// I/Os count for the search from now on.
    pub(super) fn begin_window(&mut self) {
        let now = self.meter.measured_ns();
        if let Some(search) = self.hooks.depth_search() {
            search.begin_window(now);
        }
    }

    /// A note for the user about a search that found nothing.
    pub(crate) fn search_note(&self) -> Option<Diagnostic> {
        let search = self.hooks.latency.as_ref()?.search.as_ref().filter(|search| search.is_unmet())?;
        let message = format!(
            "latency_target of {} nsec not met: even at depth 1, less than {}% of the I/Os were within it",
            search.target_ns(),
            self.spec.latency_target.percentile
        );
        Some(Diagnostic::note(message).code("latency-target-not-met").prefix(Prefix::Job))
    }
}
