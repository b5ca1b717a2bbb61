//! The forms that fio gives to the report of a run on many hosts: entries with the names of their hosts, an entry `All clients`, and disks
//! apart from the terse lines.

use ferrio_job::ReportedOptions;
use serde::Serialize;

use super::merge::{EntryOfHost, merged};
use super::{HostsReport, ReportedHost};
use crate::build::HistogramOptions;
use crate::build::entry::{job_report, option_pairs};
use crate::build::record::EntryRecord;
use crate::host_report::HostReport;
use crate::json::to_fio_json;
use crate::model::{DiskReport, FerrioReport, GroupReport, JobReport, Pairs, RunReport};
use crate::terse::{TerseLayout, disk_line, to_terse};

/// The name of the entry that has the figures of all hosts.
const ALL_CLIENTS: &str = "All clients";

/// The document. Its lists are there even if they are empty.
#[derive(Serialize)]
struct ClientsDocument<'a> {
    #[serde(rename = "fio version")]
    version: &'a str,
    timestamp: i64,
    time: &'a str,
    #[serde(rename = "global options")]
    global_options: GlobalOptions<'a>,
    client_stats: Vec<&'a JobReport>,
    disk_util: Vec<DiskReport>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ferrio: Option<&'a FerrioReport>,
}

/// Options of one host, or of several.
#[derive(Serialize)]
#[serde(untagged)]
enum GlobalOptions<'a> {
    One(Pairs<String, String>),
    Several(Vec<OptionsOfHost<'a>>),
}

#[derive(Serialize)]
struct OptionsOfHost<'a> {
    hostname: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    port: Option<u16>,
    #[serde(flatten)]
    options: Pairs<String, String>,
}

/// The entries of a host, with its name.
pub(super) fn entries(host: &ReportedHost, report: &HostReport) -> Vec<JobReport> {
    let of_host = |job: JobReport| JobReport {
        eta: None,
        elapsed: None,
        hostname: Some(host.name.clone()),
        port: host.port,
        ..job
    };
    report.jobs().into_iter().map(of_host).collect()
}

/// The document of all hosts.
pub(super) fn to_json(run: &HostsReport) -> String {
    let all = run.all_clients();
    let together = run.together();
    let ferrio = together.ferrio.as_ref().filter(|ferrio| {
        let has_messages = !ferrio.warnings.is_empty() || !ferrio.notes.is_empty();
        run.options.always_has_own_object() || has_messages || !ferrio.verify.is_empty()
    });
    to_fio_json(&ClientsDocument {
        version: &together.version,
        timestamp: together.timestamp,
        time: &together.time,
        global_options: global_options(run),
        client_stats: run.arrived.iter().chain(all.iter().flat_map(|all| &all.jobs)).collect(),
        disk_util: together.disk_util.clone(),
        ferrio,
    })
}

fn global_options(run: &HostsReport) -> GlobalOptions<'_> {
    let connected = || run.hosts.iter().filter(|host| host.own_name.is_some() || host.report.is_some());
    let options = |host: &ReportedHost| -> Option<ReportedOptions> {
        Some(host.report.as_ref()?.global_options().clone()).filter(|options| !options.is_empty())
    };
    if connected().count() <= 1 {
        return GlobalOptions::One(
            connected().find_map(options).map(|options| option_pairs(&options)).unwrap_or_default(),
        );
    }
    let of_host = |host| -> Option<OptionsOfHost<'_>> {
        let host: &ReportedHost = host;
        Some(OptionsOfHost { hostname: &host.name, port: host.port, options: option_pairs(&options(host)?) })
    };
    GlobalOptions::Several(connected().filter_map(of_host).collect())
}

/// The report that has only the entry of all hosts, if more than one entry came.
pub(super) fn all_clients(run: &HostsReport) -> Option<RunReport> {
    let ended = run.ended.iter().filter_map(|&at| run.hosts.get(at));
    let of_hosts: Vec<(&ReportedHost, &EntryRecord<'static>)> = ended
        .filter_map(|host| Some((host, host.report.as_ref()?)))
        .flat_map(|(host, report)| report.entries.iter().map(move |entry| (host, entry)))
        .collect();
    let &[_, .., (last_host, last)] = of_hosts.as_slice() else { return None };
    let named: Vec<EntryOfHost<'_>> =
        of_hosts.iter().map(|(host, entry)| EntryOfHost { host: &host.name, entry }).collect();
    let entry = EntryRecord {
        jobname: ALL_CLIENTS.to_owned(),
        groupid: last.groupid,
        jobs: of_hosts.len(),
        start_ms: last.start_ms,
        options: ReportedOptions::default(),
        desc: None,
        ..merged(&named)?
    };
    let mut group = GroupReport::new(entry.groupid, entry.units);
    group.add(&entry);
    let times = last_host.report.as_ref()?.times;
    let job = JobReport {
        eta: None,
        elapsed: None,
        hostname: Some(last_host.name.clone()),
        port: last_host.port,
        ..job_report(&entry, &[group], times, HistogramOptions::of(&run.options))
    };
    let together = run.heading();
    Some(RunReport { jobs: vec![job], ..together })
}

/// The terse lines of a host, and its disks on a line of their own.
pub(super) fn terse(report: RunReport, layout: TerseLayout) -> String {
    let disks = disk_line(&report.disk_util, layout.version);
    to_terse(&RunReport { disk_util: Vec::new(), ..report }, layout) + &disks
}
