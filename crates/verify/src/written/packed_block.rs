//! A written block in twelve bytes, without the file and the offset that its place in the list tells.

use super::WrittenBlock;

/// Length, number and state of a block, in three words so that nothing is lost to alignment. Above the low 32 bits of the length are 50
/// bits for the number of the write, the high 12 bits of the length (16 TiB in all), and two bits for the state.
#[derive(Clone, Copy, Debug)]
pub(super) struct PackedBlock([u32; 3]);

/// Bits of the last word: the state of the block.
const TRIMMED: u32 = 1 << 31;
const MARKED: u32 = 1 << 30;

impl PackedBlock {
    /// Bits of the length above the first word.
    const HIGH_LEN_BITS: u32 = 12;
    pub(super) const MAX_LEN: u64 = (1 << (u32::BITS + Self::HIGH_LEN_BITS)) - 1;
    pub(super) const NUMBER_BITS: u32 = 62 - Self::HIGH_LEN_BITS;
    const NUMBER: u64 = (1 << Self::NUMBER_BITS) - 1;

    pub(super) fn new(block: &WrittenBlock) -> Self {
        // A longer block has no buffer in which it could be checked.
        let len = block.len.min(Self::MAX_LEN);
        let rest = len >> u32::BITS << Self::NUMBER_BITS | block.number & Self::NUMBER;
        let state = if block.trimmed { TRIMMED } else { 0 };
        PackedBlock([len as u32, rest as u32, (rest >> u32::BITS) as u32 | state])
    }

    fn rest(self) -> u64 {
        u64::from(self.0[1]) | u64::from(self.0[2]) << u32::BITS
    }

    pub(super) fn len(self) -> u64 {
        let high = self.rest() >> Self::NUMBER_BITS & ((1 << Self::HIGH_LEN_BITS) - 1);
        high << u32::BITS | u64::from(self.0[0])
    }

    pub(super) fn number(self) -> u64 {
        self.rest() & Self::NUMBER
    }

    /// Whether the block is to be trimmed.
    pub(super) fn is_marked(self) -> bool {
        self.0[2] & MARKED != 0
    }

    pub(super) fn mark(&mut self) {
        self.0[2] |= MARKED;
    }

    /// Turns a marked block into a block of zeros.
    pub(super) fn trim(&mut self) {
        self.0[2] = self.0[2] & !MARKED | TRIMMED;
    }

    pub(super) fn unpack(self, file: u32, offset: u64) -> WrittenBlock {
        let trimmed = self.0[2] & TRIMMED != 0;
        WrittenBlock { file, len: self.len(), offset, number: self.number(), trimmed }
    }
}
