//! A run on many hosts as it comes in, and its report.

use std::sync::mpsc::Sender;
use std::time::{Duration, Instant};

use ferrio_hosts::{
    AgentHello, ClockTime, CoordinatorAction, HostId, HostLoss, PhaseStart, PlanText, Stream, ToAgent,
    ToCoordinator, UserRequest,
};
use ferrio_job::{Diagnostic, Origin};
use ferrio_report::model::{HostClockReport, PhaseReport};
use ferrio_report::{Format, HostReport, HostState, HostsReport, LiveStatus, ReportedHost, RunEnvironment};
use ferrio_thresholds::Judgement;
use ferrio_tui::Terminal;

use super::host_commands;
use super::host_texts::HostTexts;
use super::logs_of_hosts::{LogSource, LogsOfHosts};
use super::watched_hosts::WatchedHosts;
use crate::error::Error;
use crate::junit::{HostsOutcome, JunitFile, junit_text_on_hosts};
use crate::live_view;
use crate::messages::Messages;
use crate::options::ProgramOption;
use crate::outcome::{MAX_FAILED, SIGNALLED, THRESHOLD_EXCEEDED_STATUS};
use crate::output::Output;
use crate::settings::ProgramSettings;

/// A run on many hosts.
pub struct RunOnHosts<'a> {
    report: HostsReport,
    output: Output,
    texts: HostTexts,
    messages: Messages,
    settings: &'a ProgramSettings,
    /// The user was told what to do about an agent that does not start.
    is_advised: bool,
    /// When the first phase was planned to begin: the start of the common time axis.
    begin: Option<ClockTime>,
    /// When the first word of that came.
    began: Option<Instant>,
    /// Jobs that failed, over all hosts.
    failed: usize,
    /// The exit status of the part of each host that has ended.
    statuses: Vec<Option<u8>>,
    junit: Option<JunitFile>,
    /// Takes the wish that the run ends.
    requests: Option<Sender<UserRequest>>,
    /// A signal has ended the jobs of a host.
    was_interrupted: bool,
    /// A host has no results, or not all.
    is_incomplete: bool,
    /// How far each host is.
    states: Vec<HostState>,
    /// What the live line says of each host.
    live: Vec<Option<LiveStatus>>,
    watched: WatchedHosts,
    logs: LogsOfHosts,
    /// The texts of the job files, and what else names logs.
    texts_of_jobs: Vec<String>,
    /// Interim reports that each host has sent; `None` for a host that is over.
    interim: Vec<Option<u64>>,
    /// Interim reports of all hosts that are written.
    shown_interim: u64,
}

impl<'a> RunOnHosts<'a> {
    /// A run on the hosts of these names, with its outputs open.
    ///
    /// # Errors
    /// An output cannot be opened.
    pub fn open(
        names: &[String],
        plan: &PlanText,
        settings: &'a ProgramSettings,
        messages: Messages,
    ) -> Result<Self, Error> {
        let hosts = names.iter().map(|name| ReportedHost::new(name, None)).collect();
        let mut environment = RunEnvironment::default();
        environment.version = env!("CARGO_PKG_VERSION").to_owned();
        let options = settings.report_options().in_formats(settings.all_formats()).within(&environment);
        let mut output = Output::open(settings, messages)?;
        Ok(RunOnHosts {
            report: HostsReport::new(hosts, options, settings.has(ProgramOption::HostDocuments)),
            watched: WatchedHosts::open(names.len(), settings, &mut output)?,
            output,
            texts: HostTexts::new(messages, settings.formats.has(Format::Normal)),
            messages,
            settings,
            is_advised: false,
            begin: None,
            began: None,
            failed: 0,
            statuses: vec![None; names.len()],
            requests: None,
            junit: settings.junit.as_deref().map(JunitFile::begin).transpose()?,
            was_interrupted: false,
            is_incomplete: false,
            states: vec![HostState::default(); names.len()],
            live: vec![None; names.len()],
            logs: LogsOfHosts::default(),
            texts_of_jobs: plan
                .files
                .iter()
                .map(|file| file.text.clone())
                .chain(settings.bandwidth_log.clone())
                .collect(),
            interim: vec![Some(0); names.len()],
            shown_interim: 0,
        })
    }

    /// Gives the terminal to the live view. Must be called before threads are started.
    ///
    /// # Errors
    /// The terminal cannot be set up.
    pub fn show_view(&mut self, terminal: Terminal, names: &[String]) -> Result<(), Error> {
        let interval = self.watched.view_interval;
        self.output.show_hosts_view(live_view::start_on_hosts(terminal, names, interval, self.messages)?);
        Ok(())
    }

    /// From now on, thresholds may end the run by a request.
    pub fn ends_by(&mut self, requests: Sender<UserRequest>) {
        self.requests = Some(requests);
    }

