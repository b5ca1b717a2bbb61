//! A run as it is compared.

use std::path::PathBuf;

use ferrio_report::model::{DirectionReport, RunReport, Series};

/// One repetition of a measurement.
#[derive(Clone, Debug)]
pub struct MeasuredRun {
    /// The file of the report.
    pub path: PathBuf,
    /// The last report of the file, if it has several.
    pub report: RunReport,
    /// Figures over time from the logs, for a report that has none.
    pub logged: Vec<Series>,
    /// The events of a test of sysbench, whose document is read as a report of one job.
    pub events: Option<DirectionReport>,
}

impl MeasuredRun {
    /// The figures of the jobs over time, as far as they are known.
    #[must_use]
    pub fn series(&self) -> &[Series] {
        match &self.report.ferrio {
            Some(ferrio) if !ferrio.series.is_empty() => &ferrio.series,
            _ => &self.logged,
        }
    }
}
