//! `random_distribution`: which of a file's blocks a random choice takes.

use ferrio_job::{Direction, Distribution, JobSpec};

use crate::offset_space::skewed_choices;
use crate::random::Stream;
use crate::seeds::{SEEDS, ZONE};
use crate::skewed::Skewed;
use crate::step::Region;
use crate::zoned_distribution::Zoned;

/// How blocks are chosen when not all are alike.
#[derive(Clone, Debug)]
pub(super) enum BlockDistribution {
    /// zipf, pareto, normal: each file has its own generator, which runs on from pass to pass whatever the seeding. `None` for
    /// a file without blocks.
    Skewed(Vec<Option<Skewed>>),
    /// zoned, zoned_abs, with the candidate blocks of each direction in each file.
    Zoned(Box<Zoned>, Vec<[u64; 3]>),
    /// sequence
    Sequence { blocks: Vec<u64>, stride: bool },
}

impl BlockDistribution {
    /// How a random job chooses, `None` when its choices are uniform. `offset_count` counts the blocks of a region and direction.
    pub(super) fn new(
        spec: &JobSpec,
        regions: &[Region],
        seeds: &[u64; SEEDS],
        offset_count: impl Fn(&Region, Direction) -> u64,
    ) -> Option<Self> {
        match &spec.distribution {
            Distribution::Uniform => None,
            Distribution::Skewed(skew) => {
                let file = |(index, region)| skewed_choices(spec, skew, index, region, seeds);
                Some(BlockDistribution::Skewed(regions.iter().enumerate().map(file).collect()))
            }
            Distribution::Zoned(_) | Distribution::ZonedAbs(_) => {
                let zoned = Zoned::new(&spec.distribution, &spec.block, seeds[ZONE])?;
                let each = |region| Direction::ALL.map(|d| offset_count(region, d));
                Some(BlockDistribution::Zoned(Box::new(zoned), regions.iter().map(each).collect()))
            }
            Distribution::Sequence { blocks, stride } => {
                Some(BlockDistribution::Sequence { blocks: blocks.clone(), stride: *stride })
            }
        }
    }

    /// The next block of a file in a direction that has `issued` I/Os. `None` when the file has none.
    #[inline]
    pub(super) fn next(
        &mut self,
        file: usize,
        direction: Direction,
        issued: u64,
        offsets: &mut Stream,
    ) -> Option<u64> {
        match self {
            BlockDistribution::Skewed(files) => files[file].as_mut().map(Skewed::next),
            BlockDistribution::Zoned(zoned, counts) => match counts[file][direction as usize] {
                0 => None,
                n => zoned.next(direction, n, offsets),
            },
            BlockDistribution::Sequence { blocks, stride } => {
                let len = blocks.len() as u64;
                let behind = if *stride { issued / len * len } else { 0 };
                blocks[(issued % len) as usize].checked_add(behind)
            }
        }
    }

    /// Starts the streams again that do so at each pass.
    pub(super) fn reseed(&mut self, seeds: &[u64; SEEDS]) {
        if let BlockDistribution::Zoned(zoned, _) = self {
            zoned.reseed(seeds[ZONE]);
        }
    }
}
