//! Data verification: the contents of written blocks, and the check of blocks that were read.
//!
//! Everything here is arithmetic on byte slices: no files, no clock, no random numbers. The bytes on disk are those of fio, so that each
//! program can check the other's data: of fio 3.41 and later (header version `0x81`), or on request of earlier releases, whose headers are
//! recognised by jobs that read ([`HeaderLayout`]). `checksummed_block` has the blocks of sysbench.
#![forbid(unsafe_code)]

mod checksummed_block;
mod damage;
mod digest;
mod header;
mod layout;
mod mismatch;
mod pattern;
mod seed_replay;
mod spec;
mod state;
mod state_file;
mod trimmed;
mod verifier;
mod written;

pub use ferrio_job::{HEADER_BYTES, HeaderLayout, VerifyMethod};

pub use checksummed_block::{InvalidBlock, add_checksum, check_checksum};
pub use damage::{Damage, DamageEvidence, DamageKind, DamagedPart, DrawnSeeds, FoundWrite, WrongByte};
pub use digest::Digest;
pub use header::{BlockHeader, MAGIC, VERSION, resolve_interval};
pub use mismatch::{BadDigest, BlockMismatch, IntervalFailure, IntervalProblem};
pub use pattern::{BlockPattern, PatternError};
pub use seed_replay::SeedReplay;
pub use spec::{SpecError, VerifySpec};
pub use state::{Coverage, CoverageEnd, StateError, VerifyState, WriteCoverage};
pub use state_file::{StateContent, StateDamage, StateFile};
pub use trimmed::check_trimmed;
pub use verifier::{BlockTooSmall, Dump, DumpKind, ExpectedHeader, Verifier, WriteStamp};
pub use written::{WrittenBlock, WrittenList};
