//! A row of a log, and fio's binary form of it in compressed logs: packed little-endian numbers, `time u64, value u64, maximum u64,
//! direction and flags u32, priority u16, 2 zero bytes, block size u64[, offset u64][, issue time u64]`.
//!
//! The flags say which columns the text has. fio before 3.38 has no maximum and no issue time.

use ferrio_job::{Logs, WindowValue};

use crate::sample::IoSample;

/// The columns of rows beside those that all rows have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Columns {
    /// The maximum, after the value.
    pub(crate) maximum: bool,
    /// The offset of the I/O.
    pub(crate) offset: bool,
    /// The whole priority instead of a bit.
    pub(crate) priority: bool,
    /// When the I/O was issued.
    pub(crate) issue_time: bool,
    /// Rows are records instead of text.
    pub(crate) packed: bool,
}

/// One row. Only rows of single I/Os have a block size, priority, offset and issue time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct LogRow {
    /// ms.
    pub(crate) time_ms: u64,
    /// The logged figure.
    pub(crate) value: u64,
    /// The largest value in the window, 0 for a single I/O.
    pub(crate) maximum: u64,
    /// 0 read, 1 write, 2 trim.
    pub(crate) direction: u8,
    /// Bytes.
    pub(crate) block_size: u64,
    /// I/O priority as the kernel packs it.
    pub(crate) priority: u16,
    /// Bytes.
    pub(crate) offset: u64,
    /// ns since the job began; 0 in logs that are not about single latencies.
    pub(crate) issue_ns: u64,
}

/// The numbers of a record and the columns of its text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct RecordLayout {
    pub(crate) columns: Columns,
    /// There is no room for a maximum: fio before 3.38.
    pub(crate) old: bool,
}

/// Bits of the direction and flags that are the direction.
const DIRECTION: u32 = 0x0fff_ffff;
const OFFSET: u32 = 1 << 31;
const PRIORITY: u32 = 1 << 30;
const MAXIMUM: u32 = 1 << 29;
const ISSUE_TIME: u32 = 1 << 28;

impl Columns {
    /// The columns that a job asks for.
    pub(crate) fn of(logs: &Logs) -> Self {
        Columns {
            maximum: logs.window_value == WindowValue::Both,
            offset: logs.offset,
            priority: logs.prio,
            issue_time: logs.issue_time,
            packed: logs.stored.is_some(),
        }
    }

    fn flags(self) -> u32 {
        let flag = |is_set, flag| if is_set { flag } else { 0 };
        flag(self.maximum, MAXIMUM)
            | flag(self.offset, OFFSET)
            | flag(self.priority, PRIORITY)
            | flag(self.issue_time, ISSUE_TIME)
    }
}

impl RecordLayout {
    /// Bytes before the direction and flags.
    fn head(self) -> usize {
        if self.old { 16 } else { 24 }
    }

    /// Bytes of a record: 40, 48 or 56; 32 or 40 in old ones.
    pub(crate) fn len(self) -> usize {
        self.head() + 16 + 8 * usize::from(self.columns.offset) + 8 * usize::from(self.columns.issue_time)
    }

    /// The layout of the record at the beginning of `bytes`; `None` if they end before its flags.
    pub(crate) fn read(bytes: &[u8], old: bool) -> Option<Self> {
        let layout = RecordLayout { old, ..RecordLayout::default() };
        let flags = u32::from_le_bytes(array(bytes, layout.head())?);
        let columns = Columns {
            maximum: flags & MAXIMUM != 0,
            offset: flags & OFFSET != 0,
            priority: flags & PRIORITY != 0,
            issue_time: flags & ISSUE_TIME != 0,
            packed: false,
        };
        Some(RecordLayout { columns, old })
    }
}

impl LogRow {
    /// The row of one I/O with this time and value.
    #[inline]
    pub(crate) fn of_io(sample: &IoSample, time_ms: u64, value: u64) -> Self {
        LogRow {
            time_ms,
            value,
            maximum: 0,
            direction: sample.direction,
            block_size: sample.len,
            priority: sample.priority,
            offset: sample.offset,
            issue_ns: 0,
        }
    }

