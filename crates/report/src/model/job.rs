//! One entry of `jobs`: a job, or the jobs of a group that are reported as one.

use ferrio_job::{Optimisations, Units};
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
    /// Time at which I/O began, or at which the ramp ended, in ms of the clock that `job_start_clock_id` names (since 1970 by default); 0
    /// if it never did.
    pub job_start: u64,
    /// errno of the first failed job, or of the first tolerated error; 0 without errors.
    #[schemars(range(min = 0))]
    pub error: i32,
    /// Estimated remaining seconds; 2147483647 in the first seconds of a run.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(required)]
    pub eta: Option<u64>,
    /// Seconds since the run began, rounded up.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(required)]
    pub elapsed: Option<u64>,
    /// Options of the last job of the entry besides the global ones, in the same form.
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
    /// User time as a percentage of `job_runtime`.
    #[schemars(range(min = 0))]
    pub usr_cpu: f64,
    /// System time as a percentage of `job_runtime`.
    #[schemars(range(min = 0))]
    pub sys_cpu: f64,
    /// Context switches.
    pub ctx: u64,
    /// Major page faults.
    pub majf: u64,
    /// Minor page faults.
    pub minf: u64,
    /// Percentage of I/Os by the queue depth at submission: the label is the lowest depth of its range. Syncs are counted too, but not in
    /// the total.
    #[schemars(schema_with = "rules::depth_shares")]
    pub iodepth_level: LabelledShares,
    /// Percentage of submitting calls by the number of I/Os that they submitted: the label is the largest number of its range.
    #[schemars(schema_with = "rules::batch_shares")]
    pub iodepth_submit: LabelledShares,
    /// Percentage of reaping calls by the number of I/Os that they returned: the label is the largest number of its range.
    #[schemars(schema_with = "rules::batch_shares")]
    pub iodepth_complete: LabelledShares,
    /// Percentage of I/Os that completed in less than 1 µs: the label is the upper bound of its range in ns.
    #[schemars(schema_with = "rules::ns_shares")]
    pub latency_ns: LabelledShares,
    /// Percentage of I/Os that completed in 1 µs to 1 ms: the label is the upper bound of its range in µs.
    #[schemars(schema_with = "rules::us_shares")]
    pub latency_us: LabelledShares,
    /// Percentage of I/Os that completed in 1 ms or more: the label is the upper bound of its range in ms.
    #[schemars(schema_with = "rules::ms_shares")]
    pub latency_ms: LabelledShares,
    /// Tolerated errors, with `continue_on_error`.
    #[serde(flatten)]
    pub tolerated: Option<ToleratedErrors>,
    /// Latency target; present once a job has begun its I/O, even without a target.
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
    /// The host, as given on the command line, in documents that have entries of several hosts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hostname: Option<String>,
    /// The TCP port of the host's server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub port: Option<u16>,
    /// Figures that are not in the document.
    #[serde(skip)]
    pub text: TextFigures,
}

impl JobReport {
    /// The reported directions in order, with lower-case names: read, write and trim, or mixed, or all four.
    #[must_use]
    pub fn shown_directions(&self) -> Vec<(&'static str, &DirectionReport)> {
        let directions =
            [("read", &self.read), ("write", &self.write), ("trim", &self.trim), ("mixed", &self.mixed)];
        directions.into_iter().filter_map(|(name, direction)| Some((name, direction.as_ref()?))).collect()
    }

    /// The direction with this name; `None` if the report lacks it.
    #[must_use]
    pub fn direction(&self, name: &str) -> Option<&DirectionReport> {
        let (_, found) = self.shown_directions().into_iter().find(|(other, _)| *other == name)?;
        Some(found)
    }

    /// Response times of a direction with a rate.
    pub(crate) fn response_of(&self, direction: &str) -> Option<&LatencyReport> {
        self.direction(direction)?.response_ns.as_ref().filter(|response| response.samples > 0)
    }

    /// Syncs between the I/Os, even if the document lacks them.
    #[must_use]
    pub const fn syncs(&self) -> Option<&SyncReport> {
        if self.sync.is_some() { self.sync.as_ref() } else { self.text.sync.as_ref() }
    }

    /// Tracked blocks, even if the document lacks them.
    #[must_use]
    pub const fn blocks(&self) -> Option<&BlockReport> {
        if self.block.is_some() { self.block.as_ref() } else { self.text.block.as_ref() }
    }
}

