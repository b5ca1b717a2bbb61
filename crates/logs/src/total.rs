//! The log of the bandwidth of all jobs together (`--bandwidth-log`).

use ferrio_job::{Diagnostic, Direction};

use crate::LogOutlet;
use crate::file::LogFile;
use crate::record::{Columns, LogRow};
use crate::rows::Rows;
use crate::sample::RateSample;

/// The files of `--bandwidth-log=PREFIX`: `PREFIX-read_bw.log` and those of the other directions.
#[must_use]
pub fn bandwidth_log_names(prefix: &str) -> [String; 3] {
    Direction::ALL.map(|direction| format!("{prefix}-{}_bw.log", direction.name()))
}

/// The bandwidth of all jobs together (`--bandwidth-log`): files of reads, writes and trims.
#[derive(Debug)]
pub(crate) struct TotalLogs([LogFile; 3]);

impl TotalLogs {
    /// Creates or empties the files, or begins to send them to the outlet.
    pub(crate) fn create(prefix: &str, outlet: Option<&LogOutlet>) -> Self {
        TotalLogs(bandwidth_log_names(prefix).map(|name| match outlet {
            Some(outlet) => LogFile::sent(name, outlet.clone(), None),
            None => LogFile::create(name, true),
        }))
    }

    /// A row in each file, zeros included.
    pub(crate) fn add(&mut self, sample: &RateSample, rows: &mut Rows) {
        for ((direction, &value), file) in (0..).zip(&sample.per_second).zip(&mut self.0) {
            rows.begin(Columns::default(), 0);
            rows.push(&LogRow { time_ms: sample.time_ms, value, direction, ..LogRow::default() });
            file.append(rows.text());
        }
    }

    /// Errors since the last call.
    pub(crate) fn take_problems(&mut self) -> Vec<Diagnostic> {
        self.0.iter_mut().filter_map(LogFile::take_problem).collect()
    }
}
