//! The report as an OpenMetrics text, version 1.0: one exposition of the results of the whole run.
//!
//! Names, types and units follow the standard: seconds, bytes and ratios, counters end in `_total`, families are contiguous, the last line
//! is `# EOF`. No sample has a timestamp, and no family has a type that Prometheus' older text format lacks, because readers of files such
//! as node_exporter's textfile collector refuse both. The families are tables, one per kind of thing measured; `docs/openmetrics.md` lists
//! them for users, and a test compares the two.

mod database;
mod exposition;
mod hosts;

use std::collections::BTreeMap;

use crate::model::{
    DirectionReport, DiskReport, GroupDirection, GroupReport, JobReport, LabelledShares, MachineReport,
    RunFacts, RunReport, TargetReport,
};
use database::{DATABASES, databases};
use exposition::{
    Family, Labels, MetricDistribution, MetricPoint, MetricValue, each, families, latency, latency_histogram,
    latency_stddev, maybe, one, ratio, seconds_of_ms, seconds_of_ns, write,
};
use hosts::{COMMON, HOST_DIRECTIONS, HOSTS, common, host_directions, hosts};

/// The exposition, including `# EOF`.
#[must_use]
pub fn to_openmetrics(report: &RunReport) -> String {
    let mut out = String::new();
    write(&mut out, RUN, &[(Vec::new(), report)]);
    write(&mut out, ENTRIES, &entries(report));
    write(&mut out, DIRECTIONS, &directions(report));
    write(&mut out, GROUPS, &groups(report));
    write(&mut out, DATABASES, &databases(report));
    write(&mut out, DISKS, &disks(report));
    write(&mut out, HOSTS, &hosts(report));
    write(&mut out, HOST_DIRECTIONS, &host_directions(report));
    write(&mut out, COMMON, &common(report));
    out.push_str("# EOF\n");
    out
}

/// Families about the run.
const RUN: &[Family<RunReport>] = families! {
    Gauge "ferrio_run_info", "Always 1; the program and the machine, as labels",
        about;
    Gauge "ferrio_run_label_info", "Always 1; a label of the run (--label)",
        |report| {
            let point = |(label, value): &(String, String)| MetricPoint {
                labels: vec![("label", label.clone()), ("value", value.clone())],
                value: 1_u64.into(),
            };
            report.labels().iter().map(point).collect()
        };
    Gauge "ferrio_run_start_timestamp_seconds", "Unix time at which the first job started",
        |report| maybe(facts(report).map(|run| seconds_of_ms(run.started_ms)));
    Gauge "ferrio_run_elapsed_seconds", "Time from the start of the first job to the end of the run",
        |report| maybe(facts(report).map(|run| seconds_of_ms(run.elapsed_ms)));
    Gauge "ferrio_run_jobs", "Jobs of the run by how they ended",
        |report| {
            let ends = facts(report).map(|&RunFacts { jobs, failed_jobs, .. }| {
                [("completed", jobs.saturating_sub(failed_jobs)), ("failed", failed_jobs)]
            });
            each("end", ends.into_iter().flatten())
        };
    Gauge "ferrio_run_signal", "Number of the signal that ended the run, 0 if it ended by itself",
        |report| maybe(facts(report).map(|run| f64::from(run.signal.unwrap_or(0))));
    Gauge "ferrio_run_warnings", "Warnings about the figures, by code",
        |report| {
            let mut kinds: BTreeMap<&str, u64> = BTreeMap::new();
            report.warnings().iter().for_each(|warning| *kinds.entry(&*warning.code).or_default() += 1);
            each("code", kinds)
        };
    Gauge "ferrio_report_timestamp_seconds", "Unix time at which the report was made",
        |report| one(report.timestamp_ms as f64 / 1e3);
    Gauge "ferrio_job_option_info", "Always 1; an option of the entry as written, as labels",
        options;
};

