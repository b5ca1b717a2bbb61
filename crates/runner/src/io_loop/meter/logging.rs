//! Passes a job's I/Os to its logs: each with all that is known of it, or, if only averages and histograms are logged, as batches of
//! latencies, those that go into the figures of the job. Only an I/O that ends a row ends a batch early.

use std::time::Duration;

use ferrio_engine::Request;
use ferrio_logs::{IoAtEnd, IoSample, LogSums, NextRows};

use super::Meter;
use crate::io_loop::slots::InFlight;
use crate::logs::IoLog;
use crate::timing::Timing;

/// When an I/O of one direction may end rows in logs of averages and histograms, and the last I/O.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::io_loop) struct RowEnds {
    /// An I/O that completes before this tick ends no row.
    completed: u64,
    /// One that was issued up to this tick ends no row of submission latencies.
    issued: u64,
    /// Ticks at which the last I/O completed.
    last: u64,
    /// Bytes of the last I/O, 0 before the first one and after one that ended a histogram.
    last_len: u64,
}

/// The sums that get the next batch of a direction; `None` in the ramp, and for logs that get single I/Os.
pub(in crate::io_loop) fn batch_sums<'l>(
    log: &'l mut Option<IoLog<'_>>,
    rows: Option<&[RowEnds; 3]>,
    timing: &Timing,
    direction: usize,
) -> Option<(usize, &'l mut LogSums)> {
    let log = log.as_mut().filter(|_| rows.is_some() && !timing.in_ramp())?;
    log.sums().map(|sums| (direction, sums))
}

impl Meter<'_> {
    /// Takes note of an I/O that completes now. True if it ends no row, so that its latencies reach the logs with their batch and nothing
    /// else is to be done. `issued` is 0 for an I/O that the submitting call completed: it has no submission latency.
    ///
    /// A call: inlined, it would take registers from the loops of jobs without logs (4 instructions per I/O).
    #[inline(never)]
    pub(in crate::io_loop) fn defers_to_batch(&mut self, direction: usize, len: u64, issued: u64) -> bool {
        let Some(rows) = &mut self.rows else { return false };
        let rows = &mut rows[direction];
        (rows.last, rows.last_len) = (self.now, len);
        self.now < rows.completed && issued <= rows.issued
    }

    /// Logs an I/O that completed now; not in the ramp. `slat_ns` is `None` if the submitting call completed it.
    pub(in crate::io_loop) fn log_io(&mut self, unit: &InFlight, slat_ns: Option<u64>, clat_ns: u64) {
        let Request { offset, len, priority, .. } = unit.request;
        let issued = if slat_ns.is_some() { unit.issued } else { 0 };
        if self.timing.in_ramp() || self.defers_to_batch(unit.direction, len, issued) {
            return;
        }
        if self.rows.is_some() {
            return self.end_rows(unit, slat_ns.is_some());
        }
        let Some(log) = &mut self.log else { return };
        let time_ns = self.timing.measured_ns(&self.clock, self.now);
        let direction = unit.direction as u8;
        log.record(IoSample { time_ns, slat_ns, clat_ns, offset, len, priority, direction });
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
            rows.issued = ticks(issued_ms).saturating_sub(1);
        }
        if ends_histogram {
            rows.last_len = 0;
        }
    }

    /// Sends the logs what is left at the end of the job.
    pub(in crate::io_loop) fn flush_log(&mut self) {
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
