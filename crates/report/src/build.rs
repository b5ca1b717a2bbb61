//! From plan and result to the report tree: jobs grouped into entries, rates, shares and percentiles worked out.

mod ferrio;
pub(crate) mod latency;
mod steady;

use std::time::Duration;

use ferrio_job::{JobSpec, LatencyTarget, OptionEcho, Plan, UnifiedReporting, Units};
use ferrio_runner::{DiskUsage, Idleness, JobResult, RunResult, SteadyResult, tolerated_error};
use ferrio_stats::{BlockErrors, BlockState, DirectionStats, JobStats, Latency};

use crate::ctime::ctime;
use crate::errors::error_message;
use crate::eta::{ETA_AFTER_SECONDS, remaining};
use crate::format::Format;
use crate::model::{
    BATCH_LABELS, BLOCK_LABELS, BlockReport, CpuIdleness, DirectionReport, DiskReport, ETA_UNKNOWN,
    GroupDirection, GroupReport, JobReport, LATENCY_LABELS, LEVEL_LABELS, LabelledShares, Pairs, Percentiles,
    RunReport, SlaveMeans, SteadyReport, SyncReport, TargetReport, TersePercentiles, TextFigures,
    ToleratedErrors,
};
use crate::names::report_name;
use crate::num::{finite, per_second, percent};
use crate::report_options::ReportOptions;
use crate::warnings::{self, RunView};
use ferrio::ferrio_report;
use latency::{Histograms, latency_report, priority_reports};
use steady::steady_report;

impl RunReport {
    /// Works out the report of a run.
    #[must_use]
    pub fn new(plan: &Plan, result: &RunResult, options: &ReportOptions) -> Self {
        let entries = entries(plan, result);
        let groups = groups(plan, &entries);
        let elapsed = seconds_rounded_up(result.elapsed);
        let histograms =
            Histograms { buckets: options.buckets(), bins: options.formats.has(Format::JsonPlus) };
        let times = Times { elapsed, eta: eta(plan, result, elapsed) };
        let jobs: Vec<JobReport> =
            entries.iter().map(|entry| job_report(entry, &groups, times, histograms)).collect();
        let mut ferrio = ferrio_report(plan, result, options, &jobs);
        ferrio.warnings = warnings::find(&RunView {
            plan,
            result,
            setting: &options.setting,
            cpu: options.cpu,
            entries: &jobs,
        });
        RunReport {
            version: options.version.clone(),
            timestamp: options.time.timestamp().as_second(),
            timestamp_ms: options.time.timestamp().as_millisecond(),
            time: ctime(&options.time),
            global_options: echo(&plan.globals),
            jobs,
            disk_util: disks(&result.disks),
            cpu_idleness: result.idleness.as_ref().map(|idleness| cpu_idleness(idleness, options.each_cpu)),
            ferrio: Some(ferrio),
            groups,
        }
    }
}

/// The jobs of one report entry with their figures summed up; never empty.
struct EntryJobs<'a> {
    jobs: Vec<(&'a JobSpec, &'a JobResult)>,
    /// Unless they are all of those of the only job.
    merged: Option<JobStats>,
}

impl<'a> EntryJobs<'a> {
    fn first(&self) -> (&'a JobSpec, &'a JobResult) {
        self.jobs[0]
    }

    fn last(&self) -> &'a JobSpec {
        self.jobs[self.jobs.len() - 1].0
    }

    fn unified(&self) -> UnifiedReporting {
        self.first().0.measure.unified
    }

    fn stats(&self) -> &JobStats {
        self.merged.as_ref().unwrap_or(&self.first().1.stats)
    }
}

/// Consecutive jobs of one group with `group_reporting` make one entry, every other job makes its own; those with `stats=0` have
/// none. In a ramp nothing is sampled: of a job that is in its ramp, or ended there, an entry has what was counted.
fn entries<'a>(plan: &'a Plan, result: &'a RunResult) -> Vec<EntryJobs<'a>> {
    let mut entries: Vec<EntryJobs<'a>> = Vec::new();
    let jobs = plan.jobs.iter().map(|planned| &planned.spec).zip(&result.jobs);
    for (spec, job) in jobs.filter(|(spec, _)| spec.measure.reported) {
        let counters = job.in_ramp.then(|| job.stats.counters());
        match entries.last_mut() {
            Some(entry)
                if spec.group_reporting
                    && entry.last().group_reporting
                    && entry.last().group == spec.group =>
            {
                let first = &entry.jobs[0].1.stats;
                entry
                    .merged
                    .get_or_insert_with(|| first.clone())
                    .merge(counters.as_ref().unwrap_or(&job.stats));
                entry.jobs.push((spec, job));
            }
            _ => entries.push(EntryJobs { jobs: vec![(spec, job)], merged: counters }),
        }
    }
    entries
}

