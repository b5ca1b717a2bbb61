//! What an exposition says of the run as a whole, of its groups and of what its jobs were asked to do.

use std::collections::BTreeMap;

use super::{Family, Kind, Labels, Point, jobs, one, seconds_of_ms};
use crate::model::{GroupDirection, GroupReport, RunReport};

/// About the run.
pub const FAMILIES: &[Family<RunReport>] = &[
    Family {
        name: "ferrio_run_info",
        kind: Kind::Gauge,
        unit: "",
        help: "Always 1; which program ran where",
        points: |run| {
            let labels = vec![
                ("version", env!("CARGO_PKG_VERSION").to_owned()),
                ("fio_version", run.version.clone()),
                ("host", run.host.name.clone()),
                ("kernel", run.host.kernel.clone()),
            ];
            vec![Point { labels, value: 1_u64.into() }]
        },
    },
    Family {
        name: "ferrio_report_timestamp_seconds",
        kind: Kind::Gauge,
        unit: "seconds",
        help: "When the report was made, since 1970",
        points: |run| one(run.timestamp_ms as f64 / 1e3),
    },
    Family {
        name: "ferrio_job_option_info",
        kind: Kind::Gauge,
        unit: "",
        help: "Always 1; an option of the jobs of an entry as it was written",
        points: options,
    },
];

/// About one direction of a group.
pub const GROUP_FAMILIES: &[Family<GroupDirection>] = &[
    Family {
        name: "ferrio_group_io_bytes",
        kind: Kind::Counter,
        unit: "bytes",
        help: "Bytes moved by all entries of the group",
        points: |group| one(group.bytes),
    },
    Family {
        name: "ferrio_group_bandwidth_bytes_per_second",
        kind: Kind::Gauge,
        unit: "bytes_per_second",
        help: "Bytes of the group over its longest run time",
        points: |group| one(group.bw),
    },
    Family {
        name: "ferrio_group_runtime_seconds",
        kind: Kind::Gauge,
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
