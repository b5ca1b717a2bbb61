//! The resolved job: plain data that describes what runs.
//!
//! This crate is the base of all others. It reads no text, asks the machine nothing and starts no thread: the planner fills a
//! [`Plan`] of [`JobSpec`]s, and the runner, the engines, the workload and the reports read it. What any of them has to say to the
//! user is a [`Diagnostic`].
//!
//! - [`JobSpec`] is one job; each subject has a module with its part, and `defaults` has the values of a job without options.
//! - [`Plan`] is all jobs of a run.
//! - [`Diagnostic`] has a code from the table in [`codes`], a place ([`Origin`]) and what to do.
#![forbid(unsafe_code)]

mod block_sizes;
mod buffers;
mod choice;
mod clock;
mod defaults;
mod diagnostic;
mod direction;
mod durability;
mod engine;
mod errno;
mod files;
mod flow;
mod iolog;
mod latency_limits;
mod layout;
mod life_cycle;
mod limits;
mod logs;
mod measure;
mod memory;
mod origin;
mod pattern;
mod plan;
mod priorities;
mod process;
mod queue_depth;
mod random;
mod rates;
mod spec;
mod steadystate;
#[cfg(feature = "testing")]
pub mod testing;
mod thinktime;
mod tolerance;
mod verify;
mod zones;

pub use block_sizes::*;
pub use buffers::*;
pub use choice::{Choice, Word};
pub use clock::*;
pub use diagnostic::{Diagnostic, Prefix, Severity, codes};
pub use direction::*;
pub use durability::*;
pub use engine::*;
pub use errno::{reason, strerror};
pub use files::*;
pub use flow::*;
pub use iolog::*;
pub use latency_limits::*;
pub use layout::*;
pub use life_cycle::*;
pub use limits::*;
pub use logs::*;
pub use measure::*;
pub use memory::*;
pub use origin::*;
pub use pattern::*;
pub use plan::*;
pub use priorities::*;
pub use process::*;
pub use queue_depth::*;
pub use random::*;
pub use rates::*;
pub use spec::*;
pub use steadystate::*;
pub use thinktime::*;
pub use tolerance::*;
pub use verify::*;
pub use zones::*;
