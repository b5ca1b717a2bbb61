//! What a job found in place of its blocks: how often each kind of damage, and the first blocks in detail.

use std::collections::BTreeMap;

use ferrio_job::{Diagnostic, Prefix};
pub use ferrio_verify::{Damage, DamageKind, DamagedPart, FoundWrite, WrongByte};

/// Damaged blocks that are kept in detail, per job.
pub const MAX_BLOCKS: usize = 100;

/// The damaged blocks of a job.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DamageTally {
    /// How many blocks of each kind.
    pub counts: BTreeMap<DamageKind, u64>,
    /// The first [`MAX_BLOCKS`].
    pub blocks: Vec<DamagedBlock>,
}

/// A damaged block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DamagedBlock {
    /// Name of the file.
    pub file: String,
    /// What it looks like.
    pub damage: Damage,
}

impl DamageTally {
    /// Adds a block. Returns the line that explains it to the user.
    pub(crate) fn add(&mut self, file: &str, damage: Damage) -> Diagnostic {
        let message = format!("{file}: the block at offset {} looks like {damage}", damage.offset);
        *self.counts.entry(damage.kind).or_default() += 1;
        if self.blocks.len() < MAX_BLOCKS {
            self.blocks.push(DamagedBlock { file: file.to_owned(), damage });
        }
        Diagnostic::note(message).code("verify-damage").prefix(Prefix::Program)
    }
}
