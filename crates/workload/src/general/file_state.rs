//! The position of a job in one of its files. A job may have a hundred thousand of them: what only some need is kept elsewhere.

use std::sync::Arc;

use crate::map::RandomMap;
use crate::random::Scale;
use crate::step::Region;
use crate::visit_order::VisitOrder;
use crate::zonemode::ZoneEntry;

/// No I/O of this direction yet.
pub(super) const NONE: u64 = u64::MAX;

/// Position and map of one file.
#[derive(Clone, Debug)]
pub(super) struct FileState {
    pub(super) region: Region,
    pub(super) last_start: [u64; 3],
    pub(super) last_end: [u64; 3],
    pub(super) last_len: u32,
    /// Candidate offsets of each direction, `None` when it has not even one; shared by files of one size.
    pub(super) blocks: Arc<[Option<Scale>; 3]>,
    pub(super) map: Option<Box<RandomMap>>,
    /// An order that needs no map.
    pub(super) walk: Option<Box<VisitOrder>>,
}

impl FileState {
    /// Moves to the zone that the next I/O, of direction `d`, belongs to.
    pub(super) fn enter(&mut self, zone: ZoneEntry, d: usize) {
        self.region.offset = zone.start;
        if self.last_end[d] >= zone.end {
            self.last_end[d] = zone.start;
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
        if let Some(walk) = &mut self.walk {
            walk.rewind();
        }
    }
}
