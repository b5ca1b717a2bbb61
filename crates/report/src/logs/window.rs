//! Averages and maxima over `log_avg_msec`.

/// The running window of one direction of one log.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Window {
    /// ms since the job began.
    start: u64,
    sum: u128,
    count: u64,
    maximum: u64,
}

/// What a window that ended has to say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct WindowSummary {
    /// Mean of the values, rounded half up.
    pub(super) average: u64,
    /// The largest of them.
    pub(super) maximum: u64,
}

impl Window {
    /// Adds a value. The first one at least `length` ms after the start of the window still belongs to it and ends it: then its
    /// summary is returned. The next window starts at that time rounded down to a multiple of `length`.
    #[inline]
    pub(super) fn add(&mut self, time_ms: u64, value: u64, length: u64) -> Option<WindowSummary> {
        self.sum += u128::from(value);
        self.count += 1;
        self.maximum = self.maximum.max(value);
        if time_ms.saturating_sub(self.start) < length {
            return None;
        }
        let summary = self.take();
        self.start = time_ms - time_ms % length;
        summary
    }

    /// Ends the window early. `None` when nothing happened in it.
    pub(super) fn take(&mut self) -> Option<WindowSummary> {
        let count = u128::from(self.count);
        let rounded = (self.sum + count / 2).checked_div(count)?;
        let maximum = self.maximum;
        (self.sum, self.count, self.maximum) = (0, 0, 0);
        // An average is no larger than the largest value.
        Some(WindowSummary { average: u64::try_from(rounded).unwrap_or(maximum), maximum })
    }
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
        assert_eq!(window.add(260, 60, 250), Some(WindowSummary { average: 30, maximum: 60 }));
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
        assert_eq!(window.add(100, 10, 100), Some(WindowSummary { average: 50, maximum: 90 }));
        assert_eq!(window.add(110, 30, 100), None);
        assert_eq!(window.take(), Some(WindowSummary { average: 30, maximum: 30 }));
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
