//! One line of the interval report: the figures of one job in one interval, as a JSON object.
//!
//! Names are those of fio's JSON report if it has the figure. `docs/interval_report.md` describes the fields for users;
//! `docs/interval_report.schema.json` is generated from these types. Changes that affect readers need a new version.

use std::io;

use ferrio_job::Measure;
use ferrio_results::JobState;
use ferrio_stats::{Buckets, DirectionStats, JobStats, Latency, SyncStats};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;
use serde_json::json;
use serde_json::ser::{Formatter, Serializer};

use super::database::DatabaseLine;
use crate::build::direction::{HistogramOptions, latency_report};
use crate::model::{LatencyReport, together};
use crate::num::percent;

/// Version of the format. A version may gain fields; the meaning of its fields does not change.
pub(super) const FORMAT_VERSION: u32 = 1;

/// The figures of one job in one interval of --interval-report. They cover only the interval unless their description says otherwise.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(title = "One line of ferrio's interval report", extend("$id" = "urn:ferrio:interval-report:1"))]
#[schemars(transform = together::<CpuLine>, transform = only_fresh_lines_have_all)]
pub(crate) struct IntervalLine<'a> {
    /// Version of the format. A version may gain fields; the meaning of its fields does not change.
    #[schemars(extend("const" = FORMAT_VERSION))]
    pub(super) version: u32,
    /// Number of the interval, the same for all jobs, from 1.
    #[schemars(range(min = 1))]
    pub(super) interval: u64,
    /// End of the interval, in ms since the run began.
    pub(super) time_ms: u64,
    /// End of the interval, in ms since 1970.
    pub(super) timestamp_ms: u64,
    /// Time covered by the figures, in ms.
    #[schemars(range(min = 0))]
    pub(super) length_ms: f64,
    /// Name of the job, at most 127 bytes.
    pub(super) jobname: &'a str,
    /// Number of the job in the run, from 1, as in the names of log files.
    #[schemars(range(min = 1))]
    pub(super) job_number: u32,
    /// Number of the job's group.
    pub(super) groupid: u32,
    /// State of the job at the end of the interval; the last line of a job has `ended` or `failed`.
    #[schemars(schema_with = "states")]
    pub(super) state: &'static str,
    /// True if the figures of the job restarted from zero in the interval: lines before this one are not part of the final report.
    pub(super) restarted: bool,
    /// True if the job answered. Otherwise I/Os and bytes are those visible from outside, and everything else follows with the next fresh
    /// line.
    pub(super) fresh: bool,
    /// Reads, if the job reads.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) read: Option<DirectionLine>,
    /// Writes, if the job writes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) write: Option<DirectionLine>,
    /// Trims, if the job trims.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) trim: Option<DirectionLine>,
    /// fsync, fdatasync and sync_file_range calls between the I/Os, once there was one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) sync: Option<SyncLine>,
    /// Totals of all jobs of a database model, on the first line of an interval by one of these jobs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) database: Option<DatabaseLine>,
    /// Mean number of I/Os in flight by Little's law: the sum of the latencies of the completed I/Os, divided by the time since the last
    /// fresh line.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub(super) iodepth_mean: Option<f64>,
    /// I/Os issued and not completed at the end of the interval, for engines that can have more than one in flight.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) in_flight: Option<u64>,
    /// errno that ended the job; 0 without an error.
    pub(super) error: i32,
    /// Errors tolerated by continue_on_error.
    pub(super) total_err: u64,
    /// errno of the first tolerated error of the whole job; 0 without one.
    pub(super) first_error: i32,
    /// CPU time of the worker.
    #[serde(flatten)]
    pub(super) cpu: Option<CpuLine>,
}

/// I/Os of one direction.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(super) struct DirectionLine {
    /// Bytes transferred.
    io_bytes: u64,
    /// Bytes per second, rounded down.
    bw_bytes: u64,
    /// I/Os per second.
    #[schemars(range(min = 0))]
    iops: f64,
    /// I/Os issued, including failed ones.
    total_ios: u64,
    /// Transfers that moved fewer bytes than requested.
    short_ios: u64,
    /// Submission latency. As for all latencies, min and max are accurate to 0.8 %, or exact if they are those of the whole job so far;
    /// mean and stddev are exact, percentiles accurate to 0.4 %.
    #[serde(skip_serializing_if = "Option::is_none")]
    slat_ns: Option<LatencyReport>,
    /// Completion latency.
    #[serde(skip_serializing_if = "Option::is_none")]
    clat_ns: Option<LatencyReport>,
    /// Total latency.
    #[serde(skip_serializing_if = "Option::is_none")]
    lat_ns: Option<LatencyReport>,
    /// Response time: from the moment an I/O was due by its rate to its completion. Only for a direction with a rate.
    #[serde(skip_serializing_if = "Option::is_none")]
    response_ns: Option<LatencyReport>,
}

