//! Builds the report tree from plan and result: entries, groups, disks, and run metadata.

pub(crate) mod database;
pub(crate) mod direction;
pub(crate) mod entry;
pub(crate) mod ferrio;
pub(crate) mod record;
mod steady;
mod verify;

use std::time::Duration;

use ferrio_job::{Compat, Plan, Tuning, UnifiedReporting, Units};
use ferrio_results::{DiskUsage, Idleness, RunResult};
use ferrio_stats::DirectionStats;
use jiff::Zoned;

use crate::eta::{ETA_AFTER_SECONDS, remaining};
use crate::model::{
    CpuIdleness, DiskReport, ETA_UNKNOWN, GroupDirection, GroupReport, JobReport, Pairs, RunReport,
    SlaveMeans,
};
use crate::num::{finite, per_second};
use crate::report_options::ReportOptions;
use crate::warnings::{self, RunView};
pub(crate) use direction::{HistogramOptions, latency_report};
use entry::{RunTimes, job_report, option_pairs};
use ferrio::ferrio_report;
use record::{EntryRecord, entry_records};
pub use record::{entry_jobs, entry_names};

impl RunReport {
    /// Builds the report of a run.
    #[must_use]
    pub fn new(plan: &Plan, result: &RunResult, options: &ReportOptions) -> Self {
        let entries = entry_records(plan, result);
        let groups = groups(plan, &entries);
        let histograms = HistogramOptions::of(options);
        let times = run_times(plan, result);
        let jobs: Vec<JobReport> =
            entries.iter().map(|entry| job_report(entry, &groups, times, histograms)).collect();
        let mut ferrio = ferrio_report(plan, result, options, &jobs, &entries, histograms);
        ferrio.warnings = warnings::find(&RunView {
            plan,
            result,
            environment: &options.environment,
            cpu: options.cpu,
            throttling: options.throttling,
            entries: &jobs,
        });
        ferrio.notes = ferrio::notes(plan, options, &ferrio.warnings);
        let has_messages = !ferrio.warnings.is_empty() || !ferrio.notes.is_empty();
        // fio's documents lack the object `ferrio`.
        let is_lean = plan.jobs.iter().any(|job| job.spec.tuning == Tuning::Lean);
        let is_shown =
            options.always_has_own_object() || has_messages || !ferrio.verify.is_empty() || is_lean;
        RunReport {
            global_options: option_pairs(&plan.globals),
            jobs,
            disk_util: disk_reports(&result.disks),
            cpu_idleness: result.idleness.as_ref().map(|idleness| cpu_idleness(idleness, options.per_cpu)),
            ferrio: is_shown.then_some(ferrio),
            groups,
            ..RunReport::heading(options)
        }
    }

    /// A report without figures.
    pub(crate) fn heading(options: &ReportOptions) -> Self {
        RunReport {
            version: options.version.clone(),
            timestamp: options.time.timestamp().as_second(),
            timestamp_ms: options.time.timestamp().as_millisecond(),
            time: ctime(&options.time),
            ..RunReport::default()
        }
    }
}

/// The times of a run so far.
pub(crate) fn run_times(plan: &Plan, result: &RunResult) -> RunTimes {
    let elapsed = seconds_rounded_up(result.elapsed);
    RunTimes { elapsed, eta: eta(plan, result, elapsed) }
}

