//! Batches: requests on their way to the kernel and completions on their way back, and the requests that wait to be submitted again.

use ferrio_engine::{Completion, Engine, ExecutionTimes, Op, Submit};

use super::IoLoop;
use super::slots::{InFlightIo, is_data};
use crate::failure::Failure;

/// Tries to send the rest of a unit when the job ends; each waits for some ms.
const MAX_LAST_TRIES: u32 = 20;

impl<E: Engine> IoLoop<'_, E> {
    /// The engine accepted the request of `unit`.
    #[inline(always)]
    pub(super) fn accept(&mut self, unit: u32, state: InFlightIo) {
        self.slots.accept(unit, state);
        let depth = &self.spec.depth;
        let waits = self.slots.queued.len() < depth.batch as usize && depth.complete_max > 0;
        // In the middle of a batch there is nothing to do.
        if !waits || self.slots.free.is_empty() || self.engine.is_full() {
            self.accepted();
        }
    }

    /// The engine accepted another request: hands over a full batch, and makes room where there is none left.
    #[inline(never)]
    fn accepted(&mut self) {
        if self.slots.queued.len() >= self.spec.depth.batch as usize {
            self.flush_batch();
        }
        let no_slot = self.slots.free.is_empty();
        if no_slot || self.engine.is_full() {
            self.reap_now(no_slot);
        } else if self.spec.depth.complete_max == 0 {
            self.poll();
        }
    }

    /// Polls for completions after a submission, as both completion limits are 0. fio polls until there is one, so that nothing else is in
    /// flight; otherwise the queue fills.
    #[inline(never)]
    fn poll(&mut self) {
        match self.spec.compat.polls_without_waiting {
            true => self.reap(0, 1),
            false => self.reap_once(),
        }
    }

    /// The engine had no room: the request waits, something must be reaped first.
    #[cold]
    pub(super) fn hold_back(&mut self, unit: u32, state: InFlightIo) {
        self.slots.hold_back(unit, state);
        self.flush();
        if self.slots.submitted() > 0 {
            self.reap_once();
        }
    }

    /// Submits the first waiting request again.
    #[cold]
    pub(super) fn submit_retry(&mut self) {
        let Some(unit) = self.slots.retry.pop_front() else { return };
        self.meter.stamp();
        let state = self.slots.units[unit as usize];
        match self.engine.submit(&state.request) {
            Submit::Queued => {
                self.slots.queued.push(unit);
                if self.slots.queued.len() >= self.spec.depth.batch as usize || self.slots.free.is_empty() {
                    self.flush();
                }
            }
            Submit::Full => {
                self.slots.retry.push_front(unit);
                self.flush();
                if self.slots.submitted() > 0 {
                    self.reap_once();
                } else if self.spec.engine.has_peer() {
                    // It waited for the peer: the time may be up.
                    self.meter.now = self.meter.clock.now();
                } else {
                    self.fail(
                        Failure::new(libc::EAGAIN, "submit").note(
                            "engine-failed",
                            "the engine accepts no request although none is in flight",
                        ),
                    );
                }
            }
            Submit::Done(result) if self.synchronous => self.complete_waited(unit, result),
            Submit::Done(result) => {
                self.slots.units[unit as usize].issued = self.meter.now;
                self.meter.stamp();
                self.complete(Completion { unit, result });
            }
        }
    }

    /// Hands everything queued to the kernel.
    #[inline(always)]
    pub(super) fn flush(&mut self) {
        if !self.slots.queued.is_empty() {
            self.flush_rest();
        }
    }

    /// Hands what is less than a batch to the kernel.
    #[inline(never)]
    fn flush_rest(&mut self) {
        self.flush_batch();
    }

    /// Hands everything queued to the kernel, which is something. One clock reading after the call is the issue time of the whole batch.
    #[inline(always)]
    fn flush_batch(&mut self) {
        // Each of the engine's own threads has one I/O, and reports later when it began it.
        let offload = self.spec.offload;
        let depth = if offload { 1 } else { self.slots.submitted() };
        let slat = self.spec.measure.slat && !offload;
        loop {
            let count = self.slots.queued.len();
            let taken = match self.engine.flush() {
                Ok(taken) => (taken as usize).min(count),
                Err(e) => return self.fail(Failure::from_io(&e, "io commit")),
            };
            if taken == 0 {
                // The kernel is short of resources: the caller reaps, then submits the rest again.
                return;
            }
            self.meter.stamp_batch();
            let issued = self.meter.now;
            for &unit in &self.slots.queued[..taken] {
                let unit = &mut self.slots.units[unit as usize];
                unit.issued = issued;
                if slat && is_data(unit.request.op) {
                    self.meter.record_submission(unit.direction, unit.start, issued);
                }
            }
            self.meter.stats.submit.record(taken as u32);
            self.meter.stats.depth.record(depth, taken as u64);
            if taken == count {
                return self.slots.queued.clear();
            }
            self.slots.queued.drain(..taken);
        }
    }

    /// Makes room: reaps at least the batch minimum, down to `iodepth_low`.
    #[inline(never)]
    pub(super) fn reap_full(&mut self) {
        self.reap_now(true);
    }

    /// Reaps one batch. A minimum of 0 asks the kernel without waiting, again and again until something is there.
    #[inline(never)]
    pub(super) fn reap_once(&mut self) {
        self.reap_now(false);
    }

    /// Reaps one batch, or as many as it takes `to_low`.
    #[inline(always)]
    fn reap_now(&mut self, to_low: bool) {
        loop {
            let depth = self.slots.submitted();
            if depth == 0 || self.failure.is_some() {
                return;
            }
            let min = self.spec.depth.complete_min.min(depth);
            let max = self.spec.depth.complete_max.min(depth).max(min).max(1);
            self.reap_batch(min, max);
            let is_enough = !to_low || self.slots.submitted() <= self.spec.depth.low;
            if is_enough && !self.slots.completions.is_empty() {
                return;
            }
        }
    }

    #[inline(never)]
    pub(super) fn reap(&mut self, min: u32, max: u32) {
        self.reap_batch(min, max);
    }

    #[inline(always)]
    fn reap_batch(&mut self, min: u32, max: u32) {
        self.flush();
        self.slots.completions.clear();
        if let Err(e) = self.engine.reap(min, max, &mut self.slots.completions) {
            return self.fail(Failure::from_io(&e, "get_events"));
        }
        self.meter.stamp_batch();
        self.complete_reaped();
    }

    /// Completes the requests that were reaped.
    #[inline(always)]
    fn complete_reaped(&mut self) {
        let count = self.slots.completions.len();
        if count == 0 {
            return;
        }
        if self.spec.offload {
            self.meter.stats.complete.add_small(count as u64);
        } else {
            self.meter.stats.complete.record(count as u32);
        }
        let mut index = 0;
        while let Some(&completion) = self.slots.completions.get(index) {
            match self.engine.execution_times(completion.unit) {
                None => self.complete(completion),
                Some(times) => self.complete_offloaded(completion, times),
            }
            index += 1;
        }
        if self.meter.publishes_latency {
            self.meter.publish_latency();
        }
    }

    /// Reads the clock, then completes the requests that were reaped.
    #[inline(never)]
    pub(super) fn complete_now(&mut self) {
        self.meter.now = self.meter.clock.now();
        self.complete_reaped();
    }

    /// Reaps everything in flight and submits what still waits, unless the job failed.
    pub(super) fn drain(&mut self) {
        loop {
            while self.slots.submitted() > 0 {
                let before = self.slots.submitted();
                self.reap(before, before);
                if self.slots.submitted() == before && self.failure.is_some() {
                    // Reaping itself fails: the engine's destructor waits for what is in flight.
                    return;
                }
            }
            if self.slots.retry.is_empty() || self.failure.is_some() {
                return;
            }
            if self.spec.engine.has_peer() {
                return self.give_up_waiting();
            }
            self.submit_retry();
        }
    }

    /// Ends the wait for the peer. What is half sent is finished if the peer takes it: it expects whole units.
    fn give_up_waiting(&mut self) {
        for _ in 0..MAX_LAST_TRIES {
            match self.slots.retry.front() {
                Some(&unit) if self.slots.units[unit as usize].request.op == Op::Write => self.submit_retry(),
                _ => break,
            }
        }
        while let Some(unit) = self.slots.retry.pop_front() {
            self.take_back(self.slots.units[unit as usize].direction);
            self.slots.free.push(unit);
        }
    }

    /// Completes a request that ran in a thread of the engine's own, and ended before it was reaped.
    #[cold]
    #[inline(never)]
    fn complete_offloaded(&mut self, completion: Completion, times: ExecutionTimes) {
        if !self.meter.stamps_all {
            return self.complete(completion);
        }
        let reaped = self.meter.now;
        let unit = &mut self.slots.units[completion.unit as usize];
        unit.issued = reaped.saturating_sub(self.meter.clock.ticks(times.began_ago)).max(unit.start);
        if self.spec.measure.slat && is_data(unit.request.op) {
            self.meter.record_submission(unit.direction, unit.start, unit.issued);
        }
        self.meter.now = reaped.saturating_sub(self.meter.clock.ticks(times.ended_ago)).max(unit.issued);
        self.complete(completion);
        self.meter.now = reaped;
    }
}
