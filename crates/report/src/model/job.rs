//! One entry of `jobs`: a job, or the jobs of a group that are reported as one.

use ferrio_job::{TuningUse, Units};
use ferrio_results::DamageKind;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::*;

/// One job, or the jobs of a group that are reported as one.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(transform = rules::together::<ToleratedErrors>, transform = rules::together::<TargetReport>)]
#[schemars(transform = rules::directions_or_mixed)]
pub struct JobReport {
    /// Name of the first job, at most 127 bytes.
    pub jobname: String,
    /// Number of the group, from 0.
    pub groupid: u32,
    /// When I/O began, or when the ramp ended, in ms of the clock that `job_start_clock_id` names (since 1970 by default); 0 if it
    /// never did.
    pub job_start: u64,
    /// errno that ended the first job that failed, or errno of the first tolerated error; 0 without errors.
    #[schemars(range(min = 0))]
    pub error: i32,
    /// Estimated seconds left; 2147483647 in the first seconds of a run.
    pub eta: u64,
    /// Seconds since the run began, rounded up.
    pub elapsed: u64,
    /// Options of the last job of the entry besides the global ones, written like those.
    #[serde(rename = "job options", skip_serializing_if = "Pairs::is_empty")]
    #[serde(deserialize_with = "maps::read_options")]
    #[schemars(schema_with = "rules::options")]
    pub job_options: Pairs<String, String>,
    /// Reads. Absent, as are writes, trims and syncs, with `unified_rw_reporting=mixed`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read: Option<DirectionReport>,
    /// Writes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub write: Option<DirectionReport>,
    /// Trims.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trim: Option<DirectionReport>,
    /// fsync, fdatasync, sync_file_range and syncfs calls between the I/Os.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sync: Option<SyncReport>,
    /// All directions as one, with `unified_rw_reporting`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mixed: Option<DirectionReport>,
    /// Time from start to end in ms, rounded down; the sum over the jobs of the entry.
    pub job_runtime: u64,
    /// User time in percent of `job_runtime`.
    #[schemars(range(min = 0))]
    pub usr_cpu: f64,
    /// System time in percent of `job_runtime`.
    #[schemars(range(min = 0))]
    pub sys_cpu: f64,
    /// Context switches.
    pub ctx: u64,
    /// Major page faults.
    pub majf: u64,
    /// Minor page faults.
    pub minf: u64,
    /// Percent of I/Os by the queue depth at which they were submitted: the label is the lowest depth of its range. Syncs are
    /// counted too, but not in the total.
    #[schemars(schema_with = "rules::depth_shares")]
    pub iodepth_level: LabelledShares,
    /// Percent of submitting calls by the number of I/Os they submitted: the label is the largest number of its range.
    #[schemars(schema_with = "rules::batch_shares")]
    pub iodepth_submit: LabelledShares,
    /// Percent of reaping calls by the number of I/Os they returned: the label is the largest number of its range.
    #[schemars(schema_with = "rules::batch_shares")]
    pub iodepth_complete: LabelledShares,
    /// Percent of I/Os that completed in less than 1 µs: the label is the upper bound of its range in ns.
    #[schemars(schema_with = "rules::ns_shares")]
    pub latency_ns: LabelledShares,
    /// Percent of I/Os that completed in 1 µs to 1 ms: the label is the upper bound of its range in µs.
    #[schemars(schema_with = "rules::us_shares")]
    pub latency_us: LabelledShares,
    /// Percent of I/Os that completed in 1 ms or more: the label is the upper bound of its range in ms.
    #[schemars(schema_with = "rules::ms_shares")]
    pub latency_ms: LabelledShares,
    /// Tolerated errors, with `continue_on_error`.
    #[serde(flatten)]
    pub tolerated: Option<ToleratedErrors>,
    /// The latency target; present once a job has begun its I/O, whether there is a target or not.
    #[serde(flatten)]
    pub target: Option<TargetReport>,
    /// `description` of the first job.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub desc: Option<String>,
    /// States of trimmed blocks, with `block_error_percentiles`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub block: Option<BlockReport>,
    /// The steady state of the jobs, with `steadystate`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub steadystate: Option<SteadyReport>,
    /// Figures that are not in the document.
    #[serde(skip)]
    pub text: TextFigures,
}

impl JobReport {
    /// The directions that are reported, in order, with lower-case names: read, write and trim, or mixed, or all four.
    #[must_use]
    pub fn shown_directions(&self) -> Vec<(&'static str, &DirectionReport)> {
        let directions =
            [("read", &self.read), ("write", &self.write), ("trim", &self.trim), ("mixed", &self.mixed)];
        directions.into_iter().filter_map(|(name, direction)| Some((name, direction.as_ref()?))).collect()
    }

    /// Syncs between the I/Os, whether the document has them or not.
    #[must_use]
    pub const fn syncs(&self) -> Option<&SyncReport> {
        if self.sync.is_some() { self.sync.as_ref() } else { self.text.sync.as_ref() }
    }

    /// Followed blocks, whether the document has them or not.
    #[must_use]
    pub const fn blocks(&self) -> Option<&BlockReport> {
        if self.block.is_some() { self.block.as_ref() } else { self.text.block.as_ref() }
    }
}

/// `eta` in the first seconds of a run.
pub const ETA_UNKNOWN: u64 = 2_147_483_647;