/// The groups of the plan; a group without an entry is empty.
fn groups(plan: &Plan, entries: &[EntryRecord<'_>]) -> Vec<GroupReport> {
    let mut groups: Vec<GroupReport> = Vec::new();
    for spec in plan.jobs.iter().map(|planned| &planned.spec) {
        if groups.iter().all(|group| group.id != spec.group) {
            groups.push(GroupReport::new(spec.group, spec.units));
        }
    }
    for entry in entries {
        if let Some(group) = groups.iter_mut().find(|group| group.id == entry.groupid) {
            group.add(entry);
        }
    }
    groups
}

impl GroupReport {
    /// A group without figures.
    pub(crate) const fn new(id: u32, units: Units) -> Self {
        GroupReport { id, units, directions: [None; 3], mixed: None }
    }

    /// Adds the figures of an entry.
    pub(crate) fn add(&mut self, entry: &EntryRecord<'_>) {
        self.units = entry.units;
        let GroupReport { directions, mixed, .. } = self;
        if entry.measure.unified == UnifiedReporting::Mixed {
            add_to_group(mixed, &entry.stats.mixed());
            return;
        }
        for (sum, figures) in directions.iter_mut().zip(&entry.stats.directions) {
            add_to_group(sum, figures);
            if entry.measure.unified == UnifiedReporting::Both {
                add_to_group(mixed, figures);
            }
        }
    }
}

fn add_to_group(sum: &mut Option<GroupDirection>, figures: &DirectionStats) {
    let (bytes, runtime) = (figures.bytes, figures.runtime_ms);
    if runtime == 0 {
        return;
    }
    let bw = per_second(bytes, runtime);
    let first =
        GroupDirection { bytes: 0, bw, bw_min: bw, bw_max: bw, runtime_min: runtime, runtime_max: runtime };
    let group = sum.get_or_insert(first);
    group.bytes = group.bytes.saturating_add(bytes);
    group.bw_min = group.bw_min.min(bw);
    group.bw_max = group.bw_max.max(bw);
    group.runtime_min = group.runtime_min.min(runtime);
    group.runtime_max = group.runtime_max.max(runtime);
    group.bw = per_second(group.bytes, group.runtime_max);
}

/// Estimated remaining seconds: as in fio, those of the whole run, not of one job.
fn eta(plan: &Plan, result: &RunResult, elapsed: u64) -> u64 {
    match &result.progress {
        Some(progress) => remaining(plan, progress, Compat::Fio).unwrap_or(ETA_UNKNOWN),
        None if elapsed < ETA_AFTER_SECONDS => ETA_UNKNOWN,
        None => 0,
    }
}

/// Formats the time like ctime(3): `Sat Nov  7 02:10:07 2026`.
fn ctime(time: &Zoned) -> String {
    time.strftime("%a %b %e %H:%M:%S %Y").to_string()
}

fn seconds_rounded_up(time: Duration) -> u64 {
    u64::try_from(time.as_nanos().div_ceil(1_000_000_000)).unwrap_or(u64::MAX)
}

fn disk_reports(usage: &[DiskUsage]) -> Vec<DiskReport> {
    let slaves = |disk: &DiskUsage| disk.slaves.iter().filter_map(|&at| usage.get(at)).collect::<Vec<_>>();
    usage.iter().map(|disk| disk_report(disk, &slaves(disk))).collect()
}

fn disk_report(disk: &DiskUsage, slaves: &[&DiskUsage]) -> DiskReport {
    let mean = |figure: fn(&DiskUsage) -> u64| {
        slaves.iter().map(|s| figure(s)).sum::<u64>() / slaves.len().max(1) as u64
    };
    DiskReport {
        name: disk.name.clone(),
        read_ios: disk.ios[0],
        write_ios: disk.ios[1],
        read_sectors: disk.sectors[0],
        write_sectors: disk.sectors[1],
        read_merges: disk.merges[0],
        write_merges: disk.merges[1],
        read_ticks: disk.ticks[0],
        write_ticks: disk.ticks[1],
        in_queue: disk.in_queue,
        util: finite(disk.util).min(100.0),
        slaves: (!slaves.is_empty()).then(|| SlaveMeans {
            aggr_read_ios: mean(|d| d.ios[0]),
            aggr_write_ios: mean(|d| d.ios[1]),
            aggr_read_sectors: mean(|d| d.sectors[0]),
            aggr_write_sectors: mean(|d| d.sectors[1]),
            aggr_read_merges: mean(|d| d.merges[0]),
            aggr_write_merges: mean(|d| d.merges[1]),
            aggr_read_ticks: mean(|d| d.ticks[0]),
            aggr_write_ticks: mean(|d| d.ticks[1]),
            aggr_in_queue: mean(|d| d.in_queue),
            aggr_util: slaves.iter().map(|d| finite(d.util)).fold(0.0, f64::max).min(100.0),
        }),
        hostname: None,
        port: None,
    }
}

fn cpu_idleness(idleness: &Idleness, per_cpu: bool) -> CpuIdleness {
    let cpus = idleness.cpus.iter().filter(|_| per_cpu);
    CpuIdleness {
        system: finite(idleness.system()),
        cpus: Pairs(cpus.map(|&(cpu, percent)| (format!("cpu-{cpu}"), finite(percent))).collect()),
        unit_mean: finite(idleness.unit.mean_us),
        unit_stddev: finite(idleness.unit.stddev_us),
    }
}

#[cfg(test)]
mod tests;
