//! The `ferrio` object: figures that fio's tree does not have. docs/json.md describes every key.
//!
//! Unknown facts are omitted; there is no `null`. A key whose meaning changes requires a new [`FORMAT`]; a new key does not.

use std::borrow::Cow;

use ferrio_job::Diagnostic;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::database::DatabaseReport;
use super::direction::LatencyReport;
use super::hosts::{CommonIntervalReport, HostEntryReport, HostOfRun};
use super::maps::{self, Pairs};
use super::rules;
use super::run::{MachineReport, RunFacts, TargetPlace};
use super::series::{DeviceSeries, Series};
use super::thresholds::ThresholdReport;
use super::throttling::ThrottlingPeriod;
use super::verify::VerifyReport;

/// Version of the object.
pub const FORMAT: u32 = 1;

/// Figures that fio does not report, described in docs/json.md. Unknown facts are omitted.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct FerrioReport {
    /// Version of this object.
    #[schemars(extend("const" = FORMAT))]
    pub format: u32,
    /// Version of ferrio.
    pub version: String,
    /// Labels of the run (`--label`).
    #[serde(skip_serializing_if = "Pairs::is_empty", deserialize_with = "maps::read_options")]
    #[schemars(schema_with = "rules::labels")]
    pub labels: Pairs<String, String>,
    /// The machine.
    pub host: MachineReport,
    /// File systems and devices of the jobs' files, each once.
    pub targets: Vec<TargetPlace>,
    /// The clock that measured times.
    pub clock: ClockReport,
    /// Largest relative error of a percentile: it differs from the sample of its rank by at most this fraction of the sample.
    #[schemars(extend("exclusiveMinimum" = 0, "exclusiveMaximum" = 1))]
    pub quantile_error: f64,
    /// Facts about the run.
    pub run: RunFacts,
    /// Jobs of each entry that combines several.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub members: Vec<EntryMembers>,
    /// Conditions under which the entries were measured (`tuning`).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tuning: Vec<TuningReport>,
    /// Response times of the entries whose jobs have rates, as in their directions.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub response_ns: Vec<ResponseReport>,
    /// Database models (`workload`), in the order of their entries.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub databases: Vec<DatabaseReport>,
    /// Blocks that failed verification, for entries that have any.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub verify: Vec<VerifyReport>,
    /// The hosts of a run on many, by rank. Entries of `jobs` are then those of all hosts together.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<HostOfRun>,
    /// For each entry of several hosts, the time in which all of them did I/O.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub common_intervals: Vec<CommonIntervalReport>,
    /// All entries of all hosts together; absent if there is only one entry.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub all_hosts: Option<HostEntryReport>,
    /// Thresholds of the run (`--fail-if`), in the order given; only in the last report.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub thresholds: Vec<ThresholdReport>,
    /// Figures over time, of the entries that did I/O.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub series: Vec<Series>,
    /// Figures of the run's disks over time.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub device_series: Vec<DeviceSeries>,
    /// Periods of CPU throttling, in chronological order; at most 100 for each cause.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub throttling: Vec<ThrottlingPeriod>,
    /// Reasons why figures may mislead.
    pub warnings: Vec<Warning>,
    /// Notes of the plan and the run that no figure needs to confirm.
    pub notes: Vec<Note>,
}

/// The clock that measured times.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ClockReport {
    /// The clock: `tsc` is the CPU's time stamp counter, `monotonic` is clock_gettime(CLOCK_MONOTONIC).
    pub source: ClockName,
    /// True if the machine has a reliable time stamp counter, whether it is used or not.
    pub invariant: bool,
}

/// A clock as named in reports.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
#[expect(missing_docs, reason = "comments on variants would split the list of words in the schema")]
pub enum ClockName {
    Tsc,
    #[default]
    Monotonic,
}

impl ClockName {
    /// The word in documents.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            ClockName::Tsc => "tsc",
            ClockName::Monotonic => "monotonic",
        }
    }
}

/// The jobs of one entry of `jobs`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct EntryMembers {
    /// `jobname` of the entry.
    pub jobname: String,
    /// `groupid` of the entry.
    pub groupid: u32,
    /// Jobs of the entry in order; clones are one element.
    #[schemars(length(min = 1))]
    pub jobs: Vec<MemberReport>,
}

