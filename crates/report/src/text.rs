//! The text report, with fio's lines.

mod database;
mod hosts;
mod latency;

use std::fmt::{self, Write};

use ferrio_job::{Optimisations, Tuning, Units, strerror};
use ferrio_results::UnitWork;
use ferrio_stats::saturating_total;

use crate::model::{
    BlockReport, CpuIdleness, DirectionReport, DiskReport, GroupDirection, GroupReport, JobReport,
    LabelledShares, RunReport, SlaveMeans, SteadyData, SteadyReport, TargetReport, TextFigures,
    ToleratedErrors,
};
use crate::num::{NumberUnit, Prefixes, num, num_of_kilo, per_second};

impl RunReport {
    /// The whole text report, starting with an empty line.
    #[must_use]
    pub fn to_text(&self) -> String {
        let mut out = String::from("\n");
        // Writing into a String cannot fail.
        let written = write_report(&mut out, self);
        debug_assert!(written.is_ok());
        out
    }
}

fn write_report(out: &mut String, report: &RunReport) -> fmt::Result {
    for job in &report.jobs {
        write_job(out, job, &report.time)?;
    }
    for group in &report.groups {
        write_group(out, group)?;
        write_databases(out, report, group)?;
    }
    hosts::write_hosts(out, report)?;
    write_disks(out, &report.disk_util)?;
    report.cpu_idleness.as_ref().map_or(Ok(()), |idleness| write_idleness(out, idleness))
}

fn write_job(out: &mut String, job: &JobReport, time: &str) -> fmt::Result {
    let directions = job.shown_directions();
    if directions.iter().all(|(_, d)| d.io_bytes == 0 && d.total_ios == 0) {
        return Ok(());
    }
    let text = &job.text;
    write!(out, "{}: (groupid={}, jobs={}): err={:>2}", job.jobname, job.groupid, text.jobs, job.error)?;
    if let Some(message) = &text.error_message {
        write!(out, " ({message})")?;
    }
    writeln!(out, ": pid={}: {time}", text.pid)?;
    if let Some(description) = &job.desc {
        writeln!(out, "  Description  : [{description}]")?;
    }
    for (name, direction) in &directions {
        write_direction(out, job, name, direction)?;
    }
    write_latency_shares(out, "nsec", &job.latency_ns)?;
    write_latency_shares(out, "usec", &job.latency_us)?;
    write_latency_shares(out, "msec", &job.latency_ms)?;
    let syncs = job.syncs();
    if let Some(syncs) = syncs.filter(|syncs| syncs.lat_ns.samples > 0) {
        writeln!(out, "  fsync/fdatasync/sync_file_range/syncfs:")?;
        latency::write_summary(out, "sync", &syncs.lat_ns)?;
        latency::write_percentiles(out, "sync", &text.sync_percentiles, text.percentile_precision)?;
    }
    writeln!(
        out,
        "  cpu          : usr={:.2}%, sys={:.2}%, ctx={}, majf={}, minf={}",
        job.usr_cpu, job.sys_cpu, job.ctx, job.majf, job.minf
    )?;
    writeln!(out, "  IO depths    : {}", one_decimal(&job.iodepth_level))?;
    writeln!(out, "     submit    : {}", one_decimal(&job.iodepth_submit))?;
    writeln!(out, "     complete  : {}", one_decimal(&job.iodepth_complete))?;
    // Directions that are reported as one take the place of reads.
    let none = DirectionReport::default();
    let shown = |at: usize| directions.get(at).map_or(&none, |(_, direction)| direction);
    let [read, write, trim] = [shown(0), shown(1), shown(2)];
    let of_each =
        |figure: fn(&DirectionReport) -> u64| format!("{},{},{}", figure(read), figure(write), figure(trim));
    writeln!(
        out,
        "     issued rwts: total={},{} short={},0 dropped={},0",
        of_each(|direction| direction.total_ios),
        syncs.map_or(0, |syncs| syncs.total_ios),
        of_each(|direction| direction.short_ios),
        of_each(|direction| direction.drop_ios),
    )?;
    if let Some(errors) = &job.tolerated {
        let ToleratedErrors { total_err: total, first_error: first } = *errors;
        writeln!(out, "     errors    : total={total}, first_error={first}/<{}>", strerror(first))?;
    }
    if !job.text.damage.is_empty() && !job.text.only_lines_of_fio {
        let total = saturating_total(job.text.damage.iter().map(|&(_, count)| count));
        let kinds: Vec<String> =
            job.text.damage.iter().map(|(kind, count)| format!("{}={count}", kind.word())).collect();
        writeln!(out, "     damage    : total={total}, {}", kinds.join(", "))?;
    }
    if text.optimisations != Optimisations::NONE && !text.only_lines_of_fio {
        writeln!(out, "     tuning    : {}, {}", Tuning::Lean, text.optimisations)?;
    }
    if let Some(target) = &job.target {
        write_target(out, target)?;
    }
    if let Some(block) = job.blocks() {
        write_blocks(out, block, text.percentile_precision)?;
    }
    if let Some(steady) = &job.steadystate {
        write_steady(out, steady, text)?;
    }
    Ok(())
}

