//! What an exposition says of each direction of each entry.

use super::family::{
    Family, Labels, MetricType, MetricValue, Point, Summary, latency, latency_stddev, maybe, one, ratio,
    seconds_of_ms,
};
use super::jobs;
use crate::model::{DirectionReport, RunReport};

/// About one direction of an entry.
pub const FAMILIES: &[Family<DirectionReport>] = &[
    Family {
        name: "ferrio_ios",
        kind: MetricType::Counter,
        unit: "",
        help: "I/Os issued",
        points: |direction| one(direction.total_ios),
    },
    Family {
        name: "ferrio_short_ios",
        kind: MetricType::Counter,
        unit: "",
        help: "I/Os that moved fewer bytes than asked",
        points: |direction| one(direction.short_ios),
    },
    Family {
        name: "ferrio_io_bytes",
        kind: MetricType::Counter,
        unit: "bytes",
        help: "Bytes moved",
        points: |direction| one(direction.io_bytes),
    },
    Family {
        name: "ferrio_runtime_seconds",
        kind: MetricType::Gauge,
        unit: "seconds",
        help: "Time in which I/Os of this direction were done",
        points: |direction| one(seconds_of_ms(direction.runtime)),
    },
    Family {
        name: "ferrio_iops",
        kind: MetricType::Gauge,
        unit: "",
        help: "I/Os per second over the run time",
        points: |direction| one(direction.iops),
    },
    Family {
        name: "ferrio_bandwidth_bytes_per_second",
        kind: MetricType::Gauge,
        unit: "bytes_per_second",
        help: "Bytes per second over the run time, rounded down",
        points: |direction| one(direction.bw_bytes),
    },
    Family {
        name: "ferrio_iops_samples",
        kind: MetricType::Summary,
        unit: "",
        help: "I/Os per second of the intervals that the run was cut into",
        points: |direction| {
            let &DirectionReport { iops_min, iops_max, iops_mean, iops_samples, .. } = direction;
            samples(iops_min, iops_max, iops_mean, iops_samples, 1)
        },
    },
    Family {
        name: "ferrio_iops_samples_stddev",
        kind: MetricType::Gauge,
        unit: "",
        help: "Standard deviation of those samples",
        points: |direction| maybe((direction.iops_samples > 0).then_some(direction.iops_stddev)),
    },
    Family {
        name: "ferrio_bandwidth_samples_bytes_per_second",
        kind: MetricType::Summary,
        unit: "bytes_per_second",
        help: "Bytes per second of the intervals that the run was cut into",
        points: |direction| {
            let &DirectionReport { bw_min, bw_max, bw_mean, bw_samples, .. } = direction;
            samples(bw_min, bw_max, bw_mean, bw_samples, KIB)
        },
    },
    Family {
        name: "ferrio_bandwidth_samples_stddev_bytes_per_second",
        kind: MetricType::Gauge,
        unit: "bytes_per_second",
        help: "Standard deviation of those samples",
        points: |direction| maybe((direction.bw_samples > 0).then_some(direction.bw_dev * KIB as f64)),
    },
    Family {
        name: "ferrio_bandwidth_group_ratio",
        kind: MetricType::Gauge,
        unit: "ratio",
        help: "Mean of the bandwidth samples over the bandwidth of the group, at most 1",
        points: |direction| maybe((direction.bw_samples > 0).then(|| ratio(direction.bw_agg))),
    },
    Family {
        name: "ferrio_slat_seconds",
        kind: MetricType::Summary,
        unit: "seconds",
        help: "Submission latency",
        points: |direction| latency(&direction.slat_ns),
    },
    Family {
        name: "ferrio_slat_stddev_seconds",
        kind: MetricType::Gauge,
        unit: "seconds",
        help: "Standard deviation of the submission latency",
        points: |direction| latency_stddev(&direction.slat_ns),
    },
    Family {
        name: "ferrio_clat_seconds",
        kind: MetricType::Summary,
        unit: "seconds",
        help: "Completion latency",
        points: |direction| latency(&direction.clat_ns),
    },
    Family {
        name: "ferrio_clat_stddev_seconds",
        kind: MetricType::Gauge,
        unit: "seconds",
        help: "Standard deviation of the completion latency",
        points: |direction| latency_stddev(&direction.clat_ns),
    },
    Family {
        name: "ferrio_lat_seconds",
        kind: MetricType::Summary,
        unit: "seconds",
        help: "Total latency, from submission to completion",
        points: |direction| latency(&direction.lat_ns),
    },
    Family {
        name: "ferrio_lat_stddev_seconds",
        kind: MetricType::Gauge,
        unit: "seconds",
        help: "Standard deviation of the total latency",
        points: |direction| latency_stddev(&direction.lat_ns),
    },
    Family {
        name: "ferrio_response_seconds",
        kind: MetricType::Summary,
        unit: "seconds",
        help: "Time from the moment an I/O was due to its completion, under a rate",
        points: |direction| direction.response_ns.as_ref().map_or_else(Vec::new, latency),
    },
    Family {
        name: "ferrio_response_stddev_seconds",
        kind: MetricType::Gauge,
        unit: "seconds",
        help: "Standard deviation of that time",
        points: |direction| direction.response_ns.as_ref().map_or_else(Vec::new, latency_stddev),
    },
];

/// The report has bandwidth samples in KiB/s.
const KIB: u64 = 1024;

/// What is shown of the directions of all entries.
pub fn things(report: &RunReport) -> Vec<(Labels, &DirectionReport)> {
    let entries = report.jobs.iter().enumerate();
    let directions = entries.flat_map(|(at, job)| {
        job.shown_directions().into_iter().map(move |(name, direction)| {
            let mut labels = jobs::labels(at, job);
            labels.push(("direction", name.to_owned()));
            (labels, direction)
        })
    });
    directions.collect()
}

/// Samples of a rate by what is known of them, if there are any.
fn samples(min: u64, max: u64, mean: f64, count: u64, unit: u64) -> Vec<Point> {
    if count == 0 {
        return Vec::new();
    }
    let unit = unit as f64;
    let quantiles = vec![(0.0, min as f64 * unit), (1.0, max as f64 * unit)];
    one(MetricValue::Summary(Summary { quantiles, sum: mean * count as f64 * unit, count }))
}
