//! The tree of all hosts together. Its `jobs` are what a user of a shared storage system asks for: one entry for each entry of the job
//! file, with the I/Os of all hosts. So whatever reads the report of one host reads this one.

use std::borrow::Cow;
use std::collections::HashMap;

use super::common::{HostEntry, common_interval, host_series};
use super::host_entries::{entry_figures, host_entries};
use super::merge::{EntryOfHost, common_options, merged, merged_databases};
use super::series::{disk_series, merged_series};
use super::stragglers::{late_starts, mark_stragglers};
use super::{HostsReport, ReportedHost};
use crate::build::HistogramOptions;
use crate::build::database::database_report;
use crate::build::entry::{RunTimes, job_report, option_pairs};
use crate::build::ferrio::{EntryDetails, note_of};
use crate::build::record::EntryRecord;
use crate::grouping::{distinct, grouped};
use crate::host_report::HostReport;
use crate::model::{
    ClockReport, DiskReport, FORMAT, FerrioReport, GroupReport, HostEntryReport, HostOfRun, JobReport,
    MachineReport, Note, Pairs, RunEnd, RunFacts, RunReport, Series, Warning,
};

/// The name of the entry of everything.
const ALL_HOSTS: &str = "All hosts";

/// An entry of one host, or of several together.
pub(crate) struct HostPart<'a> {
    /// The index of the host; `None` for several together.
    pub(crate) host: Option<usize>,
    /// Number of hosts.
    pub(crate) hosts: usize,
    /// Number of earlier entries of the name.
    pub(crate) nth: usize,
    pub(crate) entry: Cow<'a, EntryRecord<'static>>,
}

/// The entries of all hosts that are one entry of the report.
struct NamedEntries<'a> {
    parts: Vec<HostEntry<'a>>,
    /// The indices of each host and of its entry.
    places: Vec<(usize, usize)>,
}

impl<'a> NamedEntries<'a> {
    fn of_hosts(&self) -> impl Iterator<Item = EntryOfHost<'a>> {
        self.parts.iter().map(|&(host, _, entry)| EntryOfHost { host: &host.name, entry })
    }

    /// Figures over time, if hosts recorded them.
    fn series(&self) -> Option<Series> {
        merged_series(&self.parts.iter().filter_map(host_series).collect::<Vec<_>>())
    }

    fn merged(&self) -> Option<EntryRecord<'static>> {
        merged(&self.of_hosts().collect::<Vec<_>>())
    }
}

/// The report of all hosts.
pub(super) fn report(run: &HostsReport) -> RunReport {
    let named = named_entries(run);
    let records: Vec<EntryRecord<'static>> = named.iter().filter_map(NamedEntries::merged).collect();
    let groups = groups(&named, &records);
    let times = times(run);
    let histograms = HistogramOptions::of(&run.options);
    let jobs: Vec<JobReport> =
        records.iter().map(|record| job_report(record, &groups, times, histograms)).collect();
    let mut hosts: Vec<HostOfRun> =
        run.hosts.iter().enumerate().map(|(rank, host)| host_of_run(run, rank, host)).collect();
    let places: Vec<_> = named.iter().map(|named| named.places.clone()).collect();
    let mut warnings: Vec<Warning> = mark_stragglers(&mut hosts, &places);
    warnings.extend(late_starts(&hosts));
    warnings.extend(warnings_of_hosts(run));
    let mut ferrio = FerrioReport {
        format: FORMAT,
        version: run.options.environment.version.clone(),
        labels: Pairs(run.options.labels.clone()),
        host: common_machine(&hosts),
        targets: distinct(hosts.iter().flat_map(|host| host.targets.clone())),
        clock: clock(run),
        quantile_error: run.reported().map(|(_, report)| report.ferrio.quantile_error).fold(0.0, f64::max),
        run: run_facts(&hosts),
        databases: merged_databases(run.reported().flat_map(|(_, report)| &report.databases))
            .iter()
            .map(|record| database_report(record, histograms))
            .collect(),
        common_intervals: named.iter().filter_map(|named| common_interval(&named.parts)).collect(),
        series: named.iter().filter_map(NamedEntries::series).collect(),
        device_series: disk_series(
            run.reported().map(|(host, report)| (host, report.ferrio.device_series.as_slice())),
        ),
        all_hosts: all_hosts(&named, histograms),
        hosts,
        warnings,
        notes: notes_of_hosts(run),
        ..FerrioReport::default()
    };
    EntryDetails::new(&jobs, &records).put_into(&mut ferrio);
    RunReport {
        global_options: option_pairs(&common_options(
            run.reported().map(|(_, report)| report.global_options()).collect::<Vec<_>>().into_iter(),
        )),
        jobs,
        disk_util: disks(run),
        ferrio: Some(ferrio),
        groups,
        ..run.heading()
    }
}