/// Figures of an entry that are not in the JSON document, for the other formats. An entry that was read from a document has none.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TextFigures {
    /// Number of jobs in the entry.
    pub jobs: usize,
    /// Which of reads, writes and trims the jobs are to do (`rw`).
    pub does: [bool; 3],
    /// Thread id of the first job.
    pub pid: u32,
    /// The error and the place that noticed it.
    pub error_message: Option<String>,
    /// Units of numbers: those of the first job, with the `kb_base` of the group.
    pub units: Units,
    /// Digits after the point of percentile names.
    pub percentile_precision: u8,
    /// Percentiles that the terse format has fields for.
    pub terse_percentiles: TersePercentiles,
    /// The text has no lines that fio's text does not have.
    pub only_lines_of_fio: bool,
    /// Syncs of an entry whose directions are reported as one: its document has none.
    pub sync: Option<SyncReport>,
    /// Percentiles of syncs, which the text shows whether percentiles are switched on or not.
    pub sync_percentiles: Percentiles,
    /// The criterion of the steady state as the text shows it.
    pub steady_criterion: String,
    /// Blocks of an entry without trims, which followed no block: its document has none.
    pub block: Option<BlockReport>,
    /// How many blocks failed their check, by what they look like.
    pub damage: Vec<(DamageKind, u64)>,
    /// What the jobs did because of `tuning=lean`.
    pub tuning_use: TuningUse,
}

/// The percentiles of one latency, which have fields with or without samples.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TersePercentiles {
    /// Of the total latency, not the completion latency.
    pub of_lat: bool,
    /// In percent; empty when percentiles are switched off.
    pub percents: Vec<f64>,
}

/// fsync, fdatasync, sync_file_range and syncfs calls.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct SyncReport {
    /// Calls issued.
    pub total_ios: u64,
    /// Their latency.
    pub lat_ns: LatencyReport,
}

/// Errors that did not end a job.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ToleratedErrors {
    /// Number of tolerated errors.
    pub total_err: u64,
    /// errno of the first tolerated error.
    #[serde(default)]
    #[schemars(range(min = 0))]
    pub first_error: i32,
}

/// The latency target, and the depth that the search for it arrived at.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TargetReport {
    /// Queue depth that the search for `latency_target` arrived at, or `iodepth`.
    #[schemars(range(min = 1))]
    pub latency_depth: u32,
    /// `latency_target`, ns.
    #[serde(default)]
    pub latency_target: u64,
    /// `latency_target`, ns. fio has this key since 3.42.
    #[serde(default)]
    pub latency_target_ns: u64,
    /// Share of I/Os that must meet the target, percent.
    #[serde(default)]
    #[schemars(range(min = 0, max = 100))]
    pub latency_percentile: f64,
    /// `latency_window`, µs.
    #[serde(default)]
    pub latency_window: u64,
    /// `latency_window`, µs. fio has this key since 3.42.
    #[serde(default)]
    pub latency_window_us: u64,
}

/// States of the blocks of jobs that trim (`block_error_percentiles`).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct BlockReport {
    /// Number of trims that blocks had survived when they failed, by percentile.
    #[schemars(schema_with = "rules::percentiles")]
    pub percentiles: Percentiles,
    /// Blocks by the last operation on them.
    #[schemars(schema_with = "rules::block_states")]
    pub states: Pairs<String, u64>,
}

/// Result of a steady state.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct SteadyReport {
    /// The criterion and its limit, such as `iops:20.000000%`: `iops`, `bw` or `lat`, with `_slope` for the slope, a colon, the limit,
    /// and `%` if it is relative.
    #[schemars(regex(pattern = r"^(iops|bw|lat)(_slope)?:-?[0-9]+\.[0-9]{6}%?$"))]
    pub ss: String,
    /// Length of the window, seconds.
    pub duration: u64,
    /// 1 if the steady state was attained, 0 if not.
    #[schemars(range(max = 1))]
    pub attained: u8,
    /// The value that was compared with the limit, written like the limit.
    #[schemars(regex(pattern = r"^-?[0-9]+\.[0-9]{6}%?$"))]
    pub criterion: String,
    /// Largest deviation from the mean; 0 if the slope was checked.
    #[schemars(range(min = 0))]
    pub max_deviation: f64,
    /// Slope per check; 0 if the deviation was checked.
    pub slope: f64,
    /// The window, all directions together. Checks that were not made are 0 and count in the means.
    pub data: SteadyData,
}

/// Figures of a steady state window, all directions together.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(transform = rules::together::<SteadyLatency>)]
pub struct SteadyData {
    /// Mean bandwidth, bytes per second.
    pub bw_mean: u64,
    /// Mean IOPS.
    pub iops_mean: u64,
    /// Completion latencies, if they were checked.
    #[serde(flatten)]
    pub latency: Option<SteadyLatency>,
    /// IOPS of each check, oldest first.
    pub iops: Vec<u64>,
    /// Bandwidth of each check, bytes per second.
    pub bw: Vec<u64>,
}

/// Completion latencies in a steady state window.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SteadyLatency {
    /// Mean completion latency, ns.
    pub lat_mean: u64,
    /// Mean completion latency of each check, ns, oldest first.
    pub lat_ns: Vec<u64>,
}
