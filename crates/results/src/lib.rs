//! The results and the progress of a run as plain data: what `runner` measures, and what reports, live displays and thresholds read.
//!
//! Nothing here runs a job or formats a figure.
#![forbid(unsafe_code)]

mod damage;
mod error;
mod event_figures;
mod idleness;
mod job;
mod progress;
mod run;
mod run_event;

pub use ferrio_verify::{Damage, DamageKind, DamagedPart, FoundWrite, InvalidBlock, WrongByte};

pub use damage::{DamageTally, DamagedBlock};
pub use error::{EventFailure, JobError, tolerated_error};
pub use event_figures::{DatabaseFigures, DatabaseIo, EventFigures};
pub use idleness::{Idleness, UnitWork};
pub use job::{JobResult, SteadyCheck, SteadyResult};
pub use progress::{JobProgress, JobState, Progress};
pub use run::{DiskUsage, RunResult};
pub use run_event::RunEvent;
