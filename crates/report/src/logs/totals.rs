//! The logs of the bandwidth of all jobs together (`--bandwidth-log`): a file for each direction.

use ferrio_job::{Diagnostic, Direction};
use ferrio_runner::logs::RateSample;

use super::file::LogFile;
use super::rows::{Columns, LogRow, Rows};

/// The files of reads, writes and trims.
#[derive(Debug)]
pub(super) struct TotalLogs([LogFile; 3]);

impl TotalLogs {
    /// Creates or empties `PREFIX-read_bw.log` and its kin.
    pub(super) fn create(prefix: &str) -> Self {
        let name = |direction: Direction| format!("{prefix}-{}_bw.log", direction.name());
        TotalLogs(Direction::ALL.map(|direction| LogFile::create(name(direction), true)))
    }

    /// A row in each file, zeroes included.
    pub(super) fn add(&mut self, sample: &RateSample, rows: &mut Rows) {
        for ((direction, &value), file) in (0..).zip(&sample.per_second).zip(&mut self.0) {
            rows.begin(Columns::default(), 0);
            rows.push(&LogRow { time_ms: sample.time_ms, value, direction, ..LogRow::default() });
            file.append(rows.text());
        }
    }

    /// What went wrong since asked last.
    pub(super) fn take_problems(&mut self) -> Vec<Diagnostic> {
        self.0.iter_mut().filter_map(LogFile::take_problem).collect()
    }
}