/// Families about one entry.
const ENTRIES: &[Family<JobReport>] = families! {
    Gauge "ferrio_job_instances", "Number of jobs merged into the entry",
        |job| one(job.text.jobs as u64);
    Gauge "ferrio_job_start_timestamp_seconds",
        "Time at which I/O began or the ramp ended, by the clock of job_start_clock_id",
        |job| maybe((job.job_start > 0).then(|| seconds_of_ms(job.job_start)));
    Gauge "ferrio_job_runtime_seconds", "Time from start to end, summed over the jobs of the entry",
        |job| one(seconds_of_ms(job.job_runtime));
    Gauge "ferrio_job_error_code", "First errno of the entry, 0 without an error",
        |job| one(f64::from(job.error));
    Counter "ferrio_job_tolerated_errors", "Errors that did not end the job, with continue_on_error",
        |job| maybe(job.tolerated.map(|tolerated| tolerated.total_err));
    Counter "ferrio_job_damaged_blocks", "Blocks that failed verification, by what they look like",
        |job| each("kind", job.text.damage.iter().map(|&(kind, count)| (kind.word(), count)));
    Gauge "ferrio_job_cpu_ratio", "CPU time divided by run time",
        |job| each("mode", [("user", ratio(job.usr_cpu)), ("system", ratio(job.sys_cpu))]);
    Counter "ferrio_job_context_switches", "Context switches",
        |job| one(job.ctx);
    Counter "ferrio_job_page_faults", "Page faults",
        |job| each("kind", [("major", job.majf), ("minor", job.minf)]);
    Gauge "ferrio_job_iodepth_ratio", "Share of I/Os by the queue depth at which they were issued",
        |job| shares("iodepth", &job.iodepth_level);
    Gauge "ferrio_job_submit_ratio", "Share of submit calls by the number of I/Os submitted, up to the label",
        |job| shares("ios", &job.iodepth_submit);
    Gauge "ferrio_job_complete_ratio", "Share of reap calls by the number of I/Os returned, up to the label",
        |job| shares("ios", &job.iodepth_complete);
    Gauge "ferrio_job_latency_ratio",
        "Share of I/Os whose completion latency in seconds is below the label and not below the one before it",
        latency_shares;
    Gauge "ferrio_job_latency_target_seconds", "The latency_target of the entry",
        |job| maybe(target(job).map(|target| seconds_of_ns(target.latency_target_ns)));
    Gauge "ferrio_job_latency_target_ratio",
        "The latency_percentile of the entry: share of I/Os that must meet the latency target",
        |job| maybe(target(job).map(|target| ratio(target.latency_percentile)));
    Gauge "ferrio_job_latency_target_iodepth", "Queue depth found for the latency target",
        |job| maybe(target(job).map(|target| u64::from(target.latency_depth)));
    Gauge "ferrio_job_steady", "1 if the steady state was attained, 0 if not; absent without steadystate",
        |job| maybe(job.steadystate.as_ref().map(|steady| u64::from(steady.attained)));
    Gauge "ferrio_job_steady_iops", "I/Os per second in the window of the steady state",
        |job| maybe(job.steadystate.as_ref().map(|steady| steady.data.iops_mean));
    Gauge "ferrio_job_steady_bandwidth_bytes_per_second",
        "Bytes per second in the window of the steady state",
        |job| maybe(job.steadystate.as_ref().map(|steady| steady.data.bw_mean));
    Counter "ferrio_syncs", "Calls to fsync, fdatasync and sync_file_range",
        |job| maybe(job.syncs().map(|syncs| syncs.total_ios));
    Summary "ferrio_sync_lat_seconds", "Latency of sync calls",
        |job| job.syncs().map_or_else(Vec::new, |syncs| latency(&syncs.lat_ns));
    Gauge "ferrio_sync_lat_stddev_seconds", "Standard deviation of the latency of sync calls",
        |job| job.syncs().map_or_else(Vec::new, |syncs| latency_stddev(&syncs.lat_ns));
};

