//! Logs of jobs, read back for the page: those of `write_bw_log`, `write_iops_log`, `write_lat_log` and `write_hist_log`, of ferrio and fio.
//!
//! A log is read in one pass. What it says about single I/Os is summed up on the way, in pieces of time of which there is a bounded number;
//! rows that stand for a window of time (`log_avg_msec`) and rows of histograms are kept.

mod file;
mod name;
mod report;
mod row;
mod series;

pub use file::{LoggedError, LoggedFile};
pub use name::LogName;

use crate::model::{RunReport, Series};

/// What the logs of a run say.
#[derive(Clone, Debug, Default)]
pub struct LoggedRun {
    /// What each job did over time.
    pub series: Vec<Series>,
    /// True if figures are means of windows (`log_avg_msec`).
    pub has_windows: bool,
    /// Number of logs.
    pub logs: usize,
}

impl LoggedRun {
    /// Brings the logs of one run together. `report` is the report of the run, which has the names and starting times of jobs.
    #[must_use]
    pub fn of(logs: &[LoggedFile], report: Option<&RunReport>) -> Self {
        LoggedRun {
            series: series::series(logs, report),
            has_windows: logs.iter().any(LoggedFile::has_windows),
            logs: logs.len(),
        }
    }

    /// A report with what can be known from logs alone, for logs without the report of their run.
    #[must_use]
    pub fn report(&self, logs: &[LoggedFile]) -> RunReport {
        report::report(self, logs)
    }
}
