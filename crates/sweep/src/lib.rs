//! Series of runs: repetitions (`--repeat`) and sweeps (`--sweep`).
//!
//! [`Variable`] reads a swept option with its values, [`points`] combines several, [`rounds`] puts the runs in order. [`Table`] shows the
//! figures of all points and marks the [`knee`]. Nothing here starts a process or prints.
#![forbid(unsafe_code)]

mod knee;
mod order;
mod point;
mod table;
mod variable;

pub use knee::{Knee, knee};
pub use order::{PlannedRun, rounds};
pub use point::{MOST_POINTS, Point, PointJobs, TooManyPoints, points};
pub use table::{Measured, Table, TableFormat};
pub use variable::{Variable, VariableError};
