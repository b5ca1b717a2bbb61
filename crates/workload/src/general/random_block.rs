//! A random position in a file, and what becomes of the random map.

use super::file_state::FileState;
use crate::map::RandomMap;
use crate::random::Stream;

/// Sizes that bound a random choice, in bytes.
#[derive(Clone, Copy)]
pub(super) struct Sizes {
    pub(super) min: u32,
    pub(super) align: u64,
    /// Bytes that one bit of the map stands for.
    pub(super) unit: u64,
}

impl FileState {
    /// A random position relative to the region, all being alike, and its bit in the map. With a map it is free for at least the
    /// smallest length. When the file has no more blocks it starts over if it may (`recycle`).
    #[inline]
    pub(super) fn random(
        &mut self,
        stream: &mut Stream,
        d: usize,
        sizes: Sizes,
        recycle: bool,
    ) -> Option<(u64, u64)> {
        let blocks = self.blocks[d]?;
        if self.walk.is_some() {
            return self.walk_on(sizes, recycle).map(|relative| (relative, 0));
        }
        let block = stream.below(blocks);
        let Some(map) = &self.map else {
            return Some((block * sizes.align, 0));
        };
        if let Some(free) = free_block(map, block, sizes) {
            return Some(free);
        }
        if !recycle {
            return None;
        }
        self.rewind();
        let block = stream.below(blocks);
        free_block(self.map.as_ref()?, block, sizes)
    }

    /// The next position in the file's own order.
    fn walk_on(&mut self, sizes: Sizes, recycle: bool) -> Option<u64> {
        let mut block = self.walk.as_mut()?.next();
        if block.is_none() && recycle {
            self.rewind();
            block = self.walk.as_mut()?.next();
        }
        // A register counts smallest blocks: with a wider alignment they reach beyond the end, and beyond 2^64.
        block.and_then(|block| block.checked_mul(sizes.align))
    }
}

/// Relative offset and bit of the first block from `block` on, wrapping once, that is free for a smallest I/O.
#[inline]
pub(super) fn free_block(map: &RandomMap, block: u64, sizes: Sizes) -> Option<(u64, u64)> {
    let min = u64::from(sizes.min);
    if min == sizes.unit {
        return map.next_clear(block).map(|free| (free * min, free));
    }
    let above = free_above(map, block * min, sizes, map.bits() * sizes.unit);
    let free = above.or_else(|| free_above(map, 0, sizes, block * min))?;
    Some((free, free / sizes.unit))
}

/// For blocks larger than the unit of the map: the first multiple of the smallest length in `from..until` whose bytes are all
/// free.
pub(super) fn free_above(map: &RandomMap, mut from: u64, sizes: Sizes, until: u64) -> Option<u64> {
    let min = u64::from(sizes.min);
    while from < until && from + min <= map.bits() * sizes.unit {
        let first = from / sizes.unit;
        let count = (from + min).div_ceil(sizes.unit) - first;
        let run = map.free_run(first, count);
        if run == count {
            return Some(from);
        }
        // Skip everything taken; a clear bit found by wrapping lies below and ends the search.
        let clear = map.next_clear(first + run)?;
        if clear < first {
            return None;
        }
        from = (clear * sizes.unit).next_multiple_of(min).max(from + min);
    }
    None
}

/// Marks the blocks of an I/O, from bit `first` on, and shortens it before the first that was taken already. What lies behind the
/// last bit (a zone ends within its file, a file within a block) is nobody's and shortens nothing.
#[inline]
pub(super) fn mark(map: &mut RandomMap, first: u64, relative: u64, len: u32, sizes: Sizes) -> u32 {
    let Sizes { min, unit, .. } = sizes;
    let mapped = map.bits() - first;
    if u64::from(min) == unit {
        if len == min {
            map.set(first);
            return len;
        }
        let wanted = u64::from(len.div_ceil(min)).min(mapped);
        let got = map.claim(first, wanted);
        return if got < wanted { got as u32 * min } else { len };
    }
    let end = relative + u64::from(len);
    let wanted = (end.div_ceil(unit) - first).min(mapped);
    let free = map.free_run(first, wanted);
    let len = if free < wanted {
        let room = (first + free) * unit - relative;
        (room - room % u64::from(min)) as u32
    } else {
        len
    };
    map.claim(first, (relative + u64::from(len)).div_ceil(unit) - first);
    len
}
