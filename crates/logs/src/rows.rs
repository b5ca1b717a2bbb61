//! Rows of logs, as text or as the records of compressed logs. Text:
//! `time, value[, maximum], direction, block size[, offset], priority[, issue time]`.
//!
//! Neighbouring rows mostly share their time, direction and block size. Those parts are formatted when they change and copied
//! otherwise, so that a plain row costs one conversion of a number and no allocation.

use ferrio_job::IoPriority;
use itoa::Buffer;

use crate::record::{Columns, LogRow, RecordLayout};

/// Collects rows.
#[derive(Debug, Default)]
pub(crate) struct Rows {
    text: Vec<u8>,
    columns: Columns,
    /// Added to all times, ms.
    epoch_ms: u64,
    time_ms: u64,
    /// The time and the separator after it; empty before the first text.
    head: Vec<u8>,
    kind: (u8, u64, u16),
    /// The priority and the separator before it.
    priority: Vec<u8>,
    /// Direction and block size with their separators; the whole rest of rows without further numbers.
    tail: Vec<u8>,
}

impl Rows {
    /// Starts a new text with these columns in the memory of the last one. `epoch_ms` is added to all times.
    pub(crate) fn begin(&mut self, columns: Columns, epoch_ms: u64) {
        self.text.clear();
        if self.head.is_empty() || (self.columns, self.epoch_ms) != (columns, epoch_ms) {
            (self.columns, self.epoch_ms) = (columns, epoch_ms);
            self.set_time(self.time_ms);
            self.set_kind(self.kind);
        }
    }

    /// Adds a row.
    #[inline]
    pub(crate) fn push(&mut self, row: &LogRow) {
        if self.columns.packed {
            self.pack(row);
            return;
        }
        if self.time_ms != row.time_ms {
            self.set_time(row.time_ms);
        }
        let kind = (row.direction, row.block_size, row.priority);
        if self.kind != kind {
            self.set_kind(kind);
        }
        self.text.extend_from_slice(&self.head);
        self.number(row.value);
        if self.columns.maximum {
            self.text.extend_from_slice(b", ");
            self.number(row.maximum);
        }
        self.text.extend_from_slice(&self.tail);
        if self.columns.offset {
            self.number(row.offset);
            self.text.extend_from_slice(&self.priority);
        }
        if self.columns.issue_time {
            self.text.extend_from_slice(b", ");
            self.number(row.issue_ns);
        }
        if self.columns.offset || self.columns.issue_time {
            self.text.push(b'\n');
        }
    }

    /// Adds a row as a record.
    fn pack(&mut self, row: &LogRow) {
        let time_ms = row.time_ms.saturating_add(self.epoch_ms);
        let maximum = if self.columns.maximum { row.maximum } else { 0 };
        let layout = RecordLayout { columns: self.columns, old: false };
        LogRow { time_ms, maximum, ..*row }.push_record(&mut self.text, layout);
    }

    /// The rows so far, text unless they are packed.
    pub(crate) fn text(&self) -> &[u8] {
        &self.text
    }

    fn number(&mut self, number: u64) {
        self.text.extend_from_slice(Buffer::new().format(number).as_bytes());
    }

    fn set_time(&mut self, time_ms: u64) {
        self.time_ms = time_ms;
        self.head.clear();
        self.head.extend_from_slice(Buffer::new().format(time_ms.saturating_add(self.epoch_ms)).as_bytes());
        self.head.extend_from_slice(b", ");
    }

