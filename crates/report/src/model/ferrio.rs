//! The `ferrio` object: what is no part of fio's tree. docs/json.md describes every key.
//!
//! What is not known is left out; there is no `null`. A key that changes its meaning makes a new [`FORMAT`], a new key does not.

use super::LatencyReport;

/// Version of the object.
pub const FORMAT: u32 = 1;

/// The `ferrio` object.
#[derive(Clone, Debug, Default, serde::Serialize)]
pub struct FerrioReport {
    /// [`FORMAT`].
    pub format: u32,
    /// Version of this program.
    pub version: String,
    /// The machine.
    pub host: HostReport,
    /// File systems and devices under the files of the jobs.
    pub targets: Vec<TestedPlace>,
    /// What times were measured with.
    pub clock: ClockReport,
    /// A percentile differs from the sample of its rank by at most this part of it.
    pub quantile_error: f64,
    /// How the run went.
    pub run: RunFacts,
    /// Response times of the entries that have rates.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub response_ns: Vec<ResponseReport>,
    /// Why figures may mean something else than they seem to.
    pub warnings: Vec<Warning>,
}

/// The machine.
#[derive(Clone, Debug, Default, serde::Serialize)]
pub struct HostReport {
    /// Network name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Release of the kernel.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kernel: Option<String>,
    /// Architecture in the kernel's words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arch: Option<String>,
    /// Model of the first processor.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_model: Option<String>,
    /// Processors in service.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpus_online: Option<u64>,
    /// Bytes of memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_bytes: Option<u64>,
}

/// A file system, or a device that is used directly.
#[derive(Clone, Debug, Default, serde::Serialize)]
pub struct TestedPlace {
    /// Mount point; not of a device.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mount_point: Option<String>,
    /// Type of the file system; not of a device.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file_system: Option<String>,
    /// What is known of the block device below.
    #[serde(flatten)]
    pub device: Option<DeviceReport>,
    /// Names of the jobs with files there, each once.
    pub jobs: Vec<String>,
}

/// A block device.
#[derive(Clone, Debug, Default, serde::Serialize)]
pub struct DeviceReport {
    /// Its node, perhaps of a partition.
    pub device: String,
    /// Name of the whole disk, as in `disk_util`.
    pub disk: String,
    /// Vendor and model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Bytes.
    pub size_bytes: u64,
    /// Smallest unit of direct I/O.
    pub logical_block_bytes: u64,
    /// Unit that is written without reading first.
    pub physical_block_bytes: u64,
    /// The kernel takes it for a disk that turns.
    pub rotational: bool,
    /// I/O scheduler in force at the start.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scheduler: Option<String>,
}

/// The clock.
#[derive(Clone, Copy, Debug, Default, serde::Serialize)]
pub struct ClockReport {
    /// `tsc` or `monotonic`.
    pub source: &'static str,
    /// The machine has a time stamp counter that can be relied on.
    pub invariant: bool,
}

/// How the run went.
#[derive(Clone, Debug, Default, serde::Serialize)]
pub struct RunFacts {
    /// `running`, `completed`, `errors` or `signal`.
    pub end: &'static str,
    /// Number of the signal that ended it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signal: Option<i32>,
    /// When the first job started, ms since 1970.
    pub started_ms: u64,
    /// From then to the end, ms.
    pub elapsed_ms: u64,
    /// Jobs of the run.
    pub jobs: u64,
    /// Those that ended with an error.
    pub failed_jobs: u64,
    /// Errors that jobs tolerated.
    pub tolerated_errors: u64,
    /// User time of all workers, ms.
    pub workers_user_ms: u64,
    /// System time of all workers, ms.
    pub workers_system_ms: u64,
    /// Work of all processors during the run, in percent of what they could have worked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpus_busy: Option<f64>,
    /// The part of it that was not this program's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpus_others: Option<f64>,
    /// What the hypervisor gave to other machines although there was work, in the same percent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpus_stolen: Option<f64>,
}

/// Response times of one entry of `jobs`.
#[derive(Clone, Debug, Default, serde::Serialize)]
pub struct ResponseReport {
    /// Name of the entry.
    pub jobname: String,
    /// Its group.
    pub groupid: u32,
    /// Reads, if they have a rate.
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

/// Why figures may mean something else than they seem to.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Warning {
    /// Stable name of the doubt, one of docs/messages.md.
    pub code: &'static str,
    /// Names of the jobs concerned, each once; empty for the whole run.
    pub jobs: Vec<String>,
    /// How many jobs are concerned, clones counted.
    pub count: u64,
    /// What is the matter, with the figures.
    pub message: String,
    /// What to do.
    pub help: String,
}
