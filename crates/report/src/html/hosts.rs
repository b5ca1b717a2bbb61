//! The hosts of a run on many: figures of each, what they are, and how they began.

use super::markup::{HtmlTable, folded};
use super::{PageRun, prefix};
use crate::Unit;
use crate::model::{FerrioReport, HostOfRun};

const NO_VALUE: &str = "–";

/// The tables of all runs; empty for runs on one host.
pub(super) fn section(runs: &[PageRun<'_>]) -> String {
    let all: Vec<(String, &FerrioReport)> = runs
        .iter()
        .enumerate()
        .filter_map(|(number, run)| Some((prefix(runs, number), run.report.ferrio.as_ref()?)))
        .filter(|(_, ferrio)| !ferrio.hosts.is_empty())
        .collect();
    if all.is_empty() {
        return String::new();
    }
    common(&all) + &figures(&all) + &folded("Machines, clocks and starts", &machines(&all))
}

/// The rates while all hosts ran.
fn common(runs: &[(String, &FerrioReport)]) -> String {
    let columns = [
        ("job", false),
        ("direction", false),
        ("hosts", true),
        ("from", true),
        ("to", true),
        ("IOPS", true),
        ("bandwidth", true),
    ];
    let mut table = HtmlTable::new("All hosts at once: the time in which each of them ran", &columns);
    let mut is_empty = true;
    for (label, ferrio) in runs {
        for common in &ferrio.common_intervals {
            for (direction, figures) in common.shown_directions() {
                is_empty = false;
                table.row(&[
                    format!("{label}{}", common.jobname),
                    direction.to_owned(),
                    common.hosts.to_string(),
                    Unit::Milliseconds.text(common.from_ms as f64),
                    Unit::Milliseconds.text(common.to_ms as f64),
                    Unit::PerSecond.text(figures.iops),
                    Unit::BytesPerSecond.text(figures.bw_bytes as f64),
                ]);
            }
        }
    }
    if is_empty { String::new() } else { table.end() }
}

/// A row for each host, entry and direction; stragglers are marked.
fn figures(runs: &[(String, &FerrioReport)]) -> String {
    let columns = [
        ("host", false),
        ("job", false),
        ("direction", false),
        ("I/Os", true),
        ("IOPS", true),
        ("bandwidth", true),
        ("latency mean", true),
        ("p99", true),
        ("", false),
    ];
    let mut table = HtmlTable::new("Figures of each host", &columns);
    for (label, host) in hosts(runs) {
        table.group();
        let name = format!("{label}{}", host.name);
        if let Some(reason) = &host.lost {
            let mut cells = vec![name.clone()];
            cells.resize(columns.len() - 1, NO_VALUE.to_owned());
            cells.push(format!("lost: {reason}"));
            table.row(&cells);
        }
        for job in &host.jobs {
            for (direction, figures) in job.shown_directions() {
                let ns =
                    |ns: Option<f64>| ns.map_or_else(|| NO_VALUE.to_owned(), |ns| Unit::Nanoseconds.text(ns));
                table.row(&[
                    name.clone(),
                    job.jobname.clone(),
                    direction.to_owned(),
                    figures.total_ios.to_string(),
                    Unit::PerSecond.text(figures.iops),
                    Unit::BytesPerSecond.text(figures.bw_bytes as f64),
                    ns(figures.lat_mean_ns),
                    ns(figures.lat_p99_ns.map(|ns| ns as f64)),
                    if figures.straggler { "straggler".to_owned() } else { String::new() },
                ]);
            }
        }
    }
    table.end()
}

fn machines(runs: &[(String, &FerrioReport)]) -> String {
    let columns = [
        ("host", false),
        ("its own name", false),
        ("program", false),
        ("kernel", false),
        ("CPUs", false),
        ("clock error", true),
        ("began phases late by", true),
    ];
    let mut table = HtmlTable::new("Machines, clocks and starts", &columns);
    for (label, host) in hosts(runs) {
        let text = |fact: Option<&String>| fact.cloned().unwrap_or_else(|| NO_VALUE.to_owned());
        let machine = host.machine.as_ref();
        let delay = |phase: &crate::model::PhaseReport| {
            format!("{} us", i128::from(phase.reached_us) - i128::from(phase.planned_us))
        };
        table.row(&[
            format!("{label}{}", host.name),
            text(host.own_name.as_ref()),
            text(host.version.as_ref()),
            text(machine.and_then(|machine| machine.kernel.as_ref())),
            text(machine.and_then(|machine| machine.cpu_model.as_ref())),
            host.clock
                .map_or_else(|| NO_VALUE.to_owned(), |clock| Unit::Nanoseconds.text(clock.bound_ns as f64)),
            host.phases.iter().map(delay).collect::<Vec<_>>().join(", "),
        ]);
    }
    table.end()
}

fn hosts<'a>(runs: &'a [(String, &'a FerrioReport)]) -> impl Iterator<Item = (&'a str, &'a HostOfRun)> {
    runs.iter().flat_map(|(label, ferrio)| ferrio.hosts.iter().map(move |host| (label.as_str(), host)))
}
