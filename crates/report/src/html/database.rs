//! Database models: transactions, their time by step, and their I/O.

use super::markup::HtmlTable;
use super::{PageRun, prefix};
use crate::Unit;
use crate::model::{DatabaseReport, LatencyReport};

const NO_VALUE: &str = "–";

/// The tables of all runs; empty without databases.
pub(super) fn section(runs: &[PageRun<'_>]) -> String {
    let all: Vec<(String, &DatabaseReport)> = runs
        .iter()
        .enumerate()
        .flat_map(|(number, run)| databases(run).iter().map(move |database| (prefix(runs, number), database)))
        .filter(|(_, database)| database.figures.transactions > 0)
        .collect();
    if all.is_empty() {
        return String::new();
    }
    let name = |(label, database): &(String, &DatabaseReport)| format!("{label}{}", database.jobname);
    let mut out = transactions(&all.iter().map(|one| (name(one), one.1)).collect::<Vec<_>>());
    for one in &all {
        out.push_str(&steps(&name(one), one.1));
        out.push_str(&io_table(&name(one), one.1));
    }
    out
}

/// The database models of a run.
pub(super) fn databases<'a>(run: &PageRun<'a>) -> &'a [DatabaseReport] {
    run.report.ferrio.as_ref().map_or(&[], |ferrio| &ferrio.databases)
}

fn transactions(all: &[(String, &DatabaseReport)]) -> String {
    let columns = [
        ("database", false),
        ("model", false),
        ("sessions", true),
        ("transactions", true),
        ("per second", true),
        ("latency mean", true),
        ("p50", true),
        ("p95", true),
        ("p99", true),
        ("p99.9", true),
        ("max", true),
    ];
    let mut table = HtmlTable::new("Transactions", &columns);
    for (name, database) in all {
        let figures = &database.figures;
        let mut cells = vec![
            name.clone(),
            database.model.clone(),
            database.sessions.to_string(),
            figures.transactions.to_string(),
            Unit::PerSecond.text(figures.tps),
        ];
        cells.extend(latency(&figures.lat_ns));
        table.row(&cells);
    }
    table.end()
}

/// The table of transaction steps and the remaining time.
fn steps(name: &str, database: &DatabaseReport) -> String {
    let columns = [
        ("step", false),
        ("share of the time", true),
        ("mean", true),
        ("p50", true),
        ("p95", true),
        ("p99", true),
        ("p99.9", true),
        ("max", true),
    ];
    let mut table = HtmlTable::new(&format!("What transactions of {name} take their time for"), &columns);
    let mut rest = 100.0;
    for (step, figures) in database.figures.steps.all() {
        rest -= figures.share;
        let mut cells = vec![step.to_owned(), format!("{:.2} %", figures.share)];
        cells.extend(latency(&figures.lat_ns));
        table.row(&cells);
    }
    let mut cells = vec!["other".to_owned(), format!("{:.2} %", f64::max(rest, 0.0))];
    cells.extend(std::iter::repeat_n(NO_VALUE.to_owned(), 6));
    table.row(&cells);
    table.end()
}

/// The table of I/Os by purpose.
fn io_table(name: &str, database: &DatabaseReport) -> String {
    let columns =
        [("I/O", false), ("for each transaction", true), ("I/Os", true), ("IOPS", true), ("bandwidth", true)];
    let mut table = HtmlTable::new(&format!("I/O of {name}"), &columns);
    for (purpose, io) in database.shown_ios() {
        let bandwidth =
            if io.io_bytes > 0 { Unit::BytesPerSecond.text(io.bw_bytes as f64) } else { NO_VALUE.to_owned() };
        table.row(&[
            purpose,
            format!("{:.3}", io.per_transaction),
            io.total_ios.to_string(),
            Unit::PerSecond.text(io.iops),
            bandwidth,
        ]);
    }
    table.end()
}

/// Table cells: mean, percentiles, maximum.
fn latency(latency: &LatencyReport) -> [String; 6] {
    let text = |ns: f64| Unit::Nanoseconds.text(ns);
    let listed = |percent| latency.listed(percent).map_or_else(|| NO_VALUE.to_owned(), |ns| text(ns as f64));
    [text(latency.mean), listed(50.0), listed(95.0), listed(99.0), listed(99.9), text(latency.max as f64)]
}