/// fsync, fdatasync and sync_file_range calls.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(super) struct SyncLine {
    /// Calls issued.
    total_ios: u64,
    /// Latency of the calls.
    lat_ns: LatencyReport,
}

/// CPU time of the worker since the last fresh line.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
pub(super) struct CpuLine {
    /// User time of the worker, as a percentage of the time since the last fresh line.
    #[schemars(range(min = 0))]
    usr_cpu: f64,
    /// System time of the worker, as a percentage of the time since the last fresh line.
    #[schemars(range(min = 0))]
    sys_cpu: f64,
    /// Context switches since the last fresh line.
    ctx: u64,
}

/// The states of jobs that have begun.
fn states(_: &mut SchemaGenerator) -> Schema {
    let words = [
        JobState::Initialized,
        JobState::SettingUp,
        JobState::Ramp,
        JobState::Running,
        JobState::Verifying,
        JobState::Fsyncing,
        JobState::Finishing,
        JobState::Reaped,
        JobState::Failed,
    ];
    json_schema!({ "type": "string", "enum": words.map(JobState::word) })
}

/// Allows lines of jobs that did not answer to lack the figures that only the job knows.
fn only_fresh_lines_have_all(schema: &mut Schema) {
    let any = ["iodepth_mean", "in_flight", "usr_cpu"].map(|key| json!({ "required": [key] }));
    schema.insert("if".to_owned(), json!({ "properties": { "fresh": { "const": false } } }));
    schema.insert("then".to_owned(), json!({ "not": { "anyOf": any } }));
}

/// Appends a line with its newline to `out`.
pub(super) fn write_line(line: &impl Serialize, out: &mut Vec<u8>) {
    // Writing to memory cannot fail, and all keys are strings.
    let written = line.serialize(&mut Serializer::with_formatter(&mut *out, CompactFormatter));
    debug_assert!(written.is_ok(), "{written:?}");
    out.push(b'\n');
}

impl DirectionLine {
    /// The line of a direction; `new` has the figures of the last `ns`.
    pub(super) fn new(measure: &Measure, new: &DirectionStats, ns: u128) -> Self {
        let latency = |latency: Option<&Latency>, percentiles: bool| {
            latency.map(|latency| latency_line(latency, measure, percentiles))
        };
        DirectionLine {
            io_bytes: new.bytes,
            bw_bytes: rate(new.bytes, ns) as u64,
            iops: rate(new.ios, ns),
            total_ios: new.ios,
            short_ios: new.short,
            slat_ns: latency(new.slat.as_deref(), measure.slat_percentiles),
            clat_ns: latency(new.clat.as_deref(), measure.clat_percentiles),
            lat_ns: latency(new.lat(), measure.lat_percentiles),
            response_ns: latency(new.response.as_deref(), measure.any_percentiles()),
        }
    }
}

impl SyncLine {
    /// The line of syncs.
    pub(super) fn new(measure: &Measure, new: &SyncStats) -> Self {
        let latency = |latency: &Latency| latency_line(latency, measure, measure.any_percentiles());
        SyncLine { total_ios: new.ios, lat_ns: new.latency.as_deref().map(latency).unwrap_or_default() }
    }
}

impl CpuLine {
    /// The CPU time of `new`, which covers `ns`.
    pub(super) fn new(new: &JobStats, ns: u128) -> Self {
        let us = u64::try_from(ns / 1000).unwrap_or(u64::MAX);
        CpuLine {
            usr_cpu: percent(new.usage.user_us, us),
            sys_cpu: percent(new.usage.system_us, us),
            ctx: new.usage.context_switches,
        }
    }
}

/// Mean number of I/Os in flight in `ns`: the sum of the latencies of completed I/Os, divided by the time. `None` if latencies are not
/// measured.
pub(super) fn mean_depth(new: &JobStats, ns: u128) -> Option<f64> {
    let latencies =
        new.directions.iter().filter_map(|direction| direction.lat().or(direction.clat.as_deref()));
    let sums: Vec<f64> = latencies.map(|latency| latency.mean() * latency.count() as f64).collect();
    (!sums.is_empty()).then(|| if ns == 0 { 0.0 } else { sums.iter().sum::<f64>() / ns as f64 })
}

fn latency_line(latency: &Latency, measure: &Measure, percentiles: bool) -> LatencyReport {
    let histograms = HistogramOptions { buckets: Buckets::Hdr, bins: false, requested: &[] };
    latency_report(latency, &measure.percentiles, percentiles, histograms)
}

/// `count` in `ns` as a rate per second.
fn rate(count: u64, ns: u128) -> f64 {
    if ns == 0 { 0.0 } else { count as f64 * 1e9 / ns as f64 }
}

/// A formatter for JSON documents on one line, with the decimals of the JSON report.
struct CompactFormatter;

impl Formatter for CompactFormatter {
    fn write_f64<W: ?Sized + io::Write>(&mut self, out: &mut W, value: f64) -> io::Result<()> {
        write!(out, "{value:.6}")
    }
}
