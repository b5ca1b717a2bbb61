//! `ferrio compare`: compares the reports of two or more sets of runs figure by figure, and judges whether they differ by more than noise.
//!
//! `ferrio_report` reads the documents of both ferrio and fio; those of sysbench are read as reports of one job (`sysbench`). Nothing here prints: a [`Comparison`] is data, rendered by [`text`],
//! [`markdown`] and [`json`].
#![forbid(unsafe_code)]

mod change;
mod comparison;
mod conditions;
mod directory;
mod error;
mod figures;
mod job_entry;
mod junit;
mod measured_run;
mod read;
mod run_parts;
mod statistics;
mod summary;
mod sysbench;
mod table;

pub use change::{Change, ChangeVerdict, FigureRow, JobRows};
pub use comparison::{ComparedSide, Comparison, compare};
pub use conditions::ConditionDifference;
pub use directory::{Directory, read_log};
pub use error::SideError;
pub use ferrio_report::Unit;
pub use figures::Figure;
pub use junit::junit;
pub use measured_run::MeasuredRun;
pub use read::{Side, read_aggregates, read_run, read_side};
pub use statistics::{MAX_CONFIDENCE, confidence_margin};
pub use summary::{FigureSummary, JobSummary, summarize};
pub use sysbench::read_document;
pub use table::{aligned, json, markdown, text};