fn write_direction(
    out: &mut String,
    job: &JobReport,
    name: &str,
    direction: &DirectionReport,
) -> fmt::Result {
    if direction.io_bytes == 0 || direction.runtime == 0 {
        return Ok(());
    }
    let units = &job.text.units;
    let (bandwidth, other) = bandwidths(direction.bw_bytes, units);
    let &DirectionReport { io_bytes, total_ios, runtime, .. } = direction;
    let figures = units.significant_figures;
    let iops = num(per_second(total_ios, runtime), figures, Prefixes::Decimal, NumberUnit::None);
    let moved = num(io_bytes, figures, Prefixes::of_kb_base(units.kb_base), NumberUnit::Bytes);
    write!(out, "  {name}: IOPS={iops}, BW={bandwidth} ({other})({moved}/{runtime}msec)")?;
    if let Some(resets) = direction.zone_resets {
        write!(out, "; {resets} zone resets")?;
    }
    writeln!(out)?;
    let latencies = [("slat", &direction.slat_ns), ("clat", &direction.clat_ns), (" lat", &direction.lat_ns)];
    for (name, report) in latencies {
        latency::write_summary(out, name, report)?;
    }
    latency::write_priority_summaries(out, &direction.prios)?;
    if let Some(response) = direction.response_ns.as_ref().filter(|_| !job.text.only_lines_of_fio) {
        latency::write_summary(out, "response", response)?;
    }
    let precision = job.text.percentile_precision;
    for (name, report) in latencies {
        latency::write_percentiles(out, name.trim_start(), &report.percentile, precision)?;
    }
    latency::write_priority_percentiles(out, &direction.prios, precision)?;
    write_samples(out, direction, units)
}

/// The `bw` and `iops` lines. Bandwidth samples are KiB/s; large ones are shown in the next unit.
fn write_samples(out: &mut String, direction: &DirectionReport, units: &Units) -> fmt::Result {
    if direction.bw_samples > 0 {
        let base = u64::from(units.kb_base.max(1));
        let (mut min, mut max) = (direction.bw_min, direction.bw_max);
        let (mut mean, mut deviation) = (direction.bw_mean, direction.bw_dev);
        let mut unit = if units.kb_base == 1000 { "kB" } else { "KiB" };
        if mean > (base * base) as f64 {
            min /= base;
            max /= base;
            mean /= base as f64;
            deviation /= base as f64;
            unit = "MiB";
        }
        let DirectionReport { bw_agg: share, bw_samples: samples, .. } = direction;
        writeln!(
            out,
            "   bw ({unit:>5}/s): min={min:>5}, max={max:>5}, per={share:.2}%, avg={mean:>5.2}, stdev={deviation:>5.2}, samples={samples}"
        )?;
    }
    if direction.iops_samples > 0 {
        let DirectionReport { iops_min: min, iops_max: max, iops_mean: mean, iops_stddev: deviation, .. } =
            direction;
        writeln!(
            out,
            "   iops        : min={min:>5}, max={max:>5}, avg={mean:>5.2}, stdev={deviation:>5.2}, samples={}",
            direction.iops_samples
        )?;
    }
    Ok(())
}

