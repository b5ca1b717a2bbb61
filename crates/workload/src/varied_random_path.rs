//! The short path of random jobs over one file with several directions or lengths: all offsets random, no syncs and no zones.

use ferrio_job::Direction;

use crate::direction_and_length::DirectionAndLength;
use crate::random_offsets::RandomOffsets;
use crate::step::{Packed, Region};

/// Random blocks of several sizes or directions.
#[derive(Clone, Debug)]
pub(crate) struct VariedRandomPath {
    offsets: RandomOffsets,
    choice: DirectionAndLength,
    /// Relative to the region, for each direction: below this the largest length fits.
    plain: [u64; 3],
    size: u64,
    real_size: u64,
    /// The smallest length of all directions that are used; lengths are cut to whole multiples of it.
    min: u32,
}

impl VariedRandomPath {
    /// I/Os in a region; every direction used has `min` as its smallest length.
    pub(crate) fn new(region: &Region, offsets: RandomOffsets, choice: DirectionAndLength, min: u32) -> Self {
        let end = region.size.min(region.real_size.saturating_sub(region.offset));
        let plain = choice.lengths.each_ref().map(|lengths| (end + 1).saturating_sub(u64::from(lengths.max)));
        VariedRandomPath { offsets, choice, plain, size: region.size, real_size: region.real_size, min }
    }

    /// The next step.
    #[inline(never)]
    pub(crate) fn next(&mut self, pace: impl FnMut(Direction) -> Direction) -> Packed {
        if self.offsets.finished() {
            return Packed::PASS_END;
        }
        let direction = self.choice.direction(pace);
        let Some((offset, len)) = self.place(direction as usize) else {
            self.offsets.finish();
            return Packed::PASS_END;
        };
        self.choice.issued(direction);
        Packed::io(direction, offset, len)
    }

    /// Starts again where the job repeats.
    pub(crate) fn begin_pass(&mut self) {
        self.offsets.begin_pass();
        self.choice.begin_pass();
    }

    /// The ramp is over: the counts of issued I/Os start again.
    pub(crate) fn end_ramp(&mut self) {
        self.choice.end_ramp();
    }

    /// Offset and length, `None` when the file is finished.
    #[inline(always)]
    fn place(&mut self, d: usize) -> Option<(u64, u32)> {
        let (block, relative) = self.offsets.find()?;
        let offset = self.offsets.base() + relative;
        let lengths = &mut self.choice.lengths[d];
        let length = if relative < self.plain[d] {
            lengths.next_fitting()
        } else {
            let room = (self.size - relative).min(self.real_size.saturating_sub(offset));
            lengths.next_in(room).filter(|length| offset + u64::from(length.bytes) <= self.real_size)?
        };
        let got = self.offsets.claim(block, u64::from(length.blocks)) as u32;
        let len = if got < length.blocks { got * self.min } else { length.bytes };
        Some((offset, len))
    }
}
