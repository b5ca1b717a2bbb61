//! Records what the engine completed, and submits the rest of short transfers.

use ferrio_engine::{Completion, Engine, Op, PEER_ENDED, Request, Submit};

use super::IoLoop;
use super::slots::{InFlightIo, is_data};
use crate::failure::Failure;

impl<E: Engine> IoLoop<'_, E> {
    /// Takes a completion from the engine: its slot is free again, unless the rest of a short transfer needs it.
    #[inline(always)]
    pub(super) fn complete(&mut self, completion: Completion) {
        let unit = &self.slots.units[completion.unit as usize];
        let request = &unit.request;
        if completion.result != request.len.cast_signed() || !is_data(request.op) {
            return self.complete_other(completion);
        }
        let (direction, len, issued) = (unit.direction, request.len, unit.issued);
        self.meter.count(direction, len);
        if self.meter.stamps_all {
            self.meter.record_completion(unit);
        }
        if self.meter.now >= self.meter.interval_end {
            self.end_intervals(direction, len, false);
        }
        let is_seen = self.hooks.at_completion && !self.meter.log_in_batch(direction, len, issued);
        if is_seen || self.hooks.at_end {
            return self.complete_with_hooks(completion.unit);
        }
        self.slots.free.push(completion.unit);
    }

    /// Handles the completion of a sync, a short transfer or a failed request.
    #[cold]
    #[inline(never)]
    fn complete_other(&mut self, completion: Completion) {
        let unit = self.slots.units[completion.unit as usize];
        if !is_data(unit.request.op) {
            self.slots.syncs -= 1;
            self.record_sync(&unit.request, completion.result, unit.issued);
        } else if let Some(rest) = self.remaining_request(&unit.request, unit.direction, completion.result) {
            // The rest is an I/O of its own: its latencies begin here.
            self.slots.units[completion.unit as usize] =
                InFlightIo { request: rest, start: self.meter.now, ..unit };
            self.slots.retry.push_back(completion.unit);
            return;
        }
        self.slots.free.push(completion.unit);
    }

    /// Runs the hooks of a job (rates, logs, latency limits) for a data I/O that has completed.
    #[cold]
    #[inline(never)]
    fn complete_with_hooks(&mut self, index: u32) {
        let unit = self.slots.units[index as usize];
        if self.hooks.at_completion && self.meter.stamps_all {
            let (slat, clat) = self.meter.latencies(&unit);
            self.at_completion(unit, Some(slat), clat);
        }
        self.slots.free.push(index);
        if self.hooks.at_end {
            let request = &unit.request;
            // The request may be the rest of a short transfer: the block begins where the slot does.
            let moved = (request.buffer as usize - self.buffers.slot(index) as usize) as u64;
            let (offset, len) = (request.offset - moved, request.len + moved);
            self.io_completed(unit.direction, index, request.file, offset, len);
        }
    }

    /// Records a data I/O that the submitting call completed.
    #[inline(always)]
    pub(super) fn record_inline(&mut self, direction: usize, request: &Request, start: u64) {
        self.meter.count(direction, request.len);
        if self.meter.stamps_all {
            self.meter.record_inline(direction, start);
            if self.meter.now >= self.meter.interval_end {
                self.end_intervals(direction, request.len, true);
            }
            if self.hooks.at_completion && !self.meter.log_in_batch(direction, request.len, 0) {
                let unit = InFlightIo { request: *request, direction, start, issued: start };
                self.at_completion(unit, None, self.meter.clock.between(start, self.meter.now));
            }
        }
        if !self.synchronous {
            self.meter.stats.depth.record(self.slots.submitted() + 1, 1);
            self.meter.stats.submit.record(1);
            self.meter.stats.complete.record(1);
        }
    }

    /// Does the work that the job's features require at each completion: its response time under a rate, the logs, the limits of its
    /// latency.
    #[cold]
    #[inline(never)]
    fn at_completion(&mut self, unit: InFlightIo, slat_ns: Option<u64>, clat_ns: u64) {
        if let Some(rates) = &self.hooks.rates
            && let Some(ns) = rates.response_ns(unit.request.unit, self.meter.now)
        {
            self.meter.directions[unit.direction].record_response(ns);
        }
        self.meter.log_io(&unit, slat_ns, clat_ns);
        if self.hooks.latency.is_some() {
            self.check_latency(&unit, slat_ns.unwrap_or(0) + clat_ns);
        }
    }

    /// Continues after a short or failed transfer of a synchronous submission. Returns false after a tolerated error, or if the peer ended.
    #[cold]
    #[inline(never)]
    pub(super) fn finish_inline(
        &mut self,
        mut request: Request,
        direction: usize,
        mut result: i64,
        mut start: u64,
    ) -> bool {
        let errors = self.meter.stats.total_errors;
        loop {
            let Some(rest) = self.remaining_request(&request, direction, result) else {
                return result != PEER_ENDED
                    && (self.failure.is_some() || self.meter.stats.total_errors == errors);
            };
            request = rest;
            self.meter.stamp();
            start = start.max(self.meter.now);
            match self.engine.submit(&request) {
                Submit::Done(again) if again == request.len.cast_signed() => {
                    self.record_inline(direction, &request, start);
                    return true;
                }
                Submit::Done(again) => result = again,
                // An engine that completes in the call does so every time.
                Submit::Queued | Submit::Full => {
                    self.fail(Failure::new(libc::EIO, "submit"));
                    return true;
                }
            }
        }
    }

    /// Handles the result of a synchronous network transfer that had to wait for the peer.
    pub(super) fn complete_waited(&mut self, unit: u32, result: i64) {
        let InFlightIo { request, direction, start, .. } = self.slots.units[unit as usize];
        self.slots.free.push(unit);
        if result == request.len.cast_signed() {
            self.record_inline(direction, &request, start);
        } else if !self.finish_inline(request, direction, result, start) || self.failure.is_some() {
            return;
        }
        if self.hooks.at_end {
            self.io_completed(direction, unit, request.file, request.offset, request.len);
        }
    }

    /// Takes an issued I/O out of the count, because it will never complete.
    pub(super) fn take_back(&mut self, direction: usize) {
        self.meter.directions[direction].ios -= 1;
        self.meter.publish(direction);
    }

    /// True when the connection broke although nothing is wrong: the signal that ends this job has ended its peer already.
    fn peer_ended_first(&self, result: i64) -> bool {
        let is_broken = [libc::ECONNRESET, libc::EPIPE].iter().any(|&errno| result == -i64::from(errno));
        let control = self.context.control;
        is_broken && self.spec.engine.has_peer() && (control.stop_requested() || control.signals() > 0)
    }

    /// Looks at an incomplete transfer. Returns the request for the rest, if there is one to make; errors are recorded.
    fn remaining_request(&mut self, request: &Request, direction: usize, result: i64) -> Option<Request> {
        let moved = result.max(0).cast_unsigned().min(request.len);
        if result == PEER_ENDED || self.peer_ended_first(result) {
            self.take_back(direction);
            self.context.control.request_stop();
            return None;
        }
        if result < 0 {
            self.fail_io(request, i32::try_from(-result).unwrap_or(libc::EIO));
            return None;
        }
        if let Some(failure) = self.hooks.events.as_ref().and_then(|events| events.failure(request, 0)) {
            self.fail(failure);
            return None;
        }
        if moved == 0 {
            self.fail_at_end(request);
            return None;
        }
        let stats = &mut self.meter.directions[direction];
        stats.short += 1;
        stats.bytes += moved;
        let offset = request.offset + moved;
        let file = &self.spec.files[request.file as usize];
        // A block that is checked must be complete: at the end of the file, its rest is requested as well, which fails.
        let is_checked = || {
            self.hooks
                .verification
                .as_ref()
                .is_some_and(|verification| verification.is_checking(request.unit))
        };
        if offset == file.real_size && !is_checked() {
            self.meter.publish(direction);
            if let Some(verification) = &mut self.hooks.verification {
                verification.ended(request.unit);
            }
            if self.hooks.zones.is_some() {
                self.leave_zone(request.unit, true);
            }
            return None;
        }
        stats.ios += 1;
        // The buffer moves along with the offset; `moved` is below `len`, so it stays inside its slot.
        Some(Request {
            offset,
            len: request.len - moved,
            buffer: request.buffer.wrapping_add(moved as usize),
            ..*request
        })
    }

    pub(super) fn record_sync(&mut self, request: &Request, result: i64, start: u64) {
        if result < 0 {
            if let Some(verification) = &mut self.hooks.verification {
                verification.fail_sync(request.unit);
            }
            return self.fail_io(request, i32::try_from(-result).unwrap_or(libc::EIO));
        }
        if let Some(verification) = &mut self.hooks.verification {
            verification.synced(request.unit, matches!(request.op, Op::Fsync | Op::Fdatasync));
            if verification.saves_at_syncs {
                self.save_state();
            }
        }
        if self.spec.measure.clat {
            self.meter.stats.sync.record(self.meter.clock.between(start, self.meter.now));
        }
    }
}
