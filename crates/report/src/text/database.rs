//! Database models: transactions, a table of their steps, a table of their I/Os, and other figures.

use std::fmt::{self, Write};

use ferrio_job::{DatabaseModel, Units};

use super::{latency, rate_unit};
use crate::model::{
    DATABASE_PERCENTILES, DatabaseReport, LatencyReport, Percentiles, StepReport, TransactionReport,
};
use crate::num::{NumberUnit, Prefixes, num};

/// Width of the column with row names.
const NAME_WIDTH: usize = 22;
/// Width of columns with figures.
const FIGURE_WIDTH: usize = 11;
/// Width of the first column of I/Os.
const FIRST_IO_WIDTH: usize = 16;

/// Writes the block of a model; nothing if its sessions never ran.
pub(super) fn write_database(out: &mut String, database: &DatabaseReport, units: &Units) -> fmt::Result {
    let DatabaseReport { jobname, groupid, model, sessions, runtime, transaction_rate, figures, .. } =
        database;
    if *runtime == 0 {
        return Ok(());
    }
    writeln!(out, "\nDatabase {jobname}: (groupid={groupid}, workload={model}, sessions={sessions})")?;
    write!(out, "  transactions : total={}, tps={:.2}", figures.transactions, figures.tps)?;
    if let Some(rate) = transaction_rate {
        write!(out, ", rate={rate:.2}")?;
    }
    writeln!(out, ", run={runtime}msec")?;
    latency::write_summary(out, " lat", &figures.lat_ns)?;
    let percentiles = &figures.lat_ns.percentile;
    latency::write_percentiles(out, "lat", percentiles, precision(percentiles))?;
    write_steps(out, figures)?;
    write_ios(out, database, units)?;
    if let (Some(ios), Some(bytes)) = (figures.read_ios_share, figures.read_bytes_share) {
        writeln!(out, "  reads        : {ios:.2}% of I/Os, {bytes:.2}% of bytes")?;
    }
    if let Some(share) = figures.pool_hit_share {
        writeln!(out, "  buffer pool  : hits={} ({share:.2}% of the pages used)", figures.pool_hits)?;
    }
    write_log(out, figures)?;
    let TransactionReport { written_back, checkpoints, .. } = figures;
    match database.has_tables() {
        true => write!(out, "  write-back   : tables={written_back}")?,
        false => write!(out, "  write-back   : pages={written_back}, checkpoints={checkpoints}")?,
    }
    match database.written_back_after {
        Some(ms) => writeln!(out, ", until {ms}msec after the last transaction")?,
        None => writeln!(out)?,
    }
    write_etcd(out, database)
}

/// Writes the figure for which etcd's documentation gives a limit, or the reason why there is none.
fn write_etcd(out: &mut String, database: &DatabaseReport) -> fmt::Result {
    if database.model != DatabaseModel::Etcd.word() || database.figures.transactions == 0 {
        return Ok(());
    }
    write!(out, "  etcd         : ")?;
    let Some(etcd) = &database.etcd else {
        return match database.figures.commits_per_sync {
            None => writeln!(out, "no p99 of log syncs: commits made none"),
            Some(_) => writeln!(out, "no p99 of log syncs: gtod_reduce or disable_clat left it out"),
        };
    };
    let (is, limit) = (if etcd.is_below { "below" } else { "not below" }, etcd.limit_ns);
    writeln!(
        out,
        "p99 of log syncs={}, {is} the {} that its documentation asks for",
        latency::duration(etcd.sync_p99_ns),
        latency::duration(limit),
    )
}

/// The number of decimals that distinguishes all percentiles.
fn precision(percentiles: &Percentiles) -> u8 {
    let digits = |percent: f64| percent.to_string().split_once('.').map_or(0, |(_, digits)| digits.len());
    let most = percentiles.0.iter().map(|&(percent, _)| digits(percent)).max().unwrap_or_default();
    u8::try_from(most).unwrap_or(u8::MAX)
}

