//! The `ferrio` object: figures that fio's tree does not have. docs/json.md describes every key.
//!
//! Unknown facts are left out; there is no `null`. A key that changes its meaning makes a new [`FORMAT`], a new key does not.

use std::borrow::Cow;

use ferrio_job::Diagnostic;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::database::DatabaseReport;
use super::direction::LatencyReport;
use super::maps::{self, Pairs};
use super::rules;
use super::series::{DeviceSeries, Series};
use super::thresholds::ThresholdReport;
use super::throttling::ThrottlingPeriod;
use super::verify::VerifyReport;

/// Version of the object.
pub const FORMAT: u32 = 1;

/// Figures that fio does not report, described in docs/json.md. Unknown facts are left out.
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
    pub host: HostReport,
    /// File systems and devices below the files of the jobs, each once.
    pub targets: Vec<TargetPlace>,
    /// The clock that measured times.
    pub clock: ClockReport,
    /// Largest relative error of a percentile: it differs from the sample of its rank by at most this fraction of the sample.
    #[schemars(extend("exclusiveMinimum" = 0, "exclusiveMaximum" = 1))]
    pub quantile_error: f64,
    /// How the run went.
    pub run: RunFacts,
    /// The jobs of each entry that sums up several.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub members: Vec<EntryMembers>,
    /// Under which conditions the entries were measured (`tuning`).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tuning: Vec<TuningReport>,
    /// Response times of the entries whose jobs have rates, as in their directions.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub response_ns: Vec<ResponseReport>,
    /// Models of databases (`workload`), in the order of their entries.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub databases: Vec<DatabaseReport>,
    /// Blocks that failed their check, of the entries that have any.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub verify: Vec<VerifyReport>,
    /// Thresholds of the run (`--fail-if`), in the order given; only in the last report.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub thresholds: Vec<ThresholdReport>,
    /// What the entries did over time, of those that did I/O.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub series: Vec<Series>,
    /// What the disks of the run did over time.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub device_series: Vec<DeviceSeries>,
    /// When the CPUs were throttled, in the order of time; at most 100 periods of each cause.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub throttling: Vec<ThrottlingPeriod>,
    /// Reasons why figures may mislead.
    pub warnings: Vec<Warning>,
    /// What the plan and the run noted, which figures need not confirm.
    pub notes: Vec<Note>,
}

/// The machine.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct HostReport {
    /// Host name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Kernel release, as printed by `uname -r`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kernel: Option<String>,
    /// Architecture, as printed by `uname -m`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arch: Option<String>,
    /// Model of the first CPU; not every architecture reports it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_model: Option<String>,
    /// Number of CPUs online.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub cpus_online: Option<u64>,
    /// Memory, bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_bytes: Option<u64>,
}

/// A file system, or a device that is used directly.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(extend("dependentRequired" = { "mount_point": ["file_system"], "file_system": ["mount_point"] }))]
#[schemars(transform = rules::together::<DeviceReport>)]
pub struct TargetPlace {
    /// Mount point; absent for a device that is used directly.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mount_point: Option<String>,
    /// Type of the file system; absent for a device that is used directly.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file_system: Option<String>,
    /// The block device below.
    #[serde(flatten)]
    pub device: Option<DeviceReport>,
    /// Names of the jobs with files there, each once.
    #[schemars(extend("uniqueItems" = true))]
    pub jobs: Vec<String>,
}

/// A block device.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DeviceReport {
    /// Node of the block device below, possibly of a partition; absent, as are the other keys of the device, if there is none.
    pub device: String,
    /// Name of the whole disk, as in `disk_util`.
    #[serde(default)]
    pub disk: String,
    /// Vendor and model of the disk.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Size of the device, bytes.
    #[serde(default)]
    pub size_bytes: u64,
    /// Smallest unit of direct I/O, bytes.
    #[serde(default)]
    pub logical_block_bytes: u64,
    /// Unit that the disk writes without reading first, bytes.
    #[serde(default)]
    pub physical_block_bytes: u64,
    /// The kernel considers the disk rotational; virtual disks often claim to be.
    #[serde(default)]
    pub rotational: bool,
    /// I/O scheduler at the start of the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scheduler: Option<String>,
}

/// The clock that measured times.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ClockReport {
    /// The clock: `tsc` is the CPU's time stamp counter, `monotonic` is clock_gettime(CLOCK_MONOTONIC).
    pub source: ClockName,
    /// The machine has a reliable time stamp counter, whether it is used or not.
    pub invariant: bool,
}

