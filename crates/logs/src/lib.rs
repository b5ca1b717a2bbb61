//! Logs of jobs (`write_bw_log`, `write_lat_log`, `write_iops_log`, `write_hist_log`) and of a whole run (`--bandwidth-log`), from the queue
//! to the file and back.
//!
//! - To the file: a run sends `batch`es of `sample`s through the `queue` to the `writer`, a thread of its own. `sums` adds up windows and
//!   histograms where the I/Os complete, so that only rows are sent; the writer does so itself for jobs that also log single I/Os.
//! - A kind of log is a file: `latency`, `rate`, `histogram`, `total`.
//! - The files of the `job`s, and those of several jobs together (`summed`): `rows` of columns (`record`) in a `file`, which may be
//!   `compressed`.
//! - Back from the file: `name` takes the name of a log apart, `reader` reads a log with `row_reader`.
#![forbid(unsafe_code)]

mod batch;
mod compressed;
mod file;
mod histogram;
mod job;
mod latency;
mod name;
mod queue;
mod rate;
mod reader;
mod record;
mod row_reader;
mod rows;
mod sample;
mod summed;
mod sums;
mod total;
mod writer;

pub use batch::LogBatch;
pub use compressed::{InflateError, inflate_log};
pub use file::LogOutlet;
pub use histogram::Histogram;
pub use latency::{Window, WindowSummary};
pub use name::LogName;
pub use queue::{IOS_PER_BATCH, LogBacklog, LogReceiver, LogSender, log_queue};
pub use reader::{
    DirectionContent, EPOCH_MS, LogContent, LogReadError, MIN_SLICE_MS, SingleIos, TimeSlice, WindowRow,
    add_cells,
};
pub use sample::{IoSample, RateSample};
pub use sums::{IoAtEnd, LogSums, NextRows};
pub use total::bandwidth_log_names;
pub use writer::LogWriter;
