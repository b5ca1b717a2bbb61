//! `verify_pattern`: bytes repeated over a block, in which `%o` is the block's offset.

use thiserror::Error;

/// Bytes of an offset inside a pattern.
const OFFSET_BYTES: usize = 8;
/// Bytes to which shorter patterns are repeated in memory, so that copying and comparing use long strides.
const STRIDE: usize = 512;

/// The contents of blocks by a pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockPattern {
    bytes: Vec<u8>,
    /// Positions in `bytes` of the eight bytes of an offset.
    offsets: Vec<usize>,
    /// The pattern restarts at every multiple of this; `None` lets it run through the block.
    interval: Option<usize>,
}

/// A reason why a pattern cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum PatternError {
    /// No bytes.
    #[error("the verify pattern is empty")]
    Empty,
    /// An offset that reaches beyond the pattern.
    #[error("an offset at byte {0} does not fit into the verify pattern")]
    OffsetOutside(usize),
}

/// The first byte that differs from the pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PatternDifference {
    /// Index in the block.
    pub(crate) at: usize,
    /// Start of the compared repetition of the pattern, or of the whole stretch if that is later.
    pub(crate) since: usize,
    /// The byte of the pattern.
    pub(crate) wanted: u8,
}

impl BlockPattern {
    /// A pattern of `bytes`, with eight bytes reserved at each of `offsets`. `interval` is `verify_pattern_interval`, 0 for none.
    ///
    /// # Errors
    /// There are no bytes, or an offset does not fit.
    pub fn new(bytes: Vec<u8>, offsets: Vec<usize>, interval: u32) -> Result<Self, PatternError> {
        if bytes.is_empty() {
            return Err(PatternError::Empty);
        }
        if let Some(&at) = offsets.iter().find(|&&at| at.saturating_add(OFFSET_BYTES) > bytes.len()) {
            return Err(PatternError::OffsetOutside(at));
        }
        let bytes = if offsets.is_empty() { bytes.repeat(STRIDE.div_ceil(bytes.len())) } else { bytes };
        let interval = Some(interval as usize).filter(|&bytes| bytes > 0);
        Ok(BlockPattern { bytes, offsets, interval })
    }

    /// Whether blocks contain their offsets.
    pub(crate) fn has_offsets(&self) -> bool {
        !self.offsets.is_empty()
    }

    /// Fills a block at `offset` of the file.
    pub(crate) fn fill(&self, block: &mut [u8], offset: u64) {
        let piece_len = self.interval.unwrap_or(block.len()).max(1);
        let mut at = offset;
        for piece in block.chunks_mut(piece_len) {
            let value = at.to_le_bytes();
            for repetition in piece.chunks_mut(self.bytes.len()) {
                let len = repetition.len();
                repetition.copy_from_slice(&self.bytes[..len]);
                for &place in self.offsets.iter().filter(|&&place| place < len) {
                    let room = (len - place).min(OFFSET_BYTES);
                    repetition[place..place + room].copy_from_slice(&value[..room]);
                }
            }
            at += piece.len() as u64;
        }
    }

    /// The offset stored in a block of this pattern, by the first of the offsets in it.
    pub(crate) fn claimed_offset(&self, block: &[u8]) -> Option<u64> {
        let place = *self.offsets.first()?;
        let value = block.get(place..)?.first_chunk::<OFFSET_BYTES>()?;
        Some(u64::from_le_bytes(*value))
    }

    /// Compares the bytes `from..to` of a block at `offset` of the file.
    pub(crate) fn compare(
        &self,
        block: &[u8],
        from: usize,
        to: usize,
        offset: u64,
    ) -> Option<PatternDifference> {
        let piece_len = self.interval.unwrap_or(block.len()).max(1);
        let mut position = from;
        while position < to {
            let piece = position - position % piece_len;
            let phase = (position - piece) % self.bytes.len();
            let end = (position + self.bytes.len() - phase).min(piece + piece_len).min(to);
            let wanted = &self.bytes[phase..phase + end - position];
            let found = &block[position..end];
            if !(self.offsets.is_empty() && found == wanted) {
                let value = (offset + piece as u64).to_le_bytes();
                let byte = |index: usize| {
                    let place = self.offsets.iter().find(|&&at| (at..at + OFFSET_BYTES).contains(&index));
                    place.map_or(self.bytes[index], |&at| value[index - at])
                };
                let differs = (phase..).zip(found).find(|&(index, &byte_found)| byte(index) != byte_found);
                if let Some((index, _)) = differs {
                    let at = position + index - phase;
                    let since = if self.interval.is_some() { piece.max(from) } else { from };
                    return Some(PatternDifference { at, since, wanted: byte(index) });
                }
            }
            position = end;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn filled(pattern: &BlockPattern, len: usize, offset: u64) -> Vec<u8> {
        let mut block = vec![0xee; len];
        pattern.fill(&mut block, offset);
        block
    }

    #[test]
    fn the_pattern_repeats_and_carries_the_offset_of_the_block() {
        let bytes = [&[0xff][..], &[0; 8], b"ab", &[0xf4, 0xff, 0xff, 0xff]].concat();
        let pattern = BlockPattern::new(bytes, vec![1], 0).expect("sound");
        let block = filled(&pattern, 4096, 4096);
        let once = [0xff, 0, 0x10, 0, 0, 0, 0, 0, 0, 0x61, 0x62, 0xf4, 0xff, 0xff, 0xff];
        assert_eq!(block[..30], [once, once].concat());
    }

    #[test]
    fn a_pattern_interval_starts_it_anew_with_its_own_offset() {
        let pattern = BlockPattern::new(vec![0; 8], vec![0], 512).expect("sound");
        let block = filled(&pattern, 4096, 4096);
        assert_eq!(block[512..520], 0x1200u64.to_le_bytes());
        assert_eq!(block[1016..1024], 0x1200u64.to_le_bytes());
    }

    #[test]
    fn empty_patterns_and_offsets_outside_are_refused() {
        assert_eq!(BlockPattern::new(vec![], vec![], 0), Err(PatternError::Empty));
        assert_eq!(BlockPattern::new(vec![0; 9], vec![2], 0), Err(PatternError::OffsetOutside(2)));
    }

    proptest! {
        #[test]
        fn a_filled_block_equals_the_pattern_and_a_changed_byte_is_found(
            bytes in prop::collection::vec(any::<u8>(), 1..40), with_offset: bool, interval in 0u32..100, len in 1usize..1500,
            offset in 0u64..1 << 40, index: prop::sample::Index, change in 1u8.., from in 0usize..100,
        ) {
            let places = if with_offset && bytes.len() >= 8 { vec![bytes.len() - 8] } else { vec![] };
            let once = bytes.clone();
            let pattern = BlockPattern::new(bytes, places.clone(), interval).expect("sound");
            let mut block = filled(&pattern, len, offset);
            if places.is_empty() && interval == 0 {
                prop_assert!(block.iter().enumerate().all(|(i, &b)| b == once[i % once.len()]));
            }
            prop_assert_eq!(pattern.compare(&block, 0, len, offset), None);
            let at = index.index(len);
            let wanted = block[at];
            block[at] ^= change;
            let from = from.min(len);
            let found = pattern.compare(&block, from, len, offset);
            prop_assert_eq!(found.map(|d| (d.at, d.wanted)), (at >= from).then_some((at, wanted)));
        }
    }
}
