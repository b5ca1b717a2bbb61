//! The space of random offsets: how many a file has, their unit, and the stream that draws them.

use ferrio_job::{Direction, Generator, JobSpec, Skew};

use crate::name_hash::name_hash;
use crate::random::Stream;
use crate::seeds::{OFFSET, SEEDS};
use crate::skewed::SkewedChoice;
use crate::step::Region;

/// The direction of a job that has only one.
pub(crate) fn only_direction(spec: &JobSpec) -> Direction {
    Direction::ALL.into_iter().find(|&d| spec.rw.does(d)).unwrap_or(Direction::Read)
}

/// Number of offsets of a random choice of this direction in a region.
pub(crate) fn offset_count(spec: &JobSpec, region: &Region, direction: Direction) -> u64 {
    let block = &spec.block[direction];
    if !spec.rw.does(direction) {
        return 0;
    }
    room(spec, region).saturating_sub(block.min.saturating_sub(block.align)) / block.align
}

/// Bytes among which a random choice is made: the region up to the end of the file, or one zone. A zone may be larger than its file;
/// choices beyond the end are then made too, and end the pass, as in fio.
pub(crate) fn room(spec: &JobSpec, region: &Region) -> u64 {
    spec.zones.map_or(region.size.min(region.real_size), |zones| zones.range)
}

/// Bytes per bit of the random map: the smallest I/O of the directions that the job issues, so that blocks of different sizes never share a
/// bit.
pub(crate) fn map_unit(spec: &JobSpec) -> u64 {
    let sizes = Direction::ALL.into_iter().filter(|&d| spec.rw.does(d)).map(|d| spec.block[d].min);
    sizes.min().unwrap_or(1)
}

/// Whether each block is issued once: a random kind with a map. An alignment of its own makes blocks overlap, which excludes a map.
pub(crate) fn has_map(spec: &JobSpec) -> bool {
    let aligned = |d: Direction| !spec.rw.does(d) || spec.block[d].align == spec.block[d].min;
    spec.rw.is_random() && spec.random_map && Direction::ALL.into_iter().all(aligned)
}

/// The generator of random offsets.
pub(crate) fn generator_of_offsets(spec: &JobSpec) -> Generator {
    if spec.wide_offsets { Generator::Tausworthe64 } else { spec.generator }
}

/// The stream of random offsets.
pub(crate) fn offset_stream(spec: &JobSpec, seed: u64) -> Stream {
    Stream::new(generator_of_offsets(spec), seed)
}

/// The skewed choices of a file among its smallest I/Os, including a last one that does not fit. `None` for a file without any.
pub(crate) fn skewed_choices(
    spec: &JobSpec,
    skew: &Skew,
    file: usize,
    region: &Region,
    seeds: &[u64; SEEDS],
) -> Option<SkewedChoice> {
    let smallest = spec.block[Direction::Read].min.min(spec.block[Direction::Write].min);
    let n = region.size.min(region.real_size).div_ceil(smallest);
    (n > 0).then(|| SkewedChoice::new(skew, n, file_seed(spec, file, seeds), true))
}

/// The seed of a file's own generator: jobs and files differ although all of them follow one seed.
fn file_seed(spec: &JobSpec, index: usize, seeds: &[u64; SEEDS]) -> u64 {
    let name = spec.files.get(index).map_or(&[][..], |file| file.path.as_os_str().as_encoded_bytes());
    let name = name_hash(name).wrapping_mul(spec.number);
    u64::from(name.wrapping_mul(seeds[OFFSET] as u32))
}
