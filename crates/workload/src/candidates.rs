//! What a job's random choices are made among: how many offsets of a file, in which unit, from which stream.

use ferrio_plan::{Direction, Generator, JobSpec};

use crate::random::Stream;
use crate::step::Region;

/// The direction of a job that has one.
pub(crate) fn only_direction(spec: &JobSpec) -> Direction {
    Direction::ALL.into_iter().find(|&d| spec.rw.does(d)).unwrap_or(Direction::Read)
}

/// Number of offsets a random choice of this direction has in a region.
pub(crate) fn candidates(spec: &JobSpec, region: &Region, direction: Direction) -> u64 {
    let block = &spec.block[direction];
    if !spec.rw.does(direction) {
        return 0;
    }
    room(spec, region).saturating_sub(block.min.saturating_sub(block.align)) / block.align
}

/// Bytes among which a random choice is made: the region as far as the file goes, or one zone.
pub(crate) fn room(spec: &JobSpec, region: &Region) -> u64 {
    spec.zones.map_or(region.size, |zones| zones.range).min(region.real_size)
}

/// Bytes that one bit of the random map stands for: the smallest I/O of the directions the job issues, so that blocks of
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

/// The stream of random offsets: 64 bits wide when some file has more blocks than 32 bits can name.
pub(crate) fn offset_stream(spec: &JobSpec, regions: &[Region], seed: u64) -> Stream {
    let unit = map_unit(spec);
    let wide = regions.iter().any(|r| r.size.min(r.real_size) / unit > u64::from(u32::MAX));
    Stream::new(if wide { Generator::Tausworthe64 } else { spec.generator }, seed)
}
