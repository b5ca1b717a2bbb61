//! A run on many hosts as it comes in, and its report.

use ferrio_hosts::{AgentHello, ClockTime, CoordinatorAction, HostId, HostLoss, PhaseStart, ToCoordinator};
use ferrio_job::{Diagnostic, Origin};
use ferrio_report::model::{HostClockReport, PhaseReport};
use ferrio_report::{Format, HostReport, HostsReport, ReportedHost};
use ferrio_thresholds::Judgement;

use super::host_commands;
use super::host_texts::HostTexts;
use crate::error::Error;
use crate::messages::Messages;
use crate::outcome::{MAX_FAILED, THRESHOLD_EXCEEDED_STATUS};
use crate::output::Output;
use crate::settings::ProgramSettings;

/// A run on many hosts.
pub struct RunOnHosts<'a> {
    report: HostsReport,
    output: Output,
    texts: HostTexts,
    settings: &'a ProgramSettings,
    /// The user was told what to do about an agent that does not start.
    is_advised: bool,
    messages: Messages,
    /// When the first phase was planned to begin: the start of the common time axis.
    begin: Option<ClockTime>,
    /// Jobs that failed, over all hosts.
    failed: usize,
    /// A signal has ended the jobs of a host.
    was_interrupted: bool,
    /// A host has no results, or not all.
    is_incomplete: bool,
}

impl<'a> RunOnHosts<'a> {
    /// A run on the hosts of these names, with its outputs open.
    ///
    /// # Errors
    /// An output cannot be opened.
    pub fn open(names: &[String], settings: &'a ProgramSettings, messages: Messages) -> Result<Self, Error> {
        let hosts = names.iter().map(|name| ReportedHost::new(name, None)).collect();
        let options = settings.report_options().in_formats(settings.all_formats());
        Ok(RunOnHosts {
            report: HostsReport::new(hosts, options, false),
            output: Output::open(settings, messages)?,
            texts: HostTexts::new(messages, settings.formats.has(Format::Normal)),
            settings,
            is_advised: false,
            messages,
            begin: None,
            failed: 0,
            was_interrupted: false,
            is_incomplete: false,
        })
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
            CoordinatorAction::Send(..) | CoordinatorAction::Close(_) | CoordinatorAction::Finished => {}
        }
    }

    fn greet(&mut self, HostId(at): HostId, hello: AgentHello) {
        let host = &mut self.report.hosts[at];
        host.own_name = Some(hello.host);
        host.version = Some(hello.program);
    }

    fn begin(&mut self, HostId(at): HostId, start: PhaseStart) {
        let begin = *self.begin.get_or_insert(start.planned);
        let us = |time: std::time::Duration| u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
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
    }

    fn hear(&mut self, host: HostId, message: ToCoordinator) {
        match message {
            ToCoordinator::Text { stream, text } => {
                self.texts.show(&self.report.hosts[host.0].name, stream, &text);
            }
            ToCoordinator::Result { result } => match serde_json::from_value::<HostReport>(result) {
                Ok(report) => self.report.take_last(host.0, report),
                Err(error) => self.lose(host, &format!("its results cannot be read: {error}")),
            },
            ToCoordinator::Ended { status } | ToCoordinator::Refused { status } => {
                self.failed = self.failed.saturating_add(usize::from(status & 127));
                self.was_interrupted |= status & 128 != 0;
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
            self.messages.note(&Diagnostic::note(advice).code("host-lost"));
        }
    }

    fn lose(&mut self, HostId(at): HostId, reason: &str) {
        let host = &mut self.report.hosts[at];
        host.lost.get_or_insert_with(|| reason.to_owned());
        self.is_incomplete = true;
        let message = format!("host {} is lost: {reason}", host.name);
        self.messages.note(&Diagnostic::error(message, Origin::Builtin).code("host-lost"));
    }

    /// Writes the report of what has come, and returns the exit status: as for one host, but failed jobs of all hosts add up, and a host
    /// that is lost counts as one.
    ///
    /// # Errors
    /// The report cannot be written.
    pub fn finish(self) -> Result<u8, Error> {
        let failed = self.failed.max(usize::from(self.is_incomplete)).min(MAX_FAILED);
        let mut status = u8::try_from(failed).unwrap_or(u8::MAX);
        if self.report.has_any() {
            let (judgements, written) =
                self.output.report_of_hosts(self.report.together(), &self.settings.thresholds);
            written?;
            if judgements.iter().any(Judgement::is_unjudged) {
                status = status.max(1);
            }
            if status == 0 && judgements.iter().any(Judgement::is_exceeded) {
                status = THRESHOLD_EXCEEDED_STATUS;
            }
        } else {
            self.output.close()?;
        }
        Ok(status | if self.was_interrupted { 128 } else { 0 })
    }
}
