//! The report as a tree: fio's JSON document field by field, in fio's key order, plus the few figures that only the text shows.
//!
//! Every format is written from this one tree. All floats in it are finite. Latencies are in ns unless a name says otherwise.

mod disks;
mod ferrio;
mod pairs;
mod steady;

use ferrio_job::Units;

pub use disks::{DiskReport, SlaveMeans};
pub use ferrio::*;
pub use pairs::{Pairs, Percentiles, Shares};
pub use steady::{SteadyData, SteadyLatency, SteadyReport};

/// A whole report.
#[derive(Clone, Debug, serde::Serialize)]
pub struct RunReport {
    /// The version line.
    #[serde(rename = "fio version")]
    pub version: String,
    /// When the report was made, s since 1970.
    pub timestamp: i64,
    /// The same in ms.
    pub timestamp_ms: i64,
    /// The same as local wall-clock text.
    pub time: String,
    /// Options given for all jobs.
    #[serde(rename = "global options", skip_serializing_if = "Pairs::is_empty")]
    pub global_options: Pairs<String, String>,
    /// One entry per job, or per group of jobs under `group_reporting`.
    pub jobs: Vec<JobReport>,
    /// Disks under the files of the run; slaves follow the device they belong to.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub disk_util: Vec<DiskReport>,
    /// How idle the CPUs were, if that was measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_idleness: Option<CpuIdleness>,
    /// What is not in fio's documents; always the last key.
    pub ferrio: FerrioReport,
    /// Summaries of the groups, text only.
    #[serde(skip)]
    pub groups: Vec<GroupReport>,
}

/// One report entry.
#[derive(Clone, Debug, serde::Serialize)]
pub struct JobReport {
    /// Name of the first job, at most 127 bytes.
    pub jobname: String,
    /// Group number.
    pub groupid: u32,
    /// When I/O began (or the ramp ended), ms since 1970; 0 if it never did.
    pub job_start: u64,
    /// First nonzero errno of the jobs.
    pub error: i32,
    /// Seconds left, [`ETA_UNKNOWN`] while a run is too young to tell.
    pub eta: u64,
    /// Seconds since the run began, rounded up.
    pub elapsed: u64,
    /// Options of the last job.
    #[serde(rename = "job options", skip_serializing_if = "Pairs::is_empty")]
    pub job_options: Pairs<String, String>,
    /// Read, write, trim.
    #[serde(flatten, skip_serializing_if = "DirectionReports::are_replaced")]
    pub directions: DirectionReports,
    /// Periodic syncs.
    #[serde(skip_serializing_if = "SyncReport::is_for_the_text")]
    pub sync: SyncReport,
    /// All directions as one (`unified_rw_reporting`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mixed: Option<DirectionReport>,
    /// From start to end, ms, summed over the jobs.
    pub job_runtime: u64,
    /// User time in percent of `job_runtime`.
    pub usr_cpu: f64,
    /// System time in percent of `job_runtime`.
    pub sys_cpu: f64,
    /// Context switches.
    pub ctx: u64,
    /// Major page faults.
    pub majf: u64,
    /// Minor page faults.
    pub minf: u64,
    /// Percent of I/Os per queue depth.
    pub iodepth_level: Shares,
    /// Percent of submit calls per number of I/Os.
    pub iodepth_submit: Shares,
    /// Percent of reap calls per number of I/Os.
    pub iodepth_complete: Shares,
    /// Percent of I/Os that completed below 1 µs, by label in ns.
    pub latency_ns: Shares,
    /// Percent of I/Os that completed below 1 ms, by label in µs.
    pub latency_us: Shares,
    /// Percent of I/Os that took 1 ms and more, by label in ms.
    pub latency_ms: Shares,
    /// Tolerated errors, when errors are tolerated.
    #[serde(flatten)]
    pub tolerated: Option<ToleratedErrors>,
    /// Latency target, once a job has begun I/O.
    #[serde(flatten)]
    pub target: Option<TargetReport>,
    /// `description` of the first job.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub desc: Option<String>,
    /// What became of trimmed blocks, if they were followed.
    #[serde(skip_serializing_if = "BlockReport::is_empty")]
    pub block: Option<BlockReport>,
    /// How steady the jobs were, if they have a steady state.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub steadystate: Option<SteadyReport>,
    /// What only the text shows.
    #[serde(skip)]
    pub text: TextFigures,
}

