//! Blocks of sysbench's `--validate`: arbitrary data, followed by its CRC-32 and the offset of the block in its file.

use crc::{CRC_32_ISO_HDLC, Crc, Table};
use serde::{Deserialize, Serialize};

/// The CRC-32 of zlib.
static CRC32: Crc<u32, Table<16>> = Crc::<u32, Table<16>>::new(&CRC_32_ISO_HDLC);

/// The wrong part of a block that failed its check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum InvalidBlock {
    /// The checksum is not that of the bytes before it.
    Checksum {
        /// The checksum of the bytes.
        calculated: u32,
        /// The one in the block.
        stored: u32,
    },
    /// The block belongs to another offset.
    Offset {
        /// Offset at which the block was read.
        actual: u64,
        /// The offset in the block.
        stored: u64,
    },
}

/// Writes checksum and offset at the end of the block at `offset`. A block that is too short for both is not changed.
pub fn add_checksum(block: &mut [u8], offset: u64) {
    if let Some((rest, place)) = block.split_last_chunk_mut()
        && let Some((body, checksum)) = rest.split_last_chunk_mut()
    {
        *checksum = CRC32.checksum(body).to_ne_bytes();
        *place = offset.to_ne_bytes();
    }
}

/// Checks a block that was read at `offset`.
///
/// # Errors
/// The checksum or the offset is wrong. A block that is too short for them passes.
pub fn check_checksum(block: &[u8], offset: u64) -> Result<(), InvalidBlock> {
    let Some((rest, place)) = block.split_last_chunk() else { return Ok(()) };
    let Some((body, checksum)) = rest.split_last_chunk() else { return Ok(()) };
    let (calculated, stored) = (CRC32.checksum(body), u32::from_ne_bytes(*checksum));
    if calculated != stored {
        return Err(InvalidBlock::Checksum { calculated, stored });
    }
    let stored = u64::from_ne_bytes(*place);
    if stored != offset { Err(InvalidBlock::Offset { actual: offset, stored }) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block() -> Vec<u8> {
        let mut block = vec![0; 21];
        block[..9].copy_from_slice(b"123456789");
        add_checksum(&mut block, 4096);
        block
    }

    #[test]
    fn a_block_ends_with_the_checksum_of_its_bytes_and_its_offset() {
        // The check value of CRC-32.
        assert_eq!(block()[9..13], 0xcbf4_3926_u32.to_ne_bytes());
        assert_eq!(block()[13..], 4096_u64.to_ne_bytes());
        assert_eq!(check_checksum(&block(), 4096), Ok(()));
    }

    #[test]
    fn a_changed_byte_and_another_offset_are_found() {
        let mut changed = block();
        changed[3] ^= 1;
        assert!(matches!(
            check_checksum(&changed, 4096),
            Err(InvalidBlock::Checksum { stored: 0xcbf4_3926, calculated }) if calculated != 0xcbf4_3926
        ));
        assert_eq!(check_checksum(&block(), 0), Err(InvalidBlock::Offset { actual: 0, stored: 4096 }));
    }

    #[test]
    fn a_block_without_room_for_a_checksum_has_none() {
        let mut short = [7; 11];
        add_checksum(&mut short, 1);
        assert_eq!((short, check_checksum(&short, 1)), ([7; 11], Ok(())));
    }
}
