//! A job's sequence of I/O over all its passes.
//!
//! Cost per call in the common cases: a sequential job one compare and one addition, a random job one draw, one multiplication
//! and one word of the random map. Which path a job takes is decided once, when it is set up.

use ferrio_plan::{Direction, JobSpec, RwPostfix};

use crate::candidates::{candidates, has_map, map_unit, offset_stream, only_direction, room};
use crate::general::General;
use crate::map::RandomMap;
use crate::seeds::{self, SEEDS, thread_seeds};
use crate::sequential::Wraps;
use crate::step::{Region, Step, WorkloadError};
use crate::straight::Straight;
use crate::sync::Syncs;
use crate::uniform::Uniform;

/// Most blocks of a file that a random map is made for (32 GiB of memory, touched as it is used).
const MAX_MAP_BLOCKS: u64 = 1 << 38;

/// All choices of one job.
#[derive(Clone, Debug)]
pub struct Workload {
    path: Path,
}

/// How the choices are made.
#[derive(Clone, Debug)]
enum Path {
    Straight(Straight),
    Uniform(Uniform),
    General(Box<General>),
}

impl Workload {
    /// The sequence of `spec` over one region per file, in the order of its files.
    ///
    /// `entropy` seeds the random streams when [`ferrio_plan::Seeding::FromSystem`] asks for it.
    ///
    /// # Errors
    /// When block sizes or regions are out of range, or a random map would be absurdly large.
    pub fn new(spec: &JobSpec, regions: &[Region], entropy: [u64; SEEDS]) -> Result<Self, WorkloadError> {
        check_blocks(spec)?;
        check_regions(spec, regions)?;
        let seeds = thread_seeds(spec, entropy);
        let wraps = wraps(spec, regions);
        let path = match regions {
            [region] if is_simple(spec) => {
                if spec.rw.is_random() {
                    Path::Uniform(uniform(spec, region, seeds[seeds::OFFSET]))
                } else {
                    let direction = only_direction(spec);
                    let len = spec.block[direction].min as u32;
                    Path::Straight(Straight::new(region, direction, len, wraps))
                }
            }
            _ => Path::General(Box::new(General::new(spec, regions, seeds, wraps))),
        };
        Ok(Workload { path })
    }

    /// What to do next. The I/O counts as issued from here on.
    #[expect(clippy::should_implement_trait, reason = "no iterator: a pass ends and another one begins")]
    #[inline(always)]
    pub fn next(&mut self) -> Step {
        self.next_paced(|direction| direction)
    }

    /// As [`next`](Self::next), asking `pace` before each I/O: it gets the direction chosen and may wait. In a read/write mix the
    /// direction it answers is taken instead; elsewhere the answer is ignored.
    ///
    /// When a file turns out to be finished the choice is made anew and `pace` asked again.
    #[inline(always)]
    pub fn next_paced<F: FnMut(Direction) -> Direction>(&mut self, mut pace: F) -> Step {
        match &mut self.path {
            Path::Straight(straight) => {
                pace(straight.direction());
                straight.next()
            }
            Path::Uniform(uniform) => {
                pace(uniform.direction);
                uniform.next()
            }
            Path::General(general) => general.next(pace),
        }
    }

    /// Begins another pass: positions and random maps are new, and the random streams start again if the job repeats
    /// (`randrepeat` without `randseed`). Not needed before the first pass, and harmless there.
    pub fn begin_pass(&mut self) {
        match &mut self.path {
            Path::Straight(straight) => straight.begin_pass(),
            Path::Uniform(uniform) => uniform.begin_pass(),
            Path::General(general) => general.begin_pass(),
        }
    }

    /// All that was written was made durable at the end of a pass, so that no sync is due before the next write.
    pub fn synced(&mut self) {
        if let Path::General(general) = &mut self.path {
            general.synced();
        }
    }

    /// Ends the ramp: the counts of issued I/Os that steer mixes and syncs start again.
    pub fn end_ramp(&mut self) {
        if let Path::General(general) = &mut self.path {
            general.end_ramp();
        }
    }

    /// The same sequence by the general path whatever the job, to check the short ones against.
    #[cfg(test)]
    pub(crate) fn general(spec: &JobSpec, regions: &[Region], entropy: [u64; SEEDS]) -> Self {
        let general = General::new(spec, regions, thread_seeds(spec, entropy), wraps(spec, regions));
        Workload { path: Path::General(Box::new(general)) }
    }
}

/// When the end of a region starts a new walk instead of finishing its file.
fn wraps(spec: &JobSpec, regions: &[Region]) -> Wraps {
    let beyond_size = spec.limits.io_size.is_some_and(|n| n > spec.limits.size);
    Wraps {
        time_based: spec.limits.time_based && regions.len() == 1,
        rewrites: spec.rw.does(Direction::Write) && beyond_size,
    }
}

/// True when one direction, one length and no state but a position and a map decide everything.
fn is_simple(spec: &JobSpec) -> bool {
    let block = &spec.block[only_direction(spec)];
    let plain_walk = match spec.rw_postfix {
        RwPostfix::None => true,
        RwPostfix::Hole(bytes) => bytes == 0,
        RwPostfix::Every(n) => n <= 1,
    };
    let syncs = spec.rw.does(Direction::Write) && Syncs::new(&spec.durability).is_some();
    spec.zones.is_none()
        && !spec.file_service.never_finishes()
        && !spec.rw.is_mixed()
        && !spec.rw.is_trimwrite()
        && block.min == block.max
        && plain_walk
        && !syncs
}

fn uniform(spec: &JobSpec, region: &Region, seed: u64) -> Uniform {
    let direction = only_direction(spec);
    let block = &spec.block[direction];
    let stream = offset_stream(spec, std::slice::from_ref(region), seed);
    let candidates = candidates(spec, region, direction);
    let in_file = (region.real_size + 1).saturating_sub(block.min);
    Uniform {
        blocks: stream.scale(candidates),
        stream,
        base: region.offset,
        align: block.align,
        len: block.min as u32,
        direction,
        limit: if candidates == 0 { 0 } else { in_file.min(region.offset + region.size) },
        map: (has_map(spec) && candidates > 0).then(|| RandomMap::new(candidates)),
        recycle: spec.limits.time_based,
        finished: candidates == 0,
        seed: seeds::restarts_each_pass(spec).then_some(seed),
    }
}

fn check_blocks(spec: &JobSpec) -> Result<(), WorkloadError> {
    for direction in Direction::ALL.into_iter().filter(|&d| spec.rw.does(d)) {
        let block = &spec.block[direction];
        let largest = u64::from(u32::MAX);
        if block.min == 0
            || block.align == 0
            || block.min > block.max
            || block.max > largest
            || block.align > largest
        {
            return Err(WorkloadError::BlockSize {
                direction: direction.name(),
                min: block.min,
                max: block.max,
                align: block.align,
            });
        }
    }
    Ok(())
}

fn check_regions(spec: &JobSpec, regions: &[Region]) -> Result<(), WorkloadError> {
    for (file, region) in regions.iter().enumerate() {
        let fits = |n: u64| i64::try_from(n).is_ok();
        if !(fits(region.real_size) && region.offset.checked_add(region.size).is_some_and(fits)) {
            return Err(WorkloadError::Region { file, offset: region.offset, size: region.size });
        }
        let blocks = room(spec, region) / map_unit(spec);
        if has_map(spec) && blocks > MAX_MAP_BLOCKS {
            return Err(WorkloadError::MapTooLarge { file, blocks });
        }
    }
    Ok(())
}
