//! The position of a job in each of its files: the zone (`zonemode=strided`), random blocks in it, and the random map.
//!
//! A job may have a hundred thousand files: state that only some need is boxed or shared. `region` is the current zone of a strided job.

use std::sync::Arc;

use ferrio_job::Zones;

use crate::random::{Scale, Stream};
use crate::random_map::RandomMap;
use crate::step::Region;
use crate::visit_order::VisitOrder;

/// No I/O of this direction yet.
pub(super) const NONE: u64 = u64::MAX;

/// Position and map of one file.
#[derive(Clone, Debug)]
pub(super) struct FileState {
    pub(super) region: Region,
    pub(super) last_start: [u64; 3],
    pub(super) last_end: [u64; 3],
    pub(super) last_len: u64,
    /// Per direction, the scale from a random number to a block; `None` if no block of its size fits. Shared by files of the same size.
    pub(super) blocks: Arc<[Option<Scale>; 3]>,
    pub(super) map: Option<Box<RandomMap>>,
    /// An order that needs no map.
    pub(super) visit_order: Option<Box<VisitOrder>>,
}

/// Sizes that limit a random choice, in bytes.
#[derive(Clone, Copy)]
pub(super) struct ChoiceSizes {
    pub(super) min: u64,
    pub(super) align: u64,
    /// Bytes per bit of the map.
    pub(super) unit: u64,
}

/// The position of a job in the zones of its files.
#[derive(Clone, Debug)]
pub(super) struct ZoneWalk {
    zones: Zones,
    /// Start of each file's first zone.
    first: Vec<u64>,
    /// Bytes issued in all files since a zone was left. The file that is current when a zone is full advances, as in fio.
    bytes: u64,
}

/// The zone for the next I/O in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ZoneEntry {
    /// Start of the zone.
    pub(super) start: u64,
    /// A sequential position of the I/O's direction that is at or beyond this wraps to the start of the zone; 0 in a new zone.
    pub(super) end: u64,
    /// Whether all positions and the map are reset.
    pub(super) fresh: bool,
}

impl FileState {
    /// Moves to the zone of the next I/O in this direction.
    pub(super) fn enter(&mut self, zone: ZoneEntry, direction: usize) {
        self.region.offset = zone.start;
        if self.last_end[direction] >= zone.end {
            self.last_end[direction] = zone.start;
        }
        if zone.fresh {
            self.rewind();
        }
    }

    pub(super) fn rewind(&mut self) {
        self.last_start = [NONE; 3];
        self.last_end = [self.region.offset; 3];
        if let Some(map) = &mut self.map {
            map.clear();
        }
        if let Some(order) = &mut self.visit_order {
            order.rewind();
        }
    }

