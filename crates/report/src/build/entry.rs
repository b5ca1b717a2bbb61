//! One entry of the report: the total figures of its jobs, shares, latency target, trimmed blocks and steady state.

use ferrio_job::{
    Direction, JobSpec, LatencyTarget, Optimisations, Plan, ReportedOptions, SteadyFigure, SteadyState,
    UnifiedReporting, Units,
};
use ferrio_results::{DamageTally, JobResult, RunResult, SteadyCheck, SteadyResult, tolerated_error};
use ferrio_stats::{BlockErrors, BlockState, DirectionStats, JobStats};

use super::direction::{HistogramOptions, direction_report, sync_percentiles, sync_report};
use super::verify::kinds;
use crate::messages::{error_message, report_name};
use crate::model::{
    BATCH_LABELS, BLOCK_LABELS, BlockReport, DirectionReport, GroupDirection, GroupReport, JobReport,
    LATENCY_LABELS, LEVEL_LABELS, LabelledShares, Pairs, SteadyData, SteadyLatency, SteadyReport,
    TargetReport, TersePercentiles, TextFigures, ToleratedErrors,
};
use crate::num::{finite, percent};

/// The jobs of one entry, at least one, with their total figures.
pub(super) struct EntryJobs<'a> {
    jobs: Vec<(&'a JobSpec, &'a JobResult)>,
    /// The total, unless the entry has only one job.
    merged: Option<JobStats>,
}

impl<'a> EntryJobs<'a> {
    /// `None` without jobs.
    fn new(jobs: Vec<(&'a JobSpec, &'a JobResult)>) -> Option<Self> {
        let (first, others) = jobs.split_first()?;
        let counters = |job: &JobResult| job.in_ramp.then(|| job.stats.counters());
        let mut merged = counters(first.1);
        for (_, job) in others {
            let merged = merged.get_or_insert_with(|| first.1.stats.clone());
            merged.merge(counters(job).as_ref().unwrap_or(&job.stats));
        }
        Some(EntryJobs { jobs, merged })
    }

    pub(super) fn first(&self) -> (&'a JobSpec, &'a JobResult) {
        self.jobs[0]
    }

    fn last(&self) -> (&'a JobSpec, &'a JobResult) {
        self.jobs[self.jobs.len() - 1]
    }

    pub(super) fn unified(&self) -> UnifiedReporting {
        self.first().0.measure.unified
    }

    pub(super) fn stats(&self) -> &JobStats {
        self.merged.as_ref().unwrap_or(&self.first().1.stats)
    }

    /// The damaged blocks of each job.
    pub(super) fn damage(&self) -> impl Iterator<Item = &'a DamageTally> {
        self.jobs.iter().map(|(_, result)| &result.damage)
    }

    /// The optimisations that any of the jobs used because of `tuning=lean`.
    pub(super) fn optimisations(&self) -> Optimisations {
        self.jobs.iter().fold(Optimisations::NONE, |used, (_, result)| used | result.optimisations)
    }

    /// True if a job of the entry writes to zones in this direction, or resets them by trims.
    fn changes_zones(&self, direction: Direction) -> bool {
        direction != Direction::Read
            && self.jobs.iter().any(|(spec, _)| spec.zbd.is_some() && spec.rw.does(direction))
    }
}

/// True if only `rw` decides the directions of the job.
fn surely_does(spec: &JobSpec, direction: Direction) -> bool {
    let decides = spec.replay.is_none() && spec.events.is_none();
    decides && spec.rw.does(direction) && spec.engine.does_io() && !spec.engine.is_background_load()
}

/// The name of each entry in the reports of this plan, with its jobs.
#[must_use]
pub fn entry_names<'a>(plan: &'a Plan) -> Vec<(&'a str, Vec<&'a JobSpec>)> {
    let specs = |indices: Vec<usize>| indices.into_iter().map(|index| &plan.jobs[index].spec).collect();
    let named = |jobs: Vec<&'a JobSpec>| Some((report_name(jobs.first()?), jobs));
    entry_jobs(plan).into_iter().filter_map(|indices| named(specs(indices))).collect()
}

