//! What the logs of a job get of its I/Os: each with all that is known of it, or, where only averages or histograms are logged, their
//! latencies in the batches in which the figures of the job get them. Only an I/O that ends a row interrupts a batch.

use std::time::Duration;

use ferrio_engine::Request;

use super::meter::Meter;
use super::slots::InFlight;
use crate::logs::IoSample;
use crate::logs::sums::{IoAtEnd, NextRows};

/// The rows of one direction in logs of averages and histograms.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rows {
    /// Ticks: an I/O that completes before ends no row.
    completed: u64,
    /// Ticks: one that was issued before ends no row of submission latencies.
    issued: u64,
    /// Ticks at which the last I/O completed.
    last: u64,
    /// Bytes of the last I/O, 0 before the first one and after one that ended a histogram.
    last_len: u32,
}

impl Rows {
    /// No I/O yet: the first one decides when rows may end. A `synchronous` job has no submission latencies.
    pub(super) const fn new(synchronous: bool) -> Self {
        Rows { completed: 0, issued: if synchronous { u64::MAX } else { 0 }, last: 0, last_len: 0 }
    }
}

impl Meter<'_> {
    /// True if the logs get the latencies of an I/O that completes now with those of its batch, and it ends no row.
    ///
    /// A call: inlined, it would take registers from the loops of jobs without logs (4 instructions per I/O).
    #[inline(never)]
    pub(super) fn is_logged_later(&mut self, direction: usize, len: u32, issued: u64) -> bool {
        let Some(rows) = &mut self.rows else { return false };
        let rows = &mut rows[direction];
        (rows.last, rows.last_len) = (self.now, len);
        self.now < rows.completed && issued < rows.issued
    }

    /// Logs an I/O that completed now; not in the ramp. `slat_ns` is `None` if the submitting call completed it.
    pub(super) fn log_io(&mut self, unit: &InFlight, slat_ns: Option<u64>, clat_ns: u64) {
        let Request { offset, len, priority, .. } = unit.request;
        if self.timing.in_ramp() || self.is_logged_later(unit.direction, len, unit.issued) {
            return;
        }
        if self.rows.is_some() {
            return self.end_rows(unit, slat_ns.is_some());
        }
        let Some(log) = &mut self.log else { return };
        let time_ns = self.timing.measured_ns(&self.clock, self.now);
        let (lat_ns, direction) = (slat_ns.unwrap_or(0) + clat_ns, unit.direction as u8);
        log.record(IoSample { time_ns, slat_ns, clat_ns, lat_ns, offset, len, priority, direction });
    }

    /// The last I/O of the batch of its direction may end rows.
    fn end_rows(&mut self, unit: &InFlight, was_queued: bool) {
        let direction = unit.direction;
        self.record_calls(direction);
        self.record_completions(direction);
        let since = self.timing.measuring_since();
        let completed_ns = self.clock.between(since, self.now);
        let issued_ns = was_queued.then(|| self.clock.between(since, unit.issued));
        let (Some(log), Some(rows)) = (&mut self.log, &mut self.rows) else { return };
        let rows = &mut rows[direction];
        let end = IoAtEnd { completed_ns, issued_ns, len: unit.request.len };
        let Some(NextRows { completed_ms, issued_ms, ends_histogram }) = log.end_rows(direction, end) else {
            return;
        };
        let ticks = |ms: u64| since.saturating_add(self.clock.ticks(Duration::from_millis(ms)));
        rows.completed = ticks(completed_ms);
        if was_queued {
            rows.issued = ticks(issued_ms);
        }
        if ends_histogram {
            rows.last_len = 0;
        }
    }

    /// Sends the logs what is left at the end of the job.
    pub(super) fn flush_log(&mut self) {
        self.record_recent();
        let in_ramp = self.timing.in_ramp();
        let Some(log) = &mut self.log else { return };
        for (direction, rows) in self.rows.iter().flat_map(|rows| rows.iter()).enumerate() {
            if rows.last > 0 && !in_ramp {
                let last_ns = self.timing.measured_ns(&self.clock, rows.last);
                if let Some(sums) = log.sums() {
                    sums.end_with(direction, last_ns, rows.last_len);
                }
            }
        }
        log.flush();
    }
}