/// All groups of the plan; those without an entry are empty.
fn groups(plan: &Plan, entries: &[EntryJobs<'_>]) -> Vec<GroupReport> {
    let mut groups: Vec<GroupReport> = Vec::new();
    for spec in plan.jobs.iter().map(|planned| &planned.spec) {
        if groups.iter().all(|group| group.id != spec.group) {
            groups.push(GroupReport {
                id: spec.group,
                units: spec.units,
                directions: [None; 3],
                mixed: None,
            });
        }
    }
    for entry in entries {
        let spec = entry.first().0;
        let Some(group) = groups.iter_mut().find(|group| group.id == spec.group) else { continue };
        group.units = spec.units;
        let GroupReport { directions, mixed, .. } = group;
        if entry.unified() == UnifiedReporting::Mixed {
            add_to_group(mixed, &entry.stats().mixed());
            continue;
        }
        for (sum, figures) in directions.iter_mut().zip(&entry.stats().directions) {
            add_to_group(sum, figures);
            if entry.unified() == UnifiedReporting::Both {
                add_to_group(mixed, figures);
            }
        }
    }
    groups
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
    group.bytes += bytes;
    group.bw_min = group.bw_min.min(bw);
    group.bw_max = group.bw_max.max(bw);
    group.runtime_min = group.runtime_min.min(runtime);
    group.runtime_max = group.runtime_max.max(runtime);
    group.bw = per_second(group.bytes, group.runtime_max);
}

/// What is the same for all jobs, seconds.
#[derive(Clone, Copy)]
struct Times {
    elapsed: u64,
    eta: u64,
}

/// Seconds that the run will still take: like fio's, those of the whole run, not of one job.
fn eta(plan: &Plan, result: &RunResult, elapsed: u64) -> u64 {
    match &result.progress {
        Some(progress) => remaining(plan, progress).unwrap_or(ETA_UNKNOWN),
        None if elapsed < ETA_AFTER_SECONDS => ETA_UNKNOWN,
        None => 0,
    }
}

fn job_report(
    entry: &EntryJobs<'_>,
    groups: &[GroupReport],
    times: Times,
    histograms: Histograms,
) -> JobReport {
    let stats = entry.stats();
    let (first, first_result) = entry.first();
    let &(last, last_result) = &entry.jobs[entry.jobs.len() - 1];
    let group = groups.iter().find(|group| group.id == last.group);
    let unified = entry.unified();
    let replaced = unified == UnifiedReporting::Mixed;
    let direction = |index: usize| {
        let group = group.and_then(|group| group.directions[index]);
        (!replaced).then(|| {
            direction_report(&stats.directions[index], group.map_or(0, |group| group.bw), last, histograms)
        })
    };
    let mixed = (unified != UnifiedReporting::None).then(|| {
        // Beside the directions it is held against the reads of the group, as fio does.
        let group = group.and_then(|group| if replaced { group.mixed } else { group.directions[0] });
        direction_report(&stats.mixed(), group.map_or(0, |group| group.bw), last, histograms)
    });
    let error = entry.jobs.iter().filter_map(|(_, job)| job.error.as_ref()).find(|error| error.errno != 0);
    let start = entry.jobs.iter().map(|(_, job)| job.start_ms).find(|&start| start > 0).unwrap_or(0);
    let ios = stats.total_ios();
    let sync = sync_report(stats, last, histograms);
    let (sync, text_sync) = if replaced { (None, Some(sync)) } else { (Some(sync), None) };
    let block = last
        .measure
        .block_errors
        .then(|| block_report(stats.block_errors.as_ref(), &last.measure.percentiles));
    let (block, text_block) = block.map_or((None, None), |block| {
        if block.states.0.iter().any(|&(_, blocks)| blocks > 0) {
            (Some(block), None)
        } else {
            (None, Some(block))
        }
    });
    let (steadystate, steady_criterion) = steadystate(entry).unzip();
    JobReport {
        jobname: report_name(first).to_owned(),
        groupid: first.group,
        job_start: start,
        error: error.map_or(stats.first_error, |error| error.errno),
        eta: times.eta,
        elapsed: times.elapsed,
        job_options: echo(&last.options),
        read: direction(0),
        write: direction(1),
        trim: direction(2),
        sync,
        mixed,
        job_runtime: stats.job_runtime_ms,
        usr_cpu: percent(stats.usage.user_us / 1000, stats.job_runtime_ms),
        sys_cpu: percent(stats.usage.system_us / 1000, stats.job_runtime_ms),
        ctx: stats.usage.context_switches,
        majf: stats.usage.major_faults,
        minf: stats.usage.minor_faults,
        iodepth_level: shares(&LEVEL_LABELS, &stats.depth.0, ios, 0.1),
        iodepth_submit: shares(&BATCH_LABELS, &stats.submit.0, stats.submit.0.iter().sum(), 0.1),
        iodepth_complete: shares(&BATCH_LABELS, &stats.complete.0, stats.complete.0.iter().sum(), 0.1),
        latency_ns: shares(&LATENCY_LABELS, stats.latency_buckets.ns(), ios, 0.01),
        latency_us: shares(&LATENCY_LABELS, stats.latency_buckets.us(), ios, 0.01),
        latency_ms: shares(&LATENCY_LABELS, stats.latency_buckets.ms(), ios, 0.01),
        tolerated: last.tolerance.any().then_some(ToleratedErrors {
            total_err: stats.total_errors,
            first_error: last_result.stats.first_error,
        }),
        target: (start > 0).then(|| target_report(entry)),
        desc: first.description.clone(),
        block,
        steadystate,
        text: TextFigures {
            jobs: entry.jobs.len(),
            pid: first_result.pid,
            error_message: match error {
                Some(error) => Some(error_message(error)),
                None => (stats.first_error != 0).then(|| error_message(&tolerated_error(stats.first_error))),
            },
            units: Units { kb_base: group.map_or(first.units, |group| group.units).kb_base, ..first.units },
            percentile_precision: last.measure.percentile_precision,
            terse_percentiles: terse_percentiles(last),
            sync: text_sync,
            sync_percentiles: sync_percentiles(stats, last, histograms),
            steady_criterion: steady_criterion.unwrap_or_default(),
            block: text_block,
        },
    }
}

fn block_report(errors: Option<&BlockErrors>, percentiles: &[f64]) -> BlockReport {
    let blocks = |state| errors.map_or(0, |errors| errors.blocks(state));
    BlockReport {
        percentiles: Percentiles(errors.map(|errors| errors.percentiles(percentiles)).unwrap_or_default()),
        states: Pairs(BLOCK_LABELS.map(str::to_owned).into_iter().zip(BlockState::ALL.map(blocks)).collect()),
    }
}

fn terse_percentiles(spec: &JobSpec) -> TersePercentiles {
    let measure = &spec.measure;
    let percents = if measure.any_percentiles() { measure.percentiles.clone() } else { Vec::new() };
    TersePercentiles { of_lat: measure.lat_percentiles, percents }
}

/// What the last job of the entry searched for, and the depth it came to.
fn target_report(entry: &EntryJobs<'_>) -> TargetReport {
    let spec = entry.last();
    let found = entry.jobs.last().and_then(|(_, result)| result.latency_depth);
    let LatencyTarget { target, window, percentile, .. } = spec.latency_target;
    let target_ns = u64::try_from(target.as_nanos()).unwrap_or(u64::MAX);
    let window_us = u64::try_from(window.as_micros()).unwrap_or(u64::MAX);
    TargetReport {
        latency_depth: found.unwrap_or(spec.depth.iodepth),
        latency_target: target_ns,
        latency_target_ns: target_ns,
        latency_percentile: percentile,
        latency_window: window_us,
        latency_window_us: window_us,
    }
}

/// The steady state with its criterion as text, of the last job of the entry: a group has its window there. A job that never ran has
/// an empty one.
fn steadystate(entry: &EntryJobs<'_>) -> Option<(SteadyReport, String)> {
    let &(spec, result) = entry.jobs.last()?;
    let empty = SteadyResult::default();
    Some(steady_report(spec.steadystate.as_ref()?, result.steadystate.as_ref().unwrap_or(&empty)))
}

fn direction_report(
    stats: &DirectionStats,
    group_bw: u64,
    spec: &JobSpec,
    histograms: Histograms,
) -> DirectionReport {
    let bw_bytes = per_second(stats.bytes, stats.runtime_ms);
    let measure = &spec.measure;
    let latency = |latency: Option<&Latency>, percentiles: bool| {
        latency.map(|l| latency_report(l, &measure.percentiles, percentiles, histograms)).unwrap_or_default()
    };
    DirectionReport {
        io_bytes: stats.bytes,
        io_kbytes: stats.bytes >> 10,
        bw_bytes,
        bw: bw_bytes / 1024,
        iops: if stats.runtime_ms == 0 { 0.0 } else { 1000.0 * stats.ios as f64 / stats.runtime_ms as f64 },
        runtime: stats.runtime_ms,
        total_ios: stats.ios,
        short_ios: stats.short,
        drop_ios: 0,
        slat_ns: latency(stats.slat.as_deref(), measure.slat_percentiles),
        clat_ns: latency(stats.clat.as_deref(), measure.clat_percentiles),
        lat_ns: latency(stats.lat(), measure.lat_percentiles),
        prios: priority_reports(stats, measure, histograms),
        response_ns: stats
            .response
            .is_some()
            .then(|| latency(stats.response.as_deref(), measure.any_percentiles())),
        bw_min: stats.bw.min,
        bw_max: stats.bw.max,
        bw_agg: if stats.bw.samples == 0 { 0.0 } else { share_of_group(stats.bw.mean, group_bw) },
        bw_mean: finite(stats.bw.mean),
        bw_dev: finite(stats.bw.stddev()),
        bw_samples: stats.bw.samples,
        iops_min: stats.iops.min,
        iops_max: stats.iops.max,
        iops_mean: finite(stats.iops.mean),
        iops_stddev: finite(stats.iops.stddev()),
        iops_samples: stats.iops.samples,
    }
}

/// A mean bandwidth in KiB/s as percent of the group's in bytes per second, at most 100.
fn share_of_group(mean_kib: f64, group_bw: u64) -> f64 {
    let group_kib = group_bw as f64 / 1024.0;
    if group_kib <= 1.0 { 100.0 } else { finite(100.0 * mean_kib.floor() / group_kib).min(100.0) }
}

fn sync_report(stats: &JobStats, spec: &JobSpec, histograms: Histograms) -> SyncReport {
    let total_ios = stats.sync.ios;
    let measure = &spec.measure;
    let lat_ns =
        stats.sync.latency.as_deref().map(|latency| {
            latency_report(latency, &measure.percentiles, measure.any_percentiles(), histograms)
        });
    SyncReport { total_ios, lat_ns: lat_ns.unwrap_or_default() }
}

fn sync_percentiles(stats: &JobStats, spec: &JobSpec, histograms: Histograms) -> Percentiles {
    let list = &spec.measure.percentiles;
    let latency = stats.sync.latency.as_deref();
    latency.map(|latency| Percentiles(latency.percentiles(histograms.buckets, list))).unwrap_or_default()
}

/// Counts in percent of `whole`; nonzero counts are shown as at least `floor` percent.
fn shares(labels: &[&str], counts: &[u64], whole: u64, floor: f64) -> LabelledShares {
    let share = |count| if count == 0 { 0.0 } else { percent(count, whole).max(floor) };
    Pairs(labels.iter().zip(counts).map(|(&label, &count)| (label.to_owned(), share(count))).collect())
}

fn disks(usage: &[DiskUsage]) -> Vec<DiskReport> {
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
    }
}

fn cpu_idleness(idleness: &Idleness, each_cpu: bool) -> CpuIdleness {
    let cpus = idleness.cpus.iter().filter(|_| each_cpu);
    CpuIdleness {
        system: finite(idleness.system()),
        cpus: Pairs(cpus.map(|&(cpu, percent)| (format!("cpu-{cpu}"), finite(percent))).collect()),
        unit_mean: finite(idleness.unit.mean_us),
        unit_stddev: finite(idleness.unit.stddev_us),
    }
}

fn echo(options: &OptionEcho) -> Pairs<String, String> {
    Pairs(options.clone())
}

fn seconds_rounded_up(time: Duration) -> u64 {
    u64::try_from(time.as_nanos().div_ceil(1_000_000_000)).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests;
