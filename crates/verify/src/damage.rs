//! Explains a block that failed its check: an older version of itself, another block, zeros, one flipped bit.
//!
//! The header of a block names the seed of its body, and every row of a random body reveals the seed too, so the expected block can be
//! rebuilt, and so can others that left a trace. The block is then cut into stretches by the candidate that they agree with (`segments`),
//! and the wrong stretches are explained (`conclusion`). The result is the likeliest explanation, not a proof.
//!
//! This runs only after a failed check: it allocates, and costs a few passes over the block.

mod body;
mod candidate;
mod conclusion;
mod failed_block;
mod header_search;
mod identity;
mod kind;
mod options;
mod segments;
mod sources;
mod text;

use std::ops::Range;

pub use kind::DamageKind;

use crate::{BlockMismatch, ExpectedHeader, Verifier};
use failed_block::FailedBlock;
use serde::{Deserialize, Serialize};

/// The facts about a block that failed its check.
#[derive(Clone, Copy)]
pub struct DamageEvidence<'a> {
    /// The block as [`Verifier::check`] left it, or [`check_trimmed`](crate::check_trimmed).
    pub block: &'a [u8],
    /// The result of the check.
    pub mismatch: &'a BlockMismatch,
    /// The expected contents. A number counts even if its check is off, provided that the block is `is_own`.
    pub expected: ExpectedHeader,
    /// Whether the job wrote the block itself, in this run.
    pub is_own: bool,
    /// Whether the job may have written to one place more than once.
    pub overwrites: bool,
    /// Fills a block from its seed, as the job does.
    pub fill: &'a dyn Fn(&mut [u8], u64),
    /// The seeds that the job has drawn.
    pub drawn: &'a DrawnSeeds,
}

/// The seeds of a job's blocks, in the order of the writes.
#[derive(Clone, Debug, Default)]
pub struct DrawnSeeds {
    /// Number of the first write.
    first: u64,
    seeds: Vec<u64>,
    /// Each seed with its index in `seeds`, sorted.
    places: Vec<(u64, u32)>,
    /// Whether earlier writes may have drawn the same seeds.
    repeated: bool,
}

impl DrawnSeeds {
    /// Most seeds that are kept.
    pub const MAX_LEN: usize = 1 << 20;

    /// The seeds of the writes from number `first` on.
    #[must_use]
    pub fn new(first: u64, seeds: impl Iterator<Item = u64>) -> Self {
        let seeds: Vec<u64> = seeds.take(Self::MAX_LEN).collect();
        let mut places: Vec<(u64, u32)> = seeds.iter().copied().zip(0..).collect();
        places.sort_unstable();
        DrawnSeeds { first, seeds, places, repeated: false }
    }

    /// Marks the pass as a repetition of an earlier one: writes of both may have drawn these seeds, so a seed alone does not identify the
    /// number of its write.
    #[must_use]
    pub fn of_repeated_pass(self) -> Self {
        DrawnSeeds { repeated: true, ..self }
    }

    /// Number of seeds.
    #[must_use]
    pub fn len(&self) -> usize {
        self.seeds.len()
    }

    /// Whether there are no seeds.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.seeds.is_empty()
    }

    /// The seed of a write.
    fn of_number(&self, number: u64) -> Option<u64> {
        let place = number.checked_sub(self.first)?;
        self.seeds.get(usize::try_from(place).ok()?).copied()
    }

    /// The first write of the pass with this seed.
    fn number_of(&self, seed: u64) -> Option<u64> {
        let at = self.places.partition_point(|&(known, _)| known < seed);
        let &(_, place) = self.places.get(at).filter(|&&(known, _)| known == seed)?;
        Some(self.first + u64::from(place))
    }
}

/// The explanation of a failed check. `Display` writes it on one line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Damage {
    /// The likeliest explanation.
    pub kind: DamageKind,
    /// Offset of the block in its file, bytes.
    pub offset: u64,
    /// Bytes of the block.
    pub len: u64,
    /// The bytes of the block that are damaged, from the first to the last.
    pub range: Range<u64>,
    /// Number of these bytes that differ from the expected ones, if that is known.
    pub differing: Option<u64>,
    /// Wrong bytes that this kind does not explain.
    pub unexplained_bytes: u64,
    /// The part of the block that contains them.
    pub part: DamagedPart,
    /// The first byte that differs, if the expected contents are known and most of the rest is right.
    pub byte: Option<WrongByte>,
    /// The write that the damaged bytes come from, as far as it is known.
    pub found: Option<FoundWrite>,
    /// Number of the expected write, if it is known.
    pub wanted_number: Option<u64>,
    /// Number of bytes by which the data is moved; positive towards higher offsets.
    pub shift: Option<i64>,
    /// The byte that the range is filled with.
    pub fill: Option<u8>,
    /// The options that the data was written with, as they would be set.
    pub options: Option<String>,
}

/// A part of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum DamagedPart {
    /// Headers or digests.
    Header,
    /// The data that headers and digests cover.
    Data,
    /// Both.
    Both,
}

impl DamagedPart {
    /// The word in reports.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            DamagedPart::Header => "header",
            DamagedPart::Data => "data",
            DamagedPart::Both => "both",
        }
    }
}

/// A byte that differs from the expected one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WrongByte {
    /// Index in the block.
    pub at: u64,
    /// The byte in the block.
    pub found: u8,
    /// The expected byte.
    pub wanted: u8,
}

impl WrongByte {
    /// The lowest bit that differs.
    #[must_use]
    pub fn bit(&self) -> u32 {
        (self.found ^ self.wanted).trailing_zeros()
    }
}

/// The write that the bytes in the block come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FoundWrite {
    /// The offset for which it was written, bytes; unknown without a header.
    pub offset: Option<u64>,
    /// Number of the write.
    pub number: Option<u64>,
    /// Number of its job, from 1.
    pub job: Option<u16>,
}

impl Verifier {
    /// Explains a block that failed its check. Input and result are plain data, so that checks on other threads can call it too.
    #[must_use]
    pub fn explain(&self, evidence: &DamageEvidence<'_>) -> Damage {
        let failed = FailedBlock::new(self, evidence);
        if failed.trimmed {
            return conclusion::conclude(&failed);
        }
        options::other_options(&failed).unwrap_or_else(|| conclusion::conclude(&failed))
    }
}

#[cfg(test)]
mod flips;
#[cfg(test)]
mod tests;
