//! Chooses the I/O of a job: direction, file, offset, length, contents of the buffers and timing.
//!
//! Everything here is arithmetic. There are no file descriptors, and the only clock is an argument, so that a job with a given seed makes
//! the same choices on every machine, and the same ones as fio.
//!
//! - [`Workload`] is the sequence of I/Os. `code_path` decides how a job makes its choices: `general` can do every job, `fast_paths` are
//!   faster ways for jobs over one file; `replay` takes them from a log, which `step_channel` brings piece by piece if it is long.
//! - Which events several jobs share: `events`, and those of sysbench's test `fileio`: `fileio`; the I/O of a database: `database`.
//! - Which file: `general::file_service`. Which direction: `direction_and_length`, a mix by `rwmix`. Which length: `length`. Which sync:
//!   `sync`.
//! - Which offset: `sequential`, or at random: `random_offsets` (fast paths) and `general::random_choice` within the bounds of
//!   `offset_space`, unevenly by `skewed` and `zoned_distribution`, each block once by `random_map`, `lfsr` or `permute`, an SSD's
//!   physical capacity by `sprandom`; in zones by
//!   `general::file_state`.
//! - How much: `budget`. When: `rate`, `pauses`, `min_rate`, `latency_target`. With which priority: `priority`.
//! - Which bytes: `content` of buffers, and `verify_blocks`.
#![forbid(unsafe_code)]

mod budget;
mod code_path;
mod content;
mod database;
mod direction_and_length;
mod events;
mod fast_paths;
mod fileio;
mod general;
mod latency_target;
mod length;
mod lfsr;
mod lock;
mod min_rate;
mod name_hash;
mod offset_draws;
mod offset_space;
mod pass_stream;
mod pauses;
mod permute;
mod priority;
mod random_map;
mod random_offsets;
pub mod rate;
mod replay;
mod rwmix;
mod scramble;
mod seeds;
mod sequential;
mod skewed;
mod sprandom;
mod step;
mod step_channel;
mod sync;
mod verify_blocks;
mod visit_order;
mod workload;
mod zoned_distribution;

use ferrio_random as random;

pub use budget::Budget;
pub use content::{BufferContents, LayoutContent};
pub use database::{BackgroundWork, CommitTurn, DatabaseCounts, GroupCommit, SharedDatabase};
pub use events::{Admission, SharedEvents};
pub use latency_target::{DepthSearch, WindowVerdict};
pub use min_rate::{MinRate, MissedRate};
pub use offset_draws::OffsetDraws;
pub use pauses::{ThinkTime, startdelay};
pub use priority::PriorityChoice;
pub use random_map::FetchWords;
pub use seeds::{SEEDS, offset_generator, thread_seeds};
pub use skewed::SkewedChoice;
pub use sprandom::{PreconditioningOrder, PreconditioningWrite};
pub use step::{Io, Region, Step, SyncKind, WorkloadError};
pub use step_channel::{StepReceiver, StepSender, step_channel};
pub use verify_blocks::{BlockBody, BlockSeeds, TrimMarks};
pub use workload::{Workload, memory_is_there};

#[cfg(test)]
mod tests;
