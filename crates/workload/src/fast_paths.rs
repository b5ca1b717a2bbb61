//! The fast paths of jobs over one file, without syncs, zones and `rw=rand...:N`. They make the same choices as the general path.

use ferrio_job::Direction;

use crate::direction_and_length::DirectionAndLength;
use crate::random_offsets::RandomOffsets;
use crate::sequential::WrapRules;
use crate::step::{Io, PackedStep, Region, Step};

/// A sequential job with one direction and one block size, without holes: one compare and one addition per I/O. Offsets are absolute, in
/// bytes.
#[derive(Clone, Debug)]
pub(crate) struct SequentialPath {
    cursor: u64,
    /// No I/O starts at or after this offset.
    limit: u64,
    len: u64,
    pub(crate) direction: Direction,
    begin: u64,
    region_end: u64,
    wraps: WrapRules,
}

impl SequentialPath {
    /// A walk over `region` in blocks of `len` bytes.
    pub(crate) fn new(region: &Region, direction: Direction, len: u64, wraps: WrapRules) -> Self {
        let region_end = region.offset + region.size;
        // Starts inside the region, ends inside the file; a block may cross the end of the region.
        let limit = (region.real_size + 1).saturating_sub(len).min(region_end);
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

    #[inline(always)]
    pub(crate) fn next(&mut self) -> Step {
        if self.cursor >= self.limit && !self.wrap() {
            return Step::PassEnd;
        }
        let offset = self.cursor;
        self.cursor += self.len;
        Step::Io(Io { direction: self.direction, file: 0, offset, len: self.len })
    }

    /// Returns to the start of the region.
    pub(crate) fn begin_pass(&mut self) {
        self.cursor = self.begin;
    }

    /// Starts over if the job's kind asks for it.
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

/// Random blocks of one size in one direction.
#[derive(Clone, Debug)]
pub(crate) struct RandomPath {
    pub(crate) offsets: RandomOffsets,
    pub(crate) len: u64,
    pub(crate) direction: Direction,
}

impl RandomPath {
    #[inline(always)]
    pub(crate) fn next(&mut self) -> Step {
        match self.offsets.take() {
            Some(offset) => Step::Io(Io { direction: self.direction, file: 0, offset, len: self.len }),
            None => Step::PassEnd,
        }
    }
}

/// Random blocks of several sizes or directions.
#[derive(Clone, Debug)]
pub(crate) struct VariedRandomPath {
    pub(crate) offsets: RandomOffsets,
    pub(crate) choice: DirectionAndLength,
    /// Offset relative to the region, per direction, below which the largest length fits.
    plain: [u64; 3],
    size: u64,
    real_size: u64,
    /// The smallest length of all used directions; lengths are rounded down to multiples of it.
    min: u64,
}

impl VariedRandomPath {
    /// I/Os in a region; every used direction has `min` as its smallest length.
    pub(crate) fn new(region: &Region, offsets: RandomOffsets, choice: DirectionAndLength, min: u64) -> Self {
        let end = region.size.min(region.real_size.saturating_sub(region.offset));
        let plain = choice.lengths.0.each_ref().map(|lengths| (end + 1).saturating_sub(lengths.max));
        VariedRandomPath { offsets, choice, plain, size: region.size, real_size: region.real_size, min }
    }

    #[inline(never)]
    pub(crate) fn next(&mut self, pace: impl FnMut(Direction) -> Direction) -> PackedStep {
        if self.offsets.finished {
            return PackedStep::PASS_END;
        }
        let direction = self.choice.direction(pace);
        let Some((offset, len)) = self.place(direction as usize) else {
            self.offsets.finished = true;
            return PackedStep::PASS_END;
        };
        self.choice.issued(direction);
        PackedStep::io(direction, offset, len)
    }

    /// Restarts if the job repeats.
    pub(crate) fn begin_pass(&mut self) {
        self.offsets.begin_pass();
        self.choice.begin_pass();
    }

    /// Offset and length; `None` when the file is finished.
    #[inline(always)]
    fn place(&mut self, d: usize) -> Option<(u64, u64)> {
        let (block, relative) = self.offsets.find()?;
        let offset = self.offsets.grid.base + relative;
        let lengths = &mut self.choice.lengths.0[d];
        let length = if relative < self.plain[d] {
            lengths.next_fitting()
        } else {
            let room = (self.size - relative).min(self.real_size.saturating_sub(offset));
            lengths.next_in(room).filter(|length| offset + length.bytes <= self.real_size)?
        };
        let got = self.offsets.claim(block, length.blocks);
        let len = if got < length.blocks { got * self.min } else { length.bytes };
        Some((offset, len))
    }
}
