//! The report as a tree: fio's JSON document field by field, in fio's key order, plus the few figures that only the text shows.
//!
//! Every format is written from this one tree. All floats in it are finite. Latencies are in ns unless a name says otherwise.

mod ferrio;

use ferrio_plan::Units;
use serde::ser::{Serialize, SerializeMap, Serializer};

pub use ferrio::*;

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
    /// How numbers are printed: those of the first job.
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

/// What came out of a steady state, as fio's document has it.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct SteadyReport {
    /// What was judged and the limit: `iops:20.000000%`.
    pub ss: String,
    /// Length of the window in s.
    pub duration: u64,
    /// 1 if the state was steady.
    pub attained: u8,
    /// What the limit was compared with: `0.125188%`.
    pub criterion: String,
    /// Largest deviation from the mean; 0 if the slope was judged.
    pub max_deviation: f64,
    /// Slope per check; 0 if the deviation was judged.
    pub slope: f64,
    /// The window.
    pub data: SteadyData,
    /// The criterion as the text shows it.
    #[serde(skip)]
    pub text: String,
}

/// Figures of a steady state window, all directions together. Checks that were never made are 0 and count in the means.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct SteadyData {
    /// Bytes per second.
    pub bw_mean: u64,
    /// I/Os per second.
    pub iops_mean: u64,
    /// Completion latencies, if they were judged.
    #[serde(flatten)]
    pub latency: Option<SteadyLatency>,
    /// I/Os per second of each check, oldest first.
    pub iops: Vec<u64>,
    /// Bytes per second of each check.
    pub bw: Vec<u64>,
}

/// Completion latencies in a steady state window.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct SteadyLatency {
    /// Their mean, ns.
    pub lat_mean: u64,
    /// Mean of each check, ns.
    pub lat_ns: Vec<u64>,
}

/// Activity of one disk.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct DiskReport {
    /// Name below /sys/block.
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
    /// ms spent reading.
    pub read_ticks: u64,
    /// ms spent writing.
    pub write_ticks: u64,
    /// ms weighted by requests in the queue.
    pub in_queue: u64,
    /// Busy time in percent.
    pub util: f64,
    /// Means over the slaves, when there are any.
    #[serde(flatten)]
    pub slaves: Option<SlaveMeans>,
}

/// Integer means over the slaves of a stacked device.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct SlaveMeans {
    /// Completed reads.
    pub aggr_read_ios: u64,
    /// Completed writes.
    pub aggr_write_ios: u64,
    /// Sectors read.
    pub aggr_read_sectors: u64,
    /// Sectors written.
    pub aggr_write_sectors: u64,
    /// Merged reads.
    pub aggr_read_merges: u64,
    /// Merged writes. The key is singular in fio's documents.
    #[serde(rename = "aggr_write_merge")]
    pub aggr_write_merges: u64,
    /// ms spent reading.
    pub aggr_read_ticks: u64,
    /// ms spent writing.
    pub aggr_write_ticks: u64,
    /// ms weighted by requests in the queue.
    pub aggr_in_queue: u64,
    /// Busy time of the busiest slave, percent.
    pub aggr_util: f64,
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

/// An object whose keys are data: kept in order, repetitions included.
#[derive(Clone, Debug, PartialEq)]
pub struct Pairs<K, V>(pub Vec<(K, V)>);

/// Percentages by label.
pub type Shares = Pairs<&'static str, f64>;

impl<K, V> Pairs<K, V> {
    /// True without any pair.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<K, V> Default for Pairs<K, V> {
    fn default() -> Self {
        Pairs(Vec::new())
    }
}

impl<K: Serialize, V: Serialize> Serialize for Pairs<K, V> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(key, value)| (key, value)))
    }
}

/// Percentiles in ascending order, as (percent, ns).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Percentiles(pub Vec<(f64, u64)>);

impl Percentiles {
    /// True without any percentile.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Serialize for Percentiles {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (percent, ns) in &self.0 {
            map.serialize_entry(&format_args!("{percent:.6}"), ns)?;
        }
        map.end()
    }
}
