//! The figures of single hosts.

use ferrio_job::UnifiedReporting;
use ferrio_stats::{Buckets, DirectionStats};

use super::ReportedHost;
use super::series::began_ms;
use crate::build::record::EntryRecord;
use crate::host_report::HostReport;
use crate::model::{HostDirectionReport, HostEntryReport};
use crate::num::{finite, per_second};

/// Figures of the entries of a host, in the order of its report.
pub(super) fn host_entries(host: &ReportedHost, report: &HostReport) -> Vec<HostEntryReport> {
    let buckets = report.histograms.options().buckets;
    let figures =
        |entry| HostEntryReport { start_ms: start_ms(host, entry), ..entry_figures(entry, buckets) };
    report.entries.iter().map(figures).collect()
}

/// The figures of an entry.
pub(super) fn entry_figures(entry: &EntryRecord<'_>, buckets: Buckets) -> HostEntryReport {
    let unified = entry.measure.unified;
    let direction = |at: usize| {
        (unified != UnifiedReporting::Mixed).then(|| figures(&entry.stats.directions[at], buckets)).flatten()
    };
    HostEntryReport {
        jobname: entry.jobname.clone(),
        groupid: entry.groupid,
        error: entry.error.as_ref().map_or(0, |error| error.errno),
        start_ms: None,
        read: direction(0),
        write: direction(1),
        trim: direction(2),
        mixed: (unified != UnifiedReporting::None).then(|| figures(&entry.stats.mixed(), buckets)).flatten(),
    }
}

/// When an entry began on the axis of the whole run. The run of a host begins when its first job does.
pub(super) fn start_ms(host: &ReportedHost, entry: &EntryRecord<'_>) -> Option<u64> {
    Some(entry.start_offset_ms?.saturating_add(began_ms(host)))
}

/// `None` without I/O.
fn figures(stats: &DirectionStats, buckets: Buckets) -> Option<HostDirectionReport> {
    if stats.ios == 0 && stats.bytes == 0 {
        return None;
    }
    let latency = stats.completion().filter(|latency| latency.count() > 0);
    let p99 = latency.and_then(|latency| latency.percentiles(buckets, &[99.0]).first().copied());
    Some(HostDirectionReport {
        io_bytes: stats.bytes,
        total_ios: stats.ios,
        runtime: stats.runtime_ms,
        bw_bytes: per_second(stats.bytes, stats.runtime_ms),
        iops: iops(stats.ios, stats.runtime_ms),
        lat_mean_ns: latency.map(|latency| finite(latency.mean())),
        lat_p99_ns: p99.map(|(_, ns)| ns),
        straggler: false,
    })
}

/// I/Os per second; 0 without a time.
pub(super) fn iops(ios: u64, runtime_ms: u64) -> f64 {
    if runtime_ms == 0 { 0.0 } else { 1000.0 * ios as f64 / runtime_ms as f64 }
}
