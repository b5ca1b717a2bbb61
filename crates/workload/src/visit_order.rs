//! Orders in which each block of a file is visited once without a map: `random_generator=lfsr` and `permute`.

use crate::lfsr::Lfsr;
use crate::permute::Permute;

/// The position of a file in its order.
#[derive(Clone, Debug)]
pub(crate) enum VisitOrder {
    Lfsr(Lfsr),
    Permute(Permute),
}

impl VisitOrder {
    /// The next block, `None` after the last one.
    #[inline]
    pub(crate) fn next(&mut self) -> Option<u64> {
        match self {
            VisitOrder::Lfsr(lfsr) => lfsr.next(),
            VisitOrder::Permute(permute) => permute.next(),
        }
    }

    /// Starts again: a shift register repeats its order, a permutation takes another one.
    pub(crate) fn rewind(&mut self) {
        match self {
            VisitOrder::Lfsr(lfsr) => lfsr.rewind(),
            VisitOrder::Permute(permute) => permute.rewind(),
        }
    }

    /// Starts as at the start of the job.
    pub(crate) fn restart(&mut self) {
        match self {
            VisitOrder::Lfsr(lfsr) => lfsr.rewind(),
            VisitOrder::Permute(permute) => permute.restart(),
        }
    }
}
