//! The settings and figures of one entry: all that its report is made from. An agent sends them, so that the coordinator makes the entries
//! of a host, and those of all hosts, with the code that makes them here.

use std::borrow::Cow;

use ferrio_job::{
    Direction, JobSpec, LatencyTarget, Measure, Optimisations, Plan, ReportedOptions, Tuning, Units,
};
use ferrio_results::{DamageTally, JobResult, RunResult, SteadyResult, tolerated_error};
use ferrio_stats::JobStats;
use serde::{Deserialize, Serialize};

use super::steady::steady_report;
use crate::messages::{error_message, report_name};
use crate::model::{SteadyReport, TargetReport, ToleratedErrors};
use crate::num::whole_ms;

/// The settings and figures of one entry.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct EntryRecord<'a> {
    /// Name of the first job.
    pub(crate) jobname: String,
    pub(crate) groupid: u32,
    /// Number of the first job in the run, from 1.
    pub(crate) job_number: u32,
    /// Number of jobs.
    pub(crate) jobs: usize,
    /// Options of the last job.
    pub(crate) options: ReportedOptions,
    /// Description of the first job.
    pub(crate) desc: Option<String>,
    /// Those of the last job, but `unified` is that of the first.
    pub(crate) measure: Measure,
    /// Those of the first job.
    pub(crate) units: Units,
    pub(crate) only_lines_of_fio: bool,
    /// Directions that the jobs' `rw` includes.
    pub(crate) does: [bool; 3],
    /// Directions in which a job writes to zones, or resets them by trims.
    pub(crate) changes_zones: [bool; 3],
    /// That of the first job.
    pub(crate) tuning: Tuning,
    pub(crate) optimisations: Optimisations,
    /// `job_start`.
    pub(crate) start_ms: u64,
    /// From the start of the run to the start of the entry, in ms; `None` if it never started, or if `job_start` is read from another clock.
    pub(crate) start_offset_ms: Option<u64>,
    /// Thread id of the first job.
    pub(crate) pid: u32,
    pub(crate) error: Option<EntryError>,
    /// While the run goes on: all jobs have ended, or were measured for long enough to be judged.
    #[serde(default)]
    pub(crate) has_enough_data: bool,
    /// With `continue_on_error`.
    pub(crate) tolerated: Option<ToleratedErrors>,
    pub(crate) target: Option<TargetReport>,
    /// The steady state, and its criterion as shown in the text.
    pub(crate) steady: Option<(SteadyReport, String)>,
    pub(crate) damage: DamageTally,
    /// The jobs of an entry that has several.
    pub(crate) members: Vec<EntryMember>,
    /// The total of the jobs.
    pub(crate) stats: Cow<'a, JobStats>,
}

/// The error of an entry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct EntryError {
    pub(crate) errno: i32,
    /// With the place that noticed it.
    pub(crate) message: String,
}

/// A job of an entry, with its clones.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct EntryMember {
    pub(crate) name: String,
    /// Number of clones, including the job itself.
    pub(crate) count: u64,
    pub(crate) options: ReportedOptions,
}

/// The name of each entry in the reports of this plan, with its jobs.
#[must_use]
pub fn entry_names<'a>(plan: &'a Plan) -> Vec<(&'a str, Vec<&'a JobSpec>)> {
    let specs = |indices: Vec<usize>| indices.into_iter().map(|index| &plan.jobs[index].spec).collect();
    let named = |jobs: Vec<&'a JobSpec>| Some((report_name(jobs.first()?), jobs));
    entry_jobs(plan).into_iter().filter_map(|indices| named(specs(indices))).collect()
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

/// Consecutive jobs of one group with `group_reporting` share an entry, and every other job has its own; jobs with `stats=0` have none.
pub(crate) fn entry_records<'a>(plan: &Plan, result: &'a RunResult) -> Vec<EntryRecord<'a>> {
    let record = |mut indices: Vec<usize>| {
        indices.retain(|&index| index < result.jobs.len());
        EntryRecord::new(plan, result, &indices)
    };
    entry_jobs(plan).into_iter().filter_map(record).collect()
}

