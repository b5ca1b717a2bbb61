//! Series of runs: repetitions (`--repeat`) and sweeps (`--sweep`).
//!
//! [`Variable`] reads a swept option with its values, [`points`] combines several, [`Rounds`] puts the runs in order, and
//! [`Precision`] says whether they are enough. [`Table`] shows the figures of all points and marks the [`knee`]. Nothing here starts a
//! process or prints.
#![forbid(unsafe_code)]

mod knee;
mod order;
mod point;
mod precision;
mod table;
mod variable;

pub use knee::{Knee, knee};
pub use order::{PlannedRun, Rounds};
pub use point::{Point, PointJobs, TooManyPoints, points};
pub use precision::{CONFIDENCE, MIN_REPETITIONS, Precision, Repetitions, WidestInterval};
pub use table::{Measured, Table, TableFormat};
pub use variable::{MAX_POINTS, Variable, VariableError};