/// A job of an entry, with its clones.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct MemberReport {
    /// Name of the job.
    pub name: String,
    /// Number of clones in the entry, including the job itself.
    #[schemars(range(min = 1))]
    pub count: u64,
    /// Options of the job besides the global ones, as in `job options`.
    #[serde(skip_serializing_if = "Pairs::is_empty", deserialize_with = "maps::read_options")]
    #[schemars(schema_with = "rules::options")]
    pub options: Pairs<String, String>,
}

/// The tuning of one entry of `jobs`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct TuningReport {
    /// `jobname` of the entry.
    pub jobname: String,
    /// `groupid` of the entry.
    pub groupid: u32,
    /// `tuning` of the first job: `fio` or `lean`.
    pub tuning: String,
    /// Optimisations that the jobs used because of `tuning=lean`, if options allow them and the kernel did not refuse them: `noatime`,
    /// `registered-files`, `registered-buffers`, `huge-pages`.
    #[schemars(extend("uniqueItems" = true))]
    pub used: Vec<String>,
}

impl TuningReport {
    /// The tuning and the optimisations used, in one text.
    #[must_use]
    pub fn summary(&self) -> String {
        if self.used.is_empty() {
            self.tuning.clone()
        } else {
            format!("{} ({})", self.tuning, self.used.join(", "))
        }
    }
}

/// Response times of one entry of `jobs`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(extend("minProperties" = 3))]
pub struct ResponseReport {
    /// `jobname` of the entry.
    pub jobname: String,
    /// `groupid` of the entry.
    pub groupid: u32,
    /// Reads.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read: Option<LatencyReport>,
    /// Writes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub write: Option<LatencyReport>,
    /// Trims.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trim: Option<LatencyReport>,
    /// All directions as one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mixed: Option<LatencyReport>,
}

/// A reason why figures may mislead.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Warning {
    /// Stable name, listed in docs/messages.md.
    #[schemars(regex(pattern = "^[a-z0-9]+(-[a-z0-9]+)*$"))]
    pub code: Cow<'static, str>,
    /// Names of the affected jobs, each once; empty if the warning is about the whole run.
    #[schemars(extend("uniqueItems" = true))]
    pub jobs: Vec<String>,
    /// Number of affected jobs, including clones.
    pub count: u64,
    /// Description of the problem, with the figures.
    pub message: String,
    /// Remedy.
    pub help: String,
    /// The hosts of a run on many that have this problem; absent on one host, and if it is about all of them together.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(min = 1))]
    pub hosts: Vec<String>,
}

impl Warning {
    /// The message, with the hosts that it is about.
    #[must_use]
    pub fn message_with_hosts(&self) -> String {
        with_hosts(&self.hosts, &self.message)
    }

    /// True if the warning confirms the diagnostic with figures.
    #[must_use]
    pub fn confirms(&self, diagnostic: &Diagnostic) -> bool {
        self.code == diagnostic.code && diagnostic.jobs.iter().all(|job| self.jobs.contains(job))
    }
}

/// A note or warning from before or during the run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Note {
    /// Stable name, listed in docs/messages.md.
    #[schemars(regex(pattern = "^[a-z0-9]+(-[a-z0-9]+)*$"))]
    pub code: Cow<'static, str>,
    /// Names of the affected jobs, each once; empty if the note is about the whole run.
    #[schemars(extend("uniqueItems" = true))]
    pub jobs: Vec<String>,
    /// Text of the note.
    pub message: String,
    /// Remedy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub help: Option<String>,
    /// The hosts of a run on many that it is about; absent on one host, and if it is about all of them together.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(min = 1))]
    pub hosts: Vec<String>,
}

/// Hosts that are named in a message; of more, the number.
const MAX_NAMED_HOSTS: usize = 3;

/// A message with the hosts that it is about before it.
pub(crate) fn with_hosts(hosts: &[String], message: &str) -> String {
    let more = hosts.len().saturating_sub(MAX_NAMED_HOSTS);
    let named = hosts[..hosts.len() - more].join(", ");
    match (hosts.len(), more) {
        (0, _) => message.to_owned(),
        (_, 0) => format!("{named}: {message}"),
        (_, more) => format!("{named} and {more} more: {message}"),
    }
}