    /// Adds the row as a record to `bytes`, without what the layout has no room for.
    #[inline]
    pub(crate) fn push_record(&self, bytes: &mut Vec<u8>, layout: RecordLayout) {
        let RecordLayout { columns, old } = layout;
        bytes.extend_from_slice(&self.time_ms.to_le_bytes());
        bytes.extend_from_slice(&self.value.to_le_bytes());
        if !old {
            bytes.extend_from_slice(&self.maximum.to_le_bytes());
        }
        bytes.extend_from_slice(&(u32::from(self.direction) | columns.flags()).to_le_bytes());
        bytes.extend_from_slice(&self.priority.to_le_bytes());
        bytes.extend_from_slice(&[0; 2]);
        bytes.extend_from_slice(&self.block_size.to_le_bytes());
        if columns.offset {
            bytes.extend_from_slice(&self.offset.to_le_bytes());
        }
        if columns.issue_time {
            bytes.extend_from_slice(&self.issue_ns.to_le_bytes());
        }
    }

    /// Reads the record at the beginning of `bytes`. `None` if it is incomplete, or no record: its direction does not exist, or bytes
    /// that must be zero are not.
    pub(crate) fn read_record(bytes: &[u8], layout: RecordLayout) -> Option<Self> {
        let RecordLayout { columns, old } = layout;
        let head = layout.head();
        let number = |at| array(bytes, at).map(u64::from_le_bytes);
        let row = LogRow {
            time_ms: number(0)?,
            value: number(8)?,
            maximum: if old { 0 } else { number(16)? },
            direction: u8::try_from(u32::from_le_bytes(array(bytes, head)?) & DIRECTION).ok()?,
            priority: u16::from_le_bytes(array(bytes, head + 4)?),
            block_size: number(head + 8)?,
            offset: if columns.offset { number(head + 16)? } else { 0 },
            issue_ns: if columns.issue_time { number(layout.len() - 8)? } else { 0 },
        };
        (row.direction <= 2 && array(bytes, head + 6)? == [0; 2]).then_some(row)
    }
}

/// `N` bytes at `at`, if they are there.
fn array<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..)?.first_chunk().copied()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn layouts() -> impl Strategy<Value = RecordLayout> {
        any::<[bool; 5]>().prop_map(|[maximum, offset, priority, issue_time, old]| {
            let (maximum, issue_time) = (maximum && !old, issue_time && !old);
            RecordLayout { columns: Columns { maximum, offset, priority, issue_time, packed: false }, old }
        })
    }

    fn rows() -> impl Strategy<Value = LogRow> {
        (any::<[u64; 6]>(), 0u8..=2, any::<u16>()).prop_map(|(numbers, direction, priority)| {
            let [time_ms, value, maximum, block_size, offset, issue_ns] = numbers;
            LogRow { time_ms, value, maximum, direction, priority, block_size, offset, issue_ns }
        })
    }

    proptest! {
        #[test]
        fn a_record_is_read_as_it_was_written(row in rows(), layout in layouts()) {
            let mut bytes = Vec::new();
            row.push_record(&mut bytes, layout);
            prop_assert_eq!(bytes.len(), layout.len());
            prop_assert_eq!(RecordLayout::read(&bytes, layout.old), Some(layout));
            let kept = LogRow {
                maximum: if layout.old { 0 } else { row.maximum },
                offset: if layout.columns.offset { row.offset } else { 0 },
                issue_ns: if layout.columns.issue_time { row.issue_ns } else { 0 },
                ..row
            };
            prop_assert_eq!(LogRow::read_record(&bytes, layout), Some(kept));
            prop_assert_eq!(LogRow::read_record(&bytes[..bytes.len() - 1], layout), None);
        }

        #[test]
        fn any_bytes_are_a_record_or_none(bytes: [u8; 56], layout in layouts()) {
            let _ = LogRow::read_record(&bytes, layout);
        }
    }

    #[test]
    fn records_have_the_bytes_of_fio() {
        let row = LogRow { time_ms: 50, value: 125_647, direction: 1, block_size: 4096, ..LogRow::default() };
        let mut bytes = Vec::new();
        row.push_record(&mut bytes, RecordLayout::default());
        let mut want = [0u8; 40];
        (want[0], want[24], want[33]) = (50, 1, 0x10);
        want[8..11].copy_from_slice(&[0xcf, 0xea, 0x01]);
        assert_eq!(bytes, want);
        let columns =
            Columns { maximum: true, offset: true, priority: true, issue_time: true, packed: false };
        bytes.clear();
        LogRow { priority: 0x4005, offset: 8192, issue_ns: 7, maximum: 9, ..row }
            .push_record(&mut bytes, RecordLayout { columns, old: false });
        assert_eq!(
            (bytes.len(), &bytes[16..32]),
            (56, &[9, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0xf0, 5, 0x40, 0, 0][..])
        );
        assert_eq!((bytes[41], bytes[48]), (0x20, 7));
    }
}
