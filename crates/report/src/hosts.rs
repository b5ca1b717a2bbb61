//! The report of a run on many hosts, from the reports of the hosts.
//!
//! `merge` adds entries and databases of several hosts up; `together` makes the tree of all hosts, whose `jobs` are entries of all of them
//! and whose `ferrio.hosts` are the hosts, with `series` over time; `common` and `stragglers` compare hosts; `clients` has the forms that fio gives to such a run, and `outcomes` says what has failed.

mod clients;
mod common;
mod host_entries;
mod merge;
mod outcomes;
mod series;
mod stragglers;
mod together;

use ferrio_job::Diagnostic;

use crate::host_report::HostReport;
use crate::model::{HostClockReport, JobReport, PhaseReport, RunReport};
use crate::report_options::ReportOptions;
use crate::terse::TerseLayout;

pub use outcomes::HostEntryOutcome;
pub(crate) use stragglers::CODES as WARNING_CODES;

/// A host of the run as its coordinator knows it.
#[derive(Clone, Debug, Default)]
pub struct ReportedHost {
    /// As the user wrote it, without type and port.
    pub name: String,
    /// The TCP port; fio shows its default port for hosts without one.
    pub port: Option<u16>,
    /// The name that it has for itself.
    pub own_name: Option<String>,
    /// Version of its program.
    pub version: Option<String>,
    /// Its clock.
    pub clock: Option<HostClockReport>,
    /// How it began each phase.
    pub phases: Vec<PhaseReport>,
    /// Why it gives no results, or no more.
    pub lost: Option<String>,
    /// The last report that came.
    report: Option<HostReport>,
}

impl ReportedHost {
    /// A host that was not reached yet.
    #[must_use]
    pub fn new(name: impl Into<String>, port: Option<u16>) -> Self {
        ReportedHost { name: name.into(), port, ..ReportedHost::default() }
    }
}

/// The report of a run on many hosts, which grows as hosts send theirs.
#[derive(Clone, Debug)]
pub struct HostsReport {
    /// By rank. What is known of a host may change until the last report is written.
    pub hosts: Vec<ReportedHost>,
    options: ReportOptions,
    with_documents: bool,
    /// The entries that came, in order: interim ones of a host are before its last ones.
    arrived: Vec<JobReport>,
    /// The hosts that have ended, in order.
    ended: Vec<usize>,
}

impl HostsReport {
    /// The report of a run on these hosts. `options` are those of the coordinator, whose time is that of the document; `with_documents` puts
    /// the whole document of each host into that of all hosts.
    #[must_use]
    pub fn new(hosts: Vec<ReportedHost>, options: ReportOptions, with_documents: bool) -> Self {
        HostsReport { hosts, options, with_documents, arrived: Vec::new(), ended: Vec::new() }
    }

    /// Takes an interim report of a host (`--status-interval`), whose entries fio's form of the document lists.
    pub fn take_interim(&mut self, host: usize, report: HostReport) {
        self.take(host, report);
    }

    /// Takes the last report of a host.
    pub fn take_last(&mut self, host: usize, report: HostReport) {
        self.take(host, report);
        if !self.ended.contains(&host) {
            self.ended.push(host);
        }
    }

    /// Takes the figures so far of a host that is watched: they take the place of earlier ones, and are no report of their own.
    pub fn take_snapshot(&mut self, host: usize, report: HostReport) {
        if let Some(of_run) = self.hosts.get_mut(host).filter(|_| !self.ended.contains(&host)) {
            of_run.report = Some(report);
        }
    }

    fn take(&mut self, host: usize, report: HostReport) {
        let Some(of_run) = self.hosts.get_mut(host) else { return };
        self.arrived.extend(clients::entries(of_run, &report));
        of_run.report = Some(report);
    }

    /// The report of one host, as it would have written it itself: for text, which is printed when the host has ended.
    #[must_use]
    pub fn of_host(&self, host: usize) -> Option<RunReport> {
        Some(self.hosts.get(host)?.report.as_ref()?.report())
    }

    /// The terse lines of a host: an entry has no columns of disks, which are on a line of their own.
    #[must_use]
    pub fn terse_of_host(&self, host: usize, layout: TerseLayout) -> String {
        self.of_host(host).map(|report| clients::terse(report, layout)).unwrap_or_default()
    }

    /// The report of fio's entry `All clients`, which is there if more than one entry came: as text, an empty line follows it.
    #[must_use]
    pub fn all_clients(&self) -> Option<RunReport> {
        clients::all_clients(self)
    }

    /// The JSON document in the form that fio has for a run on many hosts.
    #[must_use]
    pub fn to_clients_json(&self) -> String {
        clients::to_json(self)
    }

    /// True if a host has sent a report.
    #[must_use]
    pub fn has_any(&self) -> bool {
        self.reported().next().is_some()
    }

    /// The report of all hosts together, from what has come so far.
    #[must_use]
    pub fn together(&self) -> RunReport {
        together::report(self)
    }

    /// Adds a note about the whole run.
    pub fn add_run_note(&mut self, note: &Diagnostic) {
        self.options.add_run_note(note);
    }

    /// The last report of a host that came.
    pub(crate) fn report_of(&self, host: usize) -> Option<&HostReport> {
        self.hosts.get(host)?.report.as_ref()
    }

    /// True if a host sends no more figures.
    pub(crate) fn is_over(&self, host: usize) -> bool {
        self.ended.contains(&host) || self.hosts.get(host).is_some_and(|host| host.lost.is_some())
    }

    /// The hosts with a report, in rank order.
    fn reported(&self) -> impl Iterator<Item = (&ReportedHost, &HostReport)> {
        self.hosts.iter().filter_map(|host| Some((host, host.report.as_ref()?)))
    }
}

#[cfg(test)]
mod tests;
