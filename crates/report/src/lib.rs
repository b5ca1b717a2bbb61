//! Everything that users see of a run: reports in all formats, the live line, the interval report, messages about errors.
//!
//! Functions return text and print nothing. A report is built once as a tree ([`RunReport`]), from which every format is written.
//!
//! - The tree: `model` is its shape, `build` makes it from plan and result, `warnings` finds figures that may mislead, `environment` is
//!   the machine as it was before the run; `read` reads documents back, `schema` describes them.
//! - Its formats: `format` is their table; `text`, `json`, `terse`, `openmetrics`, `html`, `benchmarks`, `rows`; `num` has numbers as fio
//!   prints them, `quantity` figures with the unit that fits, and `unique_names` the names of entries where no two may be equal.
//! - Of a run on many hosts: `host_report` is what an agent sends of its run, `hosts` what the coordinator makes of all.
//! - While jobs run: `live` with `eta`, `live_table` (the figures of the live view), `interval` (`--interval-report`), `series` (the same
//!   for the document).
//! - From logs that are read back: `logged`.
//! - `database`: what the jobs of a model of a database did together, for all of these.
//! - `quantity`: figures with units, for tables and messages.
//! - Lines beside the report: `messages`, `debug`. Lists without duplicates: `grouping`.
#![forbid(unsafe_code)]

mod benchmarks;
mod build;
mod conditions;
mod database;
mod debug;
mod environment;
mod eta;
mod format;
mod grouping;
mod host_report;
mod hosts;
mod html;
mod interval;
mod json;
mod live;
mod live_table;
mod logged;
mod messages;
pub mod model;
pub mod num;
mod openmetrics;
mod quantity;
mod read;
mod report_options;
mod rows;
mod schema;
mod series;
mod terse;
mod text;
mod unique_names;
mod warnings;

pub use build::{entry_jobs, entry_names};
pub use debug::{DebugOptions, WriteLine, debug_words, show_traffic, start_debug};
pub use environment::RunEnvironment;
pub use eta::clock_text;
pub use format::{Format, Formats};
pub use grouping::{distinct, grouped};
pub use host_report::HostReport;
pub use hosts::{HostEntryOutcome, HostsReport, ReportedHost};
pub use html::{PageRun, page};
pub use interval::{HostsIntervalReport, IntervalReport};
pub use live::{LiveLine, LiveStatus};
pub use live_table::{
    BAND_STARTS_NS, HostState, HostsRecorder, HostsSample, LiveEntry, LiveFigures, LiveLatency, LiveRecorder,
    LiveSample, LiveTable, Transactions,
};
pub use logged::{SeriesFromLogs, writes_log};
pub use messages::{job_failed, laying_out_line, start_lines, starting_line, terminating};
pub use model::RunReport;
pub use quantity::Unit;
pub use read::{ReadError, read, read_all};
pub use report_options::ReportOptions;
pub use rows::{row_columns, rows};
pub use schema::{hosts_interval_report_schema, interval_report_schema, report_schema, schema_of};
pub use series::{RunSeries, SeriesRecorder};
pub use terse::{TerseLayout, TerseVersion, UnknownTerseVersion, terse_help};
pub use text::idle_calibration;
pub use unique_names::unique_names;
pub use warnings::codes as warning_codes;
