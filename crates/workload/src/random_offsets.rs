//! Random offsets in one file. They are drawn in batches; with a random map, each needs one word of the map.
//!
//! The fast paths of random jobs share them, whatever the source of the blocks.

use ferrio_job::Direction;

use crate::random::{BATCH, Batches, Prefetch, Scale, Stream};
use crate::random_map::{FetchWords, RandomMap};
use crate::skewed::SkewedChoice;
use crate::visit_order::VisitOrder;
use crate::zoned_distribution::ZonedChoice;

/// In a batch: no more blocks.
const NONE: u64 = u64::MAX;

/// State of the random choices in one file.
#[derive(Clone, Debug)]
pub(crate) struct RandomOffsets {
    prefetch: Prefetch,
    pub(crate) grid: BlockGrid,
    /// Whether no block of this pass is left.
    pub(crate) finished: bool,
    /// `time_based`: whether all blocks are used again when none is left, instead of ending the pass.
    recycle: bool,
    map: Option<RandomMap>,
    source: BlockSource,
    /// Seeds from which each pass restarts; `None` if the streams continue from pass to pass.
    restart: Option<RestartSeeds>,
    /// Prefetches the words of the map that the blocks of a batch need, if the map is too large for caches.
    prefetch_words: Option<FetchWords>,
}

/// The positions of blocks, and which of them are usable.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BlockGrid {
    /// Start of the region in bytes.
    pub(crate) base: u64,
    /// Distance between two blocks in bytes.
    pub(crate) align: u64,
    /// The first block that is not to be used, whatever is drawn.
    pub(crate) end: u64,
}

/// The source of blocks.
#[derive(Clone, Debug)]
pub(crate) enum BlockSource {
    /// Uniformly random.
    Drawn(Batches, Scale),
    /// `lfsr`, `permute`
    VisitOrder(Box<VisitOrder>),
    /// zipf, zipf_exact, pareto, normal
    Skewed(Box<SkewedChoice>),
    /// zoned, zoned_abs: the zones of a direction, its number of blocks, and the draws within a zone.
    Zoned(Box<ZonedChoice>, Direction, u64, Stream),
}

/// Seeds of a job that repeats.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RestartSeeds {
    pub(crate) offset: u64,
    pub(crate) zone: u64,
}

impl RandomOffsets {
    /// Choices among the blocks of a grid, each once in a pass if there is a map.
    pub(crate) fn new(
        source: BlockSource,
        grid: BlockGrid,
        map: Option<RandomMap>,
        recycle: bool,
        restart: Option<RestartSeeds>,
    ) -> Self {
        RandomOffsets {
            prefetch: Prefetch::new(),
            finished: grid.end == 0,
            grid,
            recycle,
            map,
            source,
            restart,
            prefetch_words: None,
        }
    }

    /// Sets the function that prefetches words of a large map.
    pub(crate) fn fetch_with(&mut self, fetch: FetchWords) {
        self.prefetch_words = self.map.as_ref().is_some_and(RandomMap::exceeds_caches).then_some(fetch);
    }

    /// The next number of the source.
    #[inline(always)]
    fn draw(&mut self) -> u64 {
        let RandomOffsets { prefetch, source, map, prefetch_words, .. } = self;
        prefetch.next(|batch| {
            source.fill(batch);
            if let (Some(fetch), Some(map)) = (prefetch_words, map) {
                map.fetch(batch, *fetch);
            }
        })
    }

    /// Takes the whole next block and returns its offset. `None` when the file is finished.
    #[inline(always)]
    pub(crate) fn take(&mut self) -> Option<u64> {
        if self.finished {
            return None;
        }
        let mut block = self.draw();
        if let Some(map) = &mut self.map {
            block = match map.take(block) {
                Some(free) => free,
                None => self.begin_round().and_then(|block| self.map.as_mut()?.take(block))?,
            };
        }
        if block >= self.grid.end {
            block = self.beyond(block)?;
        }
        Some(self.grid.base + block * self.grid.align)
    }

