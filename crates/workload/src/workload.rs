//! The sequence of I/O of a job over all its passes.
//!
//! Cost per call in the common cases: a sequential job one compare and one addition, a random job a number drawn ahead, one
//! multiplication and one word of the random map.

use std::sync::Arc;

use ferrio_job::{BlockSizes, Direction, JobSpec};

use crate::code_path::{CalledPath, CodePath};
use crate::database::{BackgroundWork, DatabaseCounts};
use crate::events::{EventPath, SharedEvents};
use crate::general::GeneralChoices;
use crate::offset_space::{has_map, map_unit, room};
use crate::random_map::FetchWords;
use crate::seeds::SEEDS;
use crate::step::{Io, Region, Step, WorkloadError};
use crate::step_channel::StepReceiver;

/// Most blocks of a file for which a random map is made (32 GiB of memory, touched as it is used).
const MAX_MAPPED: u64 = 1 << 38;

/// All choices of one job.
#[derive(Debug)]
pub struct Workload {
    path: CodePath,
    without_map: bool,
}

impl Workload {
    /// The sequence of `spec` over one region per file, in the order of its files.
    ///
    /// `entropy` seeds the random streams if [`ferrio_job::Seeding::FromSystem`] asks for it.
    ///
    /// # Errors
    /// Block sizes or regions are out of range, or there is no memory for a random map on which the job insists, or for the blocks that
    /// `sprandom` writes again.
    pub fn new(spec: &JobSpec, regions: &[Region], entropy: [u64; SEEDS]) -> Result<Self, WorkloadError> {
        check_blocks(spec)?;
        check_regions(regions)?;
        match check_map_memory(spec, regions) {
            Err(_) if spec.soft_random_map => Self::without_map(spec, regions, entropy),
            checked => {
                checked?;
                Ok(Workload { path: CodePath::new(spec, regions, entropy)?, without_map: false })
            }
        }
    }

    /// A function of its own: the copy of the job would be on the stack of all others too.
    #[cold]
    #[inline(never)]
    fn without_map(spec: &JobSpec, regions: &[Region], entropy: [u64; SEEDS]) -> Result<Self, WorkloadError> {
        let no_map = JobSpec { random_map: false, ..spec.clone() };
        Ok(Workload { path: CodePath::new(&no_map, regions, entropy)?, without_map: true })
    }

    /// A copy that makes the same choices from here on; `None` for the replay of a log, which makes none.
    #[must_use]
    pub fn copy(&self) -> Option<Self> {
        Some(Workload { path: self.path.copy()?, without_map: self.without_map })
    }

    /// Whether a job runs without the map of its blocks because there was no memory for it (`softrandommap`).
    #[must_use]
    pub fn lost_its_map(&self) -> bool {
        self.without_map
    }

    /// The next step. The I/O counts as issued from here on.
    #[expect(clippy::should_implement_trait, reason = "no iterator: a pass ends and another one begins")]
    #[inline(always)]
    pub fn next(&mut self) -> Step {
        self.next_paced(|direction| direction)
    }

    /// The next step; calls `pace` before each I/O with the chosen direction, and `pace` may wait. In a read/write mix its answer replaces
    /// the direction; elsewhere it is ignored.
    #[inline(always)]
    pub fn next_paced<F: FnMut(Direction) -> Direction>(&mut self, mut pace: F) -> Step {
        match &mut self.path {
            CodePath::Sequential(path) => {
                pace(path.direction);
                path.next()
            }
            CodePath::Random(path) => {
                pace(path.direction);
                path.next()
            }
            CodePath::Called(called) => called.next(pace),
        }
    }

    /// Sets the source of the steps of a replay whose log is not in memory.
    pub fn feed(&mut self, from: StepReceiver) {
        if let CodePath::Called(CalledPath::Replay(path)) = &mut self.path {
            path.feed(from);
        }
    }

    /// Sets the function that prefetches words of large random maps. The choices stay the same.
    pub fn fetch_with(&mut self, fetch: FetchWords) {
        match &mut self.path {
            CodePath::Random(path) => path.offsets.fetch_with(fetch),
            CodePath::Called(CalledPath::VariedRandom(path)) => path.offsets.fetch_with(fetch),
            CodePath::Sequential(_) | CodePath::Called(_) => {}
        }
    }

    /// Joins the load of the job's events.
    pub fn join(&mut self, events: Arc<SharedEvents>) {
        if let Some(path) = self.events() {
            path.join(events);
        }
    }

    /// The next work of a background job of a database when the load has run for `now_ns`.
    pub fn work(&mut self, now_ns: u64) -> BackgroundWork {
        self.events().map_or(BackgroundWork::End, |path| path.work(now_ns))
    }

