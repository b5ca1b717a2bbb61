//! What an exposition says of the run as a whole, of its groups and of what its jobs were asked to do.

use std::collections::BTreeMap;

use super::family::{Family, Labels, MetricType, Point, each, maybe, one, seconds_of_ms};
use super::jobs;
use crate::model::{GroupDirection, GroupReport, HostReport, RunFacts, RunReport};

/// About the run.
pub const FAMILIES: &[Family<RunReport>] = &[
    Family {
        name: "ferrio_run_info",
        kind: MetricType::Gauge,
        unit: "",
        help: "Always 1; which program ran where",
        points: about,
    },
    Family {
        name: "ferrio_run_start_timestamp_seconds",
        kind: MetricType::Gauge,
        unit: "seconds",
        help: "When the first job started, since 1970",
        points: |report| maybe(facts(report).map(|run| seconds_of_ms(run.started_ms))),
    },
    Family {
        name: "ferrio_run_elapsed_seconds",
        kind: MetricType::Gauge,
        unit: "seconds",
        help: "Time from then to the end",
        points: |report| maybe(facts(report).map(|run| seconds_of_ms(run.elapsed_ms))),
    },
    Family {
        name: "ferrio_run_jobs",
        kind: MetricType::Gauge,
        unit: "",
        help: "Jobs of the run by how they ended",
        points: |report| {
            let ends = facts(report).map(|&RunFacts { jobs, failed_jobs, .. }| {
                [("completed", jobs.saturating_sub(failed_jobs)), ("failed", failed_jobs)]
            });
            each("end", ends.into_iter().flatten())
        },
    },
    Family {
        name: "ferrio_run_signal",
        kind: MetricType::Gauge,
        unit: "",
        help: "Number of the signal that ended the run, 0 if it ended by itself",
        points: |report| maybe(facts(report).map(|run| f64::from(run.signal.unwrap_or(0)))),
    },
    Family {
        name: "ferrio_run_warnings",
        kind: MetricType::Gauge,
        unit: "",
        help: "Reasons to doubt the figures by kind",
        points: |report| {
            let mut kinds: BTreeMap<&str, u64> = BTreeMap::new();
            report.warnings().iter().for_each(|warning| *kinds.entry(&*warning.code).or_default() += 1);
            each("code", kinds)
        },
    },
    Family {
        name: "ferrio_report_timestamp_seconds",
        kind: MetricType::Gauge,
        unit: "seconds",
        help: "When the report was made, since 1970",
        points: |report| one(report.timestamp_ms as f64 / 1e3),
    },
    Family {
        name: "ferrio_job_option_info",
        kind: MetricType::Gauge,
        unit: "",
        help: "Always 1; an option of the jobs of an entry as it was written",
        points: options,
    },
];

/// About one direction of a group.
pub const GROUP_FAMILIES: &[Family<GroupDirection>] = &[
    Family {
        name: "ferrio_group_io_bytes",
        kind: MetricType::Counter,
        unit: "bytes",
        help: "Bytes moved by all entries of the group",
        points: |group| one(group.bytes),
    },
    Family {
        name: "ferrio_group_bandwidth_bytes_per_second",
        kind: MetricType::Gauge,
        unit: "bytes_per_second",
        help: "Bytes of the group over its longest run time",
        points: |group| one(group.bw),
    },
    Family {
        name: "ferrio_group_runtime_seconds",
        kind: MetricType::Gauge,
        unit: "seconds",
        help: "Longest run time of an entry of the group",
        points: |group| one(seconds_of_ms(group.runtime_max)),
    },
];

/// The directions of all groups in which something ran.
pub fn groups(report: &RunReport) -> Vec<(Labels, &GroupDirection)> {
    report.groups.iter().flat_map(directions).collect()
}

fn directions(group: &GroupReport) -> Vec<(Labels, &GroupDirection)> {
    let GroupReport { id, directions: [read, write, trim], mixed, .. } = group;
    let sums = [("read", read), ("write", write), ("trim", trim), ("mixed", mixed)];
    let labels = |name: &str| vec![("group", id.to_string()), ("direction", name.to_owned())];
    sums.into_iter().filter_map(|(name, sum)| Some((labels(name), sum.as_ref()?))).collect()
}

/// How the run went; unknown of a run of fio.
fn facts(report: &RunReport) -> Option<&RunFacts> {
    report.ferrio.as_ref().map(|ferrio| &ferrio.run)
}

/// The label of an unknown fact is empty, which is the same as no label.
fn about(report: &RunReport) -> Vec<Point> {
    let Some(ferrio) = &report.ferrio else { return Vec::new() };
    let HostReport { name, kernel, arch, cpu_model, .. } = ferrio.host.clone();
    let labels = vec![
        ("version", ferrio.version.clone()),
        ("fio_version", report.version.clone()),
        ("host", name.unwrap_or_default()),
        ("kernel", kernel.unwrap_or_default()),
        ("arch", arch.unwrap_or_default()),
        ("cpu_model", cpu_model.unwrap_or_default()),
        ("clock", ferrio.clock.source.word().to_owned()),
    ];
    vec![Point { labels, value: 1_u64.into() }]
}

/// Options of all entries; where one was written several times, the last counts, as it does in the run.
fn options(run: &RunReport) -> Vec<Point> {
    let entries = run.jobs.iter().enumerate();
    let options = entries.flat_map(|(at, job)| {
        let written = run.global_options.0.iter().chain(&job.job_options.0);
        let last: BTreeMap<&str, &str> =
            written.map(|(name, value)| (name.as_str(), value.as_str())).collect();
        last.into_iter().map(move |(option, value)| {
            let mut labels = jobs::labels(at, job);
            labels.extend([("option", option.to_owned()), ("value", value.to_owned())]);
            Point { labels, value: 1_u64.into() }
        })
    });
    options.collect()
}
