//! Rows of logs: `time, value[, maximum], direction, block size[, offset], priority[, issue time]`, and `time, direction, block size, count…`
//! in logs of histograms. Logs of fio before 2.99 have neither priority nor what follows it.

/// The numbers of a row that a reader needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SampleRow {
    /// ms.
    pub(crate) time_ms: u64,
    /// Latency in ns, KiB/s or I/Os per second.
    pub(crate) value: u64,
    /// The largest value in a window, if the log has this column.
    pub(crate) maximum: Option<u64>,
    /// 0 read, 1 write, 2 trim.
    pub(crate) direction: usize,
    /// Bytes of a single I/O; 0 for a window.
    pub(crate) block_size: u64,
}

/// Where the columns of a log are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RowLayout {
    /// The direction is the third column.
    Plain,
    /// The third column is the largest value in a window (`log_window_value=both`).
    WithMaximum,
}

/// The layouts that a row is valid in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LayoutHint {
    Only(RowLayout),
    /// The row is right in both layouts.
    Either,
}

/// Latest time of a row; even milliseconds since 1970 are below it. Rows with later times are damaged, and sums of times could overflow.
pub(crate) const MAX_TIME_MS: u64 = 1 << 50;

/// Columns that a row has at most.
const MAX_COLUMNS: usize = 8;

/// A row that is not taken apart yet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Numbers {
    numbers: [u64; MAX_COLUMNS],
    count: usize,
}

impl Numbers {
    /// `None` if the line is no row of a log.
    pub(crate) fn read(line: &[u8]) -> Option<Self> {
        let mut row = Numbers { numbers: [0; MAX_COLUMNS], count: 0 };
        for field in line.split(|&byte| byte == b',') {
            *row.numbers.get_mut(row.count)? = number(field)?;
            row.count += 1;
        }
        (row.count >= 4 && row.numbers[0] <= MAX_TIME_MS).then_some(row)
    }

    /// The layouts that the row is possible in; `None` without any.
    pub(crate) fn layout_hint(&self) -> Option<LayoutHint> {
        // No block is as small as the number of a direction. Its size is 0 in a row that stands for a window; so is what follows then.
        let is_direction = |at: usize| self.numbers[at] <= 2;
        let is_size = |at: usize| !is_direction(at) || (self.numbers[at] == 0 && self.numbers[at + 1] == 0);
        let plain = is_direction(2) && is_size(3);
        let with_maximum = self.count >= 6 && is_direction(3) && is_size(4);
        match (plain, with_maximum) {
            (true, true) => Some(LayoutHint::Either),
            (true, false) => Some(LayoutHint::Only(RowLayout::Plain)),
            (false, true) => Some(LayoutHint::Only(RowLayout::WithMaximum)),
            (false, false) => None,
        }
    }

    pub(crate) fn row(&self, layout: RowLayout) -> SampleRow {
        let [time_ms, value, third, fourth, fifth, ..] = self.numbers;
        let (maximum, direction, block_size) = match layout {
            RowLayout::Plain => (None, third, fourth),
            RowLayout::WithMaximum => (Some(third), fourth, fifth),
        };
        // At most 2, see `layout_hint`.
        SampleRow { time_ms, value, maximum, direction: direction as usize, block_size }
    }
}

pub(crate) fn number(field: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(field).ok()?.trim();
    match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hinted(line: &str) -> Option<LayoutHint> {
        Numbers::read(line.as_bytes())?.layout_hint()
    }

    fn row(line: &str, layout: RowLayout) -> SampleRow {
        Numbers::read(line.as_bytes()).unwrap().row(layout)
    }

    #[test]
    fn columns_are_told_by_what_can_be_a_direction_and_a_block_size() {
        let plain = Some(LayoutHint::Only(RowLayout::Plain));
        let maximum = Some(LayoutHint::Only(RowLayout::WithMaximum));
        for (line, layout_hint) in [
            ("0, 136443, 0, 4096", plain),
            ("0, 136443, 0, 4096, 0", plain),
            ("500, 2000, 1, 0, 0", plain),
            ("2, 7, 1, 4096, 8192, 0", plain),
            ("2, 7, 1, 4096, 0, 1999000", plain),
            ("2, 7, 1, 4096, 0, 0, 1999000", plain),
            ("2, 7, 1, 4096, 8192, 0x4005, 1999000", plain),
            ("250, 489181, 2190178, 0, 0, 0", maximum),
            ("250, 489181, 2190178, 1, 0, 0x0000", maximum),
            ("2, 7, 0, 1, 4096, 0", maximum),
            ("2, 7, 0, 0, 4096, 8192, 0, 5", maximum),
            ("250, 1, 1, 0, 0, 0", Some(LayoutHint::Either)),
            ("250, 1, 3, 4, 0, 0", None),
            ("250, 1, 3, 0, 0", None),
        ] {
            assert_eq!(hinted(line), layout_hint, "{line}");
        }
    }

    #[test]
    fn a_row_has_the_numbers_of_its_layout() {
        let read = SampleRow { time_ms: 2, value: 7, maximum: None, direction: 1, block_size: 4096 };
        assert_eq!(row("2, 7, 1, 4096, 8192, 0", RowLayout::Plain), read);
        assert_eq!(
            row("2, 7, 9, 1, 4096, 0", RowLayout::WithMaximum),
            SampleRow { maximum: Some(9), ..read }
        );
    }

    #[test]
    fn what_is_no_row_is_none() {
        for line in [
            "",
            "1, 2, 3",
            "1, 2, x, 4",
            "fio version 3 iolog",
            "1, 2, 3, 4, 5, 6, 7, 8, 9",
            "1,, 0, 4096",
            "-1, 2, 0, 4096",
        ] {
            assert!(hinted(line).is_none(), "{line}");
        }
    }
}
