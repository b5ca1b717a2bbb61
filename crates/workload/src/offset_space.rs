//! The space of random offsets: how many a file has, their unit, the stream that draws them, and the orders that visit each once.

use ferrio_job::{Direction, Distribution, Generator, JobSpec, RandomOrder, Skew};

use crate::lfsr::Lfsr;
use crate::name_hash::name_hash;
use crate::permute::Permute;
use crate::random::Stream;
use crate::seeds::{OFFSET, SEEDS};
use crate::skewed::Skewed;
use crate::sprandom::PreconditioningOrder;
use crate::step::{Region, WorkloadError};

/// The direction of a job that has one.
pub(crate) fn only_direction(spec: &JobSpec) -> Direction {
    Direction::ALL.into_iter().find(|&d| spec.rw.does(d)).unwrap_or(Direction::Read)
}

/// Number of offsets a random choice of this direction has in a region.
pub(crate) fn offset_count(spec: &JobSpec, region: &Region, direction: Direction) -> u64 {
    let block = &spec.block[direction];
    if !spec.rw.does(direction) {
        return 0;
    }
    room(spec, region).saturating_sub(block.min.saturating_sub(block.align)) / block.align
}

/// Bytes among which a random choice is made: the region as far as the file goes, or one zone. A zone may be larger than its
/// file; choices beyond the end are then made as well, and end the pass, as with fio.
pub(crate) fn room(spec: &JobSpec, region: &Region) -> u64 {
    spec.zones.map_or(region.size.min(region.real_size), |zones| zones.range)
}

/// Bytes that one bit of the random map represents: the smallest I/O of the directions the job issues, so that blocks of
/// different sizes never share a meaning.
pub(crate) fn map_unit(spec: &JobSpec) -> u64 {
    let sizes = Direction::ALL.into_iter().filter(|&d| spec.rw.does(d)).map(|d| spec.block[d].min);
    sizes.min().unwrap_or(1)
}

/// True when each block is issued once: a random kind with a map. An alignment of its own makes blocks overlap, so it rules a
/// map out.
pub(crate) fn has_map(spec: &JobSpec) -> bool {
    let aligned = |d: Direction| !spec.rw.does(d) || spec.block[d].align == spec.block[d].min;
    spec.rw.is_random() && spec.random_map && Direction::ALL.into_iter().all(aligned)
}

/// The stream of random offsets.
pub(crate) fn offset_stream(spec: &JobSpec, seed: u64) -> Stream {
    Stream::new(if spec.wide_offsets { Generator::Tausworthe64 } else { spec.generator }, seed)
}

/// The skewed choices of a file, among its smallest I/Os, a last one that does not fit counted as well. `None` for a file without
/// any.
pub(crate) fn skewed_choices(
    spec: &JobSpec,
    skew: &Skew,
    file: usize,
    region: &Region,
    seeds: &[u64; SEEDS],
) -> Option<Skewed> {
    let smallest = spec.block[Direction::Read].min.min(spec.block[Direction::Write].min);
    let n = region.size.min(region.real_size).div_ceil(smallest);
    (n > 0).then(|| Skewed::new(skew, n, file_seed(spec, file, seeds), true))
}

/// The seed of a file's own generator: jobs and files differ although all of them follow one seed.
fn file_seed(spec: &JobSpec, index: usize, seeds: &[u64; SEEDS]) -> u64 {
    let name = spec.files.get(index).map_or(&[][..], |file| file.path.as_os_str().as_encoded_bytes());
    let name = name_hash(name).wrapping_mul(spec.number);
    u64::from(name.wrapping_mul(seeds[OFFSET] as u32))
}

/// The order in which each block of a region is visited once, if the job's generator makes one.
///
/// # Errors
/// When there is no memory for the blocks that `sprandom` writes again.
pub(crate) fn walk(
    spec: &JobSpec,
    file: usize,
    region: &Region,
    seeds: &[u64; SEEDS],
) -> Result<Option<VisitOrder>, WorkloadError> {
    if !spec.rw.is_random() || spec.distribution != Distribution::Uniform {
        return Ok(None);
    }
    if let Some(order) = PreconditioningOrder::of(spec, region, seeds)? {
        return Ok(Some(VisitOrder::Sprandom(order)));
    }
    match spec.random_order {
        RandomOrder::Drawn => Ok(None),
        RandomOrder::Lfsr => {
            let blocks = room(spec, region) / spec.min_block();
            if blocks == 0 {
                return Ok(None);
            }
            Ok(Some(VisitOrder::Lfsr(Lfsr::new(blocks, seeds[OFFSET]))))
        }
        RandomOrder::Permute => {
            let drawn = Direction::ALL.into_iter().rev().find(|&d| spec.rw.does(d));
            let blocks = drawn.map_or(0, |d| offset_count(spec, region, d));
            Ok(Some(VisitOrder::Permute(Permute::new(blocks, seeds[OFFSET], file))))
        }
    }
}

/// An order in which the blocks of a file are visited without a map, each once (`random_generator=lfsr` and `permute`) or at least once
/// (`sprandom`), and the position in it.
#[derive(Clone, Debug)]
pub(crate) enum VisitOrder {
    Lfsr(Lfsr),
    Permute(Permute),
    Sprandom(PreconditioningOrder),
}

impl VisitOrder {
    /// The next block, `None` after the last one.
    #[inline]
    pub(crate) fn next(&mut self) -> Option<u64> {
        match self {
            VisitOrder::Lfsr(lfsr) => lfsr.next(),
            VisitOrder::Permute(permute) => permute.next(),
            VisitOrder::Sprandom(order) => order.next_write().map(|write| write.block),
        }
    }

    /// Starts again: a shift register repeats its order, a permutation takes another one.
    pub(crate) fn rewind(&mut self) {
        match self {
            VisitOrder::Lfsr(lfsr) => lfsr.rewind(),
            VisitOrder::Permute(permute) => permute.rewind(),
            VisitOrder::Sprandom(order) => order.begin_pass(),
        }
    }

    /// Starts as at the start of the job.
    pub(crate) fn restart(&mut self) {
        match self {
            VisitOrder::Lfsr(lfsr) => lfsr.rewind(),
            VisitOrder::Permute(permute) => permute.restart(),
            VisitOrder::Sprandom(order) => order.begin_pass(),
        }
    }
}
