//! `ferrio compare`: reports of two or more sets of runs, figure by figure, and whether they differ by more than noise.
//!
//! Documents are read by `ferrio_report`, those of ferrio and of fio alike. Nothing here prints: a [`Comparison`] is data, from which
//! [`text`], [`markdown`] and [`json`] make an answer.
#![forbid(unsafe_code)]

mod comparison;
mod conditions;
mod directory;
mod error;
mod figures;
mod junit;
mod pieces;
mod read;
mod statistics;
mod summary;
mod table;

pub use comparison::{Change, Compared, Comparison, FigureRow, JobRows, Options, Verdict, compare};
pub use conditions::Difference;
pub use directory::{Directory, read_log};
pub use error::ReadError;
pub use ferrio_report::Unit;
pub use figures::Figure;
pub use junit::junit;
pub use read::{Run, Side, read_run, read_side};
pub use statistics::{Interval, MAX_CONFIDENCE, confidence_margin};
pub use summary::{JobSummary, Summary, summarize};
pub use table::{json, markdown, text};
