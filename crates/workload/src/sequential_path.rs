//! The short path of sequential jobs: one file, one direction, one block size, no holes and no syncs.
//!
//! Makes the choices of the general path for these jobs with one compare and one addition per I/O.

use ferrio_job::Direction;

use crate::sequential::Wraps;
use crate::step::{Io, Region, Step};

/// State of a sequential walk; offsets are absolute, in bytes.
#[derive(Clone, Debug)]
pub(crate) struct SequentialPath {
    cursor: u64,
    /// No I/O starts here or beyond.
    limit: u64,
    len: u32,
    direction: Direction,
    begin: u64,
    region_end: u64,
    wraps: Wraps,
}

impl SequentialPath {
    /// A walk in blocks of `len` over `region`.
    pub(crate) fn new(region: &Region, direction: Direction, len: u32, wraps: Wraps) -> Self {
        let region_end = region.offset + region.size;
        // Starts inside the region, ends inside the file; a block may cross the end of the region.
        let limit = (region.real_size + 1).saturating_sub(u64::from(len)).min(region_end);
        SequentialPath {
            cursor: region.offset,
            limit,
            len,
            direction,
            begin: region.offset,
            region_end,
            wraps,
        }
    }

    /// The next step.
    #[inline(always)]
    pub(crate) fn next(&mut self) -> Step {
        if self.cursor >= self.limit && !self.wrap() {
            return Step::PassEnd;
        }
        let offset = self.cursor;
        self.cursor += u64::from(self.len);
        Step::Io(Io { direction: self.direction, file: 0, offset, len: self.len })
    }

    /// The one direction.
    #[inline]
    pub(crate) fn direction(&self) -> Direction {
        self.direction
    }

    /// Back to the start of the region.
    pub(crate) fn begin_pass(&mut self) {
        self.cursor = self.begin;
    }

    /// Starts over where the job's kind asks for it.
    #[cold]
    #[inline(never)]
    fn wrap(&mut self) -> bool {
        let wraps = self.wraps.any() && self.cursor >= self.region_end && self.begin < self.limit;
        if wraps {
            self.cursor = self.begin;
        }
        wraps
    }
}
