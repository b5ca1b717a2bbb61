//! The report as a tree: fio's JSON document field by field, in fio's key order, plus the few figures that only other formats show.
//!
//! Every format is written from this tree, JSON documents are read back into it, and docs/report.schema.json is generated from it: the
//! comments on its fields are the descriptions there. All floats are finite. Latencies are in ns unless a name says otherwise. Fields have
//! defaults, because documents by fio and by other versions lack some.

mod database;
mod direction;
mod ferrio;
mod hosts;
mod job;
mod machine;
mod maps;
mod rules;
mod run;
mod series;
mod thresholds;
mod throttling;
mod verify;

use ferrio_job::Units;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub(crate) use database::DATABASE_PERCENTILES;
pub use database::{
    DatabaseIoReport, DatabaseIoReports, DatabaseReport, EtcdReport, StepReport, StepReports,
    TransactionReport,
};
pub use direction::{DirectionReport, LatencyReport, PriorityReport};
pub use ferrio::*;
pub use hosts::{
    CommonDirectionReport, CommonIntervalReport, HostClockReport, HostDirectionReport, HostEntryReport,
    HostOfRun, PhaseReport,
};
pub use job::*;
pub use machine::{CpuIdleness, DiskReport, SlaveMeans};
pub(crate) use maps::{BATCH_LABELS, BLOCK_LABELS, LATENCY_LABELS, LEVEL_LABELS};
pub use maps::{LabelledShares, Pairs, Percentiles};
pub(crate) use rules::{settings, together};
pub use run::*;
pub use series::{DeviceSeries, DirectionSeries, Series};
pub use thresholds::ThresholdReport;
pub use throttling::{ThrottlingCause, ThrottlingPeriod};
pub use verify::{DamagedBlockReport, VerifyReport};

/// A report of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "Report of a run")]
pub struct RunReport {
    /// Version of fio that this document is compatible with, with the prefix `fio-`.
    #[serde(rename = "fio version", default)]
    #[schemars(regex(pattern = "^fio-"))]
    pub version: String,
    /// Time at which the report was made, in seconds since 1970.
    #[serde(default)]
    #[schemars(range(min = 0))]
    pub timestamp: i64,
    /// Time at which the report was made, in ms since 1970.
    #[serde(default)]
    #[schemars(range(min = 0))]
    pub timestamp_ms: i64,
    /// Local time at which the report was made.
    #[serde(default)]
    #[schemars(regex(
        pattern = "^[A-Z][a-z]{2} [A-Z][a-z]{2} [ 0-9][0-9] [0-9]{2}:[0-9]{2}:[0-9]{2} [0-9]{4,}$"
    ))]
    pub time: String,
    /// Options given for all jobs, with fio's names and the values as written; the value is empty for an option without one. An option
    /// given several times has one value: names and words are joined, other values replace earlier ones. A program called `fio` only joins
    /// file names and repeats other options.
    #[serde(rename = "global options", skip_serializing_if = "Pairs::is_empty")]
    #[serde(default, deserialize_with = "maps::read_options")]
    #[schemars(schema_with = "rules::options")]
    pub global_options: Pairs<String, String>,
    /// One entry per job, or per group of jobs with `group_reporting`.
    #[serde(alias = "client_stats")]
    pub jobs: Vec<JobReport>,
    /// Disks of the jobs' files; the slaves of a stacked device follow it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(min = 1))]
    pub disk_util: Vec<DiskReport>,
    /// Idleness of the CPUs, with `--idle-prof`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_idleness: Option<CpuIdleness>,
    /// Figures that fio does not report, described in docs/json.md; always the last key. Missing in documents by fio, and in those of
    /// format `json` by ferrio called `fio`, unless there are warnings or notes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(required)]
    pub ferrio: Option<FerrioReport>,
    /// Summaries of the groups; not in the document.
    #[serde(skip)]
    pub groups: Vec<GroupReport>,
}

impl RunReport {
    /// The entries, each with its name and the number of earlier entries of that name, which identify it among several runs.
    pub fn numbered_jobs(&self) -> impl Iterator<Item = ((&str, usize), &JobReport)> {
        self.jobs.iter().enumerate().map(|(at, job)| {
            let before = self.jobs[..at].iter().filter(|other| other.jobname == job.jobname).count();
            ((job.jobname.as_str(), before), job)
        })
    }

    /// Labels of the run (`--label`).
    #[must_use]
    pub fn labels(&self) -> &[(String, String)] {
        self.ferrio.as_ref().map_or(&[], |ferrio| &ferrio.labels.0)
    }

    /// Sets labels, replacing those of the same names.
    pub fn set_labels(&mut self, labels: &[(String, String)]) {
        if labels.is_empty() {
            return;
        }
        let of_run = &mut self.ferrio.get_or_insert_default().labels.0;
        of_run.retain(|(name, _)| labels.iter().all(|(other, _)| other != name));
        of_run.extend_from_slice(labels);
    }

    /// Warnings about the figures; none in a document by fio.
    #[must_use]
    pub fn warnings(&self) -> &[Warning] {
        self.ferrio.as_ref().map_or(&[], |ferrio| &ferrio.warnings)
    }
}

/// Summary of one group of jobs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GroupReport {
    /// Group number.
    pub id: u32,
    /// Units of numbers, taken from the group's last entry.
    pub units: Units,
    /// Read, write, trim; `None` for a direction that moved nothing.
    pub directions: [Option<GroupDirection>; 3],
    /// The sum of all directions, for entries that report them as one.
    pub mixed: Option<GroupDirection>,
}

/// One direction of a group, over its report entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GroupDirection {
    /// Bytes moved.
    pub bytes: u64,
    /// All bytes over the longest run time, in bytes per second.
    pub bw: u64,
    /// Rate of the slowest entry, in bytes per second.
    pub bw_min: u64,
    /// Rate of the fastest entry, in bytes per second.
    pub bw_max: u64,
    /// Shortest run time, ms.
    pub runtime_min: u64,
    /// Longest run time, ms.
    pub runtime_max: u64,
}
