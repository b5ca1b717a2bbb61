//! Runs a plan: lays files out, starts groups one after the other, drives one worker thread per job, watches signals.
//!
//! It prints nothing: what happens is told as [`Event`]s, what was measured is the [`RunResult`].
//!
//! - Main's thread: `schedule` with `signals`, `monitor` (progress, samples, steady states), `totals` (bandwidth of all jobs), `trigger`
//!   and `schedule::interim` (reports of a run that goes on); `control` is what it shares with a worker.
//! - A worker: `worker` is its life from `place` and `open` to the end, `issue` the loop that does its I/O, one file per subject.
//! - Present only for jobs that ask: `verification`, `recording`, `wear` (trimmed blocks), `logs`, `ramp`, `serialized`, `flow`.
//! - Around the jobs: `layout` of files, `disk` statistics, `idle` CPUs, `hooks` and `shell` commands.
#![forbid(unsafe_code)]

pub mod event;
pub mod idle;
pub mod logs;
pub mod result;
pub mod trigger;

mod context;
mod control;
mod disk;
mod failure;
mod flow;
mod hooks;
mod issue;
mod layout;
mod message;
mod monitor;
mod open;
mod overlap;
mod place;
mod ramp;
mod recording;
mod registry;
mod schedule;
mod serialized;
mod shell;
mod signals;
mod steady;
mod timing;
mod totals;
mod traced;
mod verification;
mod waiting;
mod wear;
mod worker;

pub use event::{Event, JobProgress, JobState, Progress};
pub use idle::{Idleness, UnitWork};
pub use issue::tolerated_error;
pub use place::run_on;
pub use result::{DiskUsage, JobError, JobResult, RunResult, SteadyCheck, SteadyResult};
pub use schedule::{RunOptions, run};
pub use signals::hold_report_signal;
pub use trigger::Trigger;