/// Families about one direction of an entry.
const DIRECTIONS: &[Family<DirectionReport>] = families! {
    Counter "ferrio_ios", "I/Os issued",
        |direction| one(direction.total_ios);
    Counter "ferrio_short_ios", "I/Os that moved fewer bytes than requested",
        |direction| one(direction.short_ios);
    Counter "ferrio_io_bytes", "Bytes moved",
        |direction| one(direction.io_bytes);
    Gauge "ferrio_runtime_seconds", "Time in which I/Os of this direction were done",
        |direction| one(seconds_of_ms(direction.runtime));
    Gauge "ferrio_iops", "I/Os per second over the run time",
        |direction| one(direction.iops);
    Gauge "ferrio_bandwidth_bytes_per_second", "Bytes per second over the run time, rounded down",
        |direction| one(direction.bw_bytes);
    Summary "ferrio_iops_samples", "I/Os per second, sampled at intervals of iopsavgtime",
        |direction| {
            let &DirectionReport { iops_min, iops_max, iops_mean, iops_samples, .. } = direction;
            samples(iops_min, iops_max, iops_mean, iops_samples, 1)
        };
    Gauge "ferrio_iops_samples_stddev", "Standard deviation of the I/O rate samples",
        |direction| maybe((direction.iops_samples > 0).then_some(direction.iops_stddev));
    Summary "ferrio_bandwidth_samples_bytes_per_second",
        "Bytes per second, sampled at intervals of bwavgtime",
        |direction| {
            let &DirectionReport { bw_min, bw_max, bw_mean, bw_samples, .. } = direction;
            samples(bw_min, bw_max, bw_mean, bw_samples, KIB_BYTES)
        };
    Gauge "ferrio_bandwidth_samples_stddev_bytes_per_second", "Standard deviation of the bandwidth samples",
        |direction| maybe((direction.bw_samples > 0).then_some(direction.bw_dev * KIB_BYTES as f64));
    Gauge "ferrio_bandwidth_group_ratio",
        "Mean of the bandwidth samples divided by the bandwidth of the group, at most 1",
        |direction| maybe((direction.bw_samples > 0).then(|| ratio(direction.bw_agg)));
    Summary "ferrio_slat_seconds", "Submission latency",
        |direction| latency(&direction.slat_ns);
    Gauge "ferrio_slat_stddev_seconds", "Standard deviation of the submission latency",
        |direction| latency_stddev(&direction.slat_ns);
    Summary "ferrio_clat_seconds", "Completion latency",
        |direction| latency(&direction.clat_ns);
    Gauge "ferrio_clat_stddev_seconds", "Standard deviation of the completion latency",
        |direction| latency_stddev(&direction.clat_ns);
    Histogram "ferrio_clat_histogram_seconds", "Completion latency as a histogram; only in the live metrics",
        |direction| latency_histogram(&direction.clat_ns);
    Summary "ferrio_lat_seconds", "Total latency, from submission to completion",
        |direction| latency(&direction.lat_ns);
    Gauge "ferrio_lat_stddev_seconds", "Standard deviation of the total latency",
        |direction| latency_stddev(&direction.lat_ns);
    Summary "ferrio_response_seconds",
        "Response time of a job with a rate: from the moment an I/O was due to its completion",
        |direction| direction.response_ns.as_ref().map_or_else(Vec::new, latency);
    Gauge "ferrio_response_stddev_seconds", "Standard deviation of the response time",
        |direction| direction.response_ns.as_ref().map_or_else(Vec::new, latency_stddev);
};

/// Families about one direction of a group.
const GROUPS: &[Family<GroupDirection>] = families! {
    Counter "ferrio_group_io_bytes", "Bytes moved by all entries of the group",
        |group| one(group.bytes);
    Gauge "ferrio_group_bandwidth_bytes_per_second",
        "Bytes moved by the group divided by its longest run time",
        |group| one(group.bw);
    Gauge "ferrio_group_runtime_seconds", "Longest run time of an entry of the group",
        |group| one(seconds_of_ms(group.runtime_max));
};

/// Sector size of the kernel's counters, in bytes, whatever the disk's own.
const SECTOR_BYTES: u64 = 512;

/// Families about one disk.
const DISKS: &[Family<DiskReport>] = families! {
    Counter "ferrio_disk_ios", "I/Os that the disk completed during the run, for all programs",
        |disk| both(disk.read_ios, disk.write_ios);
    Counter "ferrio_disk_io_bytes", "Bytes that the disk transferred during the run, for all programs",
        |disk| both(
            disk.read_sectors.saturating_mul(SECTOR_BYTES),
            disk.write_sectors.saturating_mul(SECTOR_BYTES),
        );
    Counter "ferrio_disk_merges", "I/Os that were merged with another one in the queue",
        |disk| both(disk.read_merges, disk.write_merges);
    Counter "ferrio_disk_io_seconds", "Sum of the times of all I/Os of the disk",
        |disk| each(
            "direction",
            [("read", seconds_of_ms(disk.read_ticks)), ("write", seconds_of_ms(disk.write_ticks))],
        );
    Counter "ferrio_disk_queue_seconds",
        "Sum of the times of all I/Os of the disk, including those still waiting",
        |disk| one(seconds_of_ms(disk.in_queue));
    Gauge "ferrio_disk_utilization_ratio", "Share of the run in which the disk was busy",
        |disk| one(ratio(disk.util));
};

/// The entries of the report.
fn entries(report: &RunReport) -> Vec<(Labels, &JobReport)> {
    report.jobs.iter().enumerate().map(|(at, job)| (entry_labels(at, job), job)).collect()
}

/// Labels that identify an entry, as clones of a job share name and group.
fn entry_labels(at: usize, job: &JobReport) -> Labels {
    vec![("entry", at.to_string()), ("jobname", job.jobname.clone()), ("group", job.groupid.to_string())]
}

