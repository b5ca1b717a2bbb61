//! From the kernel back into the figures: reaping, recording, the rest of short transfers.

use ferrio_engine::{Completion, Engine, Request, Submit};
use ferrio_job::Direction;

use super::{Issuer, RECENT, Stamps, Unit, is_data};
use crate::failure::Failure;
use crate::logs::IoSample;

impl<E: Engine> Issuer<'_, E> {
    /// Makes room: reaps at least the batch minimum, down to `iodepth_low`.
    pub(super) fn reap_full(&mut self) {
        loop {
            self.reap_once();
            if self.failure.is_some()
                || self.depth_in_use() <= self.spec.depth.low
                || self.depth_in_use() == 0
            {
                return;
            }
        }
    }

    /// Reaps one batch. A minimum of 0 asks the kernel without waiting, again and again until something is there.
    pub(super) fn reap_once(&mut self) {
        let depth = self.depth_in_use();
        let min = self.spec.depth.complete_min.min(depth);
        let max = self.spec.depth.complete_max.min(depth).max(min).max(1);
        while depth > 0 && self.failure.is_none() {
            self.reap(min, max);
            if !self.done.is_empty() {
                return;
            }
        }
    }

    pub(super) fn reap(&mut self, min: u32, max: u32) {
        self.flush();
        self.done.clear();
        if let Err(e) = self.engine.reap(min, max, &mut self.done) {
            return self.fail(Failure::from_io(&e, "get_events"));
        }
        if self.stamps == Stamps::All {
            self.now = self.clock.now();
        }
        self.complete_done();
    }

    /// Completes what is in `done`.
    #[inline]
    fn complete_done(&mut self) {
        if self.done.is_empty() {
            return;
        }
        if self.spec.offload {
            self.stats.complete.add_small(self.done.len() as u64);
        } else {
            self.stats.complete.record(self.done.len() as u32);
        }
        for index in 0..self.done.len() {
            let completion = self.done[index];
            match self.engine.ran(completion.unit) {
                None => self.complete(completion),
                Some(ran) => self.complete_as(completion, ran),
            }
        }
        if self.publishes_latency {
            self.publish_latency();
        }
    }

    /// Completes what is in `done`, at this moment.
    pub(super) fn complete_all(&mut self) {
        self.now = self.clock.now();
        self.complete_done();
    }

    /// Reaps everything in flight and submits what still waits, unless the job failed.
    pub(super) fn drain(&mut self) {
        loop {
            while self.depth_in_use() > 0 {
                let before = self.depth_in_use();
                self.reap(before, before);
                if self.depth_in_use() == before && self.failure.is_some() {
                    // Reaping itself fails: the engine's destructor waits for what is in flight.
                    return;
                }
            }
            if self.retry.is_empty() || self.failure.is_some() {
                return;
            }
            self.submit_retry();
        }
    }

    #[inline]
    pub(super) fn complete(&mut self, completion: Completion) {
        let unit = self.units[completion.unit as usize];
        let request = &unit.request;
        if !is_data(request.op) {
            self.syncs_in_flight -= 1;
            self.record_sync(request, completion.result, unit.issued);
        } else if completion.result == i64::from(request.len) {
            self.record_completion(&unit);
            if unit.direction == Direction::Read as usize && self.checks_reads() {
                // The request may be the rest of a short transfer: the block begins where the slot does.
                let moved = (request.buffer as usize - self.buffers.slot(completion.unit) as usize) as u32;
                self.check_read(
                    completion.unit,
                    request.file,
                    request.offset - u64::from(moved),
                    request.len + moved,
                );
            }
        } else if let Some(rest) = self.short_rest(request, unit.direction, completion.result) {
            // The rest is an I/O of its own: its latencies begin here.
            self.units[completion.unit as usize] = Unit { request: rest, start: self.now, ..unit };
            self.retry.push_back(completion.unit);
            return;
        }
        self.free.push(completion.unit);
    }

    #[inline]
    pub(super) fn record_completion(&mut self, unit: &Unit) {
        let stats = &mut self.directions[unit.direction];
        stats.bytes += u64::from(unit.request.len);
        self.live.store(unit.direction, stats.ios, stats.bytes);
        if self.stamps == Stamps::All {
            let clat = self.clock.between(unit.issued, self.now);
            // The sum to the nanosecond: each is cut to whole ones.
            let slat = self.clock.between(unit.start, unit.issued);
            let lat = slat + clat;
            stats.record_completion(clat, lat);
            stats.record_priority(unit.request.priority, clat, lat);
            if let Some(paced) = &self.paced
                && let Some(ns) = paced.response_ns(unit.request.unit, self.now)
            {
                stats.record_response(ns);
            }
            if self.spec.measure.clat {
                self.stats.latency_buckets.record(clat);
            }
            if let Some(log) = &mut self.log
                && !self.timing.in_ramp()
            {
                log.record(IoSample {
                    time_ns: self.timing.measured_ns(&self.clock, self.now),
                    slat_ns: Some(slat),
                    clat_ns: clat,
                    lat_ns: lat,
                    offset: unit.request.offset,
                    len: unit.request.len,
                    priority: unit.request.priority,
                    direction: unit.direction as u8,
                });
            }
            if self.watch.is_some() {
                self.watch_latency(unit, lat);
            }
        }
    }

    /// Records an I/O that the submitting call completed.
    #[inline(always)]
    pub(super) fn record_inline(&mut self, direction: usize, request: &Request, start: u64) {
        let &Request { unit, len, offset, priority, .. } = request;
        let stats = &mut self.directions[direction];
        stats.bytes += u64::from(len);
        self.live.store(direction, stats.ios, stats.bytes);
        if self.stamps == Stamps::All {
            self.now = self.clock.now();
            let recent = &mut *self.recent;
            recent.ticks[recent.len] = self.now.saturating_sub(start);
            recent.directions[recent.len] = direction as u8;
            recent.len += 1;
            if recent.len == RECENT {
                self.record_recent();
                if self.watch.is_some() {
                    let unit = Unit { request: *request, direction, start, issued: start };
                    self.watch_latency(&unit, self.clock.between(start, self.now));
                }
            }
            if let Some(paced) = &self.paced
                && let Some(ns) = paced.response_ns(unit, self.now)
            {
                self.directions[direction].record_response(ns);
            }
            if let Some(log) = &mut self.log
                && !self.timing.in_ramp()
            {
                let ns = self.clock.between(start, self.now);
                let time_ns = self.timing.measured_ns(&self.clock, self.now);
                let direction = direction as u8;
                log.record(IoSample {
                    time_ns,
                    slat_ns: None,
                    clat_ns: ns,
                    lat_ns: ns,
                    offset,
                    len,
                    priority,
                    direction,
                });
            }
        }
        if !self.synchronous {
            self.stats.depth.record(self.depth_in_use() + 1, 1);
            self.stats.submit.record(1);
            self.stats.complete.record(1);
        }
    }

    /// Moves the latencies collected by [`Issuer::record_inline`] into the figures.
    #[inline(never)]
    pub(super) fn record_recent(&mut self) {
        let recent = &mut *self.recent;
        for (&ticks, &direction) in
            recent.ticks[recent.first..recent.len].iter().zip(&recent.directions[recent.first..])
        {
            let ns = self.clock.ns(ticks);
            self.directions[usize::from(direction)].record_synchronous(ns);
            if self.spec.measure.clat {
                self.stats.latency_buckets.record(ns);
            }
        }
        recent.len = recent.first;
        if self.publishes_latency {
            self.publish_latency();
        }
    }

    /// A short or failed transfer of a synchronous submission.
    #[cold]
    #[inline(never)]
    pub(super) fn finish_inline(
        &mut self,
        mut request: Request,
        direction: usize,
        mut result: i64,
        mut start: u64,
    ) {
        loop {
            let Some(rest) = self.short_rest(&request, direction, result) else { return };
            request = rest;
            self.stamp_start();
            start = start.max(self.now);
            match self.engine.submit(&request) {
                Submit::Done(again) if again == i64::from(request.len) => {
                    return self.record_inline(direction, &request, start);
                }
                Submit::Done(again) => result = again,
                // An engine that completes in the call does so every time.
                Submit::Queued | Submit::Full => {
                    self.fail(Failure::new(libc::EIO, "submit"));
                    return;
                }
            }
        }
    }

    /// Looks at an incomplete transfer. Returns the request for the rest, if there is one to make; errors are recorded.
    pub(super) fn short_rest(&mut self, request: &Request, direction: usize, result: i64) -> Option<Request> {
        let moved = u32::try_from(result.max(0)).unwrap_or(u32::MAX).min(request.len);
        if result < 0 {
            self.fail_io(request, i32::try_from(-result).unwrap_or(libc::EIO));
            return None;
        }
        if moved == 0 {
            self.fail_at_end(request);
            return None;
        }
        let stats = &mut self.directions[direction];
        stats.short += 1;
        stats.bytes += u64::from(moved);
        let offset = request.offset + u64::from(moved);
        let file = &self.spec.files[request.file as usize];
        if offset == file.real_size {
            self.live.store(direction, stats.ios, stats.bytes);
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
            self.fail_io(request, i32::try_from(-result).unwrap_or(libc::EIO));
        } else if self.spec.measure.clat {
            self.stats.sync.record(self.clock.between(start, self.now));
        }
    }
}
