//! Orders in which each block of a file is visited once without a map: `random_generator=lfsr` and `permute`.

use crate::lfsr::Lfsr;
use crate::permute::Permute;

/// Where a file stands in its order.
#[derive(Clone, Debug)]
pub(crate) enum Walk {
    Lfsr(Lfsr),
    Permute(Permute),
}

impl Walk {
    /// The next block, `None` when there was each of them.
    #[inline]
    pub(crate) fn next(&mut self) -> Option<u64> {
        match self {
            Walk::Lfsr(lfsr) => lfsr.next(),
            Walk::Permute(permute) => permute.next(),
        }
    }

    /// Begins anew: a shift register repeats its order, a permutation has another one.
    pub(crate) fn rewind(&mut self) {
        match self {
            Walk::Lfsr(lfsr) => lfsr.rewind(),
            Walk::Permute(permute) => permute.rewind(),
        }
    }

    /// Begins as at the start of the job.
    pub(crate) fn restart(&mut self) {
        match self {
            Walk::Lfsr(lfsr) => lfsr.rewind(),
            Walk::Permute(permute) => permute.restart(),
        }
    }
}
