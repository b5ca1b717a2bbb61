//! `zonemode=strided`: a file is worked on in zones, so many bytes in each, one after the other and round again.
//!
//! A zone is the start of the region moved on; what a random choice or a walk does inside it is decided elsewhere.

use ferrio_job::Zones;

use crate::step::Region;

/// The position of a job in the zones of its files.
#[derive(Clone, Debug)]
pub(crate) struct ZoneWalk {
    zones: Zones,
    /// Start of each file's first zone.
    first: Vec<u64>,
    /// Bytes issued since a zone was left, in all files: one count that only the file that is at work when it is full moves on by,
    /// as with fio.
    bytes: u64,
}

/// What comes before the next I/O in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ZoneEntry {
    /// Start of the zone.
    pub(crate) start: u64,
    /// The walk of the I/O's direction starts over at the start of the zone when it is here or beyond; 0 in a new zone.
    pub(crate) end: u64,
    /// All positions and the map are forgotten.
    pub(crate) fresh: bool,
}

impl ZoneWalk {
    /// At the first zone of each region.
    pub(crate) fn new(zones: Zones, regions: &[Region]) -> Self {
        ZoneWalk { zones, first: regions.iter().map(|region| region.offset).collect(), bytes: 0 }
    }

    /// Before an I/O in a file whose region starts at the current zone.
    #[inline]
    pub(crate) fn enter(&mut self, file: usize, region: &Region) -> ZoneEntry {
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

    /// An I/O of this length was issued.
    #[inline]
    pub(crate) fn issued(&mut self, len: u32) {
        self.bytes += u64::from(len);
    }

    /// Start of the first zone of a file.
    #[inline]
    pub(crate) fn first(&self, file: usize) -> u64 {
        self.first[file]
    }

    /// Back to the first zone of a file; returns where it starts.
    pub(crate) fn rewind(&mut self, file: usize) -> u64 {
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
