//! Records of compressed logs, as fio lays them out: packed little-endian numbers, `time u64, value u64, maximum u64,
//! direction and flags u32, priority u16, 2 bytes of nothing, block size u64[, offset u64][, issue u64]`.
//!
//! The flags say which columns the text has. fio before 3.38 has no maximum and no issue time.

use ferrio_job::IoPriority;

/// Bits of the direction's number that are its own.
const DIRECTION: u32 = 0x0fff_ffff;
const OFFSET: u32 = 1 << 31;
const PRIORITY: u32 = 1 << 30;
const MAXIMUM: u32 = 1 << 29;
const ISSUE_TIME: u32 = 1 << 28;

/// Which numbers a record has, and which of them its text shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct RecordLayout {
    /// The maximum behind the value is shown.
    pub(super) maximum: bool,
    /// There is an offset.
    pub(super) offset: bool,
    /// The whole priority is shown, not a bit.
    pub(super) priority: bool,
    /// There is an issue time.
    pub(super) issue_time: bool,
    /// There is no room for a maximum: fio before 3.38.
    pub(super) old: bool,
}

/// One row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Record {
    /// ms.
    pub(super) time_ms: u64,
    /// What the log is about.
    pub(super) value: u64,
    /// The largest value in the window.
    pub(super) maximum: u64,
    /// 0 read, 1 write, 2 trim; 28 bits.
    pub(super) direction: u32,
    /// The whole priority, whatever the text shows.
    pub(super) priority: u16,
    /// Bytes.
    pub(super) block_size: u64,
    /// Bytes, 0 if the record has none.
    pub(super) offset: u64,
    /// ns, 0 if the record has none.
    pub(super) issue_ns: u64,
}

impl RecordLayout {
    /// Bytes of the numbers before the one that has the flags.
    fn head(self) -> usize {
        if self.old { 16 } else { 24 }
    }

    /// Bytes of a record: 40, 48 or 56; 32 or 40 in old ones.
    pub(super) fn len(self) -> usize {
        self.head() + 16 + 8 * usize::from(self.offset) + 8 * usize::from(self.issue_time)
    }

    /// The layout of the record at the beginning of `bytes`; `None` when they do not reach its flags.
    pub(super) fn read(bytes: &[u8], old: bool) -> Option<Self> {
        let flags =
            u32::from_le_bytes(numbers(bytes, RecordLayout { old, ..RecordLayout::default() }.head())?);
        Some(RecordLayout {
            maximum: flags & MAXIMUM != 0,
            offset: flags & OFFSET != 0,
            priority: flags & PRIORITY != 0,
            issue_time: flags & ISSUE_TIME != 0,
            old,
        })
    }

    fn flags(self) -> u32 {
        [
            (self.maximum, MAXIMUM),
            (self.offset, OFFSET),
            (self.priority, PRIORITY),
            (self.issue_time, ISSUE_TIME),
        ]
        .into_iter()
        .filter_map(|(is_there, flag)| is_there.then_some(flag))
        .sum()
    }
}

impl Record {
    /// Adds the bytes of the record to `bytes`. What the layout has no place for is left out.
    #[inline]
    pub(super) fn push_to(&self, bytes: &mut Vec<u8>, layout: RecordLayout) {
        bytes.extend_from_slice(&self.time_ms.to_le_bytes());
        bytes.extend_from_slice(&self.value.to_le_bytes());
        if !layout.old {
            bytes.extend_from_slice(&self.maximum.to_le_bytes());
        }
        bytes.extend_from_slice(&((self.direction & DIRECTION) | layout.flags()).to_le_bytes());
        bytes.extend_from_slice(&self.priority.to_le_bytes());
        bytes.extend_from_slice(&[0; 2]);
        bytes.extend_from_slice(&self.block_size.to_le_bytes());
        if layout.offset {
            bytes.extend_from_slice(&self.offset.to_le_bytes());
        }
        if layout.issue_time {
            bytes.extend_from_slice(&self.issue_ns.to_le_bytes());
        }
    }

    /// The record at the beginning of `bytes`. `None` when they do not hold all of it, or when it is none: a direction that does not
    /// exist, something where nothing should be.
    pub(super) fn read(bytes: &[u8], layout: RecordLayout) -> Option<Self> {
        let head = layout.head();
        let number = |at| numbers(bytes, at).map(u64::from_le_bytes);
        let behind = head + 16;
        let record = Record {
            time_ms: number(0)?,
            value: number(8)?,
            maximum: if layout.old { 0 } else { number(16)? },
            direction: u32::from_le_bytes(numbers(bytes, head)?) & DIRECTION,
            priority: u16::from_le_bytes(numbers(bytes, head + 4)?),
            block_size: number(head + 8)?,
            offset: if layout.offset { number(behind)? } else { 0 },
            issue_ns: if layout.issue_time { number(layout.len() - 8)? } else { 0 },
        };
        let nothing: [u8; 2] = numbers(bytes, head + 6)?;
        (record.direction <= 2 && nothing == [0; 2]).then_some(record)
    }

