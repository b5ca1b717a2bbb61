//! Chooses the code path of a job at its set-up: the fastest one that can make its choices.
//!
//! Two paths are short enough to be inlined: one length in one direction, at consecutive or at random offsets. The others are called.

#[cfg(test)]
mod tests;

use std::sync::Arc;

use ferrio_job::{Direction, Distribution, JobSpec, RandomOrder, RwPostfix};

use crate::direction_and_length::DirectionAndLength;
use crate::events::EventPath;
use crate::fast_paths::{RandomPath, SequentialPath, VariedRandomPath};
use crate::general::GeneralChoices;
use crate::offset_space::{has_map, offset_count, offset_stream, only_direction, skewed_choices};
use crate::random::Batches;
use crate::random_map::RandomMap;
use crate::random_offsets::{BlockGrid, BlockSource, RandomOffsets, RestartSeeds};
use crate::replay::ReplayPath;
use crate::seeds::{self, SEEDS, thread_seeds};
use crate::sequential::Sequential;
use crate::step::{Region, Step, WorkloadError};
use crate::sync::Syncs;
use crate::visit_order::walk;
use crate::zoned_distribution::ZonedChoice;

/// The code path. The representation has the tag in a byte of its own, which is cheaper to test than a niche.
#[derive(Debug)]
#[repr(u8)]
#[expect(
    clippy::large_enum_variant,
    reason = "one to a job, and what is inlined must not go through a pointer"
)]
pub(crate) enum CodePath {
    /// One length in one direction at consecutive offsets.
    Sequential(SequentialPath),
    /// One length in one direction at random offsets.
    Random(RandomPath),
    /// A path that is called.
    Called(CalledPath),
}

/// The paths that are called. They are a separate enum so that two compares find an inlined path, without a jump table.
#[derive(Debug)]
pub(crate) enum CalledPath {
    /// Random with several lengths or directions.
    VariedRandom(Box<VariedRandomPath>),
    /// The I/Os of a log, or work in place of I/O.
    Replay(Box<ReplayPath>),
    /// The steps of events that the job shares with others.
    Events(Box<EventPath>),
    /// Everything else.
    General(Box<GeneralPath>),
}

/// The general path with its current step. A returned step would be in memory, and so would the steps of the inlined paths, which would be
/// copied. Read from here, it is in registers like theirs.
#[derive(Clone, Debug)]
pub(crate) struct GeneralPath {
    pub(crate) general: GeneralChoices,
    step: Step,
}

impl CalledPath {
    #[inline(always)]
    pub(crate) fn next(&mut self, pace: impl FnMut(Direction) -> Direction) -> Step {
        match self {
            CalledPath::VariedRandom(path) => path.next(pace).step(),
            CalledPath::Replay(path) => {
                path.advance(pace);
                path.step
            }
            CalledPath::Events(path) => {
                path.advance();
                path.step
            }
            CalledPath::General(path) => {
                path.advance(pace);
                path.step
            }
        }
    }

    pub(crate) fn begin_pass(&mut self) {
        match self {
            CalledPath::VariedRandom(path) => path.begin_pass(),
            CalledPath::Replay(path) => path.begin_pass(),
            CalledPath::Events(_) => {}
            CalledPath::General(path) => path.general.begin_pass(),
        }
    }

    pub(crate) fn end_ramp(&mut self) {
        match self {
            CalledPath::VariedRandom(path) => path.choice.end_ramp(),
            CalledPath::Replay(_) => {}
            CalledPath::Events(path) => path.end_ramp(),
            CalledPath::General(path) => path.general.end_ramp(),
        }
    }
}

impl GeneralPath {
    #[inline(never)]
    fn advance(&mut self, pace: impl FnMut(Direction) -> Direction) {
        self.step = self.general.next(pace);
    }
}

impl CodePath {
    /// A copy that makes the same choices from here on; `None` for a log, which makes none.
    pub(crate) fn copy(&self) -> Option<Self> {
        Some(match self {
            CodePath::Sequential(path) => CodePath::Sequential(path.clone()),
            CodePath::Random(path) => CodePath::Random(path.clone()),
            CodePath::Called(called) => CodePath::Called(match called {
                CalledPath::VariedRandom(path) => CalledPath::VariedRandom(path.clone()),
                CalledPath::General(path) => CalledPath::General(path.clone()),
                CalledPath::Replay(_) | CalledPath::Events(_) => return None,
            }),
        })
    }

