//! The short path of random jobs over one file that mix directions or lengths: all offsets random, no syncs and no zones.

use ferrio_job::Direction;

use crate::random::BATCH;
use crate::random_offsets::RandomOffsets;
use crate::steering::Steering;
use crate::step::{Packed, Planned, Region};

/// Random blocks of several sizes or directions.
#[derive(Clone, Debug)]
pub(crate) struct Scatter {
    offsets: RandomOffsets,
    steering: Steering,
    /// Relative to the region, for each direction: below this the largest length fits.
    plain: [u64; 3],
    /// The same in blocks, for the direction of a job that has one.
    plain_blocks: u64,
    size: u64,
    real_size: u64,
    /// The smallest length of all directions that are used; lengths are cut to whole multiples of it.
    min: u32,
}

impl Scatter {
    /// I/Os in a region; every direction used has `min` as its smallest length.
    pub(crate) fn new(region: &Region, offsets: RandomOffsets, steering: Steering, min: u32) -> Self {
        let end = region.size.min(region.real_size.saturating_sub(region.offset));
        let plain =
            steering.lengths.each_ref().map(|lengths| (end + 1).saturating_sub(u64::from(lengths.max)));
        // What reaches beyond the last block of the map, in its partial last block, is not planned ahead either.
        let only = steering.only() as usize;
        let widest = steering.lengths[only].max.div_ceil(min);
        let plain_blocks = offsets.blocks_below(plain[only]).min(offsets.blocks_before(u64::from(widest)));
        Scatter {
            offsets,
            steering,
            plain,
            plain_blocks,
            size: region.size,
            real_size: region.real_size,
            min,
        }
    }

    /// The next step.
    #[inline(never)]
    pub(crate) fn next(&mut self, pace: impl FnMut(Direction) -> Direction) -> Packed {
        if self.offsets.finished() {
            return Packed::PASS_END;
        }
        let direction = self.steering.direction(pace);
        let Some((offset, len)) = self.place(direction as usize) else {
            self.offsets.finish();
            return Packed::PASS_END;
        };
        self.steering.issued(direction);
        Packed::io(direction, offset, len)
    }

    /// The next steps of a job that does not mix directions, as many as there are before something out of the ordinary, or one. None
    /// at the end of a pass.
    pub(crate) fn plan(&mut self, steps: &mut [Planned; BATCH]) -> usize {
        if self.offsets.finished() {
            return 0;
        }
        let d = self.steering.only() as usize;
        let limit = self.plain_blocks;
        let count = self.offsets.plan(self.steering.lengths[d].ready(), limit, self.min, steps);
        if count > 0 {
            self.steering.lengths[d].skip(count);
            return count;
        }
        match self.place(d) {
            Some((offset, len)) => {
                steps[0] = Planned { offset, len };
                1
            }
            None => {
                self.offsets.finish();
                0
            }
        }
    }

    /// The last `count` steps that were planned will not be made. A pass begins next, so that only draws matter.
    pub(crate) fn drop_planned(&mut self, count: usize) {
        let d = self.steering.only() as usize;
        self.steering.lengths[d].put_back(count);
        self.offsets.drop_planned(count);
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
        let lengths = &mut self.steering.lengths[d];
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
