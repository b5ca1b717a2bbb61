//! Activity of the machine during the run: its disks and its CPUs.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::maps::Pairs;
use super::rules;

/// Activity of one disk during the run. The slaves of a stacked device have their own entries.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(transform = rules::together::<SlaveMeans>)]
pub struct DiskReport {
    /// Name in /sys/block.
    pub name: String,
    /// Completed reads.
    pub read_ios: u64,
    /// Completed writes.
    pub write_ios: u64,
    /// Sectors of 512 bytes read.
    pub read_sectors: u64,
    /// Sectors of 512 bytes written.
    pub write_sectors: u64,
    /// Merged reads.
    pub read_merges: u64,
    /// Merged writes.
    pub write_merges: u64,
    /// Time of all reads, ms.
    pub read_ticks: u64,
    /// Time of all writes, ms.
    pub write_ticks: u64,
    /// Total time of all requests, in ms: the busy time weighted by the length of the queue.
    pub in_queue: u64,
    /// Percentage of time in which the disk was busy.
    #[schemars(range(min = 0, max = 100))]
    pub util: f64,
    /// Means over the slaves of a stacked device.
    #[serde(flatten)]
    pub slaves: Option<SlaveMeans>,
    /// The host, as given on the command line, in documents about several hosts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hostname: Option<String>,
    /// The TCP port of the host's server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub port: Option<u16>,
}

/// Integer means over the slaves of a stacked device.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SlaveMeans {
    /// Completed reads, mean over the slaves.
    pub aggr_read_ios: u64,
    /// Completed writes, mean over the slaves.
    #[serde(default)]
    pub aggr_write_ios: u64,
    /// Sectors of 512 bytes read, mean over the slaves.
    #[serde(default)]
    pub aggr_read_sectors: u64,
    /// Sectors of 512 bytes written, mean over the slaves.
    #[serde(default)]
    pub aggr_write_sectors: u64,
    /// Merged reads, mean over the slaves.
    #[serde(default)]
    pub aggr_read_merges: u64,
    /// Merged writes, mean over the slaves. fio's key is singular.
    #[serde(default, rename = "aggr_write_merge")]
    pub aggr_write_merges: u64,
    /// Time of all reads, ms, mean over the slaves.
    #[serde(default)]
    pub aggr_read_ticks: u64,
    /// Time of all writes, ms, mean over the slaves.
    #[serde(default)]
    pub aggr_write_ticks: u64,
    /// Time of all requests, ms, mean over the slaves.
    #[serde(default)]
    pub aggr_in_queue: u64,
    /// Percentage of time in which the busiest slave was busy.
    #[serde(default)]
    #[schemars(range(min = 0, max = 100))]
    pub aggr_util: f64,
}

/// Idleness of the CPUs (`--idle-prof`).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(transform = rules::idle_cpus)]
pub struct CpuIdleness {
    /// Mean of all CPUs, percent.
    #[schemars(range(min = 0, max = 100))]
    pub system: f64,
    /// Each CPU as (`cpu-0`, percent), with `--idle-prof=percpu`.
    #[serde(flatten)]
    #[schemars(skip)]
    pub cpus: Pairs<String, f64>,
    /// Time of a unit of work, mean of all CPUs, µs.
    #[schemars(range(min = 0))]
    pub unit_mean: f64,
    /// Standard deviation of the CPUs' means, µs.
    #[schemars(range(min = 0))]
    pub unit_stddev: f64,
}
