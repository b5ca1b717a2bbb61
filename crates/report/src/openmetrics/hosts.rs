//! Families about the hosts of a run on many.

use super::exposition::{Family, Labels, MetricPoint, each, families, maybe, one};
use crate::model::{CommonDirectionReport, HostDirectionReport, HostOfRun, MachineReport, RunReport};

/// Families about one host.
pub(super) const HOSTS: &[Family<HostOfRun>] = families! {
    Gauge "ferrio_host_info", "Always 1; the program and the machine of a host, as labels",
        about;
    Gauge "ferrio_host_lost", "1 if the host gave no results, or not all of them, 0 if it gave them",
        |host| one(u64::from(host.lost.is_some()));
    Gauge "ferrio_host_clock_bound_seconds", "Largest error of the clock offset of the host",
        |host| maybe(host.clock.map(|clock| clock.bound_ns as f64 / 1e9));
    Gauge "ferrio_host_start_delay_seconds", "Time from the planned beginning of a phase until the host began it",
        |host| {
            let delay = |phase: &crate::model::PhaseReport| (phase.reached_us as f64 - phase.planned_us as f64) / 1e6;
            each("phase", host.phases.iter().enumerate().map(|(at, phase)| (at.to_string(), delay(phase))))
        };
};

/// Families about one direction of an entry on one host.
pub(super) const HOST_DIRECTIONS: &[Family<HostDirectionReport>] = families! {
    Counter "ferrio_host_io_bytes", "Bytes transferred by a host",
        |direction| one(direction.io_bytes);
    Counter "ferrio_host_ios", "I/Os issued by a host",
        |direction| one(direction.total_ios);
    Gauge "ferrio_host_bandwidth_bytes_per_second", "Bytes over the run time on the host",
        |direction| one(direction.bw_bytes);
    Gauge "ferrio_host_iops", "I/Os over the run time on the host",
        |direction| one(direction.iops);
    Gauge "ferrio_host_lat_mean_seconds", "Mean completion latency on the host",
        |direction| maybe(direction.lat_mean_ns.map(|ns| ns / 1e9));
    Gauge "ferrio_host_lat_p99_seconds", "99th percentile of the completion latency on the host",
        |direction| maybe(direction.lat_p99_ns.map(|ns| ns as f64 / 1e9));
    Gauge "ferrio_host_straggler", "1 if the host is much slower than most others, 0 if not",
        |direction| one(u64::from(direction.straggler));
};

/// Families about one direction of an entry while all hosts ran.
pub(super) const COMMON: &[Family<CommonDirectionReport>] = families! {
    Gauge "ferrio_common_bandwidth_bytes_per_second", "Bytes per second of all hosts in the time in which all of them ran",
        |direction| one(direction.bw_bytes);
    Gauge "ferrio_common_iops", "I/Os per second of all hosts in the time in which all of them ran",
        |direction| one(direction.iops);
};

fn about(host: &HostOfRun) -> Vec<MetricPoint> {
    let MachineReport { kernel, arch, cpu_model, .. } = host.machine.clone().unwrap_or_default();
    let labels = vec![
        ("own_name", host.own_name.clone().unwrap_or_default()),
        ("version", host.version.clone().unwrap_or_default()),
        ("kernel", kernel.unwrap_or_default()),
        ("arch", arch.unwrap_or_default()),
        ("cpu_model", cpu_model.unwrap_or_default()),
    ];
    vec![MetricPoint { labels, value: 1_u64.into() }]
}

fn all(report: &RunReport) -> &[HostOfRun] {
    report.ferrio.as_ref().map_or(&[], |ferrio| &ferrio.hosts)
}

/// Labels of a host, which may have been given twice.
fn labels(host: &HostOfRun) -> Labels {
    vec![("host", host.name.clone()), ("rank", host.rank.to_string())]
}

/// All hosts.
pub(super) fn hosts(report: &RunReport) -> Vec<(Labels, &HostOfRun)> {
    all(report).iter().map(|host| (labels(host), host)).collect()
}

/// All directions of the entries of all hosts.
pub(super) fn host_directions(report: &RunReport) -> Vec<(Labels, &HostDirectionReport)> {
    let mut directions = Vec::new();
    for host in all(report) {
        for (at, job) in host.jobs.iter().enumerate() {
            for (name, figures) in job.shown_directions() {
                let mut labels = labels(host);
                labels.extend([("entry", at.to_string()), ("jobname", job.jobname.clone())]);
                labels.extend([("group", job.groupid.to_string()), ("direction", name.to_owned())]);
                directions.push((labels, figures));
            }
        }
    }
    directions
}

/// All directions of common intervals.
pub(super) fn common(report: &RunReport) -> Vec<(Labels, &CommonDirectionReport)> {
    let intervals = report.ferrio.iter().flat_map(|ferrio| &ferrio.common_intervals).enumerate();
    let directions = intervals.flat_map(|(at, common)| {
        common.shown_directions().into_iter().map(move |(name, figures)| {
            let labels = vec![
                ("interval", at.to_string()),
                ("jobname", common.jobname.clone()),
                ("group", common.groupid.to_string()),
                ("direction", name.to_owned()),
            ];
            (labels, figures)
        })
    });
    directions.collect()
}
