//! Passes a job's I/Os to its logs.
//!
//! If single I/Os are logged, each is passed with its time, offset, length and priority. If only averages and histograms are logged, the
//! latencies are passed in the batches that also go into the job's statistics. Only an I/O that ends a row ends a batch early.

use std::time::Duration;

use ferrio_engine::Request;
use ferrio_logs::{IoAtEnd, IoSample, LogSums, NextRows};

use super::Meter;
use crate::io_loop::slots::InFlightIo;
use crate::logs::IoLog;
use crate::timing::Timing;

/// The times from which an I/O of one direction may end rows in logs of averages and histograms. Also holds the last I/O, which ends the
/// last row.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::io_loop) struct RowBoundaries {
    /// An I/O that completes before this tick ends no row.
    row_end_by_completion: u64,
    /// An I/O that was issued up to this tick ends no row of submission latencies.
    row_end_by_issue: u64,
    /// Ticks at which the last I/O completed.
    last_completed: u64,
    /// Bytes of the last I/O, 0 before the first one and after one that ended a histogram.
    last_len: u64,
}

/// The sums that receive the next batch of a direction; `None` in the ramp, and for logs that receive single I/Os.
pub(in crate::io_loop) fn batch_sums<'l>(
    log: &'l mut Option<IoLog<'_>>,
    rows: Option<&[RowBoundaries; 3]>,
    timing: &Timing,
    direction: usize,
) -> Option<(usize, &'l mut LogSums)> {
    let log = log.as_mut().filter(|_| rows.is_some() && !timing.in_ramp())?;
    log.sums().map(|sums| (direction, sums))
}

impl Meter<'_> {
    /// Records that an I/O completes now. True if it ends no row: its latencies then reach the logs with their batch, and the caller has
    /// nothing else to log. `issued` is 0 for an I/O that the submitting call completed: it has no submission latency.
    ///
    /// Not inlined: it would take registers from the loops of jobs without logs (4 instructions per I/O).
    #[inline(never)]
    pub(in crate::io_loop) fn log_in_batch(&mut self, direction: usize, len: u64, issued: u64) -> bool {
        let Some(rows) = &mut self.rows else { return false };
        let rows = &mut rows[direction];
        (rows.last_completed, rows.last_len) = (self.now, len);
        self.now < rows.row_end_by_completion && issued <= rows.row_end_by_issue
    }

    /// Logs an I/O that completed now; not in the ramp. `slat_ns` is `None` if the submitting call completed it.
    pub(in crate::io_loop) fn log_io(&mut self, io: &InFlightIo, slat_ns: Option<u64>, clat_ns: u64) {
        let Request { offset, len, priority, .. } = io.request;
        let issued = if slat_ns.is_some() { io.issued } else { 0 };
        if self.timing.in_ramp() || self.log_in_batch(io.direction, len, issued) {
            return;
        }
        if self.rows.is_some() {
            return self.end_rows(io, slat_ns.is_some());
        }
        let Some(log) = &mut self.log else { return };
        let time_ns = self.timing.measured_ns(&self.clock, self.now);
        let direction = io.direction as u8;
        log.record(IoSample { time_ns, slat_ns, clat_ns, offset, len, priority, direction });
    }

    /// Ends the batch of a direction with an I/O that may end rows.
    fn end_rows(&mut self, io: &InFlightIo, was_queued: bool) {
        let direction = io.direction;
        self.record_calls(direction);
        self.record_completions(direction);
        let since = self.timing.measuring_since;
        let completed_ns = self.clock.between(since, self.now);
        let issued_ns = was_queued.then(|| self.clock.between(since, io.issued));
        let (Some(log), Some(rows)) = (&mut self.log, &mut self.rows) else { return };
        let rows = &mut rows[direction];
        let end = IoAtEnd { completed_ns, issued_ns, len: io.request.len };
        let Some(NextRows { completed_ms, issued_ms, ends_histogram }) = log.end_rows(direction, end) else {
            return;
        };
        let ticks = |ms: u64| since.saturating_add(self.clock.ticks(Duration::from_millis(ms)));
        rows.row_end_by_completion = ticks(completed_ms);
        if was_queued {
            rows.row_end_by_issue = ticks(issued_ms).saturating_sub(1);
        }
        if ends_histogram {
            rows.last_len = 0;
        }
    }

    /// Passes the remaining I/Os to the logs at the end of the job.
    pub(in crate::io_loop) fn flush_log(&mut self) {
        self.record_recent();
        let in_ramp = self.timing.in_ramp();
        let Some(log) = &mut self.log else { return };
        for (direction, rows) in self.rows.iter().flat_map(|rows| rows.iter()).enumerate() {
            if rows.last_completed > 0 && !in_ramp {
                let last_ns = self.timing.measured_ns(&self.clock, rows.last_completed);
                if let Some(sums) = log.sums() {
                    sums.end_with(direction, last_ns, rows.last_len);
                }
            }
        }
        log.flush();
    }
}
