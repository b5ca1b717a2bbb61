//! The random offsets of the general path: the choice between random and consecutive (`rw=rand...:N`, `percentage_random`), and the
//! distribution over a file's blocks (`random_distribution`).

use ferrio_job::{Direction, Distribution, Generator, JobSpec, PerDirection, RwPostfix, Sequencer};

use crate::offset_space::{map_unit, offset_count, skewed_choices};
use crate::random::{Scale, Stream};
use crate::seeds::{self, SEEDS};
use crate::skewed::SkewedChoice;
use crate::step::Region;
use crate::zoned_distribution::ZonedChoice;

/// The choices of a random job.
#[derive(Clone, Debug)]
pub(super) struct RandomChoice {
    pub(super) stream: Stream,
    /// Bytes per bit of the map.
    pub(super) unit: u64,
    pub(super) every: RandomEvery,
    /// `None` if every I/O that `every` permits is random.
    pub(super) share: Option<RandomShare>,
    /// `None` if all blocks are equally likely.
    pub(super) distribution: Option<BlockDistribution>,
}

impl RandomChoice {
    /// The choices of `spec`, with offsets drawn from `stream`.
    pub(super) fn new(spec: &JobSpec, regions: &[Region], seeds: &[u64; SEEDS], stream: Stream) -> Self {
        RandomChoice {
            stream,
            unit: map_unit(spec),
            every: RandomEvery::new(spec),
            share: RandomShare::new(&spec.percentage_random, seeds[seeds::SHARE]),
            distribution: BlockDistribution::new(spec, regions, seeds),
        }
    }

    /// Whether each I/O marks its blocks in the map.
    pub(super) fn marks_all(&self) -> bool {
        self.share.is_none() && self.every.period == 1
    }

    /// Restarts the streams that restart at each pass.
    pub(super) fn reseed(&mut self, seeds: &[u64; SEEDS]) {
        self.stream.reseed(seeds[seeds::OFFSET]);
        if let Some(share) = &mut self.share {
            share.reseed(seeds[seeds::SHARE]);
        }
        if let Some(BlockDistribution::Zoned(zoned, _)) = &mut self.distribution {
            zoned.reseed(seeds[seeds::ZONE]);
        }
    }
}

/// `rw=rand...:N`: a random offset every N I/Os.
#[derive(Clone, Copy, Debug)]
pub(super) struct RandomEvery {
    period: u32,
    left: u32,
    pub(super) sequencer: Sequencer,
}

impl RandomEvery {
    fn new(spec: &JobSpec) -> Self {
        let period = match spec.rw_postfix {
            RwPostfix::Every(n) => n.max(1),
            RwPostfix::None | RwPostfix::Hole(_) => 1,
        };
        RandomEvery { period, left: 1, sequencer: spec.sequencer }
    }

    #[inline]
    pub(super) fn fires(&mut self) -> bool {
        self.left -= 1;
        if self.left == 0 {
            self.left = self.period;
            return true;
        }
        false
    }
}

/// `percentage_random`: a percentage of the I/Os of each direction; the others continue where the last one ended.
#[derive(Clone, Debug)]
pub(super) struct RandomShare {
    percent: PerDirection<u32>,
    /// All three begin alike; the draws of one direction do not depend on the others.
    streams: PerDirection<Stream>,
    hundred: Scale,
}

impl RandomShare {
    /// `None` if all I/Os of all directions are random.
    fn new(percent: &PerDirection<u32>, seed: u64) -> Option<Self> {
        if percent.0.iter().all(|&percent| percent >= 100) {
            return None;
        }
        let stream = Stream::new(Generator::Tausworthe32, seed);
        let hundred = stream.scale(100);
        let streams = PerDirection([stream.clone(), stream.clone(), stream]);
        Some(RandomShare { percent: *percent, streams, hundred })
    }

    #[inline]
    pub(super) fn fires(&mut self, direction: Direction) -> bool {
        let percent = self.percent[direction];
        percent >= 100 || self.streams[direction].below(self.hundred) < u64::from(percent)
    }

    fn reseed(&mut self, seed: u64) {
        self.streams.0.iter_mut().for_each(|stream| stream.reseed(seed));
    }
}

/// A choice of blocks that are not equally likely.
#[derive(Clone, Debug)]
pub(super) enum BlockDistribution {
    /// zipf, zipf_exact, pareto, normal: each file has its own generator, which continues from pass to pass whatever the seeding. `None`
    /// for a file without blocks.
    Skewed(Vec<Option<SkewedChoice>>),
    /// zoned, zoned_abs, with the number of blocks of each direction in each file.
    Zoned(Box<ZonedChoice>, Vec<[u64; 3]>),
    /// sequence
    Sequence { blocks: Vec<u64>, stride: bool },
}

impl BlockDistribution {
    /// `None` if the choices of the job are uniform.
    fn new(spec: &JobSpec, regions: &[Region], seeds: &[u64; SEEDS]) -> Option<Self> {
        match &spec.distribution {
            Distribution::Uniform => None,
            Distribution::Skewed(skew) => {
                let file = |(index, region)| skewed_choices(spec, skew, index, region, seeds);
                Some(BlockDistribution::Skewed(regions.iter().enumerate().map(file).collect()))
            }
            Distribution::Zoned(_) | Distribution::ZonedAbs(_) => {
                let zoned = ZonedChoice::new(&spec.distribution, &spec.block, seeds[seeds::ZONE])?;
                let each = |region| Direction::ALL.map(|d| offset_count(spec, region, d));
                Some(BlockDistribution::Zoned(Box::new(zoned), regions.iter().map(each).collect()))
            }
            Distribution::Sequence { blocks, stride } => {
                Some(BlockDistribution::Sequence { blocks: blocks.clone(), stride: *stride })
            }
        }
    }

    /// The next block of a file in a direction that has `issued` I/Os; `None` if the file has none.
    #[inline]
    pub(super) fn next(
        &mut self,
        file: usize,
        direction: Direction,
        issued: u64,
        offsets: &mut Stream,
    ) -> Option<u64> {
        match self {
            BlockDistribution::Skewed(files) => files[file].as_mut().map(SkewedChoice::next),
            BlockDistribution::Zoned(zoned, counts) => match counts[file][direction as usize] {
                0 => None,
                n => zoned.next(direction, n, offsets),
            },
            BlockDistribution::Sequence { blocks, stride } => {
                let len = blocks.len() as u64;
                let passed = if *stride { issued / len * len } else { 0 };
                blocks[(issued % len) as usize].checked_add(passed)
            }
        }
    }
}
