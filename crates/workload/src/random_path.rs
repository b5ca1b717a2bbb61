//! The short path of random jobs over one file with one direction and one block size, no syncs and no `rw=rand...:N`.

use ferrio_job::Direction;

use crate::random_offsets::RandomOffsets;
use crate::step::{Io, Step};

/// Random blocks of one size.
#[derive(Clone, Debug)]
pub(crate) struct RandomPath {
    offsets: RandomOffsets,
    len: u32,
    direction: Direction,
}

impl RandomPath {
    /// Blocks of `len` bytes.
    pub(crate) fn new(offsets: RandomOffsets, direction: Direction, len: u32) -> Self {
        RandomPath { offsets, len, direction }
    }

    /// The next step.
    #[inline(always)]
    pub(crate) fn next(&mut self) -> Step {
        match self.offsets.take() {
            Some(offset) => Step::Io(Io { direction: self.direction, file: 0, offset, len: self.len }),
            None => Step::PassEnd,
        }
    }

    /// The one direction.
    #[inline]
    pub(crate) fn direction(&self) -> Direction {
        self.direction
    }

    /// Starts again where the job repeats.
    pub(crate) fn begin_pass(&mut self) {
        self.offsets.begin_pass();
    }
}