impl HostsReport {
    /// The report of all hosts so far, to be judged: of each entry, all hosts that have it must have ended, or have measured it for long enough.
    /// `None` if that is no entry.
    #[must_use]
    pub fn together_to_judge(&self) -> Option<RunReport> {
        let is_ready = |named: &NamedEntries<'_>| {
            let mut of_hosts = named.places.iter().zip(&named.parts);
            of_hosts.all(|(&(host, _), &(_, _, entry))| entry.has_enough_data || self.is_over(host))
        };
        let mut ready = named_entries(self).iter().map(is_ready).collect::<Vec<_>>().into_iter();
        if !ready.clone().any(|is_ready| is_ready) {
            return None;
        }
        let mut report = self.together();
        report.jobs.retain(|_| ready.next().unwrap_or(false));
        Some(report)
    }

    /// The entries of each host that has reported, each followed by those of the name together.
    pub(crate) fn parts(&self) -> Vec<HostPart<'_>> {
        let mut parts = Vec::new();
        let mut seen: HashMap<String, usize> = HashMap::new();
        for named in named_entries(self) {
            let Some((_, _, first)) = named.parts.first() else { continue };
            let number = seen.entry(first.jobname.clone()).or_default();
            let nth = *number;
            *number += 1;
            let of_hosts = named.places.iter().zip(&named.parts).map(|(&(host, _), &(_, _, entry))| {
                HostPart { host: Some(host), hosts: 1, nth, entry: Cow::Borrowed(entry) }
            });
            parts.extend(of_hosts);
            if let [_, _, ..] = named.parts[..]
                && let Some(all) = named.merged()
            {
                parts.push(HostPart { host: None, hosts: named.parts.len(), nth, entry: Cow::Owned(all) });
            }
        }
        parts
    }

    /// A report without figures.
    pub(super) fn heading(&self) -> RunReport {
        RunReport::heading(&self.options)
    }
}

/// The entries by name, in the order in which hosts have them. If a host has several of a name, the first belongs to the first of the other
/// hosts, the second to the second.
fn named_entries(run: &HostsReport) -> Vec<NamedEntries<'_>> {
    let mut named: Vec<NamedEntries<'_>> = Vec::new();
    let mut known: HashMap<(&str, usize), usize> = HashMap::new();
    for (at, host) in run.hosts.iter().enumerate() {
        let Some(report) = &host.report else { continue };
        let mut seen: HashMap<&str, usize> = HashMap::new();
        for (place, entry) in report.entries.iter().enumerate() {
            let nth = seen.entry(&entry.jobname).or_default();
            let index = *known.entry((&entry.jobname, *nth)).or_insert(named.len());
            *nth += 1;
            if index == named.len() {
                named.push(NamedEntries { parts: Vec::new(), places: Vec::new() });
            }
            named[index].parts.push((host, report, entry));
            named[index].places.push((at, place));
        }
    }
    named
}

/// The groups of the merged entries: the slowest and the fastest of a group are entries of single hosts.
fn groups(named: &[NamedEntries<'_>], records: &[EntryRecord<'static>]) -> Vec<GroupReport> {
    let of_groups = named.iter().zip(records).map(|(named, record)| (record.groupid, (named, record)));
    let group = |(id, entries): (u32, Vec<(&NamedEntries<'_>, &EntryRecord<'static>)>)| {
        let mut group = GroupReport::new(id, Default::default());
        for (named, record) in entries {
            group.units = record.units;
            named.parts.iter().for_each(|(_, _, entry)| group.add(entry));
        }
        group
    };
    grouped(of_groups).into_iter().map(group).collect()
}

