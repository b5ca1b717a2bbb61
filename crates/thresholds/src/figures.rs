//! The figures that a threshold can limit, by their names in the JSON document.

use ferrio_job::Direction;
use ferrio_report::Unit;
use ferrio_report::model::{DirectionReport, JobReport, LatencyReport};

/// The kind of I/O that a figure is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum IoKind {
    Read,
    Write,
    Trim,
    Mixed,
    Sync,
}

impl IoKind {
    pub(crate) const ALL: [(&'static str, IoKind); 5] = [
        ("read", IoKind::Read),
        ("write", IoKind::Write),
        ("trim", IoKind::Trim),
        ("mixed", IoKind::Mixed),
        ("sync", IoKind::Sync),
    ];

    pub(crate) fn word(self) -> &'static str {
        IoKind::ALL.iter().find(|(_, io)| *io == self).map_or("", |(word, _)| word)
    }

    /// `None` for syncs, and for directions that are reported as one.
    pub(crate) fn direction(self) -> Option<Direction> {
        Direction::ALL.into_iter().find(|direction| direction.name() == self.word())
    }
}

/// A figure of a whole job.
pub(crate) struct JobFigure {
    pub(crate) name: &'static str,
    pub(crate) unit: Unit,
    pub(crate) value: fn(&JobReport) -> Option<f64>,
}

const fn of_job(name: &'static str, unit: Unit, value: fn(&JobReport) -> Option<f64>) -> JobFigure {
    JobFigure { name, unit, value }
}

pub(crate) static JOB_FIGURES: [JobFigure; 8] = [
    of_job("error", Unit::Count, |job| Some(f64::from(job.error))),
    of_job("total_err", Unit::Count, |job| Some(job.tolerated?.total_err as f64)),
    of_job("job_runtime", Unit::Milliseconds, |job| Some(job.job_runtime as f64)),
    of_job("usr_cpu", Unit::Percent, |job| Some(job.usr_cpu)),
    of_job("sys_cpu", Unit::Percent, |job| Some(job.sys_cpu)),
    of_job("ctx", Unit::Count, |job| Some(job.ctx as f64)),
    of_job("majf", Unit::Count, |job| Some(job.majf as f64)),
    of_job("minf", Unit::Count, |job| Some(job.minf as f64)),
];

/// A rate, an amount or a time of a direction.
pub(crate) struct DirectionFigure {
    pub(crate) name: &'static str,
    pub(crate) unit: Unit,
    pub(crate) value: fn(&DirectionReport) -> f64,
}

const fn of_direction(name: &'static str, unit: Unit, value: fn(&DirectionReport) -> f64) -> DirectionFigure {
    DirectionFigure { name, unit, value }
}

/// Amounts that documents have in KiB are in bytes.
pub(crate) static DIRECTION_FIGURES: [DirectionFigure; 13] = [
    of_direction("iops", Unit::PerSecond, |io| io.iops),
    of_direction("bw", Unit::BytesPerSecond, |io| io.bw_bytes as f64),
    of_direction("bw_bytes", Unit::BytesPerSecond, |io| io.bw_bytes as f64),
    of_direction("io_bytes", Unit::Bytes, |io| io.io_bytes as f64),
    of_direction("total_ios", Unit::Count, |io| io.total_ios as f64),
    of_direction("short_ios", Unit::Count, |io| io.short_ios as f64),
    of_direction("runtime", Unit::Milliseconds, |io| io.runtime as f64),
    of_direction("iops_min", Unit::PerSecond, |io| io.iops_min as f64),
    of_direction("iops_max", Unit::PerSecond, |io| io.iops_max as f64),
    of_direction("iops_mean", Unit::PerSecond, |io| io.iops_mean),
    of_direction("bw_min", Unit::BytesPerSecond, |io| io.bw_min as f64 * 1024.0),
    of_direction("bw_max", Unit::BytesPerSecond, |io| io.bw_max as f64 * 1024.0),
    of_direction("bw_mean", Unit::BytesPerSecond, |io| io.bw_mean * 1024.0),
];

/// A latency of a direction.
pub(crate) struct LatencyRow {
    pub(crate) name: &'static str,
    /// The key in documents.
    pub(crate) key: &'static str,
    pub(crate) latency: fn(&DirectionReport) -> Option<&LatencyReport>,
}

