//! The 48 bytes at the start of every interval, little-endian, and the length of the interval: the piece of a block that carries one
//! header.
//!
//! Two bytes of padding belong to no field: they keep what the body had there and are covered by the checksum, so they are kept here.

use ferrio_job::greatest_common_divisor;

use crate::HEADER_BYTES;
use crate::digest::crc32c_raw;

/// First two bytes of a header.
pub const MAGIC: u16 = 0xacca;
/// Version of the layout; releases before fio 3.41 have another layout without this byte.
pub const VERSION: u8 = 0x81;

/// Bytes that the checksum covers.
const COVERED: usize = 44;

/// The fields of a header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BlockHeader {
    /// [`MAGIC`] in a sound header.
    pub magic: u16,
    /// [`VERSION`] in a sound header.
    pub version: u8,
    /// [`VerifyMethod::code`](crate::VerifyMethod::code) of the writer.
    pub method: u8,
    /// Bytes of the interval.
    pub len: u32,
    /// Seed of the block's body; 0 when the body is a pattern.
    pub seed: u64,
    /// Offset of the interval in the file, bytes.
    pub offset: u64,
    /// Time of the write, whole seconds of the writer's clock.
    pub time_sec: u32,
    /// Nanoseconds of that time.
    pub time_nsec: u32,
    /// Number of writes that the job had issued before.
    pub number: u64,
    /// Number of the job, from 1.
    pub thread: u16,
    /// Two bytes of the body.
    pub padding: [u8; 2],
    /// Checksum of all bytes before it.
    pub checksum: u32,
}

impl BlockHeader {
    /// Reads the fields from the first 48 bytes of `interval`; `None` when it is shorter.
    #[must_use]
    pub fn read(interval: &[u8]) -> Option<Self> {
        let raw = interval.first_chunk::<HEADER_BYTES>()?;
        let u32_at = |at: usize| u32::from_le_bytes([raw[at], raw[at + 1], raw[at + 2], raw[at + 3]]);
        let u64_at = |at: usize| u64::from(u32_at(at)) | u64::from(u32_at(at + 4)) << 32;
        Some(BlockHeader {
            magic: u16::from_le_bytes([raw[0], raw[1]]),
            version: raw[2],
            method: raw[3],
            len: u32_at(4),
            seed: u64_at(8),
            offset: u64_at(16),
            time_sec: u32_at(24),
            time_nsec: u32_at(28),
            number: u64_at(32),
            thread: u16::from_le_bytes([raw[40], raw[41]]),
            padding: [raw[42], raw[43]],
            checksum: u32_at(COVERED),
        })
    }

    /// The bytes on disk, with the correct checksum whatever the field says.
    #[must_use]
    pub fn sealed(&self) -> [u8; HEADER_BYTES] {
        let mut raw = [0; HEADER_BYTES];
        raw[0..2].copy_from_slice(&self.magic.to_le_bytes());
        raw[2] = self.version;
        raw[3] = self.method;
        raw[4..8].copy_from_slice(&self.len.to_le_bytes());
        raw[8..16].copy_from_slice(&self.seed.to_le_bytes());
        raw[16..24].copy_from_slice(&self.offset.to_le_bytes());
        raw[24..28].copy_from_slice(&self.time_sec.to_le_bytes());
        raw[28..32].copy_from_slice(&self.time_nsec.to_le_bytes());
        raw[32..40].copy_from_slice(&self.number.to_le_bytes());
        raw[40..42].copy_from_slice(&self.thread.to_le_bytes());
        raw[42..COVERED].copy_from_slice(&self.padding);
        let checksum = crc32c_raw(&raw[..COVERED]);
        raw[COVERED..].copy_from_slice(&checksum.to_le_bytes());
        raw
    }
}

/// The interval of a job in bytes, from `verify_interval` and the smallest and largest block sizes of writes and, if the job reads too, of
/// reads.
///
/// A reader must come to the same interval as the writer. The choice is fio's: an interval that does not fit the block sizes is
/// replaced, not refused.
#[must_use]
pub fn resolve_interval(option: Option<u32>, writes: (u64, u64), reads: Option<(u64, u64)>) -> u64 {
    let (min, max) = writes;
    let mut interval = option.map_or(if min == max { 0 } else { min }, u64::from);
    if interval > min {
        interval = min;
    } else if let Some((read_min, _)) = reads
        && interval > read_min
    {
        interval = read_min;
    }
    if interval == 0 || min % interval != 0 || max % interval != 0 {
        interval = greatest_common_divisor(min, max);
    }
    interval
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn fields_lie_where_fio_puts_them() {
        let header = BlockHeader {
            magic: MAGIC,
            version: VERSION,
            method: 5,
            len: 0x0403_0201,
            seed: 0x1817_1615_1413_1211,
            offset: 0x2827_2625_2423_2221,
            time_sec: 0x3433_3231,
            time_nsec: 0x4443_4241,
            number: 0x5857_5655_5453_5251,
            thread: 0x6261,
            padding: [0x71, 0x72],
            checksum: 0,
        };
        let raw = header.sealed();
        let expected = [
            0xca, 0xac, 0x81, 5, 1, 2, 3, 4, 0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18, 0x21, 0x22,
            0x23, 0x24, 0x25, 0x26, 0x27, 0x28, 0x31, 0x32, 0x33, 0x34, 0x41, 0x42, 0x43, 0x44, 0x51, 0x52,
            0x53, 0x54, 0x55, 0x56, 0x57, 0x58, 0x61, 0x62, 0x71, 0x72,
        ];
        assert_eq!(raw[..44], expected);
        assert_eq!(raw[44..], crc32c_raw(&expected).to_le_bytes());
    }

    #[test]
    fn fewer_than_48_bytes_hold_no_header() {
        assert_eq!(BlockHeader::read(&[0; 47]), None);
    }

    proptest! {
        #[test]
        fn what_is_read_can_be_sealed_again(raw in prop::collection::vec(any::<u8>(), 48..60)) {
            let header = BlockHeader::read(&raw).expect("long enough");
            prop_assert_eq!(&header.sealed()[..44], &raw[..44]);
            let checksum = crc32c_raw(&header.sealed()[..COVERED]);
            prop_assert_eq!(BlockHeader::read(&header.sealed()).map(|h| h.checksum), Some(checksum));
        }
    }

    #[test]
    fn one_block_size_is_one_interval() {
        assert_eq!(resolve_interval(None, (4096, 4096), None), 4096);
    }

    #[test]
    fn an_interval_that_divides_all_sizes_is_kept() {
        assert_eq!(resolve_interval(Some(512), (4096, 8192), Some((4096, 4096))), 512);
    }

    #[test]
    fn an_odd_interval_becomes_the_common_divisor() {
        assert_eq!(resolve_interval(Some(1000), (4096, 4096), None), 4096);
        assert_eq!(resolve_interval(Some(1000), (4096, 6144), None), 2048);
    }

    #[test]
    fn varying_sizes_use_the_smallest_that_divides() {
        assert_eq!(resolve_interval(None, (4096, 16384), None), 4096);
        assert_eq!(resolve_interval(None, (4096, 6144), None), 2048);
    }

    #[test]
    fn an_interval_beyond_a_block_is_cut() {
        assert_eq!(resolve_interval(Some(65536), (4096, 4096), None), 4096);
        assert_eq!(resolve_interval(Some(4096), (8192, 8192), Some((2048, 2048))), 2048);
    }
}
