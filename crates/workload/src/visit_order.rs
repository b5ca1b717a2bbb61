//! Orders that visit each block of a file without a map.

use ferrio_job::{Direction, Distribution, JobSpec, RandomOrder};

use crate::lfsr::Lfsr;
use crate::offset_space::{offset_count, room};
use crate::permute::Permute;
use crate::seeds::{OFFSET, SEEDS};
use crate::sprandom::PreconditioningOrder;
use crate::step::{Region, WorkloadError};

/// The order that visits each block of a region once, if the job's generator makes one.
///
/// # Errors
/// There is no memory for the blocks that `sprandom` writes again.
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

/// An order that visits the blocks of a file without a map, each once (`random_generator=lfsr` and `permute`) or at least once
/// (`sprandom`), and the position in it.
#[derive(Clone, Debug)]
pub(crate) enum VisitOrder {
    Lfsr(Lfsr),
    Permute(Permute),
    Sprandom(PreconditioningOrder),
}

impl VisitOrder {
    /// The next block; `None` after the last one.
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

    /// Starts again as at the start of the job.
    pub(crate) fn restart(&mut self) {
        match self {
            VisitOrder::Lfsr(lfsr) => lfsr.rewind(),
            VisitOrder::Permute(permute) => permute.restart(),
            VisitOrder::Sprandom(order) => order.begin_pass(),
        }
    }
}