    /// Ends the run because of its figures.
    fn abort(&mut self, reason: &Diagnostic) {
        self.report.add_run_note(reason);
        if let Some(requests) = &self.requests {
            // The conversations may be over already.
            let _ = requests.send(UserRequest::End { reason: reason.message.clone() });
        }
        if let Some(view) = self.output.hosts_view() {
            view.message(&reason.message);
        }
        self.output.message(reason);
    }

    /// Time between the snapshots that hosts are to send; `None` for no snapshots.
    pub fn snapshots_ms(&self) -> Option<u64> {
        self.watched.every.map(|every| u64::try_from(every.as_millis()).unwrap_or(u64::MAX))
    }

    /// Takes what happens in the conversations.
    pub fn observe(&mut self, action: CoordinatorAction) {
        match action {
            CoordinatorAction::Greeted(host, hello) => self.greet(host, hello),
            CoordinatorAction::Measured(HostId(at), offset) => {
                let bound_ns = u64::try_from(offset.bound.as_nanos()).unwrap_or(u64::MAX);
                self.report.hosts[at].clock =
                    Some(HostClockReport { offset_ns: offset.ahead_ns(), bound_ns });
            }
            CoordinatorAction::Began { host, start, .. } => self.begin(host, start),
            CoordinatorAction::Deliver(host, message) => self.hear(host, message),
            CoordinatorAction::Lost(host, HostLoss::NotStarted(reason)) => self.miss(host, &reason),
            CoordinatorAction::Lost(host, loss) => self.lose(host, &loss.to_string()),
            CoordinatorAction::Send(_, ToAgent::Stop { .. }) => {
                if let Some(view) = self.output.hosts_view() {
                    view.set_ending();
                }
            }
            CoordinatorAction::Send(..) | CoordinatorAction::Close(_) | CoordinatorAction::Finished => {}
        }
    }

    /// Shows in the live view how far a host is.
    fn show_host(&mut self, at: usize, state: HostState) {
        // Whatever else comes of a lost host.
        if self.states[at] == HostState::Lost {
            return;
        }
        self.states[at] = state;
        let elapsed = self.began.map(|began| began.elapsed()).unwrap_or_default();
        if let Some(view) = self.output.hosts_view() {
            view.set_host(at, state, self.live[at].as_ref(), elapsed);
        }
    }

    fn greet(&mut self, HostId(at): HostId, hello: AgentHello) {
        let host = &mut self.report.hosts[at];
        host.own_name = Some(hello.host);
        host.version = Some(hello.program);
        self.show_host(at, HostState::Preparing);
    }

    fn begin(&mut self, HostId(at): HostId, start: PhaseStart) {
        let begin = *self.begin.get_or_insert(start.planned);
        self.began.get_or_insert_with(Instant::now);
        let us = |time: Duration| u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
        let signed = |us: u64| i64::try_from(us).unwrap_or(i64::MAX);
        let reached_us = match start.reached >= begin {
            true => signed(us(start.reached.since(begin))),
            false => -signed(us(begin.since(start.reached))),
        };
        self.report.hosts[at].phases.push(PhaseReport {
            planned_us: us(start.planned.since(begin)),
            reached_us,
            bound_us: us(start.bound),
        });
        self.show_host(at, HostState::Running);
        if let Some(view) = self.output.hosts_view() {
            view.set_activity("");
        }
    }

    fn hear(&mut self, host: HostId, message: ToCoordinator) {
        match message {
            ToCoordinator::Text { stream, text } => {
                if let Some(text) = self.texts.shown(&self.report.hosts[host.0].name, stream, &text) {
                    match self.output.hosts_view() {
                        Some(view) if stream == Stream::Error => view.message(&text),
                        Some(view) => view.set_activity(&text),
                        None => {}
                    }
                    self.output.print(&text);
                }
            }
            ToCoordinator::Interval { live, .. } => {
                self.live[host.0] = serde_json::from_value(live).ok();
                self.output.show_statuses(self.live.iter().flatten());
                self.show_host(host.0, self.states[host.0]);
            }
            ToCoordinator::Snapshot { at, result } => {
                if let Some(report) = self.read(host, &result) {
                    self.report.take_snapshot(host.0, report);
                    let at = at.since(self.begin.unwrap_or(at));
                    let end = self.watched.note_snapshot(host.0, at, &self.report, &mut self.output);
                    end.into_iter().for_each(|reason| self.abort(&reason));
                }
            }
            ToCoordinator::Log { name, data } => self.add_to_log(host, &name, &data),
            ToCoordinator::Interim { result } => {
                if let Some(report) = self.read(host, &result) {
                    // Unlike fio's document, that of all hosts lists no interim entries, whose number has no bound.
                    self.report.take_snapshot(host.0, report);
                    self.interim[host.0] = self.interim[host.0].map(|count| count + 1);
                    self.show_interim();
                }
            }
            ToCoordinator::Result { result } => {
                if let Some(report) = self.read(host, &result) {
                    self.report.take_last(host.0, report);
                }
            }
            ToCoordinator::Ended { status } | ToCoordinator::Refused { status } => {
                self.end(host);
                self.show_host(host.0, HostState::Ended);
                self.statuses[host.0] = Some(status);
                self.failed = self.failed.saturating_add(usize::from(status % SIGNALLED));
                self.was_interrupted |= status >= SIGNALLED;
            }
            _ => {}
        }
    }