/// All entries as one.
fn all_hosts(named: &[NamedEntries<'_>], histograms: HistogramOptions<'_>) -> Option<HostEntryReport> {
    if named.len() < 2 {
        return None;
    }
    let parts: Vec<_> = named.iter().flat_map(NamedEntries::of_hosts).collect();
    let entry = EntryRecord { jobname: ALL_HOSTS.to_owned(), groupid: 0, ..merged(&parts)? };
    Some(entry_figures(&entry, histograms.buckets))
}

fn times(run: &HostsReport) -> RunTimes {
    let times = || run.reported().map(|(_, report)| report.times);
    RunTimes {
        elapsed: times().map(|times| times.elapsed).max().unwrap_or(0),
        eta: times().map(|times| times.eta).max().unwrap_or(0),
    }
}

fn host_of_run(run: &HostsReport, rank: usize, host: &ReportedHost) -> HostOfRun {
    let report = host.report.as_ref();
    let ferrio = report.map(|report| &report.ferrio);
    HostOfRun {
        name: host.name.clone(),
        port: host.port,
        own_name: host.own_name.clone(),
        version: host.version.clone(),
        rank: u32::try_from(rank).unwrap_or(u32::MAX),
        clock: host.clock,
        phases: host.phases.clone(),
        lost: host.lost.clone(),
        machine: ferrio.map(|ferrio| ferrio.host.clone()),
        run: ferrio.map(|ferrio| ferrio.run.clone()),
        targets: ferrio.map(|ferrio| ferrio.targets.clone()).unwrap_or_default(),
        jobs: report.map(|report| host_entries(host, report)).unwrap_or_default(),
        throttling: ferrio.map(|ferrio| ferrio.throttling.clone()).unwrap_or_default(),
        document: report.filter(|_| run.with_documents).map(|report| Box::new(report.report())),
    }
}

/// What the machines have in common.
fn common_machine(hosts: &[HostOfRun]) -> MachineReport {
    let machines: Vec<&MachineReport> = hosts.iter().filter_map(|host| host.machine.as_ref()).collect();
    fn common<T: PartialEq + Clone>(
        machines: &[&MachineReport],
        fact: fn(&MachineReport) -> &Option<T>,
    ) -> Option<T> {
        let first = fact(machines.first()?).as_ref()?;
        machines.iter().all(|machine| fact(machine).as_ref() == Some(first)).then(|| first.clone())
    }
    MachineReport {
        name: common(&machines, |machine| &machine.name),
        kernel: common(&machines, |machine| &machine.kernel),
        arch: common(&machines, |machine| &machine.arch),
        cpu_model: common(&machines, |machine| &machine.cpu_model),
        cpus_online: common(&machines, |machine| &machine.cpus_online),
        memory_bytes: common(&machines, |machine| &machine.memory_bytes),
    }
}

/// The clock that all hosts used, or else the kernel's.
fn clock(run: &HostsReport) -> ClockReport {
    let clocks = || run.reported().map(|(_, report)| report.ferrio.clock);
    match clocks().next() {
        Some(first) if clocks().all(|clock| clock == first) => first,
        _ => ClockReport::default(),
    }
}

fn run_facts(hosts: &[HostOfRun]) -> RunFacts {
    let facts = || hosts.iter().filter_map(|host| host.run.as_ref());
    let sum = |figure: fn(&RunFacts) -> u64| facts().map(figure).fold(0, u64::saturating_add);
    let has_end = |end: RunEnd| facts().any(|facts| facts.end == end);
    let end = if has_end(RunEnd::Running) {
        RunEnd::Running
    } else if has_end(RunEnd::Signal) {
        RunEnd::Signal
    } else if has_end(RunEnd::Errors) || hosts.iter().any(|host| host.lost.is_some()) {
        RunEnd::Errors
    } else {
        RunEnd::Completed
    };
    RunFacts {
        end,
        signal: facts().filter(|_| end == RunEnd::Signal).find_map(|facts| facts.signal),
        started_ms: facts().map(|facts| facts.started_ms).filter(|&ms| ms > 0).min().unwrap_or(0),
        elapsed_ms: facts().map(|facts| facts.elapsed_ms).max().unwrap_or(0),
        start_spread_us: start_spread(hosts),
        jobs: sum(|facts| facts.jobs),
        failed_jobs: sum(|facts| facts.failed_jobs),
        tolerated_errors: sum(|facts| facts.tolerated_errors),
        workers_user_ms: sum(|facts| facts.workers_user_ms),
        workers_system_ms: sum(|facts| facts.workers_system_ms),
        ..RunFacts::default()
    }
}

/// The longest time, over all phases, between the first and the last host to begin it.
fn start_spread(hosts: &[HostOfRun]) -> Option<u64> {
    let phases = hosts.iter().map(|host| host.phases.len()).max()?;
    let spread = |phase: usize| {
        let reached = || hosts.iter().filter_map(|host| Some(host.phases.get(phase)?.reached_us));
        Some(reached().max()?.abs_diff(reached().min()?))
    };
    (0..phases).filter_map(spread).max()
}

/// The warnings of hosts: those of one code and the same jobs are one, with the hosts that have it.
fn warnings_of_hosts(run: &HostsReport) -> Vec<Warning> {
    let all = run.reported().flat_map(|(host, report)| {
        let of_host = move |(key, warning)| (key, (warning, &host.name));
        numbered(&report.ferrio.warnings, warning_key).into_iter().map(of_host)
    });
    let warning = |(_, of_hosts): (_, Vec<(&Warning, &String)>)| {
        let &(first, name) = of_hosts.first()?;
        let is_same = of_hosts.iter().all(|(warning, _)| warning.message == first.message);
        Some(Warning {
            message: first_message(&first.message, name, is_same),
            count: of_hosts.iter().fold(0, |sum, (warning, _)| sum.saturating_add(warning.count)),
            hosts: of_hosts.iter().map(|(_, name)| (*name).clone()).collect(),
            ..first.clone()
        })
    };
    grouped(all).into_iter().filter_map(warning).collect()
}

/// The messages of a host, each with its key and the number of earlier ones with that key: the first belongs to the first of other hosts, the
/// second to the second.
fn numbered<'a, T, K: PartialEq>(messages: &'a [T], key: fn(&'a T) -> K) -> Vec<((K, usize), &'a T)> {
    let before = |at: usize| {
        let own = key(&messages[at]);
        let nth = messages[..at].iter().filter(|other| key(other) == own).count();
        ((own, nth), &messages[at])
    };
    (0..messages.len()).map(before).collect()
}

fn warning_key(warning: &Warning) -> (&str, &[String]) {
    (&warning.code, &warning.jobs)
}

/// The notes of hosts: those of one code, the same jobs and the same help are one, with the hosts that have it unless all do.
fn notes_of_hosts(run: &HostsReport) -> Vec<Note> {
    let all = run.reported().flat_map(|(host, report)| {
        let of_host = move |(key, note)| (key, (note, &host.name));
        numbered(&report.ferrio.notes, note_key).into_iter().map(of_host)
    });
    let count = run.reported().count();
    let note = |(_, of_hosts): (_, Vec<(&Note, &String)>)| {
        let &(first, name) = of_hosts.first()?;
        let is_same = of_hosts.iter().all(|(note, _)| note.message == first.message);
        let hosts = distinct(of_hosts.iter().map(|(_, name)| (*name).clone()));
        Some(Note {
            message: first_message(&first.message, name, is_same),
            hosts: if hosts.len() == count { Vec::new() } else { hosts },
            ..first.clone()
        })
    };
    let of_hosts = grouped(all).into_iter().filter_map(note);
    of_hosts.chain(run.options.run_notes.iter().map(note_of)).collect()
}

fn note_key(note: &Note) -> (&str, &[String], Option<&str>) {
    (&note.code, &note.jobs, note.help.as_deref())
}

/// The message of the first of several hosts.
fn first_message(message: &str, name: &str, is_same: bool) -> String {
    if is_same { message.to_owned() } else { format!("{message} (on {name}, the others differ)") }
}

fn disks(run: &HostsReport) -> Vec<DiskReport> {
    let of_host = |(host, report): (&ReportedHost, &HostReport)| {
        let named = |disk: &DiskReport| DiskReport {
            hostname: Some(host.name.clone()),
            port: host.port,
            ..disk.clone()
        };
        report.disks().iter().map(named).collect::<Vec<_>>()
    };
    run.reported().flat_map(of_host).collect()
}
