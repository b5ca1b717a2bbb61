//! Averages over `log_avg_msec`.

/// The running window of one direction of one log.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Window {
    /// ms since the job began.
    start: u64,
    sum: u128,
    count: u64,
}

impl Window {
    /// Adds a value. The first one at least `length` ms after the start of the window still belongs to it and ends it: then the
    /// average is returned. The next window starts at that time rounded down to a multiple of `length`.
    #[inline]
    pub(super) fn add(&mut self, time_ms: u64, value: u64, length: u64) -> Option<u64> {
        self.sum += u128::from(value);
        self.count += 1;
        if time_ms.saturating_sub(self.start) < length {
            return None;
        }
        let average = self.take();
        self.start = time_ms - time_ms % length;
        average
    }

    /// Ends the window early. `None` when nothing happened in it.
    pub(super) fn take(&mut self) -> Option<u64> {
        let count = u128::from(self.count);
        let rounded = (self.sum + count / 2).checked_div(count)?;
        (self.sum, self.count) = (0, 0);
        // An average is no larger than the largest value.
        u64::try_from(rounded).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_io_that_ends_a_window_belongs_to_it() {
        let mut window = Window::default();
        assert_eq!(window.add(0, 10, 250), None);
        assert_eq!(window.add(249, 20, 250), None);
        assert_eq!(window.add(260, 60, 250), Some(30));
        assert_eq!(window.take(), None);
    }

    #[test]
    fn windows_start_at_multiples_of_their_length_however_late_one_ended() {
        let mut window = Window::default();
        assert_eq!(window.add(740, 1, 250), Some(1));
        assert_eq!(window.add(749, 2, 250), None);
        assert_eq!(window.add(750, 4, 250), Some(3));
        assert_eq!(window.add(999, 5, 250), None);
        assert_eq!(window.take(), Some(5));
    }

    #[test]
    fn averages_are_rounded_half_up() {
        let average = |values: &[u64]| {
            let mut window = Window::default();
            values.iter().for_each(|&value| assert_eq!(window.add(0, value, 1000), None));
            window.take()
        };
        assert_eq!(average(&[1, 2]), Some(2));
        assert_eq!(average(&[1, 1, 2]), Some(1));
        assert_eq!(average(&[1, 2, 2]), Some(2));
        assert_eq!(average(&[u64::MAX, u64::MAX]), Some(u64::MAX));
        assert_eq!(average(&[]), None);
    }
}
