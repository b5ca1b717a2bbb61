//! The report as an OpenMetrics text, version 1.0: one exposition of what the whole run came to.
//!
//! Names, types and units follow the standard: seconds, bytes and ratios, counters end in `_total`, families stand together, the last
//! line is `# EOF`. No sample has a timestamp and no family is of a type that Prometheus' older text format does not know, because
//! readers of files such as node_exporter's textfile collector refuse both. Which families there are is said in tables, one per kind
//! of thing measured; `docs/openmetrics.md` lists them for users, and a test compares the two.

mod directions;
mod disks;
mod family;
mod jobs;
mod run;
mod write;

use crate::model::RunReport;
use write::write;

/// The exposition, `# EOF` at the end included.
#[must_use]
pub fn to_openmetrics(report: &RunReport) -> String {
    let mut out = String::new();
    write(&mut out, run::FAMILIES, &[(Vec::new(), report)]);
    write(&mut out, jobs::FAMILIES, &jobs::things(report));
    write(&mut out, directions::FAMILIES, &directions::things(report));
    write(&mut out, run::GROUP_FAMILIES, &run::groups(report));
    write(&mut out, disks::FAMILIES, &disks::things(report));
    out.push_str("# EOF\n");
    out
}

#[cfg(test)]
mod tests;