impl<'a> EntryRecord<'a> {
    /// The record of the jobs with these plan indices; `None` without jobs.
    fn new(plan: &Plan, result: &'a RunResult, indices: &[usize]) -> Option<Self> {
        let (&first, &last) = (indices.first()?, indices.last()?);
        let specs = || indices.iter().map(|&index| &plan.jobs[index].spec);
        let results = || indices.iter().map(|&index| &result.jobs[index]);
        let (first, first_result) = (&plan.jobs[first].spec, &result.jobs[first]);
        let (last, last_result) = (&plan.jobs[last].spec, &result.jobs[last]);
        let stats = total(first_result, results().skip(1));
        let start_ms = results().map(|job| job.start_ms).find(|&start| start > 0).unwrap_or(0);
        let error = results().filter_map(|job| job.error.as_ref()).find(|error| error.errno != 0);
        let error = match error {
            Some(error) => Some(EntryError { errno: error.errno, message: error_message(error) }),
            None if stats.first_error == 0 => None,
            None => Some(EntryError {
                errno: stats.first_error,
                message: error_message(&tolerated_error(stats.first_error)),
            }),
        };
        // A group has the window of its last job; a job that never ran has an empty one.
        let steady = last.steadystate.as_ref().map(|state| match &last_result.steadystate {
            Some(result) => steady_report(state, result),
            None => steady_report(state, &SteadyResult::default()),
        });
        let any = |is_so: fn(&JobSpec, Direction) -> bool| {
            Direction::ALL.map(|direction| specs().any(|spec| is_so(spec, direction)))
        };
        Some(EntryRecord {
            jobname: report_name(first).to_owned(),
            groupid: first.group,
            job_number: first.number,
            jobs: indices.len(),
            options: last.options.clone(),
            desc: first.description.clone(),
            measure: Measure { unified: first.measure.unified, ..last.measure.clone() },
            units: first.units,
            only_lines_of_fio: !first.compat.text_has_own_lines,
            does: any(surely_does),
            changes_zones: any(changes_zones),
            tuning: first.tuning,
            optimisations: results().fold(Optimisations::NONE, |used, job| used | job.optimisations),
            start_ms,
            start_offset_ms: start_offset(result, first, start_ms),
            pid: first_result.pid,
            error,
            has_enough_data: indices.iter().all(|&index| result.has_enough_data(index)),
            tolerated: last.tolerance.tolerates_any().then_some(ToleratedErrors {
                total_err: stats.total_errors,
                first_error: last_result.stats.first_error,
            }),
            target: (start_ms > 0).then(|| target_report(last, last_result)),
            steady,
            damage: DamageTally::total(results().map(|job| &job.damage)),
            members: if indices.len() > 1 { members(plan, indices) } else { Vec::new() },
            stats,
        })
    }

    /// The same, without borrowing figures.
    pub(crate) fn into_owned(self) -> EntryRecord<'static> {
        EntryRecord { stats: Cow::Owned(self.stats.into_owned()), ..self }
    }
}

/// The total of the jobs of an entry. Nothing is sampled in a ramp: a job that is in its ramp, or ended there, contributes its counters
/// only.
fn total<'a>(first: &'a JobResult, others: impl Iterator<Item = &'a JobResult>) -> Cow<'a, JobStats> {
    let counters = |job: &JobResult| job.in_ramp.then(|| job.stats.counters());
    let mut total = match counters(first) {
        Some(counters) => Cow::Owned(counters),
        None => Cow::Borrowed(&first.stats),
    };
    for job in others {
        total.to_mut().merge(counters(job).as_ref().unwrap_or(&job.stats));
    }
    total
}

/// True if only `rw` decides the directions of the job.
fn surely_does(spec: &JobSpec, direction: Direction) -> bool {
    let decides = spec.replay.is_none() && spec.events.is_none();
    decides && spec.rw.does(direction) && spec.engine.does_io() && !spec.engine.is_background_load()
}

/// True if the job writes to zones in this direction, or resets them by trims.
fn changes_zones(spec: &JobSpec, direction: Direction) -> bool {
    direction != Direction::Read && spec.zbd.is_some() && spec.rw.does(direction)
}

fn start_offset(result: &RunResult, spec: &JobSpec, start_ms: u64) -> Option<u64> {
    let is_of_day = spec.measure.start_clock == nix::libc::CLOCK_REALTIME && start_ms > 0;
    let began = result.started.duration_since(std::time::UNIX_EPOCH).ok().map(whole_ms)?;
    is_of_day.then(|| start_ms.saturating_sub(began))
}

/// The latency target of a job, and the queue depth that the search for it reached.
fn target_report(spec: &JobSpec, result: &JobResult) -> TargetReport {
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

/// The jobs with these plan indices. Clones, which share a section and are adjacent, are one element.
fn members(plan: &Plan, indices: &[usize]) -> Vec<EntryMember> {
    let section = |index: usize| plan.sections.partition_point(|section| section.jobs.end <= index);
    let mut members: Vec<EntryMember> = Vec::new();
    let mut last = None;
    for &index in indices {
        let spec = &plan.jobs[index].spec;
        let name = report_name(spec);
        match members.last_mut() {
            Some(member) if last == Some(section(index)) && member.name == name => member.count += 1,
            _ => {
                members.push(EntryMember { name: name.to_owned(), count: 1, options: spec.options.clone() });
            }
        }
        last = Some(section(index));
    }
    members
}
