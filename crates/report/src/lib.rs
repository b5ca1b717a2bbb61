//! What users see of a run: reports in all formats, log files, the lines at the start, the live line, messages about errors.
//!
//! Functions return text and print nothing. A report is built once as a tree ([`RunReport`]) and every format is written from it.
//!
//! - The tree: `model` is its shape, `build` works it out of plan and result, `warnings` finds figures that may mislead, `setting` is
//!   what was known of the machine before the run.
//! - Its formats: `format` is their table; `text`, `json`, `terse`, `openmetrics`; `num` and `ctime` for numbers and times as fio prints them.
//! - While jobs run: `live` with `eta`, `interval` (`--interval-report`), `logs` (written in a thread of their own).
//! - Lines beside the report: `start`, `errors`, `debug`.
#![forbid(unsafe_code)]

mod build;
mod ctime;
mod debug;
mod errors;
mod eta;
mod format;
mod interval;
mod json;
mod live;
pub mod logs;
pub mod model;
mod names;
pub mod num;
mod openmetrics;
mod read;
mod report_options;
mod schema;
mod setting;
mod start;
mod terse;
mod text;
mod warnings;

pub use debug::{DEBUG_CLASSES, DebugClass, DebugOptions, debug_words, start_debug};
pub use errors::{error_message, job_failed, terminating};
pub use format::{Format, Formats};
pub use interval::IntervalReport;
pub use live::LiveLine;
pub use logs::{InflateError, LogWriter, inflate_log};
pub use model::RunReport;
pub use read::{ReadError, read, read_all};
pub use report_options::ReportOptions;
pub use schema::{interval_report_schema, report_schema};
pub use setting::RunSetting;
pub use start::{laying_out_line, start_lines, starting_line};
pub use terse::{NoTerseVersion, TerseVersion};
pub use text::idle_calibration;
pub use warnings::codes as warning_codes;
