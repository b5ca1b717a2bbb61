//! The report of one host of a run on many: what its agent sends, and what the coordinator makes of it.
//!
//! It carries the records of the entries, with whole histograms, instead of the entries: the coordinator makes these, and those of all
//! hosts together, with the code that makes them on one host. So nothing is lost on the way, in no format.

use ferrio_job::{Plan, ReportedOptions};
use ferrio_results::RunResult;
use ferrio_stats::Buckets;
use serde::{Deserialize, Serialize};

use crate::build::HistogramOptions;
use crate::build::database::{DatabaseRecord, database_records, database_report};
use crate::build::entry::{RunTimes, job_report, option_pairs};
use crate::build::ferrio::{EntryDetails, ferrio_report};
use crate::build::record::{EntryRecord, entry_records};
use crate::build::run_times;
use crate::json::to_one_line;
use crate::model::{DiskReport, FerrioReport, GroupReport, JobReport, Pairs, RunReport};
use crate::report_options::ReportOptions;

/// The report of one host, with everything that merging takes.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct HostReport {
    /// The report without what is made from the rest.
    run: RunReport,
    /// Its own object, also if the report has none.
    pub(crate) ferrio: FerrioReport,
    has_own_object: bool,
    /// Apart from the report, because options may have one name several times.
    global_options: ReportedOptions,
    pub(crate) groups: Vec<GroupReport>,
    pub(crate) entries: Vec<EntryRecord<'static>>,
    pub(crate) databases: Vec<DatabaseRecord>,
    pub(crate) times: RunTimes,
    pub(crate) histograms: HistogramSettings,
}

/// The histogram data that the latencies of a report include.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct HistogramSettings {
    buckets: Buckets,
    bins: bool,
    requested: Vec<f64>,
}

impl HostReport {
    /// What is sent of a run with this `report`.
    #[must_use]
    pub fn new(plan: &Plan, result: &RunResult, options: &ReportOptions, report: &RunReport) -> Self {
        let entries = entry_records(plan, result);
        let histograms = HistogramOptions::of(options);
        let mut ferrio = report
            .ferrio
            .clone()
            .unwrap_or_else(|| ferrio_report(plan, result, options, &report.jobs, &entries, histograms));
        ferrio.databases.clear();
        EntryDetails::new(&[], &[]).put_into(&mut ferrio);
        HostReport {
            run: RunReport {
                version: report.version.clone(),
                timestamp: report.timestamp,
                timestamp_ms: report.timestamp_ms,
                time: report.time.clone(),
                global_options: Pairs::default(),
                jobs: Vec::new(),
                disk_util: report.disk_util.clone(),
                cpu_idleness: report.cpu_idleness.clone(),
                ferrio: None,
                groups: Vec::new(),
            },
            ferrio,
            has_own_object: report.ferrio.is_some(),
            global_options: plan.globals.clone(),
            groups: report.groups.clone(),
            entries: entries.into_iter().map(EntryRecord::into_owned).collect(),
            databases: database_records(plan, result),
            times: run_times(plan, result),
            histograms: HistogramSettings {
                buckets: histograms.buckets,
                bins: histograms.bins,
                requested: histograms.requested.to_vec(),
            },
        }
    }

    pub(crate) const fn global_options(&self) -> &ReportedOptions {
        &self.global_options
    }

    pub(crate) fn disks(&self) -> &[DiskReport] {
        &self.run.disk_util
    }

    /// The text in which it crosses: JSON on one line.
    ///
    /// # Errors
    ///
    /// A key is no text, which none is.
    pub fn to_text(&self) -> Result<String, serde_json::Error> {
        to_one_line(self)
    }

    /// What a host has sent.
    ///
    /// # Errors
    ///
    /// The text is no report of a host.
    pub fn of_text(text: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(text)
    }

    /// The report of the host, as it would have written it.
    #[must_use]
    pub fn report(&self) -> RunReport {
        let jobs = self.jobs();
        let ferrio = self.has_own_object.then(|| {
            let mut ferrio = self.ferrio.clone();
            EntryDetails::new(&jobs, &self.entries).put_into(&mut ferrio);
            let databases = self.databases.iter();
            ferrio.databases =
                databases.map(|record| database_report(record, self.histograms.options())).collect();
            ferrio
        });
        RunReport {
            global_options: option_pairs(&self.global_options),
            jobs,
            ferrio,
            groups: self.groups.clone(),
            ..self.run.clone()
        }
    }

    pub(crate) fn jobs(&self) -> Vec<JobReport> {
        let histograms = self.histograms.options();
        let entries = self.entries.iter();
        entries.map(|entry| job_report(entry, &self.groups, self.times, histograms)).collect()
    }
}

impl HistogramSettings {
    pub(crate) fn options(&self) -> HistogramOptions<'_> {
        HistogramOptions { buckets: self.buckets, bins: self.bins, requested: &self.requested }
    }
}

#[cfg(test)]
mod tests;
