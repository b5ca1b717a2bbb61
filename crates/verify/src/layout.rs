//! Reads and writes headers of either layout, and recognises the layout of an interval.
//!
//! Releases before fio 3.41 write 40 bytes: magic, type (two bytes), length, seed, offset and time at the positions of the current header,
//! then thread and number of the write in two bytes each, and the checksum of these 36 bytes. Bodies, seeds and digests are the same in
//! both, except for SHA-512.

use ferrio_job::{HEADER_BYTES, HeaderLayout};

use crate::digest::crc32c_raw;
use crate::{BlockHeader, Digest, MAGIC, VERSION, VerifyMethod};

impl BlockHeader {
    /// Reads the fields of a header of this layout from the start of `interval`; `None` when it is too short.
    #[must_use]
    pub fn read_as(layout: HeaderLayout, interval: &[u8]) -> Option<Self> {
        let raw = interval.get(..layout.bytes())?;
        if layout == HeaderLayout::Current {
            return BlockHeader::read(raw);
        }
        // Up to the time, all fields but the type are where the current header has them.
        let mut widened = [0; HEADER_BYTES];
        widened[..32].copy_from_slice(&raw[..32]);
        widened[2] = VERSION;
        widened[3] = raw[2];
        widened[32..34].copy_from_slice(&raw[34..36]);
        widened[40..42].copy_from_slice(&raw[32..34]);
        widened[44..].copy_from_slice(&raw[36..]);
        BlockHeader::read(&widened)
    }

    /// Writes the header in this layout to the start of `place`, with the correct checksum whatever the field says. The old layout keeps
    /// the low half of the number.
    ///
    /// # Panics
    /// If `place` is shorter than a header.
    pub fn write_as(&self, layout: HeaderLayout, place: &mut [u8]) {
        let raw = self.sealed();
        if layout == HeaderLayout::Current {
            place[..HEADER_BYTES].copy_from_slice(&raw);
            return;
        }
        place[..32].copy_from_slice(&raw[..32]);
        place[2..4].copy_from_slice(&[self.method, 0]);
        place[32..34].copy_from_slice(&raw[40..42]);
        place[34..36].copy_from_slice(&raw[32..34]);
        let checksum = crc32c_raw(&place[..36]);
        place[36..40].copy_from_slice(&checksum.to_le_bytes());
    }

    /// Writes the header and the digest to the start of an interval whose body is complete. The fields that follow from the interval and
    /// the method are set here: magic number, version, method, length and padding.
    pub(crate) fn seal(self, layout: HeaderLayout, method: VerifyMethod, interval: &mut [u8]) {
        let header = BlockHeader {
            magic: MAGIC,
            version: VERSION,
            method: method.code(),
            len: interval.len() as u32,
            padding: [42, 43].map(|at| interval.get(at).copied().unwrap_or_default()),
            ..self
        };
        let (head, data) = interval.split_at_mut(layout.overhead(method));
        let (place, field) = head.split_at_mut(layout.bytes());
        header.write_as(layout, place);
        if (layout, method) == (HeaderLayout::Fio340, VerifyMethod::Sha512) {
            field.copy_from_slice(unfinished_sha512(data).as_bytes());
        } else if method.has_digest() {
            field.copy_from_slice(Digest::compute(method, data).as_bytes());
        }
    }
}

/// Computes the checksum for a header of this layout. `raw` is at least as long as a header.
pub(crate) fn checksum(layout: HeaderLayout, raw: &[u8]) -> u32 {
    crc32c_raw(&raw[..layout.bytes() - 4])
}

/// The number of a write as stored in this layout.
pub(crate) fn number(layout: HeaderLayout, number: u64) -> u64 {
    match layout {
        HeaderLayout::Current => number,
        HeaderLayout::Fio340 => number & 0xffff,
    }
}