    /// A host without an agent. What is missing on one is missing on others, too: the advice comes once.
    fn miss(&mut self, HostId(at): HostId, reason: &str) {
        self.lose(HostId(at), &HostLoss::NotStarted(reason.to_owned()).to_string());
        if let Some(wanted) = &self.settings.hosts
            && !std::mem::replace(&mut self.is_advised, true)
        {
            let advice = host_commands::advice(&self.report.hosts[at].name, wanted, reason);
            if let Some(advice) = advice {
                self.output.message(&Diagnostic::note(advice).code("host-lost"));
            }
        }
    }

    fn read(&mut self, host: HostId, result: &str) -> Option<HostReport> {
        match HostReport::of_text(result) {
            Ok(report) => Some(report),
            Err(error) => {
                self.lose(host, &format!("its results cannot be read: {error}"));
                None
            }
        }
    }

    fn add_to_log(&mut self, HostId(at): HostId, name: &str, data: &str) {
        let host = &self.report.hosts[at];
        let source = LogSource { at, name: &host.name, port: 0, texts: &self.texts_of_jobs };
        if let Some(problem) = self.logs.add(source, name, data) {
            self.output.lose_file();
            self.output.message(&problem);
        }
    }

    /// Writes a report of the run so far once all hosts have sent theirs.
    fn show_interim(&mut self) {
        let whole = self.interim.iter().flatten().min().copied().unwrap_or_default();
        if whole > self.shown_interim {
            self.shown_interim = whole;
            self.output.report_of_hosts_so_far(&self.report.together());
        }
    }

    /// A host sends no more.
    fn end(&mut self, HostId(at): HostId) {
        (self.live[at], self.interim[at]) = (None, None);
        self.watched.note_end(at, &self.report, &mut self.output);
    }

    fn lose(&mut self, host: HostId, reason: &str) {
        self.end(host);
        let HostId(at) = host;
        let host = &mut self.report.hosts[at];
        if host.lost.is_some() {
            // Said once, however many of its messages cannot be read.
            return;
        }
        host.lost = Some(reason.to_owned());
        self.is_incomplete = true;
        let message = format!("host {} is lost: {reason}", host.name);
        self.show_host(at, HostState::Lost);
        if let Some(view) = self.output.hosts_view() {
            view.message(&message);
        }
        self.output.message(&Diagnostic::error(message, Origin::Builtin).code("host-lost"));
    }

    /// Writes the report of what has come, and returns the exit status: as for one host, but failed jobs of all hosts add up, and a host
    /// that is lost counts as one.
    ///
    /// # Errors
    /// The report cannot be written.
    pub fn finish(mut self) -> Result<u8, Error> {
        self.output.end_hosts_view();
        let elapsed = self.began.map(|began| began.elapsed()).unwrap_or_default();
        let aborted = self.watched.finish(elapsed, &self.report, &mut self.output);
        let was_aborted = aborted.is_some();
        let has_lost_file = self.output.has_lost_file();
        self.is_incomplete |= has_lost_file;
        let failed = self.failed.max(usize::from(self.is_incomplete)).min(MAX_FAILED);
        let mut status = u8::try_from(failed).unwrap_or(u8::MAX);
        let (judgements, closed) = match self.report.has_any() {
            true => {
                let thresholds = &self.settings.thresholds;
                self.output.report_of_hosts(self.report.together(), thresholds, aborted)
            }
            false => (Vec::new(), self.output.close()),
        };
        let outcome = HostsOutcome {
            report: &self.report,
            statuses: &self.statuses,
            elapsed,
            has_lost_file,
            thresholds: &judgements,
        };
        let written = self.junit.map_or(Ok(()), |file| file.write(junit_text_on_hosts(&outcome)));
        if let (Err(_), Err(error)) = (&closed, &written) {
            self.messages.note(&error.diagnostic());
        }
        closed.and(written)?;
        // After an abort, thresholds may be unjudged because jobs never began their I/O: that is no failure.
        if !was_aborted && judgements.iter().any(Judgement::is_unjudged) {
            status = status.max(1);
        }
        if status == 0 && judgements.iter().any(Judgement::is_exceeded) {
            status = THRESHOLD_EXCEEDED_STATUS;
        }
        Ok(status | if self.was_interrupted { SIGNALLED } else { 0 })
    }
}
