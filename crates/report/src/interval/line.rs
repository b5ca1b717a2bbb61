//! One line of the interval report: what one job did in one interval, as a JSON object on a line of its own.
//!
//! Names are those of fio's JSON report where it has the figure. `docs/interval_report.md` says the same for users and
//! `docs/interval_report.schema.json` for programs: a change here is a change there, and one that readers notice is a new version.

use std::io;

use ferrio_job::{Direction, JobSpec};
use ferrio_stats::{Buckets, DirectionStats, JobStats, Latency, SyncStats};
use serde::Serialize;
use serde_json::ser::{Formatter, Serializer};

use crate::build::{Histograms, latency_report};
use crate::model::LatencyReport;
use crate::num::percent;

/// Version of the format. Fields may be added to a version; their meaning stays.
pub(super) const FORMAT_VERSION: u32 = 1;

/// What one job did in one interval. All figures are of the interval alone unless a field says otherwise.
#[derive(Clone, Debug, Serialize)]
pub(super) struct IntervalLine<'a> {
    /// [`FORMAT_VERSION`].
    pub(super) version: u32,
    /// Number of the interval, the same for all jobs, from 1.
    pub(super) interval: u64,
    /// End of the interval, ms since the run began.
    pub(super) time_ms: u64,
    /// End of the interval, ms since 1970.
    pub(super) timestamp_ms: u64,
    /// Time that the figures cover, ms.
    pub(super) length_ms: f64,
    /// Name of the job, at most 127 bytes.
    pub(super) jobname: &'a str,
    /// Number of the job in the run, from 1.
    pub(super) job_number: u32,
    /// Number of its group.
    pub(super) groupid: u32,
    /// What the job was doing at the end of the interval.
    pub(super) state: &'static str,
    /// The figures began anew in the interval: lines before this one do not count in the final report.
    pub(super) restarted: bool,
    /// The job answered. Else I/Os and bytes are what could be seen from outside, and all else follows with the next fresh line.
    pub(super) fresh: bool,
    /// Reads, if the job reads.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) read: Option<DirectionLine>,
    /// Writes, if it writes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) write: Option<DirectionLine>,
    /// Trims, if it trims.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) trim: Option<DirectionLine>,
    /// Periodic syncs, once there was one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) sync: Option<SyncLine>,
    /// Mean number of I/Os under way, by Little's law.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) iodepth_mean: Option<f64>,
    /// I/Os issued and not completed at the end of the interval, of an asynchronous engine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) in_flight: Option<u64>,
    /// Errno that ended the job, 0 without.
    pub(super) error: i32,
    /// Tolerated errors.
    pub(super) total_err: u64,
    /// Errno of the first tolerated error of the job, 0 without.
    pub(super) first_error: i32,
    /// CPU time of the worker.
    #[serde(flatten)]
    pub(super) cpu: Option<CpuLine>,
}

/// I/Os of one direction.
#[derive(Clone, Debug, Serialize)]
pub(super) struct DirectionLine {
    io_bytes: u64,
    bw_bytes: u64,
    iops: f64,
    total_ios: u64,
    short_ios: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    slat_ns: Option<LatencyReport>,
    #[serde(skip_serializing_if = "Option::is_none")]
    clat_ns: Option<LatencyReport>,
    #[serde(skip_serializing_if = "Option::is_none")]
    lat_ns: Option<LatencyReport>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_ns: Option<LatencyReport>,
}

/// fsync, fdatasync and sync_file_range calls.
#[derive(Clone, Debug, Serialize)]
pub(super) struct SyncLine {
    total_ios: u64,
    lat_ns: LatencyReport,
}

/// CPU time in percent of the time since the last fresh line, context switches.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct CpuLine {
    usr_cpu: f64,
    sys_cpu: f64,
    ctx: u64,
}

impl IntervalLine<'_> {
    /// Appends the line with its newline to `out`.
    pub(super) fn write_to(&self, out: &mut Vec<u8>) {
        // Writing to memory cannot fail, and all keys are strings.
        let written = self.serialize(&mut Serializer::with_formatter(&mut *out, OnOneLine));
        debug_assert!(written.is_ok(), "{written:?}");
        out.push(b'\n');
    }
}

impl DirectionLine {
    /// The line of a direction that `spec` uses or in which I/O `was_done`; `new` is what was done in `ns`.
    pub(super) fn new(
        direction: Direction,
        spec: &JobSpec,
        was_done: bool,
        new: &DirectionStats,
        ns: u128,
    ) -> Option<Self> {
        if !spec.rw.does(direction) && !was_done {
            return None;
        }
        let measure = &spec.measure;
        let latency = |latency: Option<&Latency>, percentiles: bool| {
            latency.map(|latency| latency_line(latency, spec, percentiles))
        };
        Some(DirectionLine {
            io_bytes: new.bytes,
            bw_bytes: rate(new.bytes, ns) as u64,
            iops: rate(new.ios, ns),
            total_ios: new.ios,
            short_ios: new.short,
            slat_ns: latency(new.slat.as_deref(), measure.slat_percentiles),
            clat_ns: latency(new.clat.as_deref(), measure.clat_percentiles),
            lat_ns: latency(new.lat(), measure.lat_percentiles),
            response_ns: latency(new.response.as_deref(), measure.any_percentiles()),
        })
    }
}

impl SyncLine {
    /// The line of syncs, if there `were` any up to now.
    pub(super) fn new(spec: &JobSpec, were: bool, new: &SyncStats) -> Option<Self> {
        let latency = |latency: &Latency| latency_line(latency, spec, spec.measure.any_percentiles());
        let lat_ns = new.latency.as_deref().map(latency).unwrap_or_default();
        were.then_some(SyncLine { total_ios: new.ios, lat_ns })
    }
}

impl CpuLine {
    /// What `new` used in `ns`.
    pub(super) fn new(new: &JobStats, ns: u128) -> Self {
        let us = u64::try_from(ns / 1000).unwrap_or(u64::MAX);
        CpuLine {
            usr_cpu: percent(new.usage.user_us, us),
            sys_cpu: percent(new.usage.system_us, us),
            ctx: new.usage.context_switches,
        }
    }
}

/// Mean number of I/Os under way in `ns`: the sum of the latencies of those that completed, over the time. `None` if latencies are
/// not measured.
pub(super) fn mean_depth(new: &JobStats, ns: u128) -> Option<f64> {
    let latencies =
        new.directions.iter().filter_map(|direction| direction.lat().or(direction.clat.as_deref()));
    let sums: Vec<f64> = latencies.map(|latency| latency.mean() * latency.count() as f64).collect();
    (!sums.is_empty()).then(|| if ns == 0 { 0.0 } else { sums.iter().sum::<f64>() / ns as f64 })
}

fn latency_line(latency: &Latency, spec: &JobSpec, percentiles: bool) -> LatencyReport {
    let histograms = Histograms { buckets: Buckets::Hdr, bins: false };
    latency_report(latency, &spec.measure.percentiles, percentiles, histograms)
}

/// `count` in `ns` as a rate per second.
fn rate(count: u64, ns: u128) -> f64 {
    if ns == 0 { 0.0 } else { count as f64 * 1e9 / ns as f64 }
}

/// A JSON document on one line, with the decimals of the JSON report.
struct OnOneLine;

impl Formatter for OnOneLine {
    fn write_f64<W: ?Sized + io::Write>(&mut self, out: &mut W, value: f64) -> io::Result<()> {
        write!(out, "{value:.6}")
    }
}
