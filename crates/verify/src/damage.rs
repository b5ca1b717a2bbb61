//! What a block that failed its check looks like: an older version of itself, another block, zeros, one flipped bit.
//!
//! The header of a block names the seed of its body, and every row of a random body gives the seed too, so the block that should be here
//! can be built again, and so can others that left a trace. The block is then cut into stretches by which of them it agrees with
//! (`segments`), and the stretches that are not what they should be are put into words (`conclusion`). What is found is the likeliest
//! explanation, not a proof.
//!
//! This is for the rare case that a check has failed: it allocates, and costs a few passes over the block.

mod body;
mod candidate;
mod conclusion;
mod identity;
mod kind;
mod media;
mod options;
mod scene;
mod segments;
mod sources;
mod text;

use std::ops::Range;

pub use kind::DamageKind;

use crate::{Expected, Mismatch, Verifier};
use scene::Scene;

/// What is known of a block that failed its check.
#[derive(Clone, Copy)]
pub struct Evidence<'a> {
    /// The block as [`Verifier::check`] left it, or [`check_trimmed`](crate::check_trimmed).
    pub block: &'a [u8],
    /// What the check found.
    pub mismatch: &'a Mismatch,
    /// What the block should contain. A number counts even where its check is off, provided that the block is `own`.
    pub expected: Expected,
    /// The job wrote the block itself, in this run.
    pub own: bool,
    /// The job may have written to one place more than once.
    pub overwrites: bool,
    /// Fills a block from its seed, as the job does.
    pub fill: &'a dyn Fn(&mut [u8], u64),
    /// The seeds that the job has drawn.
    pub drawn: &'a DrawnSeeds,
}

/// The seeds of a job's blocks, in the order of the writes.
#[derive(Clone, Debug, Default)]
pub struct DrawnSeeds {
    /// Number of the write that has the first.
    first: u64,
    seeds: Vec<u64>,
    /// Seed and place in `seeds`, sorted.
    places: Vec<(u64, u32)>,
    /// Earlier writes may have drawn the same seeds.
    repeated: bool,
}

impl DrawnSeeds {
    /// More seeds than these are not kept.
    pub const MOST: usize = 1 << 20;

    /// The seeds of the writes from number `first` on.
    #[must_use]
    pub fn new(first: u64, seeds: impl Iterator<Item = u64>) -> Self {
        let seeds: Vec<u64> = seeds.take(Self::MOST).collect();
        let mut places: Vec<(u64, u32)> = seeds.iter().copied().zip(0..).collect();
        places.sort_unstable();
        DrawnSeeds { first, seeds, places, repeated: false }
    }

    /// The same for a pass that repeats an earlier one: writes of both may have drawn these seeds, so that a seed alone does not tell the
    /// number of its write.
    #[must_use]
    pub fn of_repeated_pass(self) -> Self {
        DrawnSeeds { repeated: true, ..self }
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.seeds.len()
    }

    /// True without any seeds.
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

/// What a block that failed its check looks like. `Display` says it in one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage {
    /// The likeliest explanation.
    pub kind: DamageKind,
    /// Where the block lies in its file, bytes.
    pub offset: u64,
    /// Bytes of the block.
    pub len: u64,
    /// The bytes of the block that are damaged, from the first to the last.
    pub range: Range<u64>,
    /// How many of them differ from what should be there, if that is known.
    pub differing: Option<u64>,
    /// Wrong bytes that this kind does not explain.
    pub besides: u64,
    /// Which part of the block they are in.
    pub part: DamagedPart,
    /// The first byte that differs, if what should be there is known and most of the rest is right.
    pub byte: Option<WrongByte>,
    /// The write that the damaged bytes come from, as far as it is known.
    pub found: Option<FoundWrite>,
    /// Number of the write that should be here, if it is known.
    pub wanted_number: Option<u64>,
    /// By how many bytes the data is moved; positive towards higher offsets.
    pub shift: Option<i64>,
    /// The byte that the range is filled with.
    pub fill: Option<u8>,
    /// The options that the data was written with, as one would set them.
    pub options: Option<String>,
}

/// A part of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DamagedPart {
    /// Headers or digests.
    Header,
    /// What they cover.
    Data,
    /// Some of each.
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

/// A byte that is not what it should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WrongByte {
    /// Index in the block.
    pub at: u64,
    /// What is there.
    pub found: u8,
    /// What should be there.
    pub wanted: u8,
}

impl WrongByte {
    /// The lowest bit that differs.
    #[must_use]
    pub fn bit(&self) -> u32 {
        (self.found ^ self.wanted).trailing_zeros()
    }
}

/// The write that left the bytes that were found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FoundWrite {
    /// Where it belongs in its file, bytes; unknown without a header.
    pub offset: Option<u64>,
    /// Its number.
    pub number: Option<u64>,
    /// Number of its job, from 1.
    pub job: Option<u16>,
}

impl Verifier {
    /// Says what a block looks like that failed its check. The answer is plain data, and so is all that it needs: checks on other threads
    /// can ask as well.
    #[must_use]
    pub fn explain(&self, evidence: &Evidence<'_>) -> Damage {
        let scene = Scene::new(self, evidence);
        if scene.trimmed {
            return conclusion::conclude(&scene);
        }
        options::other_options(&scene).unwrap_or_else(|| conclusion::conclude(&scene))
    }
}

#[cfg(test)]
mod flips;
#[cfg(test)]
mod tests;
