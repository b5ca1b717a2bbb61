//! The short path of sequential jobs over one file that mix directions or lengths: no syncs and no zones.
//!
//! Away from the end of the region an I/O is one compare and what direction and length cost; near it, and with holes, the rules of
//! sequential progression are gone through as on the general path.

use ferrio_job::Direction;

use crate::random::BATCH;
use crate::sequential::Sequential;
use crate::steering::Steering;
use crate::step::{Packed, Planned, Region};

/// State of a walk through a file in each direction.
#[derive(Clone, Debug)]
pub(crate) struct Course {
    /// Where the last I/O of each direction ended, in bytes of the file.
    last_end: [u64; 3],
    /// Below this the largest length fits the region and nothing wraps. 0 with holes.
    plain: [u64; 3],
    finished: bool,
    steering: Steering,
    region: Region,
    sequential: Sequential,
}

impl Course {
    /// A walk from the start of a region.
    pub(crate) fn new(region: &Region, sequential: Sequential, steering: Steering) -> Self {
        let end = region.real_size.min(region.offset + region.size);
        let plain = steering.lengths.each_ref().map(|lengths| {
            if sequential.hole == 0 { (end + 1).saturating_sub(u64::from(lengths.max)) } else { 0 }
        });
        let last_end = [region.offset; 3];
        Course { last_end, plain, finished: false, steering, region: *region, sequential }
    }

    /// The next step.
    #[inline(never)]
    pub(crate) fn next(&mut self, pace: impl FnMut(Direction) -> Direction) -> Packed {
        if self.finished {
            return Packed::PASS_END;
        }
        let direction = self.steering.direction(pace);
        let d = direction as usize;
        let mut offset = self.last_end[d];
        let len = if offset < self.plain[d] {
            self.steering.lengths[d].next_fitting().bytes
        } else {
            match self.place(d) {
                Some((place, len)) => {
                    offset = place;
                    len
                }
                None => {
                    self.finished = true;
                    return Packed::PASS_END;
                }
            }
        };
        self.last_end[d] = offset + u64::from(len);
        self.steering.issued(direction);
        Packed::io(direction, offset, len)
    }

    /// The next steps of a job that does not mix directions, as many as there are before something out of the ordinary, or one. None
    /// at the end of a pass.
    pub(crate) fn plan(&mut self, steps: &mut [Planned; BATCH]) -> usize {
        if self.finished {
            return 0;
        }
        let d = self.steering.only() as usize;
        let (mut offset, plain) = (self.last_end[d], self.plain[d]);
        let mut count = 0;
        for (step, length) in steps.iter_mut().zip(self.steering.lengths[d].ready()) {
            if offset >= plain {
                break;
            }
            *step = Planned { offset, len: length.bytes };
            offset += u64::from(length.bytes);
            count += 1;
        }
        if count > 0 {
            self.steering.lengths[d].skip(count);
        } else if let Some((place, len)) = self.place(d) {
            steps[0] = Planned { offset: place, len };
            (offset, count) = (place + u64::from(len), 1);
        } else {
            self.finished = true;
        }
        self.last_end[d] = offset;
        count
    }

    /// The last `count` steps that were planned will not be made. A pass begins next, so that only draws matter.
    pub(crate) fn drop_planned(&mut self, count: usize) {
        let d = self.steering.only() as usize;
        self.steering.lengths[d].put_back(count);
    }

    /// Back to the start of the region.
    pub(crate) fn begin_pass(&mut self) {
        self.last_end = [self.region.offset; 3];
        self.finished = false;
        self.steering.begin_pass();
    }

    /// The ramp is over: the counts of issued I/Os start again.
    pub(crate) fn end_ramp(&mut self) {
        self.steering.end_ramp();
    }

    /// Offset and length by all the rules, `None` when the file is finished.
    #[inline(never)]
    fn place(&mut self, d: usize) -> Option<(u64, u32)> {
        let Region { offset: base, size, real_size } = self.region;
        let walked = self.sequential.next(&self.region, self.last_end[d], base + size);
        let relative = walked.filter(|&at| at < size)?;
        let offset = base + relative;
        let room = (size - relative).min(real_size.saturating_sub(offset));
        let len = self.steering.lengths[d].next(room)?;
        (offset + u64::from(len) <= real_size).then_some((offset, len))
    }
}