/// A clock by its name in reports.
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
    /// The word that documents have.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            ClockName::Tsc => "tsc",
            ClockName::Monotonic => "monotonic",
        }
    }
}

/// How the run went.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(extend("dependentRequired" = {
    "cpus_busy": ["cpus_others", "cpus_stolen"], "cpus_others": ["cpus_busy"], "cpus_stolen": ["cpus_busy"]
}))]
#[schemars(extend("if" = { "properties": { "end": { "const": "signal" } } }, "then" = { "required": ["signal"] }))]
pub struct RunFacts {
    /// How the run ended: `running` while it lasts, `completed`, `errors` if a job ended with an error, `signal` if a signal ended it.
    pub end: RunEnd,
    /// Number of the signal that ended the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub signal: Option<i32>,
    /// When the first job started, ms since 1970.
    pub started_ms: u64,
    /// Time from then to the end, or to this report, ms.
    pub elapsed_ms: u64,
    /// Longest time between the first and the last job to begin their I/O, of jobs that were started together, µs; absent without such
    /// jobs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start_spread_us: Option<u64>,
    /// Number of jobs, including clones.
    pub jobs: u64,
    /// Number of jobs that ended with an error.
    pub failed_jobs: u64,
    /// Number of errors that did not end their job.
    pub tolerated_errors: u64,
    /// User time of all workers, ms.
    pub workers_user_ms: u64,
    /// System time of all workers, ms.
    pub workers_system_ms: u64,
    /// Busy time of all CPUs, percent of their time during the run; absent where the kernel does not report it and for runs too short
    /// for its clock.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 100))]
    pub cpus_busy: Option<f64>,
    /// The part of `cpus_busy` that was not ferrio's, including the kernel's own work for the I/O.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 100))]
    pub cpus_others: Option<f64>,
    /// Time that the hypervisor gave to other machines although there was work, also in percent; not part of `cpus_busy`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 100))]
    pub cpus_stolen: Option<f64>,
}

/// How a run ended, in one word.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
#[expect(missing_docs, reason = "comments on variants would split the list of words in the schema")]
pub enum RunEnd {
    Running,
    #[default]
    Completed,
    Errors,
    Signal,
}

/// The jobs of one entry of `jobs`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct EntryMembers {
    /// `jobname` of the entry.
    pub jobname: String,
    /// `groupid` of the entry.
    pub groupid: u32,
    /// Its jobs in order; clones are one element.
    #[schemars(length(min = 1))]
    pub jobs: Vec<MemberReport>,
}

/// A job of an entry, with its clones.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct MemberReport {
    /// Name of the job.
    pub name: String,
    /// Number of its clones in the entry, itself included.
    #[schemars(range(min = 1))]
    pub count: u64,
    /// Its options besides the global ones, as in `job options`.
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
    /// `tuning` of its first job: `fio` or `lean`.
    pub tuning: String,
    /// What its jobs did because of `tuning=lean`, as far as options allow it and the kernel did not refuse it: `noatime`,
    /// `registered-files`, `registered-buffers`, `huge-pages`.
    #[schemars(extend("uniqueItems" = true))]
    pub used: Vec<String>,
}

impl TuningReport {
    /// The tuning and what was used of it, in one text.
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
    /// Stable name, one of docs/messages.md.
    #[schemars(regex(pattern = "^[a-z0-9]+(-[a-z0-9]+)*$"))]
    pub code: Cow<'static, str>,
    /// Names of the jobs concerned, each once; empty if the warning is about the whole run.
    #[schemars(extend("uniqueItems" = true))]
    pub jobs: Vec<String>,
    /// Number of jobs concerned, including clones.
    pub count: u64,
    /// What is wrong, with the figures.
    pub message: String,
    /// What to do about it.
    pub help: String,
}

impl Warning {
    /// True if the figures show what the diagnostic foretold.
    #[must_use]
    pub fn confirms(&self, diagnostic: &Diagnostic) -> bool {
        self.code == diagnostic.code && diagnostic.jobs.iter().all(|job| self.jobs.contains(job))
    }
}

/// A note or warning from before or during the run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Note {
    /// Stable name, one of docs/messages.md.
    #[schemars(regex(pattern = "^[a-z0-9]+(-[a-z0-9]+)*$"))]
    pub code: Cow<'static, str>,
    /// Names of the jobs concerned, each once; empty if the note is about the whole run.
    #[schemars(extend("uniqueItems" = true))]
    pub jobs: Vec<String>,
    /// What there is to know.
    pub message: String,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub help: Option<String>,
}