    /// The path of a job whose block sizes and regions were checked.
    ///
    /// # Errors
    /// There is no memory for the blocks that `sprandom` writes again, or a buffer is too short for the I/O of a database.
    pub(crate) fn new(
        spec: &JobSpec,
        regions: &[Region],
        entropy: [u64; SEEDS],
    ) -> Result<Self, WorkloadError> {
        if let Some(log) = &spec.replay {
            let path = ReplayPath::new(Arc::clone(log));
            return Ok(CodePath::Called(CalledPath::Replay(Box::new(path))));
        }
        if let Some(part) = &spec.events {
            if let Some((database, role)) = part.database() {
                let (needed, buffer) = (database.largest_io(role), spec.max_buffer());
                if needed > buffer {
                    return Err(WorkloadError::BufferTooShort { needed, buffer });
                }
            }
            return Ok(CodePath::Called(CalledPath::Events(Box::new(EventPath::new(part)))));
        }
        if !spec.engine.does_io() {
            return Ok(CodePath::Called(CalledPath::Replay(Box::new(ReplayPath::of_work()))));
        }
        let [region] = regions else {
            return CodePath::general(spec, regions, entropy);
        };
        let seeds = seeds::shared(spec, thread_seeds(spec, entropy));
        let direction = only_direction(spec);
        let block = &spec.block[direction];
        let min = block.min;
        let plain = !spec.rw.is_mixed() && block.min == block.max;
        if !is_simple(spec) {
            return CodePath::general(spec, regions, entropy);
        }
        if !spec.rw.is_random() {
            let rules = Sequential::new(spec, regions);
            if !plain || rules.hole != 0 {
                return CodePath::general(spec, regions, entropy);
            }
            return Ok(CodePath::Sequential(SequentialPath::new(region, direction, min, rules.wraps)));
        }
        let Some(source) = source(spec, region, direction, &seeds)? else {
            return CodePath::general(spec, regions, entropy);
        };
        let end = if plain {
            (region.real_size + 1).saturating_sub(block.min).min(region.offset + region.size)
        } else {
            region.offset + region.size
        };
        let offsets = offsets(spec, region, direction, end, source, &seeds);
        if plain {
            return Ok(CodePath::Random(RandomPath { offsets, direction, len: min }));
        }
        let path = VariedRandomPath::new(region, offsets, DirectionAndLength::new(spec, &seeds), min);
        Ok(CodePath::Called(CalledPath::VariedRandom(Box::new(path))))
    }

    /// The general path, whatever the job.
    ///
    /// # Errors
    /// There is no memory for the blocks that `sprandom` writes again.
    pub(crate) fn general(
        spec: &JobSpec,
        regions: &[Region],
        entropy: [u64; SEEDS],
    ) -> Result<Self, WorkloadError> {
        let general = GeneralChoices::new(spec, regions, thread_seeds(spec, entropy))?;
        Ok(CodePath::Called(CalledPath::General(Box::new(GeneralPath { general, step: Step::PassEnd }))))
    }
}

/// Whether an I/O is determined by a direction, a position or a draw, and a length, in the same way for all directions.
fn is_simple(spec: &JobSpec) -> bool {
    let every = matches!(spec.rw_postfix, RwPostfix::Every(n) if n > 1);
    let syncs = spec.rw.does(Direction::Write) && Syncs::new(&spec.durability).is_some();
    let first = &spec.block[only_direction(spec)];
    let alike = |d: Direction| {
        let block = &spec.block[d];
        !spec.rw.does(d)
            || (block.min, block.align) == (first.min, first.align) && spec.percentage_random[d] >= 100
    };
    spec.zones.is_none()
        && spec.zbd.is_none()
        && !spec.engine.operates_on_files()
        && !spec.file_service.never_finishes()
        && !spec.rw.is_trimwrite()
        && !syncs
        && !spec.bs_is_seq_rand
        && (!spec.rw.is_random() || !every && Direction::ALL.into_iter().all(alike))
}

/// The source of the blocks of a random job; `None` if a fast path cannot use it.
fn source(
    spec: &JobSpec,
    region: &Region,
    direction: Direction,
    seeds: &[u64; SEEDS],
) -> Result<Option<BlockSource>, WorkloadError> {
    let blocks = offset_count(spec, region, direction);
    let stream = offset_stream(spec, seeds[seeds::OFFSET]);
    let drawn = spec.distribution == Distribution::Uniform && spec.random_order == RandomOrder::Drawn;
    if drawn {
        let count = stream.scale(blocks);
        return Ok(Some(BlockSource::Drawn(Batches::new(stream), count)));
    }
    if has_map(spec) {
        return Ok(None);
    }
    Ok(match &spec.distribution {
        Distribution::Uniform => {
            walk(spec, 0, region, seeds)?.map(|walk| BlockSource::VisitOrder(Box::new(walk)))
        }
        Distribution::Skewed(skew) => {
            skewed_choices(spec, skew, 0, region, seeds).map(|skewed| BlockSource::Skewed(Box::new(skewed)))
        }
        Distribution::Zoned(_) | Distribution::ZonedAbs(_) if !spec.rw.is_mixed() && blocks > 0 => {
            let zoned = ZonedChoice::new(&spec.distribution, &spec.block, seeds[seeds::ZONE]);
            zoned.map(|zoned| BlockSource::Zoned(Box::new(zoned), direction, blocks, stream))
        }
        Distribution::Zoned(_) | Distribution::ZonedAbs(_) | Distribution::Sequence { .. } => None,
    })
}

/// Random offsets below `end`.
fn offsets(
    spec: &JobSpec,
    region: &Region,
    direction: Direction,
    end: u64,
    source: BlockSource,
    seeds: &[u64; SEEDS],
) -> RandomOffsets {
    let align = spec.block[direction].align;
    let blocks = offset_count(spec, region, direction);
    let end = if blocks == 0 && !matches!(source, BlockSource::Skewed(_)) {
        0
    } else {
        end.saturating_sub(region.offset).div_ceil(align)
    };
    let map = (has_map(spec) && blocks > 0).then(|| RandomMap::new(blocks));
    let restart = seeds::restarts_each_pass(spec)
        .then_some(RestartSeeds { offset: seeds[seeds::OFFSET], zone: seeds[seeds::ZONE] });
    RandomOffsets::new(
        source,
        BlockGrid { base: region.offset, align, end },
        map,
        spec.limits.time_based,
        restart,
    )
}
