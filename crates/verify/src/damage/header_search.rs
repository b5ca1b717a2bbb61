//! Finds headers: intact ones, ones with a flipped bit, and ones at a wrong place.

use crate::{BlockHeader, HeaderLayout, MAGIC, VERSION, layout};

/// The header of this layout at the start of `bytes` if magic number, version and checksum are right.
pub(super) fn sound(layout: HeaderLayout, bytes: &[u8]) -> Option<BlockHeader> {
    let header = BlockHeader::read_as(layout, bytes)?;
    let is_sound =
        wrong_constant_bits(layout, bytes) == 0 && header.checksum == layout::checksum(layout, bytes);
    is_sound.then_some(header)
}

/// The header at the start of `bytes` if inverting a single bit makes it sound. CRC-32C permits only one such bit at this length.
pub(super) fn with_one_flip(layout: HeaderLayout, bytes: &[u8]) -> Option<BlockHeader> {
    let mut raw = bytes.get(..layout.bytes())?.to_vec();
    if wrong_constant_bits(layout, &raw) > 1 {
        return None;
    }
    (0..8 * raw.len()).find_map(|bit| {
        raw[bit / 8] ^= 1 << (bit % 8);
        let header = sound(layout, &raw);
        raw[bit / 8] ^= 1 << (bit % 8);
        header
    })
}

/// Wrong bits in the parts that all headers of a layout share: the magic number, and a version or the high byte of the type.
fn wrong_constant_bits(layout: HeaderLayout, raw: &[u8]) -> u32 {
    let &[first, second, third, fourth, ..] = raw else { return u32::MAX };
    let constant = match layout {
        HeaderLayout::Current => third ^ VERSION,
        HeaderLayout::Fio340 => fourth,
    };
    (u16::from_le_bytes([first, second]) ^ MAGIC).count_ones() + constant.count_ones()
}

/// Finds the first sound header of this layout in `bytes` at or after `from`.
pub(super) fn find(layout: HeaderLayout, bytes: &[u8], from: usize) -> Option<(usize, BlockHeader)> {
    let [first, ..] = MAGIC.to_le_bytes();
    let mut at = from;
    loop {
        at += bytes.get(at..)?.iter().position(|&byte| byte == first)?;
        match sound(layout, &bytes[at..]) {
            Some(header) => return Some((at, header)),
            None => at += 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header() -> BlockHeader {
        BlockHeader {
            magic: MAGIC,
            version: VERSION,
            method: 5,
            len: 4096,
            seed: 77,
            offset: 8192,
            time_sec: 1,
            time_nsec: 2,
            number: 3,
            thread: 1,
            padding: [4, 5],
            checksum: 0,
        }
    }

    #[test]
    fn each_flipped_bit_of_a_header_is_found() {
        for layout in [HeaderLayout::Current, HeaderLayout::Fio340] {
            let mut raw = vec![0; layout.bytes()];
            header().write_as(layout, &mut raw);
            let whole = sound(layout, &raw);
            assert_eq!(whole.map(|header| (header.seed, header.number)), Some((77, 3)));
            for bit in 0..8 * raw.len() {
                let mut damaged = raw.clone();
                damaged[bit / 8] ^= 1 << (bit % 8);
                assert_eq!(sound(layout, &damaged), None);
                assert_eq!(with_one_flip(layout, &damaged), whole, "bit {bit}");
            }
            assert_eq!(with_one_flip(layout, &[0; 48]), None);
        }
    }

    #[test]
    fn a_header_is_found_wherever_it_is() {
        let mut bytes = vec![0xca; 300];
        bytes[133..181].copy_from_slice(&header().sealed());
        assert_eq!(
            find(HeaderLayout::Current, &bytes, 0).map(|(at, header)| (at, header.seed)),
            Some((133, 77))
        );
        assert_eq!(find(HeaderLayout::Current, &bytes, 134), None);
    }
}