/// `eta` in the first seconds of a run.
pub const ETA_UNKNOWN: u64 = 2_147_483_647;

/// Figures of an entry that are not in the JSON document, for the other formats. Empty for an entry read from a document.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TextFigures {
    /// Number of jobs in the entry.
    pub jobs: usize,
    /// Directions that the jobs' `rw` includes: reads, writes, trims.
    pub does: [bool; 3],
    /// Thread id of the first job.
    pub pid: u32,
    /// The error, with the place that noticed it.
    pub error_message: Option<String>,
    /// Units of numbers, from the first job, with the `kb_base` of the group.
    pub units: Units,
    /// Decimals in the names of percentiles.
    pub percentile_precision: u8,
    /// Percentiles with fields in the terse format.
    pub terse_percentiles: TersePercentiles,
    /// True if the text must only have lines that fio's text has.
    pub only_lines_of_fio: bool,
    /// Syncs of an entry whose directions are reported as one, as its document has none.
    pub sync: Option<SyncReport>,
    /// Percentiles of syncs, which the text shows even if percentiles are disabled.
    pub sync_percentiles: Percentiles,
    /// The criterion of the steady state as shown in the text.
    pub steady_criterion: String,
    /// Tracked blocks of an entry without trims, as its document has none.
    pub block: Option<BlockReport>,
    /// Number of damaged blocks of each kind.
    pub damage: Vec<(DamageKind, u64)>,
    /// Optimisations that the jobs used because of `tuning=lean`.
    pub optimisations: Optimisations,
}

/// Percentiles of one latency, which have fields with or without samples.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TersePercentiles {
    /// True for the total latency, false for the completion latency.
    pub of_lat: bool,
    /// Percentages; empty if percentiles are disabled.
    pub percents: Vec<f64>,
}

/// fsync, fdatasync, sync_file_range and syncfs calls.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct SyncReport {
    /// Calls issued.
    pub total_ios: u64,
    /// Latency of the calls.
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

/// Latency target, and the queue depth that the search for it reached.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TargetReport {
    /// Queue depth that the search for `latency_target` reached, or `iodepth`.
    #[schemars(range(min = 1))]
    pub latency_depth: u32,
    /// `latency_target`, in ns.
    #[serde(default)]
    pub latency_target: u64,
    /// `latency_target`, in ns. fio has this key since 3.42.
    #[serde(default)]
    pub latency_target_ns: u64,
    /// Percentage of I/Os that must meet the target.
    #[serde(default)]
    #[schemars(range(min = 0, max = 100))]
    pub latency_percentile: f64,
    /// `latency_window`, in µs.
    #[serde(default)]
    pub latency_window: u64,
    /// `latency_window`, in µs. fio has this key since 3.42.
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
    /// Number of blocks by the last operation on them.
    #[schemars(schema_with = "rules::block_states")]
    pub states: Pairs<String, u64>,
}

/// Result of a steady state.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct SteadyReport {
    /// Criterion and limit, such as `iops:20.000000%`: `iops`, `bw` or `lat`, with `_slope` for the slope, a colon, the limit, and `%` if
    /// it is relative.
    #[schemars(regex(pattern = r"^(iops|bw|lat)(_slope)?:-?[0-9]+\.[0-9]{6}%?$"))]
    pub ss: String,
    /// Length of the window, in seconds.
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
    /// Figures of the window, all directions together. Checks that were not made are 0 and included in the means.
    pub data: SteadyData,
}

/// Figures of a steady state window, all directions together.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(transform = rules::together::<SteadyLatency>)]
pub struct SteadyData {
    /// Mean bandwidth, in bytes per second.
    pub bw_mean: u64,
    /// Mean IOPS.
    pub iops_mean: u64,
    /// Completion latencies, if they were checked.
    #[serde(flatten)]
    pub latency: Option<SteadyLatency>,
    /// IOPS of each check, oldest first.
    pub iops: Vec<u64>,
    /// Bandwidth of each check, in bytes per second.
    pub bw: Vec<u64>,
}

/// Completion latencies in a steady state window.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SteadyLatency {
    /// Mean completion latency, in ns.
    pub lat_mean: u64,
    /// Mean completion latency of each check, in ns, oldest first.
    pub lat_ns: Vec<u64>,
}
