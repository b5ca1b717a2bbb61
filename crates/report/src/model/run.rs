//! Facts about a run in the `ferrio` object: the machine, the places of files, and how the run went.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::rules;

/// The machine.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct MachineReport {
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
    /// Memory, in bytes.
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
    /// Underlying block device.
    #[serde(flatten)]
    pub device: Option<DeviceReport>,
    /// Names of the jobs with files there, each once.
    #[schemars(extend("uniqueItems" = true))]
    pub jobs: Vec<String>,
}

/// A block device.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DeviceReport {
    /// Device node, possibly of a partition; absent, as are the other keys of the device, if there is no block device.
    pub device: String,
    /// Name of the whole disk, as in `disk_util`.
    #[serde(default)]
    pub disk: String,
    /// Vendor and model of the disk.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Size of the device, in bytes.
    #[serde(default)]
    pub size_bytes: u64,
    /// Smallest unit of direct I/O, in bytes.
    #[serde(default)]
    pub logical_block_bytes: u64,
    /// Unit that the disk writes without reading first, in bytes.
    #[serde(default)]
    pub physical_block_bytes: u64,
    /// True if the kernel considers the disk rotational; virtual disks often claim to be.
    #[serde(default)]
    pub rotational: bool,
    /// I/O scheduler at the start of the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scheduler: Option<String>,
}

/// Facts about the run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(extend("dependentRequired" = {
    "cpus_busy": ["cpus_others", "cpus_stolen"], "cpus_others": ["cpus_busy"], "cpus_stolen": ["cpus_busy"]
}))]
#[schemars(extend("if" = { "properties": { "end": { "const": "signal" } } }, "then" = { "required": ["signal"] }))]
pub struct RunFacts {
    /// State of the run: `running` before its end, `completed`, `errors` if a job ended with an error, `signal` if a signal ended it.
    pub end: RunEnd,
    /// Number of the signal that ended the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub signal: Option<i32>,
    /// Time at which the first job started, in ms since 1970.
    pub started_ms: u64,
    /// Time from the start to the end, or to this report, in ms.
    pub elapsed_ms: u64,
    /// Longest time between the first and the last job to begin their I/O, of jobs that were started together, in µs; absent without such
    /// jobs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start_spread_us: Option<u64>,
    /// Number of jobs, including clones.
    pub jobs: u64,
    /// Number of jobs that ended with an error.
    pub failed_jobs: u64,
    /// Number of errors that did not end their job.
    pub tolerated_errors: u64,
    /// User time of all workers, in ms.
    pub workers_user_ms: u64,
    /// System time of all workers, in ms.
    pub workers_system_ms: u64,
    /// Busy time of all CPUs, as a percentage of their time during the run; absent if the kernel does not report it, and for runs too short
    /// for its clock.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 100))]
    pub cpus_busy: Option<f64>,
    /// Part of `cpus_busy` that was not ferrio's, including the kernel's own work for the I/O.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 100))]
    pub cpus_others: Option<f64>,
    /// Time that the hypervisor gave to other machines although there was work, also as a percentage; not part of `cpus_busy`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 100))]
    pub cpus_stolen: Option<f64>,
}

/// State of a run.
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
