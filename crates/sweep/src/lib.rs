//! Series of runs: repetitions (`--repeat`) and sweeps (`--sweep`).
//!
//! [`SweepVariable`] reads a swept option with its values, [`points`] combines several, [`Rounds`] orders the runs, and [`Precision`] decides
//! whether there are enough of them. [`SweepTable`] shows the figures of all points and marks the [`knee`]. Nothing here starts a process or
//! prints.
#![forbid(unsafe_code)]

mod knee;
mod order;
mod point;
mod precision;
mod table;
mod variable;

pub use knee::{Knee, knee};
pub use order::{PlannedRun, Rounds};
pub use point::{PointJobs, SweepPoint, TooManyPoints, points};
pub use precision::{CONFIDENCE, MIN_REPETITIONS, Precision, Repetitions, WidestInterval};
pub use table::{PointResults, SweepTable, TableFormat};
pub use variable::{MAX_POINTS, SweepVariable, VariableError};
