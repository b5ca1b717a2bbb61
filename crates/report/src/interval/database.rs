//! Totals of the jobs of a database model in one interval.

use std::time::Duration;

use ferrio_results::JobResult;
use ferrio_stats::Buckets;
use schemars::JsonSchema;
use serde::Serialize;

use crate::build::database::{DatabaseSettings, transaction_report};
use crate::build::direction::HistogramOptions;
use crate::database::{DatabaseModelRun, DatabaseTotals};
use crate::model::TransactionReport;

/// Totals of all jobs of a database model in one interval.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(super) struct DatabaseLine {
    /// The figures of the model restarted from zero in the interval: earlier ones are not part of the final report.
    restarted: bool,
    /// True if all sessions answered. Otherwise transactions are those visible from outside, and everything else follows with the next
    /// fresh line.
    fresh: bool,
    /// Time covered by the figures, in ms: the longest of a session.
    #[schemars(range(min = 0))]
    length_ms: f64,
    /// Transactions and I/Os. Rates are relative to `length_ms`.
    #[serde(flatten)]
    figures: TransactionReport,
}

/// The figures of a model at its last line.
#[derive(Clone, Debug, Default)]
pub(super) struct ReportedDatabase {
    /// True unless these are figures of a ramp.
    is_measured: bool,
    totals: DatabaseTotals,
}

impl ReportedDatabase {
    /// The figures since the last line. Stores the current figures for the next line.
    ///
    /// The figures are those of the ramp until one of the sessions has left its ramp, and afterwards those of all jobs that have left
    /// theirs.
    pub(super) fn line(&mut self, load: &DatabaseModelRun<'_>) -> DatabaseLine {
        let has_left = |job: &JobResult| job.events.is_some() && !job.in_ramp;
        let is_measured = load.sessions().any(|job| has_left(job.result));
        let totals = load.totals(|job| !is_measured || !job.in_ramp);
        let is_same_part = is_measured == self.is_measured || self.totals.session_time == Duration::ZERO;
        let continued = is_same_part.then(|| totals.since(&self.totals)).flatten();
        let restarted = continued.is_none();
        let new = continued.unwrap_or_else(|| totals.clone());
        let histograms = HistogramOptions { buckets: Buckets::Hdr, bins: false, requested: &[] };
        *self = ReportedDatabase { is_measured, totals };
        DatabaseLine {
            restarted,
            fresh: !load.sessions().any(|job| job.result.stale),
            length_ms: new.session_time.as_nanos() as f64 / 1e6,
            figures: transaction_report(
                &DatabaseSettings::of(load),
                &new,
                Some(new.session_time),
                histograms,
            ),
        }
    }
}

#[cfg(test)]
mod tests;
