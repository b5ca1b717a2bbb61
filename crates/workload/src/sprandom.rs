//! `sprandom`: every block of an SSD in the order of a shift register, with some blocks written a second time, region by region.
//!
//! Each write is saved with the probability of its region; the next region writes the saved ones again, at its start, or at its end for
//! devices with a cache (`spr_cs`). Cost per write: a step of the register, a draw and a compare.

use std::sync::Arc;

use ferrio_job::{Direction, Generator, JobSpec, Sprandom};

use crate::lfsr::Lfsr;
use crate::offset_space::offset_count;
use crate::pass_stream::PassStream;
use crate::random::Scale;
use crate::seeds::{self, SEEDS};
use crate::step::{Region, WorkloadError};

/// A write of a pass, in blocks from the start of the job's region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PreconditioningWrite {
    /// The block.
    pub block: u64,
    /// The region, from 0 in the order written; the number of regions for blocks that no region had room for.
    pub region: usize,
    /// Whether the block was written before.
    pub again: bool,
    /// Whether the next region writes it again.
    pub saved: bool,
}

/// The writes of a pass in order.
#[derive(Clone, Debug)]
pub struct PreconditioningOrder {
    job: Arc<Sprandom>,
    /// The order of new blocks.
    blocks: Lfsr,
    /// Number of blocks and seed with which `blocks` begins.
    begin: (u64, u64),
    /// New blocks that are left.
    new_left: u64,
    draws: PassStream,
    scale: Scale,
    region: usize,
    /// Writes of this region so far.
    written: u64,
    /// The blocks that the last region saved; those before `at` were written again.
    again: Vec<u64>,
    at: usize,
    /// The blocks that this region has saved.
    saved: Vec<u64>,
}

impl PreconditioningOrder {
    /// The order of a job with `sprandom` in its region, by the seeds of the job; `None` for other jobs.
    ///
    /// # Errors
    /// There is no memory for the blocks that are to be written again.
    pub fn of(spec: &JobSpec, region: &Region, seeds: &[u64; SEEDS]) -> Result<Option<Self>, WorkloadError> {
        let Some(job) = &spec.sprandom else { return Ok(None) };
        let blocks = offset_count(spec, region, Direction::Write);
        let draws = PassStream::new(spec, Generator::Tausworthe32, seeds[seeds::SPRANDOM]);
        let scale = draws.stream.scale(u64::from(Sprandom::WHOLE));
        let mut order = PreconditioningOrder {
            job: Arc::clone(job),
            blocks: Lfsr::new(blocks.max(1), seeds[seeds::OFFSET]),
            begin: (blocks, seeds[seeds::OFFSET]),
            new_left: blocks.min(job.logical_blocks),
            draws,
            scale,
            region: 0,
            written: 0,
            again: Vec::new(),
            at: 0,
            saved: Vec::new(),
        };
        order.reserve()?;
        Ok(Some(order))
    }

    /// Allocates the memory that a pass needs, with a probability close to one. A list that still overflows grows.
    fn reserve(&mut self) -> Result<(), WorkloadError> {
        let blocks = self.job.most_repetitions();
        let too_many = |_| WorkloadError::TooManyRepetitions { blocks };
        let count = usize::try_from(blocks).unwrap_or(usize::MAX);
        self.again.try_reserve_exact(count).map_err(too_many)?;
        self.saved.try_reserve_exact(count).map_err(too_many)
    }

    /// Begins another pass: from the same block, with the draws of the first pass if the job repeats.
    pub fn begin_pass(&mut self) {
        let (blocks, seed) = self.begin;
        self.blocks = Lfsr::new(blocks.max(1), seed);
        self.new_left = blocks.min(self.job.logical_blocks);
        self.draws.begin_pass();
        (self.region, self.written, self.at) = (0, 0, 0);
        self.again.clear();
        self.saved.clear();
    }

