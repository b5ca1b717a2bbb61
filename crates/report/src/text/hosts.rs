//! The hosts of a run on many: a row for each host, and the rates in the time in which all of them did I/O.

use std::fmt::{self, Write};

use crate::grouping::distinct;
use crate::model::{CommonIntervalReport, FerrioReport, HostDirectionReport, HostOfRun, RunReport};
use crate::quantity::Unit;

/// Rows of one direction of an entry. Of more hosts, the slowest are shown.
const MAX_ROWS: usize = 64;
/// Width of columns with names.
const NAME_WIDTH: usize = 16;

/// One row: a host, and its figures.
type Row<'a> = (&'a HostOfRun, &'a HostDirectionReport);

/// Writes the block of the hosts; nothing for a run on one host.
pub(super) fn write_hosts(out: &mut String, report: &RunReport) -> fmt::Result {
    let Some(ferrio) = report.ferrio.as_ref().filter(|ferrio| !ferrio.hosts.is_empty()) else {
        return Ok(());
    };
    writeln!(out, "\nHosts ({}):", ferrio.hosts.len())?;
    writeln!(
        out,
        "  {:NAME_WIDTH$} {:NAME_WIDTH$} {:5} {:>12} {:>10} {:>10} {:>10}",
        "job", "host", "", "BW", "IOPS", "lat avg", "lat p99"
    )?;
    let jobs = ferrio.hosts.iter().flat_map(|host| &host.jobs).map(|job| job.jobname.as_str());
    for name in distinct(jobs) {
        for direction in ["read", "write", "trim", "mixed"] {
            write_rows(out, ferrio, name, direction)?;
        }
    }
    ferrio.common_intervals.iter().try_for_each(|common| write_common(out, common))?;
    for host in &ferrio.hosts {
        if let Some(reason) = &host.lost {
            writeln!(out, "  {} is lost: {reason}", host.name)?;
        }
    }
    Ok(())
}

fn write_rows(out: &mut String, ferrio: &FerrioReport, name: &str, direction: &str) -> fmt::Result {
    let of_host = |host| -> Vec<Row<'_>> {
        let host: &HostOfRun = host;
        let jobs = host.jobs.iter().filter(|job| job.jobname == name);
        let figures = jobs.flat_map(|job| job.shown_directions());
        figures.filter(|(other, _)| *other == direction).map(|(_, figures)| (host, figures)).collect()
    };
    let mut rows: Vec<Row<'_>> = ferrio.hosts.iter().flat_map(of_host).collect();
    let left_out = rows.len().saturating_sub(MAX_ROWS);
    if left_out > 0 {
        rows.sort_by_key(|(_, figures)| figures.bw_bytes);
        rows.truncate(MAX_ROWS);
    }
    for (host, figures) in rows {
        let latency = |ns: Option<f64>| ns.map_or_else(|| "-".to_owned(), |ns| Unit::Nanoseconds.text(ns));
        writeln!(
            out,
            "  {name:NAME_WIDTH$} {:NAME_WIDTH$} {direction:5} {:>12} {:>10} {:>10} {:>10}{}",
            host.name,
            Unit::BytesPerSecond.text(figures.bw_bytes as f64),
            Unit::PerSecond.text(figures.iops),
            latency(figures.lat_mean_ns),
            latency(figures.lat_p99_ns.map(|ns| ns as f64)),
            if figures.straggler { "  straggler" } else { "" },
        )?;
    }
    if left_out > 0 {
        writeln!(out, "  {name:NAME_WIDTH$} and {left_out} faster hosts")?;
    }
    Ok(())
}

/// Writes the rates of all hosts at once.
fn write_common(out: &mut String, common: &CommonIntervalReport) -> fmt::Result {
    let CommonIntervalReport { jobname, hosts, from_ms, to_ms, .. } = common;
    let rates: Vec<String> = common
        .shown_directions()
        .into_iter()
        .map(|(name, rates)| {
            let [bandwidth, iops] =
                [Unit::BytesPerSecond.text(rates.bw_bytes as f64), Unit::PerSecond.text(rates.iops)];
            format!("{name} BW={bandwidth}, IOPS={iops}")
        })
        .collect();
    if to_ms <= from_ms {
        return writeln!(out, "  {jobname}: its {hosts} hosts never ran at the same time");
    }
    writeln!(out, "  {jobname}: all {hosts} hosts from {from_ms} to {to_ms}msec: {}", rates.join("; "))
}
