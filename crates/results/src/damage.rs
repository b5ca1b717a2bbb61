//! Damaged blocks that a job found: the number of each kind, and the first ones in detail.

use std::collections::BTreeMap;

use ferrio_job::{Diagnostic, Prefix};
use ferrio_verify::{Damage, DamageKind};
use serde::{Deserialize, Serialize};

/// Damaged blocks that are kept in detail, per job.
const MAX_DETAILED_BLOCKS: usize = 100;

/// The damaged blocks of a job.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DamageTally {
    /// How many blocks of each kind.
    pub counts: BTreeMap<DamageKind, u64>,
    /// The first 100.
    pub blocks: Vec<DamagedBlock>,
}

/// A block that failed its check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DamagedBlock {
    /// Name of the file that has the block.
    pub file: String,
    /// Description of the block.
    pub damage: Damage,
}

impl DamageTally {
    /// Adds a block. Returns the line that explains it to the user.
    #[must_use]
    pub fn add(&mut self, file: &str, damage: Damage) -> Diagnostic {
        let message = format!("{file}: the block at offset {} looks like {damage}", damage.offset);
        *self.counts.entry(damage.kind).or_default() += 1;
        if self.blocks.len() < MAX_DETAILED_BLOCKS {
            self.blocks.push(DamagedBlock { file: file.to_owned(), damage });
        }
        Diagnostic::note(message).code("verify-damage").prefix(Prefix::Program)
    }

    /// The damaged blocks of several jobs, with the details of all of them.
    #[must_use]
    pub fn total<'a>(tallies: impl Iterator<Item = &'a DamageTally>) -> DamageTally {
        let mut total = DamageTally::default();
        for tally in tallies {
            for (&kind, &count) in &tally.counts {
                let sum = total.counts.entry(kind).or_default();
                *sum = sum.saturating_add(count);
            }
            total.blocks.extend_from_slice(&tally.blocks);
        }
        total
    }
}
