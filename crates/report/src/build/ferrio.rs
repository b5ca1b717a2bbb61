//! Builds the `ferrio` object from plan, result and environment, without its warnings about figures.

use std::path::Path;
use std::time::UNIX_EPOCH;

use ferrio_job::{Diagnostic, Plan, Severity};
use ferrio_machine::{BlockDevice, Host, StorageLocation};
use ferrio_results::RunResult;
use ferrio_stats::{TickSource, quantile_error};

use super::database::{database_records, database_report};
use super::direction::HistogramOptions;
use super::entry::option_pairs;
use super::record::{EntryMember, EntryRecord};
use super::verify::verify_report;
use crate::messages::job_names;
use crate::model::{
    ClockName, ClockReport, DeviceReport, DirectionReport, EntryMembers, FORMAT, FerrioReport, JobReport,
    MachineReport, MemberReport, Note, Pairs, ResponseReport, RunEnd, RunFacts, TargetPlace, TuningReport,
    VerifyReport, Warning,
};
use crate::num::{finite, whole_ms};
use crate::report_options::ReportOptions;

/// Least CPU time over all processors that is reported: the kernel counts in steps of 10 ms.
const MIN_CPU_US: u64 = 200_000;

/// The `ferrio` object of a run with the entries `jobs`.
pub(crate) fn ferrio_report(
    plan: &Plan,
    result: &RunResult,
    options: &ReportOptions,
    jobs: &[JobReport],
    entries: &[EntryRecord<'_>],
    histograms: HistogramOptions<'_>,
) -> FerrioReport {
    let environment = &options.environment;
    let EntryDetails { members, tuning, response_ns, verify } = EntryDetails::new(jobs, entries);
    FerrioReport {
        format: FORMAT,
        version: environment.version.clone(),
        labels: Pairs(options.labels.clone()),
        host: host(&environment.host),
        targets: (0..environment.places.len()).map(|place| target(plan, options, place)).collect(),
        clock: ClockReport {
            source: match result.clock {
                TickSource::Tsc => ClockName::Tsc,
                TickSource::Monotonic => ClockName::Monotonic,
            },
            invariant: environment.counter_is_invariant,
        },
        quantile_error: as_bound(quantile_error(options.buckets())),
        run: run(result, options),
        members,
        tuning,
        response_ns,
        databases: database_records(plan, result)
            .iter()
            .map(|database| database_report(database, histograms))
            .collect(),
        verify,
        hosts: Vec::new(),
        common_intervals: Vec::new(),
        all_hosts: None,
        thresholds: Vec::new(),
        series: options.series.jobs.clone(),
        device_series: options.series.devices.clone(),
        throttling: options.series.throttling.clone(),
        warnings: Vec::new(),
        notes: Vec::new(),
    }
}

/// The notes and warnings of the plan and the run, without duplicates and without those among `warnings`.
pub(super) fn notes(plan: &Plan, options: &ReportOptions, warnings: &[Warning]) -> Vec<Note> {
    let mut notes: Vec<Note> = Vec::new();
    for diagnostic in plan.diagnostics.iter().chain(&options.run_notes) {
        let is_reported = warnings.iter().any(|warning| warning.confirms(diagnostic));
        if is_reported || diagnostic.severity == Severity::Error {
            continue;
        }
        let note = note_of(diagnostic);
        if !notes.contains(&note) {
            notes.push(note);
        }
    }
    notes
}

/// The note that a diagnostic is in a report.
pub(crate) fn note_of(diagnostic: &Diagnostic) -> Note {
    Note {
        code: diagnostic.code.into(),
        jobs: diagnostic.jobs.clone(),
        // Leading spaces only align the line with other messages.
        message: diagnostic.message.trim().to_owned(),
        help: diagnostic.help.clone(),
        hosts: Vec::new(),
    }
}

/// Rounds up to the six decimals of documents, as a bound must not be rounded down.
fn as_bound(error: f64) -> f64 {
    (error * 1e6).ceil() / 1e6
}

fn host(host: &Host) -> MachineReport {
    let Host { name, kernel, arch, cpu_model, cpus_online, memory_bytes } = host.clone();
    MachineReport { name, kernel, arch, cpu_model, cpus_online, memory_bytes }
}

fn target(plan: &Plan, options: &ReportOptions, at: usize) -> TargetPlace {
    let environment = &options.environment;
    let StorageLocation { mount_point, file_system, device, .. } = &environment.places[at];
    let users = (0..plan.jobs.len()).filter(|&job| environment.of_job(job).contains(&at));
    TargetPlace {
        mount_point: mount_point.as_deref().map(text),
        file_system: file_system.clone(),
        device: device.as_ref().map(device_report),
        jobs: job_names(plan, users),
    }
}

fn device_report(device: &BlockDevice) -> DeviceReport {
    DeviceReport {
        device: text(&device.path),
        disk: device.disk_name.clone(),
        model: device.model.clone(),
        size_bytes: device.size_bytes,
        logical_block_bytes: device.logical_block_bytes,
        physical_block_bytes: device.physical_block_bytes,
        rotational: device.rotational,
        scheduler: device.scheduler.clone(),
    }
}

/// Converts a path to text, as it need not be UTF-8.
fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

fn run(result: &RunResult, options: &ReportOptions) -> RunFacts {
    let count = |number: usize| u64::try_from(number).unwrap_or(u64::MAX);
    let sum = |figure: fn(&ferrio_stats::ThreadUsage) -> u64| {
        result.jobs.iter().map(|job| figure(&job.stats.usage)).sum::<u64>() / 1000
    };
    let failed_jobs = count(result.jobs.iter().filter(|job| job.error.is_some()).count());
    let cpu = options.cpu;
    let share = |us: u64| (cpu.all_us >= MIN_CPU_US).then(|| finite(cpu.share(us)));
    let started = result.started.duration_since(UNIX_EPOCH).unwrap_or_default();
    RunFacts {
        end: match result.signal {
            _ if result.progress.is_some() => RunEnd::Running,
            Some(_) => RunEnd::Signal,
            None if failed_jobs > 0 => RunEnd::Errors,
            None => RunEnd::Completed,
        },
        signal: result.signal,
        started_ms: whole_ms(started),
        elapsed_ms: whole_ms(result.elapsed),
        start_spread_us: result
            .start_spread
            .map(|spread| u64::try_from(spread.as_micros()).unwrap_or(u64::MAX)),
        jobs: count(result.jobs.len()),
        failed_jobs,
        tolerated_errors: result.jobs.iter().map(|job| job.stats.total_errors).sum(),
        workers_user_ms: sum(|usage| usage.user_us),
        workers_system_ms: sum(|usage| usage.system_us),
        cpus_busy: share(cpu.busy_us),
        cpus_others: share(cpu.others_us()),
        cpus_stolen: share(cpu.stolen_us),
    }
}

/// What the object says about entries.
pub(crate) struct EntryDetails {
    pub(crate) members: Vec<EntryMembers>,
    pub(crate) tuning: Vec<TuningReport>,
    pub(crate) response_ns: Vec<ResponseReport>,
    pub(crate) verify: Vec<VerifyReport>,
}

impl EntryDetails {
    /// The details of the entries `jobs`, which were made from `entries`.
    pub(crate) fn new(jobs: &[JobReport], entries: &[EntryRecord<'_>]) -> Self {
        EntryDetails {
            members: entries.iter().filter_map(members).collect(),
            tuning: entries.iter().map(tuning).collect(),
            response_ns: jobs.iter().filter_map(response).collect(),
            verify: entries.iter().filter_map(verify_report).collect(),
        }
    }

    /// Puts them into the object.
    pub(crate) fn put_into(self, ferrio: &mut FerrioReport) {
        let EntryDetails { members, tuning, response_ns, verify } = self;
        (ferrio.members, ferrio.tuning) = (members, tuning);
        (ferrio.response_ns, ferrio.verify) = (response_ns, verify);
    }
}

/// The jobs of an entry that has several.
fn members(entry: &EntryRecord<'_>) -> Option<EntryMembers> {
    let member = |EntryMember { name, count, options }: &EntryMember| MemberReport {
        name: name.clone(),
        count: *count,
        options: option_pairs(options),
    };
    (!entry.members.is_empty()).then(|| EntryMembers {
        jobname: entry.jobname.clone(),
        groupid: entry.groupid,
        jobs: entry.members.iter().map(member).collect(),
    })
}

fn tuning(entry: &EntryRecord<'_>) -> TuningReport {
    TuningReport {
        jobname: entry.jobname.clone(),
        groupid: entry.groupid,
        tuning: entry.tuning.word().to_owned(),
        used: entry.optimisations.words().map(str::to_owned).collect(),
    }
}

/// The response times of an entry, which its directions also have; `None` without any.
fn response(job: &JobReport) -> Option<ResponseReport> {
    let of = |direction: &Option<DirectionReport>| direction.as_ref()?.response_ns.clone();
    let report = ResponseReport {
        jobname: job.jobname.clone(),
        groupid: job.groupid,
        read: of(&job.read),
        write: of(&job.write),
        trim: of(&job.trim),
        mixed: of(&job.mixed),
    };
    let any = [&report.read, &report.write, &report.trim, &report.mixed].into_iter().any(Option::is_some);
    any.then_some(report)
}
