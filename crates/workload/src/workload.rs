//! A job's sequence of I/O over all its passes.
//!
//! Cost per call in the common cases: a sequential job one compare and one addition, a random job a number drawn ahead, one
//! multiplication and one word of the random map.

use ferrio_job::{Direction, JobSpec};

use crate::map_memory::holds_maps;
use crate::path::Path;
use crate::seeds::SEEDS;
use crate::step::{Region, Step, WorkloadError};

/// All choices of one job.
#[derive(Clone, Debug)]
pub struct Workload {
    path: Path,
    without_map: bool,
}

impl Workload {
    /// The sequence of `spec` over one region per file, in the order of its files.
    ///
    /// `entropy` seeds the random streams when [`ferrio_job::Seeding::FromSystem`] asks for it.
    ///
    /// # Errors
    /// When block sizes or regions are out of range, a random map does not fit the memory and the job insists on it, or a shift
    /// register cannot begin.
    pub fn new(spec: &JobSpec, regions: &[Region], entropy: [u64; SEEDS]) -> Result<Self, WorkloadError> {
        check_blocks(spec)?;
        check_regions(regions)?;
        match holds_maps(spec, regions) {
            Err(_) if spec.soft_random_map => {
                let no_map = JobSpec { random_map: false, ..spec.clone() };
                Ok(Workload { path: Path::new(&no_map, regions, entropy)?, without_map: true })
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
    /// When a file turns out to be finished the choice is made again and `pace` asked again.
    #[inline(always)]
    pub fn next_paced<F: FnMut(Direction) -> Direction>(&mut self, mut pace: F) -> Step {
        match &mut self.path {
            Path::Sequential(path) => {
                pace(path.direction());
                path.next()
            }
            Path::Random(path) => {
                pace(path.direction());
                path.next()
            }
            Path::Called(called) => called.next(pace),
        }
    }

    /// Begins another pass: positions and random maps are new, and the random streams start again if the job repeats
    /// (`randrepeat` without `randseed`). Not needed before the first pass, and harmless there.
    pub fn begin_pass(&mut self) {
        match &mut self.path {
            Path::Sequential(path) => path.begin_pass(),
            Path::Random(path) => path.begin_pass(),
            Path::Called(called) => called.begin_pass(),
        }
    }

    /// All that was written was made durable at the end of a pass, so that no sync is due before the next write.
    pub fn synced(&mut self) {
        if let Path::Called(called) = &mut self.path {
            called.synced();
        }
    }

    /// Ends the ramp: the counts of issued I/Os that steer mixes and syncs start again.
    pub fn end_ramp(&mut self) {
        if let Path::Called(called) = &mut self.path {
            called.end_ramp();
        }
    }

    /// The same sequence by the general path whatever the job, to check the short ones against.
    #[cfg(test)]
    pub(crate) fn general(spec: &JobSpec, regions: &[Region], entropy: [u64; SEEDS]) -> Self {
        Workload { path: Path::general(spec, regions, entropy).unwrap(), without_map: false }
    }
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
