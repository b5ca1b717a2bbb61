//! What an exposition says of each entry of the report, all directions together.

use super::family::{
    Family, Labels, MetricType, MetricValue, Point, each, latency, latency_stddev, maybe, one, ratio,
    seconds_of_ms, seconds_of_ns,
};
use crate::model::{JobReport, LabelledShares, RunReport, TargetReport};

/// About one entry.
pub const FAMILIES: &[Family<JobReport>] = &[
    Family {
        name: "ferrio_job_instances",
        kind: MetricType::Gauge,
        unit: "",
        help: "Jobs summed up in this entry",
        points: |job| one(job.text.jobs as u64),
    },
    Family {
        name: "ferrio_job_start_timestamp_seconds",
        kind: MetricType::Gauge,
        unit: "seconds",
        help: "When I/O began, or the ramp ended, since 1970",
        points: |job| maybe((job.job_start > 0).then(|| seconds_of_ms(job.job_start))),
    },
    Family {
        name: "ferrio_job_runtime_seconds",
        kind: MetricType::Gauge,
        unit: "seconds",
        help: "Time from start to end, summed over the jobs of the entry",
        points: |job| one(seconds_of_ms(job.job_runtime)),
    },
    Family {
        name: "ferrio_job_error_code",
        kind: MetricType::Gauge,
        unit: "",
        help: "First errno of the entry, 0 without an error",
        points: |job| one(f64::from(job.error)),
    },
    Family {
        name: "ferrio_job_tolerated_errors",
        kind: MetricType::Counter,
        unit: "",
        help: "Errors that did not end the job, where errors are tolerated",
        points: |job| maybe(job.tolerated.map(|tolerated| tolerated.total_err)),
    },
    Family {
        name: "ferrio_job_cpu_ratio",
        kind: MetricType::Gauge,
        unit: "ratio",
        help: "CPU time over run time",
        points: |job| each("mode", [("user", ratio(job.usr_cpu)), ("system", ratio(job.sys_cpu))]),
    },
    Family {
        name: "ferrio_job_context_switches",
        kind: MetricType::Counter,
        unit: "",
        help: "Context switches",
        points: |job| one(job.ctx),
    },
    Family {
        name: "ferrio_job_page_faults",
        kind: MetricType::Counter,
        unit: "",
        help: "Page faults",
        points: |job| each("kind", [("major", job.majf), ("minor", job.minf)]),
    },
    Family {
        name: "ferrio_job_iodepth_ratio",
        kind: MetricType::Gauge,
        unit: "ratio",
        help: "Share of I/Os by the queue depth they met",
        points: |job| shares("iodepth", &job.iodepth_level),
    },
    Family {
        name: "ferrio_job_submit_ratio",
        kind: MetricType::Gauge,
        unit: "ratio",
        help: "Share of submit calls by the number of I/Os they handed over, up to",
        points: |job| shares("ios", &job.iodepth_submit),
    },
    Family {
        name: "ferrio_job_complete_ratio",
        kind: MetricType::Gauge,
        unit: "ratio",
        help: "Share of reap calls by the number of I/Os they got back, up to",
        points: |job| shares("ios", &job.iodepth_complete),
    },
    Family {
        name: "ferrio_job_latency_ratio",
        kind: MetricType::Gauge,
        unit: "ratio",
        help: "Share of I/Os by completion latency: below this many seconds and not below the label before",
        points: latency_shares,
    },
    Family {
        name: "ferrio_job_latency_target_seconds",
        kind: MetricType::Gauge,
        unit: "seconds",
        help: "Latency that was to be kept",
        points: |job| maybe(target(job).map(|target| seconds_of_ns(target.latency_target_ns))),
    },
    Family {
        name: "ferrio_job_latency_target_ratio",
        kind: MetricType::Gauge,
        unit: "ratio",
        help: "Share of I/Os that were to keep it",
        points: |job| maybe(target(job).map(|target| ratio(target.latency_percentile))),
    },
    Family {
        name: "ferrio_job_latency_target_iodepth",
        kind: MetricType::Gauge,
        unit: "",
        help: "Queue depth that was found to keep it",
        points: |job| maybe(target(job).map(|target| u64::from(target.latency_depth))),
    },
    Family {
        name: "ferrio_job_steady",
        kind: MetricType::Gauge,
        unit: "",
        help: "1 if the steady state was attained, 0 if not, where there was one to attain",
        points: |job| maybe(job.steadystate.as_ref().map(|steady| u64::from(steady.attained))),
    },
    Family {
        name: "ferrio_job_steady_iops",
        kind: MetricType::Gauge,
        unit: "",
        help: "I/Os per second in the window of the steady state",
        points: |job| maybe(job.steadystate.as_ref().map(|steady| steady.data.iops_mean)),
    },
    Family {
        name: "ferrio_job_steady_bandwidth_bytes_per_second",
        kind: MetricType::Gauge,
        unit: "bytes_per_second",
        help: "Bytes per second in the window of the steady state",
        points: |job| maybe(job.steadystate.as_ref().map(|steady| steady.data.bw_mean)),
    },
    Family {
        name: "ferrio_syncs",
        kind: MetricType::Counter,
        unit: "",
        help: "Calls of fsync, fdatasync and sync_file_range",
        points: |job| maybe(job.syncs().map(|syncs| syncs.total_ios)),
    },
    Family {
        name: "ferrio_sync_lat_seconds",
        kind: MetricType::Summary,
        unit: "seconds",
        help: "Latency of those calls",
        points: |job| job.syncs().map_or_else(Vec::new, |syncs| latency(&syncs.lat_ns)),
    },
    Family {
        name: "ferrio_sync_lat_stddev_seconds",
        kind: MetricType::Gauge,
        unit: "seconds",
        help: "Standard deviation of the latency of those calls",
        points: |job| job.syncs().map_or_else(Vec::new, |syncs| latency_stddev(&syncs.lat_ns)),
    },
];

/// The entries of the report.
pub fn things(report: &RunReport) -> Vec<(Labels, &JobReport)> {
    report.jobs.iter().enumerate().map(|(at, job)| (labels(at, job), job)).collect()
}

/// What tells an entry from all others: clones of a job have one name and one group.
pub fn labels(at: usize, job: &JobReport) -> Labels {
    vec![("entry", at.to_string()), ("jobname", job.jobname.clone()), ("group", job.groupid.to_string())]
}

fn shares(label: &'static str, shares: &LabelledShares) -> Vec<Point> {
    each(label, shares.0.iter().map(|(word, percent)| (word, ratio(*percent))))
}

/// The three tables of the report as one, with bounds in seconds.
fn latency_shares(job: &JobReport) -> Vec<Point> {
    let tables = [(&job.latency_ns, 1e9), (&job.latency_us, 1e6), (&job.latency_ms, 1e3)];
    let shares = tables.into_iter().flat_map(|(table, per_second)| {
        table.0.iter().map(move |(word, percent)| {
            let bound =
                word.parse::<f64>().map_or_else(|_| "+Inf".to_owned(), |n| (n / per_second).to_string());
            (bound, MetricValue::Real(ratio(*percent)))
        })
    });
    each("below", shares)
}

/// The latency target, if one was set; the report shows its figures in any case.
fn target(job: &JobReport) -> Option<&TargetReport> {
    job.target.as_ref().filter(|target| target.latency_target_ns > 0)
}
