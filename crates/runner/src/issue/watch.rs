//! Latencies that a job must keep: an I/O above `max_latency` ends it, and `latency_target` decides how many are in flight.
//!
//! Only jobs that were asked to come here, with every I/O that ends. What follows for the depth waits for the next turn of the
//! loop ([`super::attend`]), where nothing is half done.

use std::time::Duration;

use ferrio_engine::Engine;
use ferrio_job::{Diagnostic, Direction, JobSpec, Prefix};
use ferrio_workload::{DepthSearch, Verdict};

use super::{Issuer, Unit};
use crate::failure::Failure;

/// What I/Os are compared with, and what came out of it.
#[derive(Debug)]
pub(super) struct LatencyWatch {
    /// ns per direction, `u64::MAX` for no limit.
    most: [u64; 3],
    pub(super) search: Option<DepthSearch>,
    /// What the window that ended asks for.
    pub(super) verdict: Option<Verdict>,
    /// Units that must not be used at the depth of now.
    pub(super) parked: Vec<u32>,
}

impl LatencyWatch {
    /// `None` for a job whose I/Os may take any time.
    pub(super) fn new(spec: &JobSpec) -> Option<Box<Self>> {
        let ns = |most: Duration| match most {
            Duration::ZERO => u64::MAX,
            most => u64::try_from(most.as_nanos()).unwrap_or(u64::MAX),
        };
        let most = spec.max_latency.0.map(ns);
        let search = DepthSearch::new(spec);
        (search.is_some() || most != [u64::MAX; 3])
            .then(|| Box::new(LatencyWatch { most, search, verdict: None, parked: Vec::new() }))
    }
}

impl<E: Engine> Issuer<'_, E> {
    /// A data I/O ended now, after this time by its figures, ns.
    #[cold]
    #[inline(never)]
    pub(super) fn watch_latency(&mut self, unit: &Unit, latency: u64) {
        let Some(watch) = &mut self.watch else { return };
        let most = watch.most[unit.direction];
        if latency > most {
            return self.fail_late(unit, latency, most);
        }
        let Some(search) = watch.search.as_mut().filter(|_| !self.timing.in_ramp()) else { return };
        let now = self.timing.measured_ns(&self.clock, self.now);
        match search.completed(latency, now) {
            None => {}
            Some(Verdict::Late) => {
                let target = search.target_ns();
                self.fail_late(unit, latency, target);
            }
            Some(verdict) => {
                watch.verdict = Some(verdict);
                self.timing.call();
            }
        }
    }

    fn fail_late(&mut self, unit: &Unit, latency: u64, most: u64) {
        let request = &unit.request;
        let message = format!(
            "latency of {latency} nsec exceeds specified max ({most} nsec): {} {} {} {}",
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
    pub(super) fn follow(&mut self, verdict: Verdict) {
        match verdict {
            Verdict::Done => return self.context.control.request_stop(),
            Verdict::GoOn | Verdict::Late => {}
            Verdict::Retreat => self.drain(),
            Verdict::Found => {
                self.drain();
                self.now = self.clock.now();
                self.timing.restart(self.now, ferrio_stats::Usage::of_this_thread());
                self.restart_figures();
            }
        }
        let Some(depth) = self.searched_depth() else { return };
        if self.failure.is_some() {
            return;
        }
        self.set_depth(depth);
        self.begin_window();
    }

    /// I/Os count for the search from now on.
    pub(super) fn begin_window(&mut self) {
        let now = self.timing.measured_ns(&self.clock, self.now);
        if let Some(search) = self.watch.as_mut().and_then(|watch| watch.search.as_mut()) {
            search.begin_window(now);
        }
    }

    /// From now on at most `depth` I/Os are in flight. To lower it, none may be.
    pub(super) fn set_depth(&mut self, depth: u32) {
        let Some(watch) = &mut self.watch else { return };
        let depth = depth.min(self.spec.units());
        // Units that were used last stay on top of the stack.
        if depth < self.depth {
            let surplus = ((self.depth - depth) as usize).min(self.free.len());
            watch.parked.extend(self.free.drain(..surplus).rev());
        } else {
            let kept = watch.parked.len() - (depth - self.depth) as usize;
            let more: Vec<u32> = watch.parked.drain(kept..).collect();
            self.free.splice(0..0, more);
        }
        self.depth = depth;
    }

    /// The depth that the search has come to, if there is a search.
    pub(crate) fn searched_depth(&self) -> Option<u32> {
        Some(self.watch.as_ref()?.search.as_ref()?.depth())
    }

    /// What the user should know about a search that found nothing.
    pub(crate) fn search_note(&self) -> Option<Diagnostic> {
        let search = self.watch.as_ref()?.search.as_ref().filter(|search| search.is_unmet())?;
        let message = format!(
            "latency_target of {} nsec not met: at depth 1 less than {}% of the I/Os were within it",
            search.target_ns(),
            self.spec.latency_target.percentile
        );
        Some(Diagnostic::note(message).code("latency-target-not-met").prefix(Prefix::Job))
    }
}
