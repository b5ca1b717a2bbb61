//! Series and reports from the logs of a run, for the page and for comparisons.

mod report;
mod series;

use std::path::Path;

use ferrio_logs::{LogContent, LogName};

use crate::model::{RunReport, Series};

/// Figures over time from the logs of a run.
#[derive(Clone, Debug, Default)]
pub struct SeriesFromLogs {
    /// The series of each job.
    pub series: Vec<Series>,
    /// True if figures are means of windows (`log_avg_msec`).
    pub has_windows: bool,
    /// Number of logs.
    pub logs: usize,
}

impl SeriesFromLogs {
    /// Brings the logs of one run together. `report` is the report of the run, which has the names and starting times of jobs.
    #[must_use]
    pub fn of(logs: &[LogContent], report: Option<&RunReport>) -> Self {
        SeriesFromLogs {
            series: series::series(logs, report),
            has_windows: logs.iter().any(LogContent::has_windows),
            logs: logs.len(),
        }
    }

    /// A report with what can be known from logs alone, for logs without the report of their run.
    #[must_use]
    pub fn report(&self, logs: &[LogContent]) -> RunReport {
        report::report(self, logs)
    }
}

/// True if a job of this run writes a log with this name.
#[must_use]
pub fn writes_log(report: &RunReport, name: &LogName) -> bool {
    report.jobs.iter().any(|job| {
        let options = job.job_options.0.iter().chain(&report.global_options.0);
        let mut values =
            options.filter(|(given, _)| given == name.kind.option()).map(|(_, value)| value.as_str());
        let prefix = |value| Path::new(value).file_name().and_then(|name| name.to_str());
        // Without a value, logs are called after their job, and fio does not list the option.
        values.next().and_then(prefix).unwrap_or(&job.jobname) == name.prefix
    })
}
