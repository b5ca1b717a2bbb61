//! Latencies of an entry, and those of its I/Os by priority.

use ferrio_job::{IoPriority, Measure};
use ferrio_stats::{Buckets, DirectionStats, Latency, PriorityLatency};

use crate::model::{LatencyReport, Pairs, Percentiles, PriorityReport};
use crate::num::finite;

/// What latencies show of their histograms, the same in all of a report.
#[derive(Clone, Copy)]
pub(crate) struct Histograms {
    /// Which percentiles are read from.
    pub(crate) buckets: Buckets,
    /// Fio's buckets are listed.
    pub(crate) bins: bool,
}

/// The figures of one latency; its percentiles of `list` and its buckets `with_percentiles` only.
pub(crate) fn latency_report(
    latency: &Latency,
    list: &[f64],
    with_percentiles: bool,
    histograms: Histograms,
) -> LatencyReport {
    let mut report = LatencyReport {
        min: latency.min(),
        max: latency.max(),
        mean: finite(latency.mean()),
        stddev: finite(latency.stddev()),
        samples: latency.count(),
        ..LatencyReport::default()
    };
    if with_percentiles {
        report.percentile = Percentiles(latency.percentiles(histograms.buckets, list));
        if histograms.bins {
            report.bins = Pairs(latency.fio_bins());
        }
    }
    report
}

/// One entry for each priority that has samples; none if all I/Os have the same.
pub(super) fn priority_reports(
    stats: &DirectionStats,
    measure: &Measure,
    histograms: Histograms,
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
