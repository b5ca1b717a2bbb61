//! The hosts of a run on many, in the `ferrio` object.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::RunReport;
use super::run::{MachineReport, RunFacts, TargetPlace};
use super::throttling::ThrottlingPeriod;

/// One host of a run on many.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct HostOfRun {
    /// The host, as given on the command line.
    pub name: String,
    /// The TCP port of its server; absent if it was reached another way.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub port: Option<u16>,
    /// The name that it has for itself; absent, as are `version` and `clock`, if it was never reached.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub own_name: Option<String>,
    /// Version of its program.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Its number among the hosts, from 0.
    pub rank: u32,
    /// Its clock.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clock: Option<HostClockReport>,
    /// How it began each phase, in order. Phases are what stonewalls separate.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub phases: Vec<PhaseReport>,
    /// Why it gave no results, or not all; absent if it gave them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lost: Option<String>,
    /// The machine; absent, as are the following keys, without results.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub machine: Option<MachineReport>,
    /// Facts about its part of the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run: Option<RunFacts>,
    /// File systems and devices of its jobs' files, each once.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub targets: Vec<TargetPlace>,
    /// Its entries, in the order of its own report.
    pub jobs: Vec<HostEntryReport>,
    /// Periods of CPU throttling.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub throttling: Vec<ThrottlingPeriod>,
    /// The report that it would have written itself, if asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub document: Option<Box<RunReport>>,
}

/// The clock of a host against that of the coordinator.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct HostClockReport {
    /// ns that its monotonic clock was ahead of the coordinator's: the two have nothing in common but their rate.
    pub offset_ns: i64,
    /// The true offset is within this of `offset_ns`: half of the shortest round trip.
    pub bound_ns: u64,
}

/// How a phase began on a host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct PhaseReport {
    /// When all hosts were to begin it, in µs since the first planned beginning of the run.
    pub planned_us: u64,
    /// When the host's first job began, on the same axis.
    pub reached_us: i64,
    /// `reached_us` can be wrong by this.
    pub bound_us: u64,
}

/// Figures of one entry on one host.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct HostEntryReport {
    /// `jobname` of the entry.
    pub jobname: String,
    /// `groupid` of the entry.
    pub groupid: u32,
    /// errno of its first failed job; 0 without errors.
    #[schemars(range(min = 0))]
    pub error: i32,
    /// When it began its I/O, or ended its ramp, in ms since the start of the run, on the coordinator's clock; absent if it never did, or if
    /// that is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start_ms: Option<u64>,
    /// Reads; absent without any, as are the others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read: Option<HostDirectionReport>,
    /// Writes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub write: Option<HostDirectionReport>,
    /// Trims.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trim: Option<HostDirectionReport>,
    /// All directions as one, with `unified_rw_reporting`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mixed: Option<HostDirectionReport>,
}

/// Figures of one direction of an entry on one host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct HostDirectionReport {
    /// Bytes transferred.
    pub io_bytes: u64,
    /// I/Os issued.
    pub total_ios: u64,
    /// Time in which I/O was done, in ms.
    pub runtime: u64,
    /// Bytes per second over that time.
    pub bw_bytes: u64,
    /// I/Os per second over that time.
    #[schemars(range(min = 0))]
    pub iops: f64,
    /// Mean latency, in ns: completion latency, or total latency if only that is measured. Absent without samples, as is `lat_p99_ns`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub lat_mean_ns: Option<f64>,
    /// 99th percentile of the same latencies, in ns.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lat_p99_ns: Option<u64>,
    /// True if the host is a straggler: its bandwidth is below the median of the hosts by more than three median absolute deviations, and by
    /// more than 5 %.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub straggler: bool,
}

/// The common interval of an entry: the time in which all of its hosts did I/O.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct CommonIntervalReport {
    /// `jobname` of the entry.
    pub jobname: String,
    /// `groupid` of the entry.
    pub groupid: u32,
    /// Number of hosts that did I/O for the entry.
    #[schemars(range(min = 1))]
    pub hosts: u32,
    /// When the last host began, in ms since the start of the run, on the coordinator's clock.
    pub from_ms: u64,
    /// When the first host ended. The interval is empty if this is not later than `from_ms`; the directions are absent then.
    pub to_ms: u64,
    /// True if the rates are those that hosts recorded in the interval; false if each host counts with its mean rate.
    pub sampled: bool,
    /// Reads; absent without any, as are the others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read: Option<CommonDirectionReport>,
    /// Writes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub write: Option<CommonDirectionReport>,
    /// Trims.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trim: Option<CommonDirectionReport>,
}

/// One direction of all hosts in the common interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct CommonDirectionReport {
    /// Bytes per second.
    pub bw_bytes: u64,
    /// I/Os per second.
    #[schemars(range(min = 0))]
    pub iops: f64,
}

impl HostEntryReport {
    /// The directions with I/O in order, with lower-case names.
    #[must_use]
    pub fn shown_directions(&self) -> Vec<(&'static str, &HostDirectionReport)> {
        let all =
            [("read", &self.read), ("write", &self.write), ("trim", &self.trim), ("mixed", &self.mixed)];
        all.into_iter().filter_map(|(name, direction)| Some((name, direction.as_ref()?))).collect()
    }

    /// The place of a direction with this name.
    pub(crate) fn direction_mut(&mut self, name: &str) -> Option<&mut HostDirectionReport> {
        match name {
            "read" => self.read.as_mut(),
            "write" => self.write.as_mut(),
            "trim" => self.trim.as_mut(),
            _ => self.mixed.as_mut(),
        }
    }
}

impl CommonIntervalReport {
    /// The directions with I/O in order, with lower-case names.
    #[must_use]
    pub fn shown_directions(&self) -> Vec<(&'static str, &CommonDirectionReport)> {
        let all = [("read", &self.read), ("write", &self.write), ("trim", &self.trim)];
        all.into_iter().filter_map(|(name, direction)| Some((name, direction.as_ref()?))).collect()
    }
}