    fn set_kind(&mut self, kind: (u8, u64, u16)) {
        self.kind = kind;
        let (direction, block_size, priority) = kind;
        let Columns { offset, issue_time, priority: whole, .. } = self.columns;
        self.priority.clear();
        self.priority.extend_from_slice(b", ");
        if whole {
            let digit = |shift: u32| b"0123456789abcdef"[usize::from((priority >> shift) & 15)];
            self.priority.extend_from_slice(b"0x");
            self.priority.extend([12, 8, 4, 0].map(digit));
        } else {
            self.priority.push(b'0' + u8::from(IoPriority::from_bits(priority).is_real_time()));
        }
        let tail = &mut self.tail;
        tail.clear();
        tail.extend_from_slice(b", ");
        tail.extend_from_slice(Buffer::new().format(direction).as_bytes());
        tail.extend_from_slice(b", ");
        tail.extend_from_slice(Buffer::new().format(block_size).as_bytes());
        if offset {
            tail.extend_from_slice(b", ");
        } else {
            tail.extend_from_slice(&self.priority);
            if !issue_time {
                tail.push(b'\n');
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(time_ms: u64, value: u64, direction: u8, block_size: u64) -> LogRow {
        LogRow { time_ms, value, direction, block_size, ..LogRow::default() }
    }

    /// The row of one I/O with these columns.
    fn text(columns: Columns) -> String {
        let mut rows = Rows::default();
        rows.begin(Columns::default(), 0);
        rows.begin(columns, 0);
        rows.push(&LogRow { maximum: 9, offset: 8192, issue_ns: 1_999_000, ..row(2, 7, 1, 4096) });
        String::from_utf8(rows.text().to_vec()).unwrap()
    }

    #[test]
    fn a_row_is_time_value_direction_block_size_and_priority() {
        let mut rows = Rows::default();
        rows.begin(Columns::default(), 0);
        for (time_ms, value, direction, block_size) in [
            (0, 136_443, 0, 4096),
            (0, 1, 1, 4096),
            (18, u64::MAX, 1, 4096),
            (18, 0, 2, u64::MAX),
            (0, 7, 0, 0),
        ] {
            rows.push(&row(time_ms, value, direction, block_size));
        }
        let text = "0, 136443, 0, 4096, 0\n0, 1, 1, 4096, 0\n18, 18446744073709551615, 1, 4096, 0\n\
                    18, 0, 2, 18446744073709551615, 0\n0, 7, 0, 0, 0\n";
        assert_eq!(std::str::from_utf8(rows.text()).unwrap(), text);
    }

    #[test]
    fn further_columns_are_where_fio_has_them() {
        let none = Columns::default();
        let (maximum, offset, priority, issue_time) = (true, true, true, true);
        assert_eq!(text(Columns { maximum, ..none }), "2, 7, 9, 1, 4096, 0\n");
        assert_eq!(text(Columns { offset, ..none }), "2, 7, 1, 4096, 8192, 0\n");
        assert_eq!(text(Columns { priority, ..none }), "2, 7, 1, 4096, 0x0000\n");
        assert_eq!(text(Columns { issue_time, ..none }), "2, 7, 1, 4096, 0, 1999000\n");
        assert_eq!(text(Columns { offset, issue_time, ..none }), "2, 7, 1, 4096, 8192, 0, 1999000\n");
        let all = Columns { maximum, offset, priority, issue_time, packed: false };
        assert_eq!(text(all), "2, 7, 9, 1, 4096, 8192, 0x0000, 1999000\n");
    }

    #[test]
    fn a_priority_is_a_bit_for_the_real_time_class_or_the_kernels_number() {
        let rows = |priority, offset| {
            let mut rows = Rows::default();
            rows.begin(Columns { priority, offset, ..Columns::default() }, 0);
            for priority in [0, 0x4005, 0x2000, 0x2000, 0x7fff] {
                rows.push(&LogRow { priority, ..row(1, 2, 0, 512) });
            }
            String::from_utf8(rows.text().to_vec()).unwrap()
        };
        let last = |text: String| -> Vec<String> {
            text.lines().filter_map(|row| row.rsplit(", ").next().map(str::to_owned)).collect()
        };
        for offset in [false, true] {
            assert_eq!(last(rows(false, offset)), ["0", "0", "1", "1", "0"]);
            assert_eq!(last(rows(true, offset)), ["0x0000", "0x4005", "0x2000", "0x2000", "0x7fff"]);
        }
    }

    #[test]
    fn a_text_that_begins_forgets_rows_columns_and_epoch_of_the_last_one() {
        let mut rows = Rows::default();
        rows.begin(Columns { offset: true, ..Columns::default() }, 1_700_000_000_000);
        rows.push(&row(5, 5, 1, 512));
        assert_eq!(rows.text(), b"1700000000005, 5, 1, 512, 0, 0\n");
        rows.begin(Columns::default(), 0);
        rows.push(&row(5, 6, 1, 512));
        assert_eq!(rows.text(), b"5, 6, 1, 512, 0\n");
    }
}
