//! One direction of an entry: rates, samples, latencies, and latencies by priority.

use ferrio_job::{IoPriority, Measure};
use ferrio_stats::{Buckets, DirectionStats, JobStats, Latency, PriorityLatency};

use crate::model::{DirectionReport, LatencyReport, Pairs, Percentiles, PriorityReport, SyncReport};
use crate::num::{finite, per_second};
use crate::report_options::ReportOptions;

pub(super) fn direction_report(
    stats: &DirectionStats,
    group_bw: u64,
    measure: &Measure,
    histograms: HistogramOptions<'_>,
) -> DirectionReport {
    let bw_bytes = per_second(stats.bytes, stats.runtime_ms);
    let latency = |latency: Option<&Latency>, percentiles: bool| {
        latency.map(|l| latency_report(l, &measure.percentiles, percentiles, histograms)).unwrap_or_default()
    };
    DirectionReport {
        io_bytes: stats.bytes,
        io_kbytes: stats.bytes >> 10,
        bw_bytes,
        bw: bw_bytes / 1024,
        iops: if stats.runtime_ms == 0 { 0.0 } else { 1000.0 * stats.ios as f64 / stats.runtime_ms as f64 },
        runtime: stats.runtime_ms,
        total_ios: stats.ios,
        short_ios: stats.short,
        drop_ios: stats.dropped,
        slat_ns: latency(stats.slat.as_deref(), measure.slat_percentiles),
        clat_ns: latency(stats.clat.as_deref(), measure.clat_percentiles),
        lat_ns: latency(stats.lat(), measure.lat_percentiles),
        prios: priority_reports(stats, measure, histograms),
        response_ns: stats
            .response
            .is_some()
            .then(|| latency(stats.response.as_deref(), measure.any_percentiles())),
        bw_min: stats.bw.min,
        bw_max: stats.bw.max,
        bw_agg: if stats.bw.samples == 0 { 0.0 } else { share_of_group(stats.bw.mean, group_bw) },
        bw_mean: finite(stats.bw.mean),
        bw_dev: finite(stats.bw.stddev()),
        bw_samples: stats.bw.samples,
        iops_min: stats.iops.min,
        iops_max: stats.iops.max,
        iops_mean: finite(stats.iops.mean),
        iops_stddev: finite(stats.iops.stddev()),
        iops_samples: stats.iops.samples,
        zone_resets: None,
    }
}

/// A mean bandwidth in KiB/s as a percentage of the group's in bytes per second, at most 100.
pub(super) fn share_of_group(mean_kib: f64, group_bw: u64) -> f64 {
    let group_kib = group_bw as f64 / 1024.0;
    if group_kib <= 1.0 { 100.0 } else { finite(100.0 * mean_kib.floor() / group_kib).min(100.0) }
}

pub(super) fn sync_report(
    stats: &JobStats,
    measure: &Measure,
    histograms: HistogramOptions<'_>,
) -> SyncReport {
    let total_ios = stats.sync.ios;
    let lat_ns =
        stats.sync.latency.as_deref().map(|latency| {
            latency_report(latency, &measure.percentiles, measure.any_percentiles(), histograms)
        });
    SyncReport { total_ios, lat_ns: lat_ns.unwrap_or_default() }
}

/// Percentiles of syncs, whether percentiles are enabled or not.
pub(super) fn sync_percentiles(
    stats: &JobStats,
    measure: &Measure,
    histograms: HistogramOptions<'_>,
) -> Percentiles {
    let latency = stats.sync.latency.as_deref();
    latency
        .map(|latency| Pairs(latency.percentiles(histograms.buckets, &measure.percentiles)))
        .unwrap_or_default()
}

/// The histogram data that the latencies of a report include.
#[derive(Clone, Copy)]
pub(crate) struct HistogramOptions<'a> {
    /// The buckets that percentiles are read from.
    pub(crate) buckets: Buckets,
    /// True if fio's buckets are listed.
    pub(crate) bins: bool,
    /// Percentiles for thresholds that are not in the document.
    pub(crate) requested: &'a [f64],
}

impl<'a> HistogramOptions<'a> {
    pub(crate) fn of(options: &'a ReportOptions) -> Self {
        HistogramOptions {
            buckets: options.buckets(),
            bins: options.formats.have_details(),
            requested: &options.requested_percentiles,
        }
    }
}

/// The figures of one latency. Percentiles of `list` and buckets are included only `with_percentiles`.
pub(crate) fn latency_report(
    latency: &Latency,
    list: &[f64],
    with_percentiles: bool,
    histograms: HistogramOptions<'_>,
) -> LatencyReport {
    let mut report = LatencyReport {
        min: latency.min(),
        max: latency.max(),
        mean: finite(latency.mean()),
        stddev: finite(latency.stddev()),
        samples: latency.count(),
        unlisted: Pairs(latency.percentiles(histograms.buckets, histograms.requested)),
        ..LatencyReport::default()
    };
    if with_percentiles {
        report.percentile = Pairs(latency.percentiles(histograms.buckets, list));
        if histograms.bins {
            report.bins = Pairs(latency.fio_bins());
        }
    }
    report
}

/// One report for each priority that has samples; empty if all I/Os have the same priority.
fn priority_reports(
    stats: &DirectionStats,
    measure: &Measure,
    histograms: HistogramOptions<'_>,
) -> Vec<PriorityReport> {
    let of_lat = stats.priorities.of_lat;
    let percentiles = if of_lat { measure.lat_percentiles } else { measure.clat_percentiles };
    let report = |part: &PriorityLatency| {
        let priority = IoPriority::from_bits(part.priority);
        let latency = Some(latency_report(&part.latency, &measure.percentiles, percentiles, histograms));
        let (clat_ns, lat_ns) = if of_lat { (None, latency) } else { (latency, None) };
        PriorityReport {
            prioclass: priority.class(),
            prio: priority.level(),
            priohint: priority.hint(),
            clat_ns,
            lat_ns,
        }
    };
    stats.priorities.parts().into_iter().map(report).collect()
}
