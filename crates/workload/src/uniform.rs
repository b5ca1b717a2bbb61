//! The short path of uniformly random jobs: one file, one direction, one block size, no syncs and no `rw=rand...:N`.
//!
//! Makes the choices of the general path for these jobs with one draw and, with a map, one look at it.

use ferrio_plan::Direction;

use crate::map::RandomMap;
use crate::random::{Scale, Stream};
use crate::step::{Io, Step};

/// State of uniform random choices in one file.
#[derive(Clone, Debug)]
pub(crate) struct Uniform {
    pub(crate) stream: Stream,
    pub(crate) blocks: Scale,
    /// Start of the region in bytes.
    pub(crate) base: u64,
    /// Distance of two candidate offsets in bytes.
    pub(crate) align: u64,
    pub(crate) len: u32,
    pub(crate) direction: Direction,
    /// First offset at which an I/O would leave the file; 0 when there is no block at all.
    pub(crate) limit: u64,
    pub(crate) map: Option<RandomMap>,
    /// `time_based`: a full map is cleared instead of ending the pass.
    pub(crate) recycle: bool,
    pub(crate) finished: bool,
    /// Seed to start again from at each pass, if the job repeats.
    pub(crate) seed: Option<u64>,
}

impl Uniform {
    /// The next step.
    #[inline(always)]
    pub(crate) fn next(&mut self) -> Step {
        if self.finished {
            return Step::PassEnd;
        }
        let mut block = self.stream.below(self.blocks);
        if let Some(map) = &mut self.map {
            match map.take(block) {
                Some(free) => block = free,
                None => match self.recycled() {
                    Some(free) => block = free,
                    None => return Step::PassEnd,
                },
            }
        }
        let offset = self.base + block * self.align;
        if offset >= self.limit {
            self.finished = true;
            return Step::PassEnd;
        }
        Step::Io(Io { direction: self.direction, file: 0, offset, len: self.len })
    }

    /// Clears the map and starts again where the job repeats.
    pub(crate) fn begin_pass(&mut self) {
        if let Some(seed) = self.seed {
            self.stream.reseed(seed);
        }
        if let Some(map) = &mut self.map {
            map.clear();
        }
        self.finished = false;
    }

    /// All blocks are taken: with `time_based` a new round begins with a fresh draw, otherwise the file is finished.
    #[cold]
    fn recycled(&mut self) -> Option<u64> {
        if !self.recycle {
            self.finished = true;
            return None;
        }
        let block = self.stream.below(self.blocks);
        let map = self.map.as_mut()?;
        map.clear();
        map.take(block)
    }
}
