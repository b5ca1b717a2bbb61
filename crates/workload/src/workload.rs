//! A job's sequence of I/O over all its passes.
//!
//! Cost per call in the common cases: a sequential job one compare and one addition, a random job one draw, one multiplication
//! and one word of the random map. Which path a job takes is decided once, when it is set up.

use ferrio_plan::{Direction, Distribution, JobSpec, RandomOrder, RwPostfix};

use crate::candidates::{candidates, has_map, offset_stream, only_direction};
use crate::general::General;
use crate::map::RandomMap;
use crate::memory::holds_maps;
use crate::seeds::{self, SEEDS, thread_seeds};
use crate::sequential::Wraps;
use crate::step::{Region, Step, WorkloadError};
use crate::straight::Straight;
use crate::sync::Syncs;
use crate::uniform::{Blocks, Grid, Uniform};

/// All choices of one job.
#[derive(Clone, Debug)]
pub struct Workload {
    path: Path,
    without_map: bool,
}

/// How the choices are made. The representation keeps the kind in a byte of its own, which is cheaper to look at than a niche.
#[derive(Clone, Debug)]
#[repr(u8)]
enum Path {
    Straight(Straight),
    Uniform(Uniform),
    General(Box<Outlined>),
}

/// A path that is called, with a place for what it chose. A step returned by the call would lie in memory, and so would the steps of
/// the short paths, to be copied and waited for: read from here it is in registers like theirs.
#[derive(Clone, Debug)]
struct Outlined {
    choices: General,
    step: Step,
}

impl Outlined {
    fn path(choices: General) -> Path {
        Path::General(Box::new(Outlined { choices, step: Step::PassEnd }))
    }

    #[inline(never)]
    fn advance(&mut self, pace: impl FnMut(Direction) -> Direction) {
        self.step = self.choices.next(pace);
    }
}

impl Path {
    fn new(spec: &JobSpec, regions: &[Region], entropy: [u64; SEEDS]) -> Result<Self, WorkloadError> {
        let seeds = thread_seeds(spec, entropy);
        let wraps = wraps(spec, regions);
        Ok(match regions {
            [region] if is_simple(spec) => {
                if spec.rw.is_random() {
                    Path::Uniform(uniform(spec, region, seeds[seeds::OFFSET]))
                } else {
                    let direction = only_direction(spec);
                    let len = spec.block[direction].min as u32;
                    Path::Straight(Straight::new(region, direction, len, wraps))
                }
            }
            _ => Outlined::path(General::new(spec, regions, seeds, wraps)?),
        })
    }
}

impl Workload {
    /// The sequence of `spec` over one region per file, in the order of its files.
    ///
    /// `entropy` seeds the random streams when [`ferrio_plan::Seeding::FromSystem`] asks for it.
    ///
    /// # Errors
    /// When block sizes or regions are out of range, a random map does not fit the memory and the job insists on it, or a shift
    /// register cannot begin.
    pub fn new(spec: &JobSpec, regions: &[Region], entropy: [u64; SEEDS]) -> Result<Self, WorkloadError> {
        check_blocks(spec)?;
        check_regions(regions)?;
        match holds_maps(spec, regions) {
            Err(_) if spec.soft_random_map => {
                let bare = JobSpec { random_map: false, ..spec.clone() };
                Ok(Workload { path: Path::new(&bare, regions, entropy)?, without_map: true })
            }
            held => {
                held?;
                Ok(Workload { path: Path::new(spec, regions, entropy)?, without_map: false })
            }
        }
    }

    /// True for a job that runs without the map of its blocks because there was no memory for it (`softrandommap`).
    #[must_use]
    pub fn lost_its_map(&self) -> bool {
        self.without_map
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
                pace(uniform.direction());
                uniform.next()
            }
            Path::General(general) => {
                general.advance(pace);
                general.step
            }
        }
    }

    /// Begins another pass: positions and random maps are new, and the random streams start again if the job repeats
    /// (`randrepeat` without `randseed`). Not needed before the first pass, and harmless there.
    pub fn begin_pass(&mut self) {
        match &mut self.path {
            Path::Straight(straight) => straight.begin_pass(),
            Path::Uniform(uniform) => uniform.begin_pass(),
            Path::General(general) => general.choices.begin_pass(),
        }
    }

    /// All that was written was made durable at the end of a pass, so that no sync is due before the next write.
    pub fn synced(&mut self) {
        if let Path::General(general) = &mut self.path {
            general.choices.synced();
        }
    }

    /// Ends the ramp: the counts of issued I/Os that steer mixes and syncs start again.
    pub fn end_ramp(&mut self) {
        if let Path::General(general) = &mut self.path {
            general.choices.end_ramp();
        }
    }

    /// The same sequence by the general path whatever the job, to check the short ones against.
    #[cfg(test)]
    pub(crate) fn general(spec: &JobSpec, regions: &[Region], entropy: [u64; SEEDS]) -> Self {
        let general = General::new(spec, regions, thread_seeds(spec, entropy), wraps(spec, regions)).unwrap();
        Workload { path: Outlined::path(general), without_map: false }
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
        && !spec.bs_is_seq_rand
        && (!spec.rw.is_random() || draws_plainly(spec))
}

/// True when each offset of a random job is a number drawn among all.
fn draws_plainly(spec: &JobSpec) -> bool {
    spec.distribution == Distribution::Uniform
        && spec.random_order == RandomOrder::Drawn
        && spec.percentage_random[only_direction(spec)] >= 100
}

fn uniform(spec: &JobSpec, region: &Region, seed: u64) -> Uniform {
    let direction = only_direction(spec);
    let block = &spec.block[direction];
    let stream = offset_stream(spec, seed);
    let candidates = candidates(spec, region, direction);
    let in_file = (region.real_size + 1).saturating_sub(block.min);
    let limit = if candidates == 0 { 0 } else { in_file.min(region.offset + region.size) };
    let grid = Grid { base: region.offset, align: block.align, limit };
    let map = (has_map(spec) && candidates > 0).then(|| RandomMap::new(candidates));
    let blocks = Blocks {
        count: stream.scale(candidates),
        stream,
        seed: seeds::restarts_each_pass(spec).then_some(seed),
    };
    Uniform::new(blocks, grid, (direction, block.min as u32), map, spec.limits.time_based)
}

fn check_blocks(spec: &JobSpec) -> Result<(), WorkloadError> {
    let lends_lengths = |d| spec.bs_is_seq_rand && d != Direction::Trim;
    for direction in Direction::ALL.into_iter().filter(|&d| spec.rw.does(d) || lends_lengths(d)) {
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

fn check_regions(regions: &[Region]) -> Result<(), WorkloadError> {
    for (file, region) in regions.iter().enumerate() {
        let fits = |n: u64| i64::try_from(n).is_ok();
        if !(fits(region.real_size) && region.offset.checked_add(region.size).is_some_and(fits)) {
            return Err(WorkloadError::Region { file, offset: region.offset, size: region.size });
        }
    }
    Ok(())
}
