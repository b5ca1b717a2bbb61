//! Data verification: what a block contains when it is written, and how a block that was read is checked.
//!
//! Everything here is arithmetic on byte slices: no files, no clock, no random numbers. The bytes on disk are those of
//! fio, so that each program can check what the other wrote: of fio 3.41 and later (header version `0x81`), or on request of the
//! releases before, whose headers are recognised by jobs that read ([`HeaderLayout`]). `checksummed_block` has the blocks of sysbench.
#![forbid(unsafe_code)]

mod checksummed_block;
mod damage;
mod digest;
mod header;
mod layout;
mod mismatch;
mod pattern;
mod state;
mod state_file;
mod trimmed;
mod verifier;
mod written;

pub use ferrio_job::{HEADER_BYTES, HeaderLayout, VerifyMethod};

pub use checksummed_block::{BlockFault, add_checksum, check_checksum};
pub use damage::{Damage, DamageKind, DamagedPart, DrawnSeeds, Evidence, FoundWrite, WrongByte};
pub use digest::Digest;
pub use header::{Header, MAGIC, VERSION, resolve_interval};
pub use mismatch::{BadDigest, IntervalFailure, Mismatch, Problem};
pub use pattern::{BlockPattern, PatternError};
pub use state::{Coverage, Covered, StateError, Uncovered, VerifyState};
pub use state_file::{StateContent, StateDamage, StateFile};
pub use trimmed::check_trimmed;
pub use verifier::{BlockTooSmall, Dump, DumpKind, Expected, SpecError, Stamp, Verifier, VerifySpec};
pub use written::{SeedReplay, Written, WrittenList};
