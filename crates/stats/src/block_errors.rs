//! `block_error_percentiles`: the states of trimmed and written blocks, and the number of trims that the failed ones survived.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::quantile::rank;
use crate::saturating::{saturating_add_to, saturating_total};

/// The last operation on a block. A failure is final.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockState {
    /// No operation.
    Unwritten,
    /// A trim.
    Trimmed,
    /// A write.
    Written,
    /// A trim that failed.
    TrimFailure,
    /// A write that failed.
    WriteFailure,
}

impl BlockState {
    /// All states in the order of reports.
    pub const ALL: [BlockState; 5] = [
        BlockState::Unwritten,
        BlockState::Trimmed,
        BlockState::Written,
        BlockState::TrimFailure,
        BlockState::WriteFailure,
    ];

    /// Whether the block has failed.
    #[must_use]
    pub const fn is_failure(self) -> bool {
        matches!(self, BlockState::TrimFailure | BlockState::WriteFailure)
    }
}

/// Number of blocks in each state, and the lifetimes of the failed ones.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlockErrors {
    states: [u64; 5],
    /// Number of survived trims, each with the number of failed blocks.
    lifetimes: BTreeMap<u32, u64>,
}

impl BlockErrors {
    /// Counts a block.
    pub fn record(&mut self, state: BlockState, trims: u32) {
        self.states[state as usize] += 1;
        if state.is_failure() {
            *self.lifetimes.entry(trims).or_default() += 1;
        }
    }

    /// Number of blocks in a state.
    #[must_use]
    pub const fn blocks(&self, state: BlockState) -> u64 {
        self.states[state as usize]
    }

    /// For each percentage of `list`, the number of trims that this share of the failed blocks did not outlive; empty if none failed.
    #[must_use]
    pub fn percentiles(&self, list: &[f64]) -> Vec<(f64, u64)> {
        let failed = saturating_total(self.lifetimes.values().copied());
        if failed == 0 {
            return Vec::new();
        }
        let trims = |percent| {
            let mut left = rank(percent, failed);
            let reached = self.lifetimes.iter().find(|&(_, &blocks)| {
                let found = left <= blocks;
                left = left.saturating_sub(blocks);
                found
            });
            reached.map_or(0, |(&trims, _)| u64::from(trims))
        };
        list.iter().map(|&percent| (percent, trims(percent))).collect()
    }

    /// Adds the blocks of another job.
    pub fn merge(&mut self, other: &Self) {
        self.states.iter_mut().zip(other.states).for_each(|(a, b)| saturating_add_to(a, b));
        for (&trims, &blocks) in &other.lifetimes {
            saturating_add_to(self.lifetimes.entry(trims).or_default(), blocks);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_failed_blocks_have_a_lifetime() {
        let mut errors = BlockErrors::default();
        errors.record(BlockState::Trimmed, 1000);
        errors.record(BlockState::Written, 2000);
        assert_eq!(errors.percentiles(&[50.0]), []);
        for trims in 1..=10 {
            errors.record(BlockState::TrimFailure, trims);
        }
        errors.record(BlockState::WriteFailure, 500);
        assert_eq!(BlockState::ALL.map(|state| errors.blocks(state)), [0, 1, 1, 10, 1]);
        let percentiles = errors.percentiles(&[1.0, 50.0, 90.0, 100.0]);
        assert_eq!(percentiles, [(1.0, 1), (50.0, 6), (90.0, 10), (100.0, 500)]);
    }

    #[test]
    fn jobs_add_their_blocks() {
        let of = |trims: &[u32]| {
            let mut errors = BlockErrors::default();
            trims.iter().for_each(|&trims| errors.record(BlockState::WriteFailure, trims));
            errors
        };
        let mut both = of(&[3, 3, 9]);
        both.merge(&of(&[1, 3]));
        assert_eq!(both, of(&[1, 3, 3, 3, 9]));
    }
}
