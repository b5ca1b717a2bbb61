//! The resolved job: plain data that describes what runs.
//!
//! This crate is the base of all others. It reads no text, asks the machine nothing and starts no thread: the planner fills a
//! [`Plan`] of [`JobSpec`]s, and the runner, the engines, the workload and the reports read it. Messages to the user are
//! [`Diagnostic`]s.
//!
//! - [`JobSpec`] is one job; each subject has a module with its part.
//! - [`Plan`] is all jobs of a run.
//! - [`Diagnostic`] has a code from the table in [`codes`], a place ([`Origin`]) and what to do.
#![forbid(unsafe_code)]

mod alignment;
mod buffers;
mod byte_text;
mod choice;
mod compat;
mod counted;
mod cpus;
mod database;
pub mod debug_class;
mod diagnostic;
mod direction;
mod durability;
mod engine;
mod engine_options;
mod events;
mod file_run;
mod files;
mod http;
mod io;
mod layout;
mod life_cycle;
mod log_files;
mod log_kind;
mod logs;
mod measure;
mod memory;
mod network;
mod one_line;
mod origin;
mod plan;
mod priorities;
mod process;
mod random;
mod rates;
mod replay;
mod rounded_sizes;
mod run_host;
mod sessions;
mod spec;
mod sprandom;
mod steadystate;
mod tuning;
mod unopened;
mod verify;
mod work;
mod zbd;

pub use alignment::*;
pub use buffers::*;
pub use byte_text::{exact_bytes, short_bytes};
pub use choice::{Choice, Word};
pub use compat::*;
pub use counted::counted;
pub use cpus::*;
pub use database::*;
pub use diagnostic::{AsFio, Diagnostic, FioWords, Prefix, Severity, codes, reason, strerror};
pub use direction::*;
pub use durability::*;
pub use engine::*;
pub use engine_options::*;
pub use events::*;
pub use file_run::*;
pub use files::*;
pub use http::*;
pub use io::*;
pub use layout::*;
pub use life_cycle::*;
pub use log_files::*;
pub use log_kind::*;
pub use logs::*;
pub use measure::*;
pub use memory::*;
pub use network::*;
pub use one_line::*;
pub use origin::*;
pub use plan::*;
pub use priorities::*;
pub use process::*;
pub use random::*;
pub use rates::*;
pub use replay::*;
pub use rounded_sizes::*;
pub use run_host::*;
pub use sessions::*;
pub use spec::*;
pub use sprandom::*;
pub use steadystate::*;
pub use tuning::*;
pub use unopened::*;
pub use verify::*;
pub use work::*;
pub use zbd::*;