    /// The next write; `None` at the end of the pass.
    pub fn next_write(&mut self) -> Option<PreconditioningWrite> {
        loop {
            let region = self.region;
            let Some(&share) = self.job.invalid_shares.get(region) else {
                // No block may be left out, even if the regions had no room for it.
                let block = self.new_block()?;
                return Some(PreconditioningWrite { block, region, again: false, saved: false });
            };
            if self.written < self.job.region_blocks {
                let again = self.repeats_now();
                let block = if again { self.repeated_block() } else { self.new_block() };
                if let Some(block) = block {
                    self.written += 1;
                    let saved = self.draws.stream.below(self.scale) < u64::from(share);
                    if saved {
                        self.saved.push(block);
                    }
                    return Some(PreconditioningWrite { block, region, again, saved });
                }
                if self.saved.is_empty() {
                    return None;
                }
            }
            self.begin_region();
        }
    }

    /// Whether the next block of this region is one of those that the last region saved. With a cache they are the region's last writes.
    fn repeats_now(&self) -> bool {
        let left = (self.again.len() - self.at) as u64;
        let first = self.job.cache_bytes == 0;
        left > 0 && (first || self.new_left == 0 || self.written + left >= self.job.region_blocks)
    }

    fn repeated_block(&mut self) -> Option<u64> {
        let block = *self.again.get(self.at)?;
        self.at += 1;
        Some(block)
    }

    fn new_block(&mut self) -> Option<u64> {
        self.new_left = self.new_left.checked_sub(1)?;
        self.blocks.next()
    }

