//! Logs of latencies (`write_lat_log`): a row for each I/O, or one for each window of time (`log_avg_msec`).

use ferrio_job::{LogKind, WindowValue};

use crate::record::LogRow;
use crate::sample::{IoSample, milliseconds};

/// The running window of one direction of one log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Window {
    /// ms since the job began.
    start: u64,
    sum: u128,
    count: u64,
    maximum: u64,
}

/// The values of a window that ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WindowSummary {
    /// The mean, rounded half up.
    pub average: u64,
    /// The largest value.
    pub maximum: u64,
    /// Number of values.
    pub count: u64,
}

impl Window {
    /// Adds a value. The first value at least `length` ms after the start of the window is its last: `add` then returns the summary of the
    /// window. The next window starts at that time rounded down to a multiple of `length`.
    #[inline]
    pub fn add(&mut self, time_ms: u64, value: u64, length: u64) -> Option<WindowSummary> {
        self.add_all(&[value]);
        self.end(time_ms, length)
    }

    /// Adds values that do not end the window.
    #[inline]
    pub(crate) fn add_all(&mut self, values: &[u64]) {
        self.sum += values.iter().map(|&value| u128::from(value)).sum::<u128>();
        self.count += values.len() as u64;
        self.maximum = values.iter().fold(self.maximum, |maximum, &value| maximum.max(value));
    }

    /// Ends the window if `time_ms` is at least `length` ms after its start.
    pub(crate) fn end(&mut self, time_ms: u64, length: u64) -> Option<WindowSummary> {
        if time_ms.saturating_sub(self.start) < length {
            return None;
        }
        let summary = self.take()?;
        self.start = time_ms - time_ms % length;
        Some(summary)
    }

    /// Earliest time, ms, of a value that can end the window.
    pub(crate) fn earliest_end_ms(&self, length: u64) -> u64 {
        self.start.saturating_add(length)
    }

    /// Ends the window early. `None` if it has no values.
    pub fn take(&mut self) -> Option<WindowSummary> {
        let count = u128::from(self.count);
        let rounded = (self.sum + count / 2).checked_div(count)?;
        let (maximum, values) = (self.maximum, self.count);
        (self.sum, self.count, self.maximum) = (0, 0, 0);
        // An average is no larger than the largest value.
        Some(WindowSummary { average: u64::try_from(rounded).unwrap_or(maximum), maximum, count: values })
    }
}

/// The row of a window.
pub(crate) fn window_row(summary: WindowSummary, time_ms: u64, direction: u8, value: WindowValue) -> LogRow {
    let WindowSummary { average, maximum, .. } = summary;
    let value = if value == WindowValue::Maximum { maximum } else { average };
    LogRow { time_ms, value, maximum, direction, ..LogRow::default() }
}

/// The row of one I/O in a latency log of this kind; `None` if the I/O has no row in such a log.
#[inline]
pub(crate) fn io_row(kind: LogKind, sample: &IoSample) -> Option<LogRow> {
    // The time of issue is the time of completion less the completion latency.
    let issued_ns = sample.time_ns.saturating_sub(sample.clat_ns);
    let (time_ns, value, issue_ns) = match kind {
        LogKind::Latency => (sample.time_ns, sample.lat_ns(), 0),
        LogKind::SubmissionLatency => (issued_ns, sample.slat_ns?, issued_ns),
        LogKind::CompletionLatency => (sample.time_ns, sample.clat_ns, issued_ns),
        _ => return None,
    };
    Some(LogRow { issue_ns, ..LogRow::of_io(sample, milliseconds(time_ns), value) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn average(summary: Option<WindowSummary>) -> Option<u64> {
        summary.map(|summary| summary.average)
    }

    #[test]
    fn the_io_that_ends_a_window_belongs_to_it() {
        let mut window = Window::default();
        assert_eq!(window.add(0, 10, 250), None);
        assert_eq!(window.add(249, 20, 250), None);
        assert_eq!(window.add(260, 60, 250), Some(WindowSummary { average: 30, maximum: 60, count: 3 }));
        assert_eq!(window.take(), None);
    }

    #[test]
    fn windows_start_at_multiples_of_their_length_however_late_one_ended() {
        let mut window = Window::default();
        assert_eq!(average(window.add(740, 1, 250)), Some(1));
        assert_eq!(window.add(749, 2, 250), None);
        assert_eq!(average(window.add(750, 4, 250)), Some(3));
        assert_eq!(window.add(999, 5, 250), None);
        assert_eq!(average(window.take()), Some(5));
    }

    #[test]
    fn a_maximum_is_that_of_its_own_window() {
        let mut window = Window::default();
        assert_eq!(window.add(0, 90, 100), None);
        assert_eq!(window.add(100, 10, 100), Some(WindowSummary { average: 50, maximum: 90, count: 2 }));
        assert_eq!(window.add(110, 30, 100), None);
        assert_eq!(window.take(), Some(WindowSummary { average: 30, maximum: 30, count: 1 }));
    }

    #[test]
    fn averages_are_rounded_half_up() {
        let of = |values: &[u64]| {
            let mut window = Window::default();
            values.iter().for_each(|&value| assert_eq!(window.add(0, value, 1000), None));
            average(window.take())
        };
        assert_eq!(of(&[1, 2]), Some(2));
        assert_eq!(of(&[1, 1, 2]), Some(1));
        assert_eq!(of(&[1, 2, 2]), Some(2));
        assert_eq!(of(&[u64::MAX, u64::MAX]), Some(u64::MAX));
        assert_eq!(of(&[]), None);
    }
}