/// Consecutive jobs of one group with `group_reporting` share an entry, and every other job has its own; jobs with `stats=0` have none.
/// Nothing is sampled in a ramp: a job that is in its ramp, or ended there, contributes its counters only.
pub(super) fn entries<'a>(plan: &'a Plan, result: &'a RunResult) -> Vec<EntryJobs<'a>> {
    let entry = |indices: Vec<usize>| {
        let indices = indices.into_iter().filter(|&index| index < result.jobs.len());
        EntryJobs::new(indices.map(|index| (&plan.jobs[index].spec, &result.jobs[index])).collect())
    };
    entry_jobs(plan).into_iter().filter_map(entry).collect()
}

/// The plan indices of the jobs of each entry.
#[must_use]
pub fn entry_jobs(plan: &Plan) -> Vec<Vec<usize>> {
    let mut entries: Vec<Vec<usize>> = Vec::new();
    let spec = |index: usize| &plan.jobs[index].spec;
    for index in (0..plan.jobs.len()).filter(|&index| spec(index).measure.reported) {
        match entries.last_mut() {
            Some(entry) if entry.last().is_some_and(|&last| spec(last).shares_entry_with(spec(index))) => {
                entry.push(index);
            }
            _ => entries.push(vec![index]),
        }
    }
    entries
}

/// Times of the run in seconds.
#[derive(Clone, Copy)]
pub(super) struct RunTimes {
    pub(super) elapsed: u64,
    pub(super) eta: u64,
}

pub(super) fn job_report(
    entry: &EntryJobs<'_>,
    groups: &[GroupReport],
    times: RunTimes,
    histograms: HistogramOptions<'_>,
) -> JobReport {
    let stats = entry.stats();
    let ((first, first_result), (last, last_result)) = (entry.first(), entry.last());
    let group = groups.iter().find(|group| group.id == last.group);
    let unified = entry.unified();
    let replaced = unified == UnifiedReporting::Mixed;
    let report = |figures: &DirectionStats, of_group: Option<GroupDirection>| {
        direction_report(figures, of_group.map_or(0, |group| group.bw), last, histograms)
    };
    let direction = |index: usize| {
        let of_group = group.and_then(|group| group.directions[index]);
        let zone_resets = entry.changes_zones(Direction::ALL[index]).then_some(stats.zone_resets);
        (!replaced).then(|| DirectionReport { zone_resets, ..report(&stats.directions[index], of_group) })
    };
    let mixed = (unified != UnifiedReporting::None).then(|| {
        // Unlike the directions, this is compared with the reads of the group, as in fio.
        let of_group = group.and_then(|group| if replaced { group.mixed } else { group.directions[0] });
        report(&stats.mixed(), of_group)
    });
    let error = entry.jobs.iter().filter_map(|(_, job)| job.error.as_ref()).find(|error| error.errno != 0);
    let start = entry.jobs.iter().map(|(_, job)| job.start_ms).find(|&start| start > 0).unwrap_or(0);
    let ios = stats.total_ios();
    let sync = sync_report(stats, last, histograms);
    let (sync, text_sync) = if replaced { (None, Some(sync)) } else { (Some(sync), None) };
    let measure = &last.measure;
    let block = measure.block_errors.then(|| block_report(stats.block_errors.as_ref(), &measure.percentiles));
    let (block, text_block) = match block {
        Some(block) if block.states.0.iter().any(|&(_, blocks)| blocks > 0) => (Some(block), None),
        block => (None, block),
    };
    // A group has the window of its last job; a job that never ran has an empty one.
    let steady_result = last_result.steadystate.clone().unwrap_or_default();
    let steady = last.steadystate.as_ref().map(|state| steady_report(state, &steady_result));
    let (steadystate, steady_criterion) = steady.unzip();
    JobReport {
        jobname: report_name(first).to_owned(),
        groupid: first.group,
        job_start: start,
        error: error.map_or(stats.first_error, |error| error.errno),
        eta: times.eta,
        elapsed: times.elapsed,
        job_options: option_pairs(&last.options),
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
        tolerated: last.tolerance.tolerates_any().then_some(ToleratedErrors {
            total_err: stats.total_errors,
            first_error: last_result.stats.first_error,
        }),
        target: (start > 0).then(|| target_report(entry)),
        desc: first.description.clone(),
        block,
        steadystate,
        text: TextFigures {
            jobs: entry.jobs.len(),
            does: Direction::ALL
                .map(|direction| entry.jobs.iter().any(|(spec, _)| surely_does(spec, direction))),
            pid: first_result.pid,
            error_message: match error {
                Some(error) => Some(error_message(error)),
                None => (stats.first_error != 0).then(|| error_message(&tolerated_error(stats.first_error))),
            },
            units: Units { kb_base: group.map_or(first.units, |group| group.units).kb_base, ..first.units },
            percentile_precision: measure.percentile_precision,
            terse_percentiles: TersePercentiles {
                of_lat: measure.lat_percentiles,
                percents: if measure.any_percentiles() { measure.percentiles.clone() } else { Vec::new() },
            },
            only_lines_of_fio: !first.compat.text_has_own_lines,
            sync: text_sync,
            sync_percentiles: sync_percentiles(stats, last, histograms),
            steady_criterion: steady_criterion.unwrap_or_default(),
            block: text_block,
            damage: kinds(entry.damage()),
            optimisations: entry.optimisations(),
        },
    }
}

