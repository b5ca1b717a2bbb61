//! What an exposition says of the disks under the files of the run.

use super::family::{Family, Labels, MetricType, Point, each, one, ratio, seconds_of_ms};
use crate::model::{DiskReport, RunReport};

/// Bytes in a sector, whatever the disk's own are.
const SECTOR: u64 = 512;

/// About one disk.
pub const FAMILIES: &[Family<DiskReport>] = &[
    Family {
        name: "ferrio_disk_ios",
        kind: MetricType::Counter,
        unit: "",
        help: "I/Os that the disk completed during the run, whoever asked",
        points: |disk| both(disk.read_ios, disk.write_ios),
    },
    Family {
        name: "ferrio_disk_io_bytes",
        kind: MetricType::Counter,
        unit: "bytes",
        help: "Bytes that they moved",
        points: |disk| {
            both(disk.read_sectors.saturating_mul(SECTOR), disk.write_sectors.saturating_mul(SECTOR))
        },
    },
    Family {
        name: "ferrio_disk_merges",
        kind: MetricType::Counter,
        unit: "",
        help: "I/Os that were merged with one in the queue",
        points: |disk| both(disk.read_merges, disk.write_merges),
    },
    Family {
        name: "ferrio_disk_io_seconds",
        kind: MetricType::Counter,
        unit: "seconds",
        help: "Time of all I/Os of the disk added up",
        points: |disk| {
            each(
                "direction",
                [("read", seconds_of_ms(disk.read_ticks)), ("write", seconds_of_ms(disk.write_ticks))],
            )
        },
    },
    Family {
        name: "ferrio_disk_queue_seconds",
        kind: MetricType::Counter,
        unit: "seconds",
        help: "The same with I/Os that were still waiting",
        points: |disk| one(seconds_of_ms(disk.in_queue)),
    },
    Family {
        name: "ferrio_disk_utilization_ratio",
        kind: MetricType::Gauge,
        unit: "ratio",
        help: "Share of the run in which the disk was busy",
        points: |disk| one(ratio(disk.util)),
    },
];

/// All disks; those that others are made of stand for themselves.
pub fn things(report: &RunReport) -> Vec<(Labels, &DiskReport)> {
    report.disk_util.iter().map(|disk| (vec![("disk", disk.name.clone())], disk)).collect()
}

fn both(read: u64, write: u64) -> Vec<Point> {
    each("direction", [("read", read), ("write", write)])
}
