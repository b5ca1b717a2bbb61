//! Ends sampling intervals as the I/O loop passes them.

use ferrio_engine::Engine;

use super::IoLoop;
use super::windows::{NEVER, end_ticks};
use crate::rate_samplers::TransferCounts;

impl<E: Engine> IoLoop<'_, E> {
    /// Ends the intervals that were over before this I/O completed; `in_call` if the submitting call completed it.
    #[cold]
    #[inline(never)]
    pub(super) fn end_intervals(&mut self, direction: usize, len: u64, in_call: bool) {
        let mut completed = self.completed();
        // The I/O itself belongs to the current interval. If it was queued, it still counts as in flight.
        let TransferCounts { ios, bytes } = &mut completed;
        ios[direction] = ios[direction].saturating_sub(u64::from(in_call));
        bytes[direction] = bytes[direction].saturating_sub(len);
        self.end_intervals_before(self.meter.now, completed);
    }

    /// Ends the intervals that are over at `now`.
    pub(super) fn end_intervals_until(&mut self, now: u64) {
        let completed = self.completed();
        if now >= self.meter.interval_end {
            self.end_intervals_before(now, completed);
        }
    }

    fn end_intervals_before(&mut self, now: u64, completed: TransferCounts) {
        let (clock, since) = (self.meter.clock, self.meter.timing.measuring_since);
        let Some(windows) = &mut self.meter.windows else { return };
        let due_ns = windows.end_intervals(clock.between(since, now), completed);
        self.meter.interval_end = end_ticks(&clock, since, due_ns);
    }

    /// Ends the last, partial interval of the job and writes the log rows that are pending.
    pub(super) fn end_last_interval(&mut self) {
        let (completed, now) = (self.completed(), self.meter.clock.now());
        let is_measured = self.meter.interval_end != NEVER;
        let ns = self.meter.timing.measured_ns(&self.meter.clock, now);
        if let Some(windows) = self.meter.windows.as_mut().filter(|_| is_measured) {
            windows.end(ns, completed);
        }
        self.meter.interval_end = NEVER;
    }

    fn completed(&self) -> TransferCounts {
        let (in_flight, _) = self.slots.in_flight();
        let mut completed = TransferCounts { ios: [0; 3], bytes: [0; 3] };
        for (direction, stats) in self.meter.directions.iter().enumerate() {
            completed.ios[direction] = stats.ios.saturating_sub(in_flight[direction]);
            completed.bytes[direction] = stats.bytes;
        }
        completed
    }
}
