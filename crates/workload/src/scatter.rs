//! The short path of random jobs over one file that mix directions or lengths: all offsets random, no syncs and no zones.

use ferrio_plan::Direction;

use crate::offsets::Offsets;
use crate::steering::Steering;
use crate::step::{Io, Region, Step};

/// Random blocks of several sizes or directions.
#[derive(Clone, Debug)]
pub(crate) struct Scatter {
    offsets: Offsets,
    steering: Steering,
    size: u64,
    real_size: u64,
    /// The smallest length of all directions that are used; lengths are cut to whole multiples of it.
    min: u32,
}

impl Scatter {
    /// I/Os in a region; every direction used has `min` as its smallest length.
    pub(crate) fn new(region: &Region, offsets: Offsets, steering: Steering, min: u32) -> Self {
        Scatter { offsets, steering, size: region.size, real_size: region.real_size, min }
    }

    /// The next step.
    #[inline(always)]
    pub(crate) fn next(&mut self, pace: impl FnMut(Direction) -> Direction) -> Step {
        if self.offsets.finished() {
            return Step::PassEnd;
        }
        let direction = self.steering.direction(pace);
        let Some((offset, len)) = self.place(direction as usize) else {
            self.offsets.finish();
            return Step::PassEnd;
        };
        self.steering.issued(direction);
        Step::Io(Io { direction, file: 0, offset, len })
    }

    /// Starts again where the job repeats.
    pub(crate) fn begin_pass(&mut self) {
        self.offsets.begin_pass();
        self.steering.begin_pass();
    }

    /// The ramp is over: the counts of issued I/Os start again.
    pub(crate) fn end_ramp(&mut self) {
        self.steering.end_ramp();
    }

    /// Offset and length, `None` when the file is finished.
    #[inline(always)]
    fn place(&mut self, d: usize) -> Option<(u64, u32)> {
        let (block, relative) = self.offsets.find()?;
        let offset = self.offsets.base() + relative;
        let room = (self.size - relative).min(self.real_size.saturating_sub(offset));
        let length = self.steering.lengths[d].next_in(room)?;
        if offset + u64::from(length.bytes) > self.real_size {
            return None;
        }
        let got = self.offsets.claim(block, u64::from(length.blocks)) as u32;
        let len = if got < length.blocks { got * self.min } else { length.bytes };
        Some((offset, len))
    }
}
