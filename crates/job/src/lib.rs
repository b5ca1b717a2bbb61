//! The resolved job: plain data that describes what runs.
//!
//! This crate is at the bottom of the house. It reads no text, asks the machine nothing and starts no thread: the planner fills a
//! [`Plan`] of [`JobSpec`]s, and the runner, the engines, the workload and the reports read it. What any of them has to say to the
//! user is a [`Diagnostic`].
//!
//! - [`JobSpec`] is one job; its parts stand in one module per subject, and `defaults` has the values that hold when nothing is said.
//! - [`Plan`] is all jobs of a run.
//! - [`Diagnostic`] has a code from the table in [`codes`], a place ([`Origin`]) and what to do.
#![forbid(unsafe_code)]

mod blocks;
mod choices;
mod clock;
mod contents;
mod defaults;
mod diagnostic;
mod direction;
mod durability;
mod engine;
mod files;
mod iolog;
mod life_cycle;
mod limits;
mod logs;
mod measure;
mod memory;
mod memory_policy;
mod origin;
mod pace;
mod pattern;
mod plan;
mod priorities;
mod random;
mod restraint;
mod spec;
mod tolerance;
mod verify;
mod verify_method;

pub use blocks::*;
pub use choices::*;
pub use clock::*;
pub use contents::*;
pub use diagnostic::{Diagnostic, Severity, codes};
pub use direction::*;
pub use durability::*;
pub use engine::*;
pub use files::*;
pub use iolog::*;
pub use life_cycle::*;
pub use limits::*;
pub use logs::*;
pub use measure::*;
pub use memory::*;
pub use memory_policy::*;
pub use origin::*;
pub use pace::*;
pub use pattern::*;
pub use plan::*;
pub use priorities::*;
pub use random::*;
pub use restraint::*;
pub use spec::*;
pub use tolerance::*;
pub use verify::*;
pub use verify_method::*;