    /// The row as text, without the end of the line.
    pub(super) fn text(&self, layout: RecordLayout) -> String {
        let mut text = format!("{}, {}", self.time_ms, self.value);
        let mut add = |number: &dyn std::fmt::Display| {
            text.push_str(", ");
            text.push_str(&number.to_string());
        };
        if layout.maximum {
            add(&self.maximum);
        }
        add(&self.direction);
        add(&self.block_size);
        if layout.offset {
            add(&self.offset);
        }
        if layout.priority {
            add(&format_args!("0x{:04x}", self.priority));
        } else {
            add(&u8::from(IoPriority::from_bits(self.priority).is_real_time()));
        }
        if layout.issue_time {
            add(&self.issue_ns);
        }
        text
    }
}

/// `N` bytes at `at`, if they are there.
fn numbers<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..)?.first_chunk().copied()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn layouts() -> impl Strategy<Value = RecordLayout> {
        any::<[bool; 5]>().prop_map(|[maximum, offset, priority, issue_time, old]| RecordLayout {
            maximum: maximum && !old,
            offset,
            priority,
            issue_time: issue_time && !old,
            old,
        })
    }

    fn records() -> impl Strategy<Value = Record> {
        (any::<[u64; 6]>(), 0u32..=2, any::<u16>()).prop_map(|(numbers, direction, priority)| {
            let [time_ms, value, maximum, block_size, offset, issue_ns] = numbers;
            Record { time_ms, value, maximum, direction, priority, block_size, offset, issue_ns }
        })
    }

    proptest! {
        #[test]
        fn a_record_is_read_as_it_was_written(record in records(), layout in layouts()) {
            let mut bytes = Vec::new();
            record.push_to(&mut bytes, layout);
            prop_assert_eq!(bytes.len(), layout.len());
            prop_assert_eq!(RecordLayout::read(&bytes, layout.old), Some(layout));
            let kept = Record {
                maximum: if layout.old { 0 } else { record.maximum },
                offset: if layout.offset { record.offset } else { 0 },
                issue_ns: if layout.issue_time { record.issue_ns } else { 0 },
                ..record
            };
            prop_assert_eq!(Record::read(&bytes, layout), Some(kept));
            prop_assert_eq!(Record::read(&bytes[..bytes.len() - 1], layout), None);
        }

        #[test]
        fn any_bytes_are_a_record_or_none(bytes: [u8; 56], layout in layouts()) {
            let _ = Record::read(&bytes, layout);
        }
    }

    #[test]
    fn records_have_the_bytes_of_fio() {
        let record =
            Record { time_ms: 50, value: 125_647, direction: 1, block_size: 4096, ..Record::default() };
        let mut bytes = Vec::new();
        record.push_to(&mut bytes, RecordLayout::default());
        let mut want = [0u8; 40];
        (want[0], want[24], want[33]) = (50, 1, 0x10);
        want[8..11].copy_from_slice(&[0xcf, 0xea, 0x01]);
        assert_eq!(bytes, want);
        let all = RecordLayout { maximum: true, offset: true, priority: true, issue_time: true, old: false };
        bytes.clear();
        Record { priority: 0x4005, offset: 8192, issue_ns: 7, maximum: 9, ..record }.push_to(&mut bytes, all);
        assert_eq!(
            (bytes.len(), &bytes[16..32]),
            (56, &[9, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0xf0, 5, 0x40, 0, 0][..])
        );
        assert_eq!((bytes[41], bytes[48]), (0x20, 7));
    }

    #[test]
    fn text_has_the_columns_that_the_flags_name() {
        let record = Record {
            time_ms: 3,
            value: 10,
            maximum: 20,
            direction: 2,
            priority: 0x2003,
            block_size: 512,
            offset: 4096,
            issue_ns: 77,
        };
        assert_eq!(record.text(RecordLayout::default()), "3, 10, 2, 512, 1");
        let all = RecordLayout { maximum: true, offset: true, priority: true, issue_time: true, old: false };
        assert_eq!(record.text(all), "3, 10, 20, 2, 512, 4096, 0x2003, 77");
        assert_eq!(Record { priority: 0x4005, ..record }.text(RecordLayout::default()), "3, 10, 2, 512, 0");
    }
}
