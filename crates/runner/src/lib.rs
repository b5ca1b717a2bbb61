//! Runs a plan: lays files out, starts groups one after the other, drives one worker thread per job, watches signals.
//!
//! It prints nothing: events ([`ferrio_results::RunEvent`]) report what happens, [`ferrio_results::RunResult`] what was measured.
//!
//! - The main thread: `schedule` starts the jobs in waves; `schedule::state` is what it knows of them,
//!   `schedule::set_up` lays files out first, `schedule::job_end` ends jobs. `monitor` takes samples,
//!   `steadystate` ends jobs with a steady state, `totals` adds up the bandwidth of all jobs, `signals` and `trigger` end the run.
//!   `schedule::due_reports` decides when a report of the run so far is due, `schedule::interim_reports` collects its figures.
//! - Between main and workers: `control` (requests, states, live counters), `context` (what a worker is given, and its messages),
//!   `logs` (I/Os on their way to the log writer), `failure`, `worker_limits` (under a limit of address space).
//! - A worker: `registry` picks its engine; `worker` is its life, from `placement` (user, CPUs, priorities) and `open` (files) to the end;
//!   `io_loop` does its I/O, with `timing` (ramps, run time) and `waiting`.
//! - Present only in jobs that ask for it: `verification` and `verify_state`, `iolog` (`write_iolog`), `rate_schedule`, `block_states`
//!   (`block_error_percentiles`), `flow`, `events` (what several
//!   jobs do together: the tests of sysbench), `overlap` (`serialize_overlap`), `engine_wrapper` (that and `--debug`), `cgroups` and
//!   `io_scheduler`.
//! - Around the jobs: `layout` of files, `disk` statistics, `idle` CPUs, `commands` (`exec_prerun`, `exec_postrun`, the shell).
#![forbid(unsafe_code)]

pub mod idle;
mod logs;
pub mod trigger;

mod block_states;
mod blocked_threads;
mod cgroups;
mod checkers;
mod close;
mod commands;
mod context;
mod control;
pub mod database;
mod disk;
mod engine_forwarding;
mod engine_wrapper;
mod events;
mod failure;
mod file_locks;
mod flow;
mod gate;
mod io_loop;
mod io_scheduler;
mod iolog;
mod layout;
mod log_reader;
mod memory_limit;
mod monitor;
mod open;
mod output_watch;
mod overlap;
mod placement;
mod pre_read;
mod rate_samplers;
mod rate_schedule;
mod registry;
mod schedule;
mod signals;
mod start_line;
mod steadystate;
mod synced_writes;
mod timing;
mod totals;
mod verification;
mod verify_dump;
mod verify_state;
mod waiting;
mod worker;
mod worker_job;
mod worker_limits;
mod write_progress;
mod zones;

pub use ferrio_kernel::exit_at_once;
pub use ferrio_kernel::stdout;

pub use output_watch::OutputWatch;
pub use schedule::{RunOptions, run};
pub use signals::{hold_signals, prepare_signals};
pub use start_line::{StartLine, phases};
pub use trigger::{Trigger, TriggerSwitch};
pub use worker_limits::limit_heaps;
