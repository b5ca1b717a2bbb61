//! What I/O a job does next: direction, file, offset, length, content of the buffers and pace.
//!
//! Everything here is arithmetic. There are no file descriptors, and the only clock is the one handed in, so that a job with
//! a given seed makes the same choices on every machine, and the same ones as fio.
//!
//! - [`Workload`] is the sequence of I/Os. `path` decides how a job makes its choices: `straight`, `uniform`, `course` and `scatter` are
//!   short ways for jobs over one file, `run` plans the steps of the last two a batch ahead, `steering` chooses their directions and
//!   lengths, `general` is the way for all; `path::tests`, `model` and `choices_model` test that they agree.
//! - The choices: `general::rotation` (file), `mix` (direction), `sequential`, `offsets`, `skewed`, `zoned`, `walk` with `lfsr` and `permute`
//!   (offset, among `candidates`, noted in `map`), `zones`, `length`, `sync`.
//! - How much and when: `budget`, `pacing` with `arrivals`, `floor`, `think`, `delay`, `target`. With which priority: `priority`.
//! - Bytes: `content` of buffers and `blocks` that are verified.
#![forbid(unsafe_code)]

mod arrivals;
mod blocks;
mod budget;
mod candidates;
mod content;
mod course;
mod delay;
mod floor;
mod general;
mod length;
mod lfsr;
mod map;
mod memory;
mod mix;
mod name_hash;
mod offsets;
pub mod pacing;
mod path;
mod permute;
mod priority;
mod run;
mod scatter;
mod seeds;
mod sequential;
mod skewed;
mod steering;
mod step;
mod straight;
mod sync;
mod target;
mod think;
mod uniform;
mod walk;
mod workload;
mod zoned;
mod zones;

use ferrio_random as random;

pub use blocks::{BlockBody, BlockSeeds};
pub use budget::Budget;
pub use content::{Content, LayoutContent};
pub use delay::startdelay;
pub use floor::{RateFloor, TooSlow};
pub use memory::memory_is_there;
pub use priority::PriorityChoice;
pub use seeds::{SEEDS, thread_seeds};
pub use step::{Io, Region, Step, SyncKind, WorkloadError};
pub use target::{DepthSearch, Verdict};
pub use think::Thinker;
pub use workload::Workload;

#[cfg(test)]
mod choices_conformance;
#[cfg(test)]
mod choices_model;
#[cfg(test)]
mod conformance;
#[cfg(test)]
mod model;
#[cfg(test)]
mod testing;