    /// The counts of the job for a database beside its I/Os, since the end of the ramp.
    #[must_use]
    pub fn database_counts(&self) -> DatabaseCounts {
        match &self.path {
            CodePath::Called(CalledPath::Events(path)) => path.counts(),
            _ => DatabaseCounts::default(),
        }
    }

    /// Begins another pass: positions and random maps are reset, and the random streams restart if the job repeats (`randrepeat` without
    /// `randseed`). Not needed before the first pass, and harmless there.
    pub fn begin_pass(&mut self) {
        match &mut self.path {
            CodePath::Sequential(path) => path.begin_pass(),
            CodePath::Random(path) => path.offsets.begin_pass(),
            CodePath::Called(called) => called.begin_pass(),
        }
    }

    /// Notes that everything written was synced at the end of a pass, so that no sync is due before the next write.
    pub fn synced(&mut self) {
        if let Some(choices) = self.general_choices() {
            choices.synced();
        }
    }

    /// Replaces the last I/O, `chosen`, by `done` in zones (`zonemode=zbd`). A sequential walk continues at `next`.
    pub fn moved(&mut self, chosen: &Io, done: &Io, next: u64) {
        if let Some(choices) = self.general_choices() {
            choices.moved(chosen, done, next);
        }
    }

    /// Drops the last I/O, `chosen`, in zones: it cannot be done, and nothing is left to do in its file. Returns the step that follows from
    /// that, if there is one.
    pub fn give_up(&mut self, chosen: &Io) -> Option<Step> {
        self.general_choices()?.give_up(chosen)
    }

    /// Ends the ramp: the counts of issued I/Os that steer mixes and syncs restart.
    pub fn end_ramp(&mut self) {
        if let CodePath::Called(called) = &mut self.path {
            called.end_ramp();
        }
    }

    /// The general path, if the job takes it. Only its jobs sync, and have zones.
    fn general_choices(&mut self) -> Option<&mut GeneralChoices> {
        match &mut self.path {
            CodePath::Called(CalledPath::General(path)) => Some(&mut path.general),
            _ => None,
        }
    }

    fn events(&mut self) -> Option<&mut EventPath> {
        match &mut self.path {
            CodePath::Called(CalledPath::Events(path)) => Some(path),
            _ => None,
        }
    }

    /// A sequence by the general path whatever the job, to check the short paths.
    #[cfg(test)]
    pub(crate) fn general(spec: &JobSpec, regions: &[Region], entropy: [u64; SEEDS]) -> Self {
        Workload { path: CodePath::general(spec, regions, entropy).unwrap(), without_map: false }
    }
}

fn check_blocks(spec: &JobSpec) -> Result<(), WorkloadError> {
    let lends_lengths = |d| spec.bs_is_seq_rand && d != Direction::Trim;
    for direction in Direction::ALL.into_iter().filter(|&d| spec.rw.does(d) || lends_lengths(d)) {
        let block = &spec.block[direction];
        if block.min == 0 || block.align == 0 || block.min > block.max || block.max > BlockSizes::MAX {
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

/// Checks that there is memory for the maps of all regions before they are made: a failed allocation would end the program.
fn check_map_memory(spec: &JobSpec, regions: &[Region]) -> Result<(), WorkloadError> {
    if !has_map(spec) {
        return Ok(());
    }
    let unit = map_unit(spec);
    let blocks = |region: &Region| room(spec, region) / unit;
    let all = regions.iter().map(blocks).fold(0, u64::saturating_add);
    // One bit per block, and one per 64 of these, and so on.
    let bytes = (all / 8).saturating_add(all / 504);
    if regions.iter().any(|region| blocks(region) > MAX_MAPPED) || !memory_is_there(bytes) {
        return Err(WorkloadError::MapTooLarge { blocks: all });
    }
    Ok(())
}

/// Whether this many bytes can be allocated at once, as far as the system tells. They are reserved and freed without touching a page.
#[must_use]
pub fn memory_is_there(bytes: u64) -> bool {
    let Ok(bytes) = usize::try_from(bytes) else { return false };
    let mut probe = Vec::<u8>::new();
    let fits = probe.try_reserve_exact(bytes).is_ok();
    // The optimiser may drop memory that is never read, and then everything would fit.
    std::hint::black_box(&probe);
    fits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_machine_has_cannot_be_had() {
        assert!(memory_is_there(1 << 20));
        assert!(!memory_is_there(1 << 60));
        assert!(!memory_is_there(u64::MAX));
    }
}
