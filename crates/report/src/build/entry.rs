//! The report of one entry from its record: shares, latency target, trimmed blocks, and figures of the text.

use ferrio_job::{ReportedOptions, UnifiedReporting, Units};
use ferrio_stats::{BlockErrors, BlockState, DirectionStats};
use serde::{Deserialize, Serialize};

use super::direction::{HistogramOptions, direction_report, sync_percentiles, sync_report};
use super::record::EntryRecord;
use crate::model::{
    BATCH_LABELS, BLOCK_LABELS, BlockReport, DirectionReport, GroupDirection, GroupReport, JobReport,
    LATENCY_LABELS, LEVEL_LABELS, LabelledShares, Pairs, TersePercentiles, TextFigures,
};
use crate::num::percent;

/// Times of the run in seconds.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct RunTimes {
    pub(crate) elapsed: u64,
    pub(crate) eta: u64,
}

pub(crate) fn job_report(
    entry: &EntryRecord<'_>,
    groups: &[GroupReport],
    times: RunTimes,
    histograms: HistogramOptions<'_>,
) -> JobReport {
    let (stats, measure) = (&*entry.stats, &entry.measure);
    let group = groups.iter().find(|group| group.id == entry.groupid);
    let replaced = measure.unified == UnifiedReporting::Mixed;
    let report = |figures: &DirectionStats, of_group: Option<GroupDirection>| {
        direction_report(figures, of_group.map_or(0, |group| group.bw), measure, histograms)
    };
    let direction = |index: usize| {
        let of_group = group.and_then(|group| group.directions[index]);
        let zone_resets = entry.changes_zones[index].then_some(stats.zone_resets);
        (!replaced).then(|| DirectionReport { zone_resets, ..report(&stats.directions[index], of_group) })
    };
    let mixed = (measure.unified != UnifiedReporting::None).then(|| {
        // Unlike the directions, this is compared with the reads of the group, as in fio.
        let of_group = group.and_then(|group| if replaced { group.mixed } else { group.directions[0] });
        report(&stats.mixed(), of_group)
    });
    let ios = stats.total_ios();
    let sync = sync_report(stats, measure, histograms);
    let (sync, text_sync) = if replaced { (None, Some(sync)) } else { (Some(sync), None) };
    let block = measure.block_errors.then(|| block_report(stats.block_errors.as_ref(), &measure.percentiles));
    let (block, text_block) = match block {
        Some(block) if block.states.0.iter().any(|&(_, blocks)| blocks > 0) => (Some(block), None),
        block => (None, block),
    };
    let (steadystate, steady_criterion) = entry.steady.clone().unzip();
    JobReport {
        jobname: entry.jobname.clone(),
        groupid: entry.groupid,
        job_start: entry.start_ms,
        error: entry.error.as_ref().map_or(0, |error| error.errno),
        eta: Some(times.eta),
        elapsed: Some(times.elapsed),
        job_options: option_pairs(&entry.options),
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
        tolerated: entry.tolerated,
        target: entry.target,
        desc: entry.desc.clone(),
        block,
        steadystate,
        hostname: None,
        port: None,
        text: TextFigures {
            jobs: entry.jobs,
            does: entry.does,
            pid: entry.pid,
            error_message: entry.error.as_ref().map(|error| error.message.clone()),
            units: Units { kb_base: group.map_or(entry.units, |group| group.units).kb_base, ..entry.units },
            percentile_precision: measure.percentile_precision,
            terse_percentiles: TersePercentiles {
                of_lat: measure.lat_percentiles,
                percents: if measure.any_percentiles() { measure.percentiles.clone() } else { Vec::new() },
            },
            only_lines_of_fio: entry.only_lines_of_fio,
            sync: text_sync,
            sync_percentiles: sync_percentiles(stats, measure, histograms),
            steady_criterion: steady_criterion.unwrap_or_default(),
            block: text_block,
            damage: entry.damage.counts.iter().map(|(&kind, &count)| (kind, count)).collect(),
            optimisations: entry.optimisations,
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

/// Counts as percentages of `whole`; nonzero counts are at least `floor` percent.
pub(super) fn shares(labels: &[&str], counts: &[u64], whole: u64, floor: f64) -> LabelledShares {
    let share = |count| if count == 0 { 0.0 } else { percent(count, whole).max(floor) };
    Pairs(labels.iter().zip(counts).map(|(&label, &count)| (label.to_owned(), share(count))).collect())
}

/// Options as they were written.
pub(crate) fn option_pairs(options: &ReportedOptions) -> Pairs<String, String> {
    Pairs(options.to_vec())
}
