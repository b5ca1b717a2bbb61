//! Runs a plan: lays files out, starts groups one after the other, drives one worker thread per job, watches signals.
//!
//! It prints nothing: what happens is told as [`Event`]s, what was measured is the [`RunResult`].

pub mod event;
pub mod result;

pub use event::{Event, JobProgress, JobState, Progress};
pub use result::{DiskUsage, JobError, JobResult, RunResult};