    /// The next block of an unfinished file, and its offset relative to the region. [`RandomOffsets::claim`] marks the used part of the
    /// map.
    #[inline(always)]
    pub(crate) fn find(&mut self) -> Option<(u64, u64)> {
        let mut block = self.draw();
        if let Some(map) = &self.map {
            block = match map.next_clear(block) {
                Some(free) => free,
                None => self.begin_round().and_then(|block| self.map.as_ref()?.next_clear(block))?,
            };
        }
        if block >= self.grid.end {
            block = self.beyond(block)?;
        }
        Some((block, block * self.grid.align))
    }

    /// Marks up to `count` blocks, of which the first, `block`, is free, and stops before one that is taken. Returns the number of blocks
    /// that may be used: `count` without a map, or at the end of the map.
    #[inline(always)]
    pub(crate) fn claim(&mut self, block: u64, count: u64) -> u64 {
        let Some(map) = &mut self.map else {
            return count;
        };
        let wanted = count.min(map.bits() - block);
        let got = map.claim(block, wanted);
        if got < wanted { got } else { count }
    }

    /// Begins a pass: all blocks are free, and streams that repeat restart.
    pub(crate) fn begin_pass(&mut self) {
        if self.source.begin_pass(self.restart) {
            self.prefetch.forget();
        }
        if let Some(map) = &mut self.map {
            map.clear();
        }
        self.finished = self.grid.end == 0;
    }

    /// Begins a new round with a fresh draw when all blocks of the map are taken, with `time_based`; otherwise the file is finished.
    #[cold]
    #[inline(never)]
    fn begin_round(&mut self) -> Option<u64> {
        self.finished = !self.recycle;
        if self.finished {
            return None;
        }
        self.map.as_mut()?.clear();
        Some(self.draw())
    }

    /// Handles a block beyond the end, or [`NONE`]: with `recycle`, an order of all blocks that has ended starts over; otherwise the file
    /// is finished.
    #[cold]
    #[inline(never)]
    fn beyond(&mut self, block: u64) -> Option<u64> {
        if block == NONE
            && self.recycle
            && let BlockSource::VisitOrder(walk) = &mut self.source
        {
            walk.rewind();
            self.prefetch.forget();
            let block = self.draw();
            if block < self.grid.end {
                return Some(block);
            }
        }
        self.finished = true;
        None
    }
}

impl BlockSource {
    /// Fills the next batch, with [`NONE`] after the end.
    #[cold]
    #[inline(never)]
    fn fill(&mut self, batch: &mut [u64; BATCH]) {
        match self {
            BlockSource::Drawn(stream, count) => stream.fill_below(*count, batch),
            BlockSource::VisitOrder(walk) => match &mut **walk {
                VisitOrder::Lfsr(lfsr) => {
                    let count = lfsr.fill(batch);
                    batch[count..].fill(NONE);
                }
                order => batch.fill_with(|| order.next().unwrap_or(NONE)),
            },
            BlockSource::Skewed(skewed) => skewed.fill(batch),
            BlockSource::Zoned(zoned, direction, blocks, offsets) => {
                batch.fill_with(|| zoned.next(*direction, *blocks, offsets).unwrap_or(NONE));
            }
        }
    }

    /// Begins a pass. Returns true if blocks drawn ahead must be discarded.
    fn begin_pass(&mut self, restart: Option<RestartSeeds>) -> bool {
        match (self, restart) {
            (BlockSource::VisitOrder(walk), restart) => {
                walk.rewind();
                if restart.is_some() {
                    walk.restart();
                }
                true
            }
            // Skewed choices continue from pass to pass, whether or not the streams restart.
            (BlockSource::Skewed(_), _) | (_, None) => false,
            (BlockSource::Drawn(stream, _), Some(seeds)) => {
                stream.reseed(seeds.offset);
                true
            }
            (BlockSource::Zoned(zoned, _, _, offsets), Some(seeds)) => {
                zoned.reseed(seeds.zone);
                offsets.reseed(seeds.offset);
                true
            }
        }
    }
}