/// Writes nonzero buckets, five to a line.
fn write_latency_shares(out: &mut String, unit: &str, shares: &LabelledShares) -> fmt::Result {
    let nonzero: Vec<String> = shares
        .0
        .iter()
        .filter(|(_, share)| *share > 0.0)
        .map(|(label, share)| format!("{label}={share:.2}%"))
        .collect();
    for line in nonzero.chunks(5) {
        writeln!(out, "  lat ({unit})   : {}", line.join(", "))?;
    }
    Ok(())
}

fn one_decimal(shares: &LabelledShares) -> String {
    let parts: Vec<String> = shares.0.iter().map(|(label, share)| format!("{label}={share:.1}%")).collect();
    parts.join(", ")
}

fn write_target(out: &mut String, target: &TargetReport) -> fmt::Result {
    writeln!(
        out,
        "     latency   : target={}, window={}, percentile={:.2}%, depth={}",
        latency::duration(target.latency_target_ns),
        latency::duration(target.latency_window_us.saturating_mul(1000)),
        target.latency_percentile,
        target.latency_depth,
    )
}

/// Writes the states of blocks, and the number of trims that failed blocks had survived.
fn write_blocks(out: &mut String, block: &BlockReport, precision: u8) -> fmt::Result {
    writeln!(out, "  block lifetime percentiles :")?;
    let (column, precision) = (usize::from(precision) + 3, usize::from(precision));
    let lines = block.percentiles.0.chunks(4);
    let last = lines.len().saturating_sub(1);
    for (at, line) in lines.enumerate() {
        let cell = |&(percent, trims): &(f64, u64)| format!("{percent:>column$.precision$}th=[{trims:>5}]");
        let cells: Vec<String> = line.iter().map(cell).collect();
        writeln!(out, "   | {}{}", cells.join(", "), if at == last { "" } else { "," })?;
    }
    let states: Vec<String> =
        block.states.0.iter().map(|(name, blocks)| format!("{name}={blocks}")).collect();
    writeln!(out, "   |{:8}states{:15}: {}", "", "", states.join(", "))
}

/// Writes the result of a steady state. The first bandwidth is scaled from whole KiB (kB), as in fio.
fn write_steady(out: &mut String, steady: &SteadyReport, text: &TextFigures) -> fmt::Result {
    let SteadyData { bw_mean, iops_mean, latency, .. } = &steady.data;
    let units = &text.units;
    let (unit, figures) = (rate_unit(units), units.significant_figures);
    let prefixes = Prefixes::of_kb_base(units.kb_base);
    let kilo = bw_mean / u64::from(units.kb_base.max(1));
    write!(
        out,
        "  steadystate  : attained={}, bw={} ({}), iops={}",
        if steady.attained == 0 { "no" } else { "yes" },
        num_of_kilo(kilo, figures, prefixes, unit),
        num(*bw_mean, figures, prefixes.other(), unit),
        num(*iops_mean, figures, Prefixes::Decimal, NumberUnit::None),
    )?;
    if let Some(latency) = latency {
        let (ns, unit) = match latency.lat_mean {
            ns @ 0..10_000 => (ns, "nsec"),
            ns @ 10_000..10_000_000 => (ns / 1000, "usec"),
            ns => (ns / 1_000_000, "msec"),
        };
        write!(out, ", lat={ns}{unit}")?;
    }
    writeln!(out, ", {}", text.steady_criterion)
}

const fn rate_unit(units: &Units) -> NumberUnit {
    if units.unit_base == 1 { NumberUnit::BitsPerSecond } else { NumberUnit::BytesPerSecond }
}

/// A rate in the job's prefix system and in the other one.
fn bandwidths(bytes_per_second: u64, units: &Units) -> (String, String) {
    let prefixes = Prefixes::of_kb_base(units.kb_base);
    let text = |prefixes| num(bytes_per_second, units.significant_figures, prefixes, rate_unit(units));
    (text(prefixes), text(prefixes.other()))
}

fn write_group(out: &mut String, group: &GroupReport) -> fmt::Result {
    writeln!(out, "\nRun status group {} (all jobs):", group.id)?;
    for (name, direction) in ["READ", "WRITE", "TRIM"].into_iter().zip(&group.directions) {
        if let Some(direction) = direction {
            write_group_direction(out, name, direction, &group.units)?;
        }
    }
    if let Some(mixed) = &group.mixed {
        write_group_direction(out, "MIXED", mixed, &group.units)?;
    }
    Ok(())
}

