//! What I/O a job does next: direction, file, offset, length, content of the buffers and pace.
//!
//! Everything here is arithmetic. There are no file descriptors, and the only clock is the one handed in, so that a job with
//! a given seed makes the same choices on every machine, and the same ones as fio.
//!
//! - [`Workload`] is the sequence of I/Os. `path` decides how a job makes its choices: `general` can do every job; `sequential_path`
//!   (sequential), `random_path` (random) and `varied_random_path` (random with several directions or lengths, which `direction_and_length` chooses) are short
//!   ways for jobs over one file.
//! - Which file: `general::file_service`. Which direction: `rwmix`. Which length: `length`. Which sync: `sync`.
//! - Which offset: `sequential`, or at random: `random_offsets` within the bounds of `offset_space`, unevenly by `skewed` and
//!   `zoned_distribution`, each block once by `map` or by `visit_order` (`lfsr`, `permute`); in zones by `zonemode`.
//! - How much: `budget`. When: `pacing`, `poisson`, `thinktime`, `startdelay`, `min_rate`, `latency_target`. With which priority:
//!   `priority`.
//! - Which bytes: `content` of buffers, and `verify_blocks`.
#![forbid(unsafe_code)]

mod budget;
mod content;
mod direction_and_length;
mod general;
mod latency_target;
mod length;
mod lfsr;
mod map;
mod map_memory;
mod min_rate;
mod name_hash;
mod offset_space;
pub mod pacing;
mod path;
mod permute;
mod poisson;
mod priority;
mod random_offsets;
mod random_path;
mod rwmix;
mod seeds;
mod sequential;
mod sequential_path;
mod skewed;
mod startdelay;
mod step;
mod sync;
mod thinktime;
mod varied_random_path;
mod verify_blocks;
mod visit_order;
mod workload;
mod zoned_distribution;
mod zonemode;

use ferrio_random as random;

pub use budget::Budget;
pub use content::{Content, LayoutContent};
pub use latency_target::{DepthSearch, Verdict};
pub use map_memory::memory_is_there;
pub use min_rate::{MinRate, TooSlow};
pub use priority::PriorityChoice;
pub use seeds::{SEEDS, thread_seeds};
pub use startdelay::startdelay;
pub use step::{Io, Region, Step, SyncKind, WorkloadError};
pub use thinktime::ThinkTime;
pub use verify_blocks::{BlockBody, BlockSeeds};
pub use workload::Workload;

#[cfg(test)]
mod tests;