fn block_report(errors: Option<&BlockErrors>, percentiles: &[f64]) -> BlockReport {
    let blocks = |state| errors.map_or(0, |errors| errors.blocks(state));
    BlockReport {
        percentiles: Pairs(errors.map(|errors| errors.percentiles(percentiles)).unwrap_or_default()),
        states: Pairs(BLOCK_LABELS.map(str::to_owned).into_iter().zip(BlockState::ALL.map(blocks)).collect()),
    }
}

/// The latency target of the last job, and the queue depth that the search for it reached.
fn target_report(entry: &EntryJobs<'_>) -> TargetReport {
    let (spec, result) = entry.last();
    let LatencyTarget { target, window, percentile, .. } = spec.latency_target;
    let target_ns = u64::try_from(target.as_nanos()).unwrap_or(u64::MAX);
    let window_us = u64::try_from(window.as_micros()).unwrap_or(u64::MAX);
    TargetReport {
        latency_depth: result.latency_depth.unwrap_or(spec.depth.iodepth),
        latency_target: target_ns,
        latency_target_ns: target_ns,
        latency_percentile: percentile,
        latency_window: window_us,
        latency_window_us: window_us,
    }
}

/// The report on a steady state, and its criterion as shown in the text.
fn steady_report(state: &SteadyState, result: &SteadyResult) -> (SteadyReport, String) {
    let unit = if state.percent { "%" } else { "" };
    let name = state.figure.word();
    let criterion = finite(result.criterion);
    let report = SteadyReport {
        ss: format!("{name}{}:{:.6}{unit}", if state.slope { "_slope" } else { "" }, state.limit),
        duration: state.duration.as_secs(),
        attained: u8::from(result.attained),
        criterion: format!("{criterion:.6}{unit}"),
        max_deviation: finite(result.max_deviation),
        slope: finite(result.slope),
        data: steady_data(state, result),
    };
    let text = format!("{name} {}={criterion:.3}{unit}", if state.slope { "slope" } else { "mean dev" });
    (report, text)
}