/// All latencies; syncs have `lat` alone.
pub(crate) static LATENCIES: [LatencyRow; 4] = [
    LatencyRow { name: "clat", key: "clat_ns", latency: |io| Some(&io.clat_ns) },
    LatencyRow { name: "lat", key: "lat_ns", latency: |io| Some(&io.lat_ns) },
    LatencyRow { name: "slat", key: "slat_ns", latency: |io| Some(&io.slat_ns) },
    LatencyRow { name: "response", key: "response_ns", latency: |io| io.response_ns.as_ref() },
];

/// A figure of a latency.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum LatencyFigure {
    Min,
    Max,
    Mean,
    Deviation,
    Samples,
    /// In percent.
    Percentile(f64),
}

impl LatencyFigure {
    /// The words of all figures but percentiles.
    pub(crate) const WORDS: [(&'static str, LatencyFigure); 5] = [
        ("min", LatencyFigure::Min),
        ("max", LatencyFigure::Max),
        ("mean", LatencyFigure::Mean),
        ("stddev", LatencyFigure::Deviation),
        ("N", LatencyFigure::Samples),
    ];

    pub(crate) const fn unit(self) -> Unit {
        match self {
            LatencyFigure::Samples => Unit::Count,
            _ => Unit::Nanoseconds,
        }
    }

    /// `None` without samples, and for a percentile that is not known.
    pub(crate) fn of(self, latency: &LatencyReport) -> Option<f64> {
        match self {
            LatencyFigure::Samples => Some(latency.samples as f64),
            _ if latency.samples == 0 => None,
            LatencyFigure::Min => Some(latency.min as f64),
            LatencyFigure::Max => Some(latency.max as f64),
            LatencyFigure::Mean => Some(latency.mean),
            LatencyFigure::Deviation => Some(latency.stddev),
            LatencyFigure::Percentile(percent) => {
                let mut known = latency.unlisted.0.iter().chain(&latency.percentile.0);
                known.find(|(other, _)| *other == percent).map(|&(_, ns)| ns as f64)
            }
        }
    }
}

/// A figure that a threshold can limit.
#[derive(Clone, Copy)]
pub(crate) enum LimitedFigure {
    Job(&'static JobFigure),
    Direction(IoKind, &'static DirectionFigure),
    Latency(IoKind, &'static LatencyRow, LatencyFigure),
    /// Number of syncs.
    Syncs,
    /// The latency of syncs.
    SyncLatency(LatencyFigure),
}

impl LimitedFigure {
    pub(crate) const fn unit(&self) -> Unit {
        match self {
            LimitedFigure::Job(row) => row.unit,
            LimitedFigure::Direction(_, row) => row.unit,
            LimitedFigure::Latency(_, _, figure) | LimitedFigure::SyncLatency(figure) => figure.unit(),
            LimitedFigure::Syncs => Unit::Count,
        }
    }

    /// The kind of I/O; `None` for the whole job.
    pub(crate) const fn io(&self) -> Option<IoKind> {
        match self {
            LimitedFigure::Job(_) => None,
            LimitedFigure::Direction(io, _) | LimitedFigure::Latency(io, ..) => Some(*io),
            LimitedFigure::Syncs | LimitedFigure::SyncLatency(_) => Some(IoKind::Sync),
        }
    }

    /// The percentile that must be in the report.
    pub(crate) const fn percentile(&self) -> Option<f64> {
        match self {
            LimitedFigure::Latency(_, _, LatencyFigure::Percentile(percent))
            | LimitedFigure::SyncLatency(LatencyFigure::Percentile(percent)) => Some(*percent),
            _ => None,
        }
    }

    /// The figure of an entry that has I/O of this kind; `None` if it is not measured.
    pub(crate) fn of(&self, job: &JobReport) -> Option<f64> {
        match self {
            LimitedFigure::Job(row) => (row.value)(job),
            LimitedFigure::Direction(io, row) => job.direction(io.word()).map(row.value),
            LimitedFigure::Latency(io, row, figure) => figure.of((row.latency)(job.direction(io.word())?)?),
            LimitedFigure::Syncs => Some(job.syncs()?.total_ios as f64),
            LimitedFigure::SyncLatency(figure) => figure.of(&job.syncs()?.lat_ns),
        }
    }

    /// Whether an entry has I/O of this kind: it did some, or should have.
    pub(crate) fn applies_to(&self, job: &JobReport) -> bool {
        let Some(io) = self.io() else { return true };
        if io == IoKind::Sync {
            return job.syncs().is_some_and(|syncs| syncs.total_ios > 0);
        }
        let should = io.direction().is_none_or(|direction| job.text.does[direction as usize]);
        job.direction(io.word()).is_some_and(|direction| should || direction.total_ios > 0)
    }
}