impl JobReport {
    /// What is shown of the directions, in order, with lower-case names.
    #[must_use]
    pub fn shown_directions(&self) -> Vec<(&'static str, &DirectionReport)> {
        let directions = self.directions.named().into_iter().filter(|_| !self.directions.replaced);
        directions.chain(self.mixed.as_ref().map(|mixed| ("mixed", mixed))).collect()
    }
}

/// `eta` of a run that is too young to tell.
pub const ETA_UNKNOWN: u64 = 2_147_483_647;

/// Figures of an entry that are not in the JSON document, for the other formats.
#[derive(Clone, Debug)]
pub struct TextFigures {
    /// Jobs summed up.
    pub jobs: usize,
    /// Thread id of the first job.
    pub pid: u32,
    /// What the error was, with the place that noticed.
    pub error_message: Option<String>,
    /// How numbers are printed: those of the first job, with the `kb_base` of the group.
    pub units: Units,
    /// Digits after the point of percentile names.
    pub percentile_precision: u8,
    /// Percentiles that the terse format has fields for.
    pub terse_percentiles: TersePercentiles,
}

/// The percentiles of one latency, for which there are fields whether there are samples or not.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TersePercentiles {
    /// Of the total latency, not the completion latency.
    pub of_lat: bool,
    /// In percent; empty when percentiles are switched off.
    pub percents: Vec<f64>,
}

/// The three directions of an entry.
#[derive(Clone, Debug, serde::Serialize)]
pub struct DirectionReports {
    /// Reads.
    pub read: DirectionReport,
    /// Writes.
    pub write: DirectionReport,
    /// Trims.
    pub trim: DirectionReport,
    /// One report on all directions stands in their place.
    #[serde(skip)]
    pub replaced: bool,
}

impl DirectionReports {
    /// The directions in order with their lower-case names.
    #[must_use]
    pub fn named(&self) -> [(&'static str, &DirectionReport); 3] {
        [("read", &self.read), ("write", &self.write), ("trim", &self.trim)]
    }

    /// True when they are not shown.
    #[must_use]
    pub const fn are_replaced(&self) -> bool {
        self.replaced
    }
}

/// Figures of one direction.
#[derive(Clone, Debug, Default, serde::Serialize)]
pub struct DirectionReport {
    /// Bytes completed.
    pub io_bytes: u64,
    /// The same in KiB, rounded down.
    pub io_kbytes: u64,
    /// Bytes per second, rounded down.
    pub bw_bytes: u64,
    /// KiB per second, rounded down.
    pub bw: u64,
    /// I/Os per second.
    pub iops: f64,
    /// ms.
    pub runtime: u64,
    /// I/Os issued.
    pub total_ios: u64,
    /// Transfers that moved fewer bytes than asked.
    pub short_ios: u64,
    /// Always 0: fio never counts here.
    pub drop_ios: u64,
    /// Submission latency.
    pub slat_ns: LatencyReport,
    /// Completion latency.
    pub clat_ns: LatencyReport,
    /// Total latency.
    pub lat_ns: LatencyReport,
    /// Latencies by the priority of I/Os, when there are samples of two priorities or more.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub prios: Vec<PriorityReport>,
    /// From the moment each I/O was due to its end, of a direction with a rate. Not in fio's documents.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub response_ns: Option<LatencyReport>,
    /// Smallest bandwidth sample, KiB/s.
    pub bw_min: u64,
    /// Largest bandwidth sample, KiB/s.
    pub bw_max: u64,
    /// Mean bandwidth in percent of the group's, at most 100.
    pub bw_agg: f64,
    /// Mean of the bandwidth samples, KiB/s.
    pub bw_mean: f64,
    /// Their deviation.
    pub bw_dev: f64,
    /// Their number.
    pub bw_samples: u64,
    /// Smallest IOPS sample.
    pub iops_min: u64,
    /// Largest IOPS sample.
    pub iops_max: u64,
    /// Mean of the IOPS samples.
    pub iops_mean: f64,
    /// Their deviation.
    pub iops_stddev: f64,
    /// Their number.
    pub iops_samples: u64,
}

/// The I/Os of one direction that have one priority.
#[derive(Clone, Debug, Default, serde::Serialize)]
pub struct PriorityReport {
    /// Class: 0 none, 1 real time, 2 best effort, 3 idle.
    pub prioclass: u8,
    /// Level in the class, 0 to 7.
    pub prio: u8,
    /// Hint, 0 to 1023.
    pub priohint: u16,
    /// Their completion latency, unless percentiles are about the total latency.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clat_ns: Option<LatencyReport>,
    /// Their total latency instead.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lat_ns: Option<LatencyReport>,
}

/// One latency of one direction.
#[derive(Clone, Debug, Default, serde::Serialize)]
pub struct LatencyReport {
    /// Smallest sample.
    pub min: u64,
    /// Largest sample.
    pub max: u64,
    /// Mean.
    pub mean: f64,
    /// Sample standard deviation.
    pub stddev: f64,
    /// Number of samples.
    #[serde(rename = "N")]
    pub samples: u64,
    /// Percentiles, when switched on and there are samples.
    #[serde(skip_serializing_if = "Percentiles::is_empty")]
    pub percentile: Percentiles,
    /// Nonempty histogram buckets, as (value, count), in the extended form.
    #[serde(skip_serializing_if = "Pairs::is_empty")]
    pub bins: Pairs<u64, u64>,
}

/// fsync, fdatasync and sync_file_range calls.
#[derive(Clone, Debug, Default, serde::Serialize)]
pub struct SyncReport {
    /// Calls issued.
    pub total_ios: u64,
    /// Their latency.
    pub lat_ns: LatencyReport,
    /// Percentiles for the text, which shows them whatever the switches say.
    #[serde(skip)]
    pub percentiles: Percentiles,
    /// The JSON document does not have it: directions are reported as one.
    #[serde(skip)]
    pub text_only: bool,
}

impl SyncReport {
    /// True when only the text shows it.
    #[must_use]
    pub const fn is_for_the_text(&self) -> bool {
        self.text_only
    }
}

/// Errors that did not end a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct ToleratedErrors {
    /// How many.
    pub total_err: u64,
    /// Errno of the first.
    pub first_error: i32,
}

