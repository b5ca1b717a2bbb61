//! Page and block sizes of flash, and the ranges that they allow.

/// The sizes of a device's units, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Geometry {
    /// Size of a block, the unit of erasing.
    pub(crate) erase: u32,
    /// Size of a page, the unit of writing.
    pub(crate) write: u32,
}

/// A part of a range inside one block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RangePiece {
    pub(crate) offset: u64,
    pub(crate) len: u32,
    /// Offset of the block.
    pub(crate) block_begin: u64,
}

impl Geometry {
    /// `None` if the sizes are invalid.
    pub(crate) fn new(erase: u32, write: u32) -> Option<Self> {
        (erase > 0 && write > 0 && erase.is_multiple_of(write)).then_some(Geometry { erase, write })
    }

    /// Splits a range at block boundaries.
    pub(crate) fn pieces(self, offset: u64, len: u64) -> impl Iterator<Item = RangePiece> {
        let block = u64::from(self.erase);
        let end = offset.saturating_add(len);
        let mut at = offset;
        std::iter::from_fn(move || {
            let block_begin = at - at % block;
            let offset = at;
            at = end.min(block_begin + block);
            (offset < end).then(|| RangePiece { offset, len: (at - offset) as u32, block_begin })
        })
    }

    /// Checks whether a range can be written; the error is a message.
    pub(crate) fn check_write(self, offset: u64, len: u64) -> Result<(), String> {
        if offset.is_multiple_of(self.write.into()) && len.is_multiple_of(self.write.into()) {
            return Ok(());
        }
        Err(format!("writes must be whole pages of {} bytes", self.write))
    }

    /// Checks whether a range can be erased; the error is a message.
    pub(crate) fn check_erase(self, offset: u64, len: u64) -> Result<(), String> {
        if offset.is_multiple_of(self.erase.into()) && len.is_multiple_of(self.erase.into()) {
            return Ok(());
        }
        Err(format!(
            "trims erase whole blocks of {} bytes: use bs={} or a multiple of it",
            self.erase, self.erase
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAND: Geometry = Geometry { erase: 131_072, write: 2048 };

    fn pieces(offset: u64, len: u64) -> Vec<(u64, u32, u64)> {
        NAND.pieces(offset, len).map(|piece| (piece.offset, piece.len, piece.block_begin)).collect()
    }

    #[test]
    fn a_range_is_cut_where_blocks_begin() {
        assert_eq!(pieces(0, 2048), [(0, 2048, 0)]);
        assert_eq!(pieces(131_072 - 2048, 2048), [(129_024, 2048, 0)]);
        assert_eq!(pieces(131_072 - 2048, 4096), [(129_024, 2048, 0), (131_072, 2048, 131_072)]);
        let three = [(1024, 130_048, 0), (131_072, 131_072, 131_072), (262_144, 1024, 262_144)];
        assert_eq!(pieces(1024, 262_144), three);
        assert_eq!(pieces(0, 0), []);
    }

    #[test]
    fn pages_are_written_and_blocks_are_erased_as_wholes() {
        assert!(NAND.check_write(2048, 4096).is_ok() && NAND.check_erase(131_072, 262_144).is_ok());
        assert_eq!(NAND.check_write(0, 512).unwrap_err(), "writes must be whole pages of 2048 bytes");
        assert!(NAND.check_write(512, 2048).is_err());
        let refused = NAND.check_erase(0, 4096).unwrap_err();
        assert_eq!(refused, "trims erase whole blocks of 131072 bytes: use bs=131072 or a multiple of it");
        assert!(NAND.check_erase(2048, 131_072).is_err());
    }

    #[test]
    fn a_device_that_makes_no_sense_has_no_geometry() {
        assert_eq!(Geometry::new(131_072, 2048), Some(NAND));
        assert_eq!([Geometry::new(0, 1), Geometry::new(4096, 0), Geometry::new(4096, 3)], [None; 3]);
    }
}