fn steady_data(state: &SteadyState, result: &SteadyResult) -> SteadyData {
    let window = |figure: fn(&SteadyCheck) -> u64| {
        let mut figures: Vec<u64> = result.checks.iter().map(figure).collect();
        figures.resize(state.checks(), 0);
        figures
    };
    let (iops, bw) = (window(|check| check.iops), window(|check| check.bw));
    let latency = (state.figure == SteadyFigure::Latency).then(|| {
        let lat_ns = window(|check| check.lat_ns);
        SteadyLatency { lat_mean: mean(&lat_ns), lat_ns }
    });
    SteadyData { bw_mean: mean(&bw), iops_mean: mean(&iops), latency, iops, bw }
}

/// The mean, rounded down as in fio.
fn mean(figures: &[u64]) -> u64 {
    let sum: u128 = figures.iter().map(|&figure| u128::from(figure)).sum();
    let mean = sum.checked_div(figures.len() as u128).unwrap_or(0);
    u64::try_from(mean).unwrap_or(u64::MAX)
}

/// Counts as percentages of `whole`; nonzero counts are at least `floor` percent.
pub(super) fn shares(labels: &[&str], counts: &[u64], whole: u64, floor: f64) -> LabelledShares {
    let share = |count| if count == 0 { 0.0 } else { percent(count, whole).max(floor) };
    Pairs(labels.iter().zip(counts).map(|(&label, &count)| (label.to_owned(), share(count))).collect())
}

/// Options as they were written.
pub(super) fn option_pairs(options: &ReportedOptions) -> Pairs<String, String> {
    Pairs(options.to_vec())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn state(figure: SteadyFigure, slope: bool, limit: f64, percent: bool) -> SteadyState {
        let (duration, interval) = (Duration::from_secs(4), Duration::from_secs(1));
        SteadyState { figure, slope, limit, percent, duration, ramp: Duration::ZERO, interval }
    }

    fn check(iops: u64) -> SteadyCheck {
        SteadyCheck { iops, bw: iops * 4096, lat_ns: 107 }
    }

    #[test]
    fn a_window_that_is_not_full_ends_in_zeros_that_count_in_the_means() {
        let checks = [795, 984, 972].map(check).to_vec();
        let result = SteadyResult { checks, ..SteadyResult::default() };
        let (report, text) = steady_report(&state(SteadyFigure::Bandwidth, true, 0.0, false), &result);
        assert_eq!((report.ss.as_str(), report.criterion.as_str()), ("bw_slope:0.000000", "0.000000"));
        assert_eq!((report.attained, report.duration, text.as_str()), (0, 4, "bw slope=0.000"));
        assert_eq!(report.data.iops, [795, 984, 972, 0]);
        assert_eq!((report.data.bw_mean, report.data.iops_mean), (2_817_024, 687));
        assert_eq!(report.data.latency, None);
    }

    #[test]
    fn a_latency_criterion_brings_its_figures_between_the_means_and_the_windows() {
        let checks = vec![check(1); 4];
        let result = SteadyResult { attained: true, criterion: 1.25, checks, ..SteadyResult::default() };
        let (report, text) = steady_report(&state(SteadyFigure::Latency, false, 5.0, true), &result);
        let json = serde_json::to_value(&report).unwrap();
        let keys = |value: &serde_json::Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
        let outer = ["ss", "duration", "attained", "criterion", "max_deviation", "slope", "data"];
        assert_eq!(keys(&json), outer);
        assert_eq!(keys(&json["data"]), ["bw_mean", "iops_mean", "lat_mean", "lat_ns", "iops", "bw"]);
        assert_eq!(
            (json["ss"].as_str(), json["criterion"].as_str()),
            (Some("lat:5.000000%"), Some("1.250000%"))
        );
        assert_eq!(report.data.latency, Some(SteadyLatency { lat_mean: 107, lat_ns: vec![107; 4] }));
        assert_eq!(text, "lat mean dev=1.250%");
    }
}