    fn begin_region(&mut self) {
        self.region += 1;
        self.written = 0;
        self.again.clear();
        self.at = 0;
        std::mem::swap(&mut self.again, &mut self.saved);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use ferrio_job::{ReadWrite, Seeding};

    use super::*;
    use crate::seeds::thread_seeds;
    use crate::tests::support::job;

    const BLOCK: u64 = 4096;

    fn order(blocks: u64, sprandom: Sprandom, seeding: Seeding) -> PreconditioningOrder {
        let mut spec = job();
        spec.rw = ReadWrite::RandWrite;
        spec.seeding = seeding;
        spec.sprandom = Some(Arc::new(sprandom));
        let region = Region { offset: 0, size: blocks * BLOCK, real_size: blocks * BLOCK };
        PreconditioningOrder::of(&spec, &region, &thread_seeds(&spec, [0; SEEDS])).unwrap().unwrap()
    }

    fn pass(blocks: u64, regions: u32, op: f64, cache: u64) -> (Arc<Sprandom>, Vec<PreconditioningWrite>) {
        let sprandom = Sprandom::new(blocks * BLOCK, BLOCK, regions, op, cache);
        let mut order = order(blocks, sprandom, Seeding::Repeatable);
        let writes = std::iter::from_fn(|| order.next_write()).collect();
        (order.job, writes)
    }

    /// The writes of each region.
    fn regions(writes: &[PreconditioningWrite]) -> Vec<&[PreconditioningWrite]> {
        writes.chunk_by(|one, next| one.region == next.region).collect()
    }

    #[test]
    fn each_block_is_new_once_and_all_are_written() {
        for (regions, op, cache) in
            [(100, 0.15, 0), (100, 0.15, BLOCK), (7, 0.5, 0), (1, 0.15, 0), (50, 0.9, 0)]
        {
            let (_, writes) = pass(20_000, regions, op, cache);
            let mut new = HashMap::new();
            for write in writes.iter().filter(|write| !write.again) {
                *new.entry(write.block).or_insert(0) += 1;
            }
            assert_eq!(new.len(), 20_000, "{regions} {op}");
            assert!(new.values().all(|&times| times == 1) && new.keys().all(|&block| block < 20_000));
        }
    }

    #[test]
    fn a_region_begins_with_what_the_last_one_saved() {
        let (job, writes) = pass(20_000, 20, 0.15, 0);
        let regions = regions(&writes);
        assert_eq!(regions.len(), 20);
        assert!(regions[0].iter().all(|write| !write.again));
        for pair in regions.windows(2) {
            let saved: Vec<u64> =
                pair[0].iter().filter(|write| write.saved).map(|write| write.block).collect();
            let again: Vec<u64> =
                pair[1].iter().take_while(|write| write.again).map(|write| write.block).collect();
            assert_eq!(again, saved);
            assert!(pair[1][again.len()..].iter().all(|write| !write.again));
        }
        assert!(regions[..19].iter().all(|region| region.len() as u64 == job.region_blocks));
    }

    #[test]
    fn with_a_cache_a_region_ends_with_what_the_last_one_saved() {
        let (job, writes) = pass(20_000, 20, 0.15, 100 * BLOCK);
        let regions = regions(&writes);
        for pair in regions[..19].windows(2) {
            let saved: Vec<u64> =
                pair[0].iter().filter(|write| write.saved).map(|write| write.block).collect();
            let new = pair[1].len() - saved.len();
            assert!(pair[1][..new].iter().all(|write| !write.again));
            let again: Vec<u64> = pair[1][new..].iter().map(|write| write.block).collect();
            assert_eq!(again, saved);
        }
        let mut last = HashMap::new();
        for (at, write) in writes.iter().enumerate() {
            if write.again {
                assert!((at - last[&write.block]) as u64 >= job.region_blocks, "{write:?} meets the cache");
            }
            last.insert(write.block, at);
        }
    }

    #[test]
    fn the_share_that_is_saved_follows_the_model() {
        let (job, writes) = pass(1_000_000, 10, 0.15, 0);
        for (region, &share) in regions(&writes).iter().zip(job.invalid_shares.iter()) {
            let saved = region.iter().filter(|write| write.saved).count() as f64;
            let (share, blocks) = (f64::from(share) / 10_000.0, region.len() as f64);
            let deviation = (blocks * share * (1.0 - share)).sqrt();
            assert!((saved - blocks * share).abs() <= 4.0 * deviation, "{saved} of {blocks}, not {share}");
        }
        let written = writes.len() as u64;
        assert!(written <= job.physical_blocks && written > job.physical_blocks - job.region_blocks);
        let expected = job.expected_bytes() / BLOCK;
        assert!(written.abs_diff(expected) < 3000, "{written}, not {expected}");
    }

    #[test]
    fn memory_for_a_pass_is_taken_at_once() {
        let sprandom = Sprandom::new(1_000_000 * BLOCK, BLOCK, 10, 0.15, 0);
        let mut order = order(1_000_000, sprandom, Seeding::Repeatable);
        let room = (order.again.capacity(), order.saved.capacity());
        assert!(
            room.0 as u64 >= order.job.most_repetitions() && room.1 as u64 >= order.job.most_repetitions()
        );
        while order.next_write().is_some() {}
        let mut after = [order.again.capacity(), order.saved.capacity()];
        after.sort_unstable();
        assert_eq!((after[0], after[1]), (room.0.min(room.1), room.0.max(room.1)));
    }

    #[test]
    fn a_repeatable_job_repeats_its_pass_and_a_seeded_one_draws_on() {
        let passes = |seeding| {
            let mut order = order(2000, Sprandom::new(2000 * BLOCK, BLOCK, 10, 0.15, 0), seeding);
            let first: Vec<_> = std::iter::from_fn(|| order.next_write()).collect();
            assert_eq!(order.next_write(), None);
            order.begin_pass();
            (first, std::iter::from_fn(|| order.next_write()).collect::<Vec<_>>())
        };
        let (first, second) = passes(Seeding::Repeatable);
        assert_eq!(first, second);
        let (first, second) = passes(Seeding::Fixed(9));
        assert_ne!(first, second);
        assert_eq!(first[0].block, second[0].block);
    }

    #[test]
    fn less_than_the_region_is_written_if_the_capacity_is_less() {
        let mut order = order(2000, Sprandom::new(500 * BLOCK, BLOCK, 10, 0.15, 0), Seeding::Repeatable);
        let writes: Vec<_> = std::iter::from_fn(|| order.next_write()).collect();
        assert_eq!(writes.iter().filter(|write| !write.again).count(), 500);
        assert!(writes.iter().any(|write| write.block > 1000), "offsets are in the whole region");
    }
}
