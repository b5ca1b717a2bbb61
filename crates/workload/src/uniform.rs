//! The short path of random jobs over one file with one direction and one block size, no syncs and no `rw=rand...:N`.
//!
//! Makes the choices of the general path for these jobs by taking a block that was drawn ahead and, with a map, one look at it.

use ferrio_plan::Direction;

use crate::map::RandomMap;
use crate::random::{Ahead, BATCH, Scale, Stream};
use crate::step::{Io, Step};

/// State of random choices in one file.
#[derive(Clone, Debug)]
pub(crate) struct Uniform {
    ahead: Ahead,
    /// The first block that would leave the file, or at which the region ends.
    end: u64,
    /// Distance of two candidate offsets in bytes.
    align: u64,
    /// Start of the region in bytes.
    base: u64,
    len: u32,
    direction: Direction,
    finished: bool,
    /// `time_based`: a full map is cleared instead of ending the pass.
    recycle: bool,
    map: Option<RandomMap>,
    blocks: Blocks,
}

/// Where the blocks come from.
#[derive(Clone, Debug)]
pub(crate) struct Blocks {
    pub(crate) stream: Stream,
    pub(crate) count: Scale,
    /// Seed to start again from at each pass, if the job repeats.
    pub(crate) seed: Option<u64>,
}

/// Where blocks lie and which of them are usable.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Grid {
    /// Start of the region in bytes.
    pub(crate) base: u64,
    /// Distance of two candidate offsets in bytes.
    pub(crate) align: u64,
    /// First offset at which an I/O would leave the file or its region; 0 when there is no block at all.
    pub(crate) limit: u64,
}

impl Uniform {
    /// Choices among the blocks of a grid, each once in a pass if there is a map.
    pub(crate) fn new(
        blocks: Blocks,
        grid: Grid,
        (direction, len): (Direction, u32),
        map: Option<RandomMap>,
        recycle: bool,
    ) -> Self {
        let end = grid.limit.saturating_sub(grid.base).div_ceil(grid.align);
        Uniform {
            ahead: Ahead::new(),
            end,
            align: grid.align,
            base: grid.base,
            len,
            direction,
            finished: end == 0,
            recycle,
            map,
            blocks,
        }
    }

    /// The next step.
    #[inline(always)]
    pub(crate) fn next(&mut self) -> Step {
        if self.finished {
            return Step::PassEnd;
        }
        let mut block = self.ahead.next(|numbers| self.blocks.draw(numbers));
        if let Some(map) = &mut self.map {
            match map.take(block) {
                Some(free) => block = free,
                None => match self.recycled() {
                    Some(free) => block = free,
                    None => return Step::PassEnd,
                },
            }
        }
        if block >= self.end {
            self.finished = true;
            return Step::PassEnd;
        }
        let offset = self.base + block * self.align;
        Step::Io(Io { direction: self.direction, file: 0, offset, len: self.len })
    }

    /// The one direction.
    #[inline]
    pub(crate) fn direction(&self) -> Direction {
        self.direction
    }

    /// Clears the map and starts again where the job repeats.
    pub(crate) fn begin_pass(&mut self) {
        if self.blocks.restart() {
            self.ahead.forget();
        }
        if let Some(map) = &mut self.map {
            map.clear();
        }
        self.finished = self.end == 0;
    }

    /// All blocks are taken: with `time_based` a new round begins with a fresh draw, otherwise the file is finished.
    #[cold]
    #[inline(never)]
    fn recycled(&mut self) -> Option<u64> {
        if !self.recycle {
            self.finished = true;
            return None;
        }
        let block = self.ahead.next(|numbers| self.blocks.draw(numbers));
        let map = self.map.as_mut()?;
        map.clear();
        map.take(block)
    }
}

impl Blocks {
    /// The next blocks.
    #[cold]
    #[inline(never)]
    fn draw(&mut self, numbers: &mut [u64; BATCH]) {
        self.stream.fill_below(self.count, numbers);
    }

    /// A pass begins: says whether the draws start again.
    fn restart(&mut self) -> bool {
        let restarts = self.seed.is_some();
        if let Some(seed) = self.seed {
            self.stream.reseed(seed);
        }
        restarts
    }
}