/// Writes the table of steps, in µs: a transaction, its steps, and the rest of its time.
fn write_steps(out: &mut String, figures: &TransactionReport) -> fmt::Result {
    if figures.transactions == 0 {
        return Ok(());
    }
    write!(out, "  {:<width$}{:>FIGURE_WIDTH$}", "steps (usec)", "avg", width = NAME_WIDTH - 2)?;
    for percent in DATABASE_PERCENTILES {
        write!(out, "{:>FIGURE_WIDTH$}", format!("{percent}th"))?;
    }
    writeln!(out, "{:>FIGURE_WIDTH$}", "share")?;
    let (mut rest_ns, mut rest_share) = (figures.lat_ns.mean, 100.0);
    for (name, StepReport { share, lat_ns }) in figures.steps.all() {
        write_step(out, name, lat_ns, *share)?;
        rest_ns -= lat_ns.mean;
        rest_share -= share;
    }
    let none = FIGURE_WIDTH * DATABASE_PERCENTILES.len();
    let (rest_ns, rest_share) = (rest_ns.max(0.0), rest_share.max(0.0));
    writeln!(
        out,
        "    {:<width$}{:>FIGURE_WIDTH$.1}{:none$}{:>FIGURE_WIDTH$}",
        "other",
        rest_ns / 1e3,
        "",
        format!("{rest_share:.2}%"),
        width = NAME_WIDTH - 4
    )
}

fn write_step(out: &mut String, name: &str, latency: &LatencyReport, share: f64) -> fmt::Result {
    write!(out, "    {name:<width$}{:>FIGURE_WIDTH$.1}", latency.mean / 1e3, width = NAME_WIDTH - 4)?;
    for percent in DATABASE_PERCENTILES {
        let ns = latency.listed(percent).unwrap_or(0);
        write!(out, "{:>FIGURE_WIDTH$.1}", ns as f64 / 1e3)?;
    }
    writeln!(out, "{:>FIGURE_WIDTH$}", format!("{share:.2}%"))
}

/// Writes a row for each kind of I/O that occurred.
fn write_ios(out: &mut String, database: &DatabaseReport, units: &Units) -> fmt::Result {
    writeln!(
        out,
        "  {:<width$}{:>FIRST_IO_WIDTH$}{:>FIGURE_WIDTH$}{:>FIGURE_WIDTH$}{:>FIGURE_WIDTH$}",
        "I/Os",
        "per transaction",
        "total",
        "IOPS",
        "BW",
        width = NAME_WIDTH - 2
    )?;
    for (name, io) in database.shown_ios() {
        let figures = units.significant_figures;
        let count = |number| num(number, figures, Prefixes::Decimal, NumberUnit::None);
        write!(
            out,
            "    {name:<width$}{:>FIRST_IO_WIDTH$.3}{:>FIGURE_WIDTH$}{:>FIGURE_WIDTH$}",
            io.per_transaction,
            io.total_ios,
            count(io.iops.round() as u64),
            width = NAME_WIDTH - 4
        )?;
        if io.io_bytes > 0 {
            let bandwidth = num(io.bw_bytes, figures, Prefixes::of_kb_base(units.kb_base), rate_unit(units));
            write!(out, "{bandwidth:>FIGURE_WIDTH$}")?;
        }
        writeln!(out)?;
    }
    Ok(())
}

fn write_log(out: &mut String, figures: &TransactionReport) -> fmt::Result {
    let mut parts = Vec::new();
    if let Some(commits) = figures.commits_per_sync {
        parts.push(format!("commits per sync={commits:.2}"));
    }
    if figures.full_pages > 0 {
        parts.push(format!("full pages={}", figures.full_pages));
    }
    if parts.is_empty() {
        return Ok(());
    }
    writeln!(out, "  log          : {}", parts.join(", "))
}

#[cfg(test)]
mod tests;
