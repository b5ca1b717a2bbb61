//! Latencies of I/Os by their priority.

use ferrio_job::{IoPriority, Measure};
use ferrio_stats::{DirectionStats, PriorityLatency};

use super::{Histograms, latency_report};
use crate::model::PriorityReport;

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