/// Whether `raw` begins with a sound header of this layout, for an interval of `len` bytes at `offset`.
pub(crate) fn has_header(layout: HeaderLayout, raw: &[u8], len: usize, offset: u64) -> bool {
    let Some(header) = BlockHeader::read_as(layout, raw) else { return false };
    let high_byte_of_type = if layout == HeaderLayout::Current { 0 } else { raw[3] };
    header.magic == MAGIC
        && header.version == VERSION
        && high_byte_of_type == 0
        && VerifyMethod::from_code(header.method).is_some_and(VerifyMethod::has_header)
        && header.len as usize == len
        && header.offset == offset
        && header.checksum == checksum(layout, raw)
}

/// The digest that fio 3.33 stores for `verify=sha512`: it never finishes the computation, so the field holds the first 128 bytes of the
/// data, overwritten from the start by the bytes after the last multiple of 128.
pub(crate) fn unfinished_sha512(data: &[u8]) -> Digest {
    let (blocks, rest) = data.as_chunks::<128>();
    let mut field = blocks.first().copied().unwrap_or([0; 128]);
    field[..rest.len()].copy_from_slice(rest);
    Digest::of(&field)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The second block of a job of fio 3.33 with `bs=4k` and `verify=crc32c`.
    const OF_FIO_3_33: &str =
        "caac0500001000002e56dbf68c0abb88001000000000000000000000 0f26132e01000100 b498aec8";

    fn bytes(hex: &str) -> Vec<u8> {
        let digits: Vec<u32> = hex.chars().filter_map(|c| c.to_digit(16)).collect();
        digits.chunks(2).map(|pair| (pair[0] * 16 + pair[1]) as u8).collect()
    }

    #[test]
    fn the_header_of_an_old_release_is_read_and_written_byte_for_byte() {
        let raw = bytes(OF_FIO_3_33);
        let header = BlockHeader::read_as(HeaderLayout::Fio340, &raw).expect("40 bytes");
        assert_eq!((header.method, header.len, header.offset), (5, 4096, 4096));
        assert_eq!((header.seed, header.number, header.thread), (9_852_480_210_356_360_750, 1, 1));
        assert_eq!((header.time_sec, header.time_nsec), (0, 0x2e13_260f));
        let mut place = [0xee; 48];
        header.write_as(HeaderLayout::Fio340, &mut place);
        assert_eq!((&place[..40], &place[40..]), (&raw[..], &[0xee; 8][..]));
    }

    #[test]
    fn only_a_header_that_is_sound_in_every_field_is_recognised() {
        let raw = bytes(OF_FIO_3_33);
        assert!(has_header(HeaderLayout::Fio340, &raw, 4096, 4096));
        assert!(!has_header(HeaderLayout::Current, &raw, 4096, 4096));
        assert!(!has_header(HeaderLayout::Fio340, &raw, 4096, 8192));
        assert!(!has_header(HeaderLayout::Fio340, &raw, 512, 4096));
        assert!(!has_header(HeaderLayout::Fio340, &raw[..39], 4096, 4096));
        for at in 0..40 {
            let mut damaged = raw.clone();
            damaged[at] ^= 0x20;
            assert!(!has_header(HeaderLayout::Fio340, &damaged, 4096, 4096), "{at}");
        }
    }

    #[test]
    fn the_old_header_has_the_low_half_of_the_number() {
        let mut header = BlockHeader::read_as(HeaderLayout::Fio340, &bytes(OF_FIO_3_33)).expect("40 bytes");
        header.number = 0x3_0007;
        let mut place = [0; 40];
        header.write_as(HeaderLayout::Fio340, &mut place);
        assert_eq!(BlockHeader::read_as(HeaderLayout::Fio340, &place).map(|read| read.number), Some(7));
        assert_eq!(number(HeaderLayout::Fio340, 0x3_0007), 7);
    }

    #[test]
    fn unfinished_sha512_is_the_first_block_below_the_rest() {
        let data: Vec<u8> = (0..400u32).map(|i| (i * 7 % 251) as u8).collect();
        let mut field = data[..128].to_vec();
        field[..16].copy_from_slice(&data[384..]);
        assert_eq!(unfinished_sha512(&data), Digest::of(&field));
    }
}