/// Writes the models whose sessions are in a group.
fn write_databases(out: &mut String, report: &RunReport, group: &GroupReport) -> fmt::Result {
    let databases = report.ferrio.iter().flat_map(|ferrio| &ferrio.databases);
    databases
        .filter(|database| database.groupid == group.id)
        .try_for_each(|database| database::write_database(out, database, &group.units))
}

fn write_group_direction(
    out: &mut String,
    name: &str,
    direction: &GroupDirection,
    units: &Units,
) -> fmt::Result {
    let &GroupDirection { bytes, bw, bw_min, bw_max, runtime_min, runtime_max } = direction;
    let [(bw, other), (least, other_least), (most, other_most)] =
        [bw, bw_min, bw_max].map(|bw| bandwidths(bw, units));
    let prefixes = Prefixes::of_kb_base(units.kb_base);
    let [io, other_io] = [prefixes, prefixes.other()]
        .map(|prefixes| num(bytes, units.significant_figures, prefixes, NumberUnit::Bytes));
    writeln!(
        out,
        "{name:>7}: bw={bw} ({other}), {least}-{most} ({other_least}-{other_most}), io={io} ({other_io}), run={runtime_min}-{runtime_max}msec"
    )
}

fn write_disks(out: &mut String, disks: &[DiskReport]) -> fmt::Result {
    if disks.is_empty() {
        return Ok(());
    }
    writeln!(out, "\nDisk stats (read/write):")?;
    for disk in disks {
        let indent = if disk.slaves.is_some() { "    " } else { "  " };
        let host = disk.hostname.iter().fold(String::new(), |_, host| format!("{host} "));
        write!(out, "{indent}{host}{}: ios={}/{}", disk.name, disk.read_ios, disk.write_ios)?;
        write!(out, ", sectors={}/{}", disk.read_sectors, disk.write_sectors)?;
        write!(out, ", merge={}/{}", disk.read_merges, disk.write_merges)?;
        write!(out, ", ticks={}/{}", disk.read_ticks, disk.write_ticks)?;
        write!(out, ", in_queue={}, util={:.2}%", disk.in_queue, disk.util)?;
        if let Some(means) = &disk.slaves {
            write_slave_means(out, means)?;
        }
        out.push('\n');
    }
    Ok(())
}

fn write_idleness(out: &mut String, idleness: &CpuIdleness) -> fmt::Result {
    let CpuIdleness { system, cpus, unit_mean, unit_stddev } = idleness;
    writeln!(out, "\nCPU idleness:\n  system: {system:.2}%")?;
    if !cpus.is_empty() {
        let cpus: Vec<String> = cpus.0.iter().map(|(_, percent)| format!("{percent:.2}%")).collect();
        writeln!(out, "  percpu: {}", cpus.join(", "))?;
    }
    write_unit_work(out, *unit_mean, *unit_stddev)
}

fn write_unit_work(out: &mut String, mean: f64, stddev: f64) -> fmt::Result {
    writeln!(out, "  unit work: mean={mean:.2}us, stddev={stddev:.2}")
}

/// The output of `--idle-prof=calibrate`.
#[must_use]
pub fn idle_calibration(unit: UnitWork) -> String {
    let mut out = String::from("CPU idleness:\n");
    // Writing into a String cannot fail.
    let written = write_unit_work(&mut out, unit.mean_us, unit.stddev_us);
    debug_assert!(written.is_ok());
    out
}

fn write_slave_means(out: &mut String, means: &SlaveMeans) -> fmt::Result {
    write!(out, ", aggrios={}/{}", means.aggr_read_ios, means.aggr_write_ios)?;
    write!(out, ", aggsectors={}/{}", means.aggr_read_sectors, means.aggr_write_sectors)?;
    write!(out, ", aggrmerge={}/{}", means.aggr_read_merges, means.aggr_write_merges)?;
    write!(out, ", aggrticks={}/{}", means.aggr_read_ticks, means.aggr_write_ticks)?;
    write!(out, ", aggrin_queue={}, aggrutil={:.2}%", means.aggr_in_queue, means.aggr_util)
}

#[cfg(test)]
pub(crate) mod tests;