/// What the latency target asked for and where the depth settled; fio prints it without a target as well.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct TargetReport {
    /// Queue depth found, or `iodepth`.
    pub latency_depth: u32,
    /// Target in ns.
    pub latency_target: u64,
    /// Target in ns.
    pub latency_target_ns: u64,
    /// Share of I/Os that must meet it, percent.
    pub latency_percentile: f64,
    /// Window in µs.
    pub latency_window: u64,
    /// Window in µs.
    pub latency_window_us: u64,
}

/// What became of the blocks of jobs that trim (`block_error_percentiles`).
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct BlockReport {
    /// Trims that failed blocks had survived.
    pub percentiles: Percentiles,
    /// Blocks by what was last done to them.
    pub states: Pairs<&'static str, u64>,
}

impl BlockReport {
    /// True when no block was followed: jobs that do not trim have none, and only the text says so.
    #[must_use]
    pub fn is_empty(block: &Option<BlockReport>) -> bool {
        block.as_ref().is_none_or(|block| block.states.0.iter().all(|&(_, blocks)| blocks == 0))
    }
}

/// How idle the CPUs were (`--idle-prof`).
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct CpuIdleness {
    /// Mean of all CPUs, percent.
    pub system: f64,
    /// Each CPU as (`cpu-0`, percent), if CPUs are shown one by one.
    #[serde(flatten)]
    pub cpus: Pairs<String, f64>,
    /// What a unit of work took, mean of all CPUs, µs.
    pub unit_mean: f64,
    /// Deviation of the CPUs' means, µs.
    pub unit_stddev: f64,
}

/// Summary of one group of jobs.
#[derive(Clone, Debug, PartialEq)]
pub struct GroupReport {
    /// Group number.
    pub id: u32,
    /// How numbers are printed: those of the group's last entry.
    pub units: Units,
    /// Read, write, trim; `None` for a direction nothing moved in.
    pub directions: [Option<GroupDirection>; 3],
    /// All directions of those entries that sum them up.
    pub mixed: Option<GroupDirection>,
}

/// One direction of a group, over its report entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroupDirection {
    /// Bytes moved.
    pub bytes: u64,
    /// All bytes over the longest run time, bytes per second.
    pub bw: u64,
    /// Slowest entry, bytes per second.
    pub bw_min: u64,
    /// Fastest entry, bytes per second.
    pub bw_max: u64,
    /// Shortest run time, ms.
    pub runtime_min: u64,
    /// Longest run time, ms.
    pub runtime_max: u64,
}
