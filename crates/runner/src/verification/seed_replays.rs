//! The seeds of written blocks once more, for their headers: they are drawn again instead of being remembered.

use std::collections::VecDeque;

use ferrio_verify::SeedReplay;
use ferrio_workload::BlockSeeds;

/// The seeds of the passes that the list of written blocks is of: of one, unless passes run on into each other.
#[derive(Debug)]
pub(super) struct SeedReplays {
    /// Empty when no seed is compared.
    passes: VecDeque<Pass>,
}

#[derive(Debug)]
struct Pass {
    /// Number of its first write.
    first: u64,
    replay: SeedReplay,
    seeds: BlockSeeds,
}

impl SeedReplays {
    /// The first pass begins with these seeds. `compared`: some will be asked for.
    pub(super) fn new(seeds: BlockSeeds, compared: bool) -> Self {
        let first = Pass { first: 0, replay: SeedReplay::new(0), seeds };
        SeedReplays { passes: if compared { VecDeque::from([first]) } else { VecDeque::new() } }
    }

    /// Another pass begins, and what was written before is over.
    pub(super) fn begin_pass(&mut self, first: u64, seeds: &BlockSeeds) {
        let first_pass = self.passes.len().min(1);
        self.add_pass(first, seeds);
        self.passes.drain(..self.passes.len() - first_pass);
    }

    /// Another pass begins while blocks of earlier ones are in the list.
    pub(super) fn add_pass(&mut self, first: u64, seeds: &BlockSeeds) {
        if !self.passes.is_empty() {
            self.passes.push_back(Pass { first, replay: SeedReplay::new(first), seeds: seeds.clone() });
        }
    }

    /// The seed of write `number`. `None` when it is not known any more, because blocks are not taken in the order of their numbers, or
    /// when it is not compared.
    pub(super) fn of(&mut self, number: u64) -> Option<u64> {
        while self.passes.get(1).is_some_and(|next| next.first <= number) {
            self.passes.pop_front();
        }
        let Pass { replay, seeds, .. } = self.passes.front_mut()?;
        replay.seed_of(number, || seeds.draw())
    }
}
