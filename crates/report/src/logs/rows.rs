//! Rows of logs, as text or as the records of compressed logs. Text:
//! `time, value[, maximum], direction, block size[, offset], priority[, issue time]`.
//!
//! Neighbouring rows mostly share their time, direction and block size. Those parts are formatted when they change and copied
//! otherwise, so that a plain row costs one conversion of a number and no allocation.

use ferrio_job::{IoPriority, Logs, WindowValue};
use itoa::Buffer;

use super::record::{Record, RecordLayout};

/// Which columns rows have, beside those that all have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Columns {
    /// A maximum behind the value.
    pub(super) maximum: bool,
    /// The offset of the I/O.
    pub(super) offset: bool,
    /// The whole priority instead of a bit.
    pub(super) priority: bool,
    /// When the I/O was issued.
    pub(super) issue_time: bool,
    /// Rows are records instead of text.
    pub(super) packed: bool,
}

impl Columns {
    /// The columns a job asks for.
    pub(super) fn of(logs: &Logs) -> Self {
        Columns {
            maximum: logs.window_value == WindowValue::Both,
            offset: logs.offset,
            priority: logs.prio,
            issue_time: logs.issue_time,
            packed: logs.stored.is_some(),
        }
    }

    /// Bytes of a record with these columns.
    pub(super) fn record_len(self) -> usize {
        self.layout().len()
    }

    fn layout(self) -> RecordLayout {
        let Columns { maximum, offset, priority, issue_time, .. } = self;
        RecordLayout { maximum, offset, priority, issue_time, ..RecordLayout::default() }
    }
}

/// One row. What is not the row of a single I/O has no block size, priority, offset and issue time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct LogRow {
    /// ms.
    pub(super) time_ms: u64,
    /// What the log is about.
    pub(super) value: u64,
    /// The largest value in the window, 0 for a single I/O.
    pub(super) maximum: u64,
    /// 0 read, 1 write, 2 trim.
    pub(super) direction: u8,
    /// Bytes.
    pub(super) block_size: u32,
    /// I/O priority as the kernel packs it.
    pub(super) priority: u16,
    /// Bytes.
    pub(super) offset: u64,
    /// ns since the job began; 0 in logs that are not about single latencies.
    pub(super) issue_ns: u64,
}

/// Collects rows.
#[derive(Debug)]
pub(super) struct Rows {
    text: Vec<u8>,
    columns: Columns,
    /// Added to all times, ms.
    epoch_ms: u64,
    time_ms: u64,
    /// The time and what separates it from the value.
    head: Vec<u8>,
    kind: (u8, u32, u16),
    /// The priority and what separates it from its neighbour.
    priority: Vec<u8>,
    /// Direction and block size, with what separates them from their neighbours; in rows without further numbers, all the rest.
    tail: Vec<u8>,
}

impl Default for Rows {
    fn default() -> Self {
        let mut rows = Rows {
            text: Vec::new(),
            columns: Columns::default(),
            epoch_ms: 0,
            time_ms: 0,
            head: Vec::new(),
            kind: (0, 0, 0),
            priority: Vec::new(),
            tail: Vec::new(),
        };
        rows.set_time(0);
        rows.set_kind((0, 0, 0));
        rows
    }
}

impl Rows {
    /// Starts a new text with these columns, the memory of the last one is used again. `epoch_ms` is added to all times.
    pub(super) fn begin(&mut self, columns: Columns, epoch_ms: u64) {
        self.text.clear();
        if (self.columns, self.epoch_ms) != (columns, epoch_ms) {
            (self.columns, self.epoch_ms) = (columns, epoch_ms);
            self.set_time(self.time_ms);
            self.set_kind(self.kind);
        }
    }

    /// Adds a row.
    #[inline]
    pub(super) fn push(&mut self, row: &LogRow) {
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
        let record = Record {
            time_ms: row.time_ms.saturating_add(self.epoch_ms),
            value: row.value,
            maximum: if self.columns.maximum { row.maximum } else { 0 },
            direction: u32::from(row.direction),
            priority: row.priority,
            block_size: u64::from(row.block_size),
            offset: row.offset,
            issue_ns: row.issue_ns,
        };
        record.push_to(&mut self.text, self.columns.layout());
    }

    /// The rows so far, text unless they are packed.
    pub(super) fn text(&self) -> &[u8] {
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

    fn set_kind(&mut self, kind: (u8, u32, u16)) {
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

    fn row(time_ms: u64, value: u64, direction: u8, block_size: u32) -> LogRow {
        LogRow { time_ms, value, direction, block_size, ..LogRow::default() }
    }

    /// The row of one I/O with these columns.
    fn text(columns: Columns) -> String {
        let mut rows = Rows::default();
        rows.begin(columns, 0);
        rows.push(&LogRow { maximum: 9, offset: 8192, issue_ns: 1_999_000, ..row(2, 7, 1, 4096) });
        String::from_utf8(rows.text().to_vec()).unwrap()
    }

    #[test]
    fn a_row_is_time_value_direction_block_size_and_priority() {
        let mut rows = Rows::default();
        for (time_ms, value, direction, block_size) in [
            (0, 136_443, 0, 4096),
            (0, 1, 1, 4096),
            (18, u64::MAX, 1, 4096),
            (18, 0, 2, u32::MAX),
            (0, 7, 0, 0),
        ] {
            rows.push(&row(time_ms, value, direction, block_size));
        }
        let text = "0, 136443, 0, 4096, 0\n0, 1, 1, 4096, 0\n18, 18446744073709551615, 1, 4096, 0\n\
                    18, 0, 2, 4294967295, 0\n0, 7, 0, 0, 0\n";
        assert_eq!(std::str::from_utf8(rows.text()).unwrap(), text);
    }

    #[test]
    fn further_columns_stand_where_fio_has_them() {
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