fn shares(label: &'static str, shares: &LabelledShares) -> Vec<MetricPoint> {
    each(label, shares.0.iter().map(|(word, percent)| (word, ratio(*percent))))
}

/// The three tables of the report merged, with bounds in seconds.
fn latency_shares(job: &JobReport) -> Vec<MetricPoint> {
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

/// The latency target, if one was set; the report has its fields in any case.
fn target(job: &JobReport) -> Option<&TargetReport> {
    job.target.as_ref().filter(|target| target.latency_target_ns > 0)
}

/// The unit of the report's bandwidth samples, in bytes.
const KIB_BYTES: u64 = 1024;

/// All directions of all entries.
fn directions(report: &RunReport) -> Vec<(Labels, &DirectionReport)> {
    let entries = report.jobs.iter().enumerate();
    let directions = entries.flat_map(|(at, job)| {
        job.shown_directions().into_iter().map(move |(name, direction)| {
            let mut labels = entry_labels(at, job);
            labels.push(("direction", name.to_owned()));
            (labels, direction)
        })
    });
    directions.collect()
}

/// The samples of a rate, if there are any.
fn samples(min: u64, max: u64, mean: f64, count: u64, unit: u64) -> Vec<MetricPoint> {
    if count == 0 {
        return Vec::new();
    }
    let unit = unit as f64;
    let parts = [("0.0", min), ("1.0", max)]
        .map(|(share, rate)| (share.to_owned(), (rate as f64 * unit).to_string()));
    one(MetricValue::Distribution(MetricDistribution {
        parts: parts.into(),
        sum: mean * count as f64 * unit,
        count,
    }))
}

/// All directions of groups in which something ran.
fn groups(report: &RunReport) -> Vec<(Labels, &GroupDirection)> {
    report.groups.iter().flat_map(group_directions).collect()
}

fn group_directions(group: &GroupReport) -> Vec<(Labels, &GroupDirection)> {
    let GroupReport { id, directions: [read, write, trim], mixed, .. } = group;
    let sums = [("read", read), ("write", write), ("trim", trim), ("mixed", mixed)];
    let labels = |name: &str| vec![("group", id.to_string()), ("direction", name.to_owned())];
    sums.into_iter().filter_map(|(name, sum)| Some((labels(name), sum.as_ref()?))).collect()
}

/// Facts about the run; none in a document by fio.
fn facts(report: &RunReport) -> Option<&RunFacts> {
    report.ferrio.as_ref().map(|ferrio| &ferrio.run)
}

/// An unknown fact has an empty label, which means no label.
fn about(report: &RunReport) -> Vec<MetricPoint> {
    let Some(ferrio) = &report.ferrio else { return Vec::new() };
    let MachineReport { name, kernel, arch, cpu_model, .. } = ferrio.host.clone();
    let labels = vec![
        ("version", ferrio.version.clone()),
        ("fio_version", report.version.clone()),
        ("host", name.unwrap_or_default()),
        ("kernel", kernel.unwrap_or_default()),
        ("arch", arch.unwrap_or_default()),
        ("cpu_model", cpu_model.unwrap_or_default()),
        ("clock", ferrio.clock.source.word().to_owned()),
    ];
    vec![MetricPoint { labels, value: 1_u64.into() }]
}

/// Options of all entries. Of an option written several times, the last value is used, as in the run.
fn options(run: &RunReport) -> Vec<MetricPoint> {
    let entries = run.jobs.iter().enumerate();
    let options = entries.flat_map(|(at, job)| {
        let written = run.global_options.0.iter().chain(&job.job_options.0);
        let last: BTreeMap<&str, &str> =
            written.map(|(name, value)| (name.as_str(), value.as_str())).collect();
        last.into_iter().map(move |(option, value)| {
            let mut labels = entry_labels(at, job);
            labels.extend([("option", option.to_owned()), ("value", value.to_owned())]);
            MetricPoint { labels, value: 1_u64.into() }
        })
    });
    options.collect()
}

/// All disks, including the slaves of stacked devices. Of a host that was given twice, they are shown once.
fn disks(report: &RunReport) -> Vec<(Labels, &DiskReport)> {
    let mut disks: Vec<(Labels, &DiskReport)> = Vec::new();
    for disk in &report.disk_util {
        let mut labels = vec![("disk", disk.name.clone())];
        labels.extend(disk.hostname.clone().map(|host| ("host", host)));
        if disks.iter().all(|(others, _)| *others != labels) {
            disks.push((labels, disk));
        }
    }
    disks
}

fn both(read: u64, write: u64) -> Vec<MetricPoint> {
    each("direction", [("read", read), ("write", write)])
}

#[cfg(test)]
mod tests;