    /// A uniformly random position relative to the region, and its bit in the map. With a map, at least the smallest I/O fits there.
    /// A file that has no more blocks starts over if it may (`recycle`).
    #[inline]
    pub(super) fn random(
        &mut self,
        stream: &mut Stream,
        direction: usize,
        sizes: ChoiceSizes,
        recycle: bool,
    ) -> Option<(u64, u64)> {
        let blocks = self.blocks[direction]?;
        if self.visit_order.is_some() {
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
    fn walk_on(&mut self, sizes: ChoiceSizes, recycle: bool) -> Option<u64> {
        let mut block = self.visit_order.as_mut()?.next();
        if block.is_none() && recycle {
            self.rewind();
            block = self.visit_order.as_mut()?.next();
        }
        // An LFSR counts blocks of the smallest size: with a larger `blockalign`, positions may pass the end of the file or overflow.
        block.and_then(|block| block.checked_mul(sizes.align))
    }
}

/// Relative offset and bit of the first block at or after `block`, wrapping once, that has room for the smallest I/O.
#[inline(always)]
fn free_block(map: &RandomMap, block: u64, sizes: ChoiceSizes) -> Option<(u64, u64)> {
    let min = sizes.min;
    if min == sizes.unit {
        return map.next_clear(block).map(|free| (free * min, free));
    }
    free_wide(map, block, sizes)
}

/// [`free_block`] for blocks larger than the unit of the map.
#[inline(never)]
fn free_wide(map: &RandomMap, block: u64, sizes: ChoiceSizes) -> Option<(u64, u64)> {
    let min = sizes.min;
    let above = free_above(map, block * min, sizes, map.bits() * sizes.unit);
    let free = above.or_else(|| free_above(map, 0, sizes, block * min))?;
    Some((free, free / sizes.unit))
}

/// The first multiple of the smallest length in `from..until` whose bytes are all free, for blocks larger than the unit of the map.
fn free_above(map: &RandomMap, mut from: u64, sizes: ChoiceSizes, until: u64) -> Option<u64> {
    let min = sizes.min;
    while from < until && from + min <= map.bits() * sizes.unit {
        let first = from / sizes.unit;
        let count = (from + min).div_ceil(sizes.unit) - first;
        let run = map.free_run(first, count);
        if run == count {
            return Some(from);
        }
        // Skips all taken bits; a clear bit found by wrapping lies below and ends the search.
        let clear = map.next_clear(first + run)?;
        if clear < first {
            return None;
        }
        from = (clear * sizes.unit).next_multiple_of(min).max(from + min);
    }
    None
}

/// Marks the blocks of an I/O from bit `first` on, and shortens it before the first block that was already taken. Bytes beyond the last bit
/// (a zone ends within its file, a file within a block) are not tracked and shorten nothing.
#[inline(always)]
pub(super) fn mark(map: &mut RandomMap, first: u64, relative: u64, len: u64, sizes: ChoiceSizes) -> u64 {
    if sizes.min == sizes.unit && len == sizes.min {
        map.set(first);
        return len;
    }
    mark_several(map, first, relative, len, sizes)
}

/// [`mark`] for an I/O of several bits.
#[inline(never)]
fn mark_several(map: &mut RandomMap, first: u64, relative: u64, len: u64, sizes: ChoiceSizes) -> u64 {
    let ChoiceSizes { min, unit, .. } = sizes;
    let mapped = map.bits() - first;
    if min == unit {
        let wanted = len.div_ceil(min).min(mapped);
        let got = map.claim(first, wanted);
        return if got < wanted { got * min } else { len };
    }
    let end = relative + len;
    let wanted = (end.div_ceil(unit) - first).min(mapped);
    let free = map.free_run(first, wanted);
    let len = if free < wanted {
        let room = (first + free) * unit - relative;
        room - room % min
    } else {
        len
    };
    map.claim(first, (relative + len).div_ceil(unit) - first);
    len
}

impl ZoneWalk {
    /// The first zone of each region.
    pub(super) fn new(zones: Zones, regions: &[Region]) -> Self {
        ZoneWalk { zones, first: regions.iter().map(|region| region.offset).collect(), bytes: 0 }
    }

    /// Prepares an I/O in a file whose region starts at the current zone.
    #[inline]
    pub(super) fn enter(&mut self, file: usize, region: &Region) -> ZoneEntry {
        let Zones { size, range, skip } = self.zones;
        let mut start = region.offset;
        let moves = self.bytes >= size;
        if moves {
            self.bytes = 0;
            start = start.saturating_add(range).saturating_add(skip);
            if start >= region.real_size {
                start = self.first[file];
            }
        }
        let end = if moves { 0 } else { start.saturating_add(range) };
        ZoneEntry { start, end, fresh: self.bytes.is_multiple_of(range) }
    }

    /// Counts an issued I/O.
    #[inline]
    pub(super) fn issued(&mut self, len: u64) {
        self.bytes += len;
    }

    /// Start of the first zone of a file.
    #[inline]
    pub(super) fn first(&self, file: usize) -> u64 {
        self.first[file]
    }

    /// Returns to the first zone of a file, and returns its start.
    pub(super) fn rewind(&mut self, file: usize) -> u64 {
        self.bytes = 0;
        self.first[file]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_zone_beyond_the_file_is_the_first_again() {
        let mut region = Region { offset: 4096, size: 8192, real_size: 20480 };
        let mut walk = ZoneWalk::new(Zones { size: 1000, range: 8192, skip: 0 }, &[region]);
        assert_eq!(walk.enter(0, &region), ZoneEntry { start: 4096, end: 12288, fresh: true });
        walk.issued(999);
        assert_eq!(walk.enter(0, &region), ZoneEntry { start: 4096, end: 12288, fresh: false });
        for start in [12288, 4096, 12288] {
            walk.issued(1000);
            assert_eq!(walk.enter(0, &region), ZoneEntry { start, end: 0, fresh: true });
            region.offset = start;
        }
        assert_eq!(walk.rewind(0), 4096);
    }
}
