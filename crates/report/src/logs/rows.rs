//! Text of log rows: `time, value, direction, block size, priority`.
//!
//! Neighbouring rows mostly share their time and everything behind the value. Both parts are formatted when they change and
//! copied otherwise, so that a row costs one conversion of a number and no allocation.

use itoa::Buffer;

/// Collects rows as text.
#[derive(Debug)]
pub(super) struct Rows {
    text: Vec<u8>,
    time_ms: u64,
    /// The time and what separates it from the value.
    head: Vec<u8>,
    kind: (u8, u32),
    /// Everything behind the value.
    tail: Vec<u8>,
}

impl Default for Rows {
    fn default() -> Self {
        Rows {
            text: Vec::new(),
            time_ms: 0,
            head: b"0, ".to_vec(),
            kind: (0, 0),
            tail: b", 0, 0, 0\n".to_vec(),
        }
    }
}

impl Rows {
    /// Adds a row. `direction` is 0 read, 1 write, 2 trim; `block_size` is 0 for a row that stands for several I/Os.
    #[inline]
    pub(super) fn push(&mut self, time_ms: u64, value: u64, direction: u8, block_size: u32) {
        if self.time_ms != time_ms {
            self.set_time(time_ms);
        }
        if self.kind != (direction, block_size) {
            self.set_kind(direction, block_size);
        }
        self.text.extend_from_slice(&self.head);
        self.text.extend_from_slice(Buffer::new().format(value).as_bytes());
        self.text.extend_from_slice(&self.tail);
    }

    /// The rows so far.
    pub(super) fn text(&self) -> &[u8] {
        &self.text
    }

    /// Forgets them; the memory is used again.
    pub(super) fn clear(&mut self) {
        self.text.clear();
    }

    fn set_time(&mut self, time_ms: u64) {
        self.time_ms = time_ms;
        self.head.clear();
        self.head.extend_from_slice(Buffer::new().format(time_ms).as_bytes());
        self.head.extend_from_slice(b", ");
    }

    fn set_kind(&mut self, direction: u8, block_size: u32) {
        self.kind = (direction, block_size);
        self.tail.clear();
        self.tail.extend_from_slice(b", ");
        self.tail.extend_from_slice(Buffer::new().format(direction).as_bytes());
        self.tail.extend_from_slice(b", ");
        self.tail.extend_from_slice(Buffer::new().format(block_size).as_bytes());
        // No job here has a priority.
        self.tail.extend_from_slice(b", 0\n");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_time_value_direction_block_size_and_priority() {
        let mut rows = Rows::default();
        rows.push(0, 136_443, 0, 4096);
        rows.push(0, 1, 1, 4096);
        rows.push(18, u64::MAX, 1, 4096);
        rows.push(18, 0, 2, u32::MAX);
        rows.push(0, 7, 0, 0);
        let text = "0, 136443, 0, 4096, 0\n0, 1, 1, 4096, 0\n18, 18446744073709551615, 1, 4096, 0\n\
                    18, 0, 2, 4294967295, 0\n0, 7, 0, 0, 0\n";
        assert_eq!(std::str::from_utf8(rows.text()).unwrap(), text);
    }

    #[test]
    fn forgotten_rows_do_not_come_back() {
        let mut rows = Rows::default();
        rows.push(5, 5, 1, 512);
        rows.clear();
        rows.push(5, 6, 1, 512);
        assert_eq!(rows.text(), b"5, 6, 1, 512, 0\n");
    }
}
