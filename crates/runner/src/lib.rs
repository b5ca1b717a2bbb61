//! Runs a plan: lays files out, starts groups one after the other, drives one worker thread per job, watches signals.
//!
//! It prints nothing: [`Event`]s report what happens, the [`RunResult`] what was measured.
//!
//! - The main thread: `schedule`, with `signals`, `monitor` (progress, samples, steady states), `totals` (bandwidth of all jobs),
//!   `trigger` and `schedule::interim` (reports of a run that goes on). `control`, `context` and `message` are what it shares with
//!   workers.
//! - A worker: `worker` is its life, from `placement` (CPUs, priorities) and `open` (files) to the end; `io_loop` does its I/O, with
//!   `timing` (ramp, run time) and `waiting`.
//! - Present only in jobs that ask for it: `verification`, `iolog` (`write_iolog`), `rate_schedule`, `block_states`
//!   (`block_error_percentiles`), `logs`, `ramp` (`ramp_size`), `serialized` and `overlap` (`serialize_overlap`), `flow`.
//! - Around the jobs: `layout` of files, `disk` statistics, `idle` CPUs, `exec_commands` (`exec_prerun`, `exec_postrun`) and `shell`.
#![forbid(unsafe_code)]

pub mod idle;
pub mod logs;
pub mod result;
pub mod trigger;

mod block_states;
mod commands;
mod context;
mod control;
mod disk;
mod failure;
mod flow;
mod io_loop;
mod iolog;
mod layout;
mod monitor;
mod open;
mod overlap;
mod placement;
mod rate_schedule;
mod registry;
mod schedule;
mod signals;
mod steady;
mod timing;
mod totals;
mod verification;
mod waiting;
mod worker;
mod wrapped;

pub use failure::{JobError, tolerated_error};
pub use idle::{Idleness, UnitWork};
pub use placement::run_on;
pub use result::{
    DiskUsage, Event, JobProgress, JobResult, JobState, Progress, RunResult, SteadyCheck, SteadyResult,
};
pub use schedule::{RunOptions, run};
pub use signals::hold_report_signal;
pub use trigger::Trigger;
