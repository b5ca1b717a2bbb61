//! A run on servers as it comes in, in fio's words: everything on standard output, the server's messages with its name before them, its
//! statistics when it has ended, and those of all at the end.

use std::fs;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ferrio_hosts::{AgentHello, CoordinatorAction, HostId, HostLoss, ToCoordinator};
use ferrio_job::{Diagnostic, FioWords, Origin, reason};
use ferrio_report::{Format, Formats, HostReport, HostsReport, LiveStatus, ReportedHost};

use super::logs_of_hosts::{LogSource, LogsOfHosts};
use super::triggered;
use crate::error::Error;
use crate::messages::Messages;
use crate::outcome::SIGNALLED;
use crate::output::Output;
use crate::settings::{FIO_VERSION, ProgramSettings};

/// One server.
pub struct HostOfClient {
    /// As the user wrote it.
    name: String,
    port: u16,
    /// Its address as dialled, for names of files.
    address: String,
    /// Its own name, once it has said it.
    own_name: Option<String>,
    /// The texts of its job files.
    texts: Vec<String>,
    /// Its figures, until it has ended.
    report: Option<Box<HostReport>>,
    /// What the live line says of it.
    live: Option<LiveStatus>,
}

impl HostOfClient {
    /// A server that has not greeted yet.
    #[must_use]
    pub const fn new(name: String, port: u16, address: String, texts: Vec<String>) -> Self {
        HostOfClient { name, port, address, own_name: None, texts, report: None, live: None }
    }

    /// Its name before messages.
    fn label(&self) -> &str {
        self.own_name.as_deref().unwrap_or(&self.name)
    }
}

/// The run.
pub struct ClientRun<'a> {
    output: Output,
    settings: &'a ProgramSettings,
    messages: Messages,
    hosts: Vec<HostOfClient>,
    report: HostsReport,
    logs: LogsOfHosts,
    /// A server was reached.
    has_any: bool,
    status: u8,
}

impl<'a> ClientRun<'a> {
    /// A run without servers, which begins now.
    #[must_use]
    pub fn new(output: Output, settings: &'a ProgramSettings, messages: Messages) -> Self {
        let options = settings.report_options().now();
        ClientRun {
            output,
            settings,
            messages,
            hosts: Vec::new(),
            report: HostsReport::new(Vec::new(), options, false),
            logs: LogsOfHosts::default(),
            has_any: false,
            status: 0,
        }
    }

    /// Adds a server.
    pub fn add_host(&mut self, host: HostOfClient) {
        self.report.hosts.push(ReportedHost::new(&host.name, Some(host.port)));
        self.hosts.push(host);
    }

    /// Notes that a server cannot be reached.
    pub fn miss(&mut self, message: &Diagnostic) {
        self.messages.note(message);
        self.status = 1;
    }

    /// Takes what the conversations come to.
    pub fn observe(&mut self, action: CoordinatorAction) {
        match action {
            CoordinatorAction::Greeted(HostId(at), hello) => self.greet(at, hello),
            CoordinatorAction::Deliver(HostId(at), message) => self.hear(at, message),
            CoordinatorAction::Lost(HostId(at), loss) => self.lose(at, &loss),
            _ => {}
        }
    }

    fn has(&self, format: Format) -> bool {
        self.settings.formats.has(format)
    }

    fn greet(&mut self, at: usize, hello: AgentHello) {
        self.has_any = true;
        if self.has(Format::Normal) {
            self.output.write_now(&host_line(&hello));
        }
        self.hosts[at].own_name = Some(hello.host.clone());
        let host = &mut self.report.hosts[at];
        (host.own_name, host.version) = (Some(hello.host), Some(hello.program));
    }

    fn hear(&mut self, at: usize, message: ToCoordinator) {
        match message {
            ToCoordinator::Text { text, .. } => {
                let text = labelled(self.hosts[at].label(), &text);
                self.output.write_now(&text);
            }
            ToCoordinator::Interval { live, .. } => {
                self.hosts[at].live = serde_json::from_value(live).ok();
                self.output.show_statuses(self.hosts.iter().filter_map(|host| host.live.as_ref()));
            }
            ToCoordinator::Log { name, data } => {
                let HostOfClient { name: host, port, texts, .. } = &self.hosts[at];
                let source = LogSource { at, name: host, port: *port, texts };
                if let Some(problem) = self.logs.add(source, &name, &data) {
                    self.messages.note(&problem);
                }
            }
            ToCoordinator::State { job, data } => self.keep_state(at, &job, &data),
            ToCoordinator::Interim { result } => {
                if let Some(report) = self.read(at, &result) {
                    self.report.take_interim(at, *report);
                    self.show(at);
                }
            }
            ToCoordinator::Result { result } => self.hosts[at].report = self.read(at, &result),
            ToCoordinator::Ended { status } => self.end(at, status % SIGNALLED),
            ToCoordinator::Refused { .. } => self.status = 1,
            _ => {}
        }
    }

    /// Writes the verify state of a job that a trigger has ended.
    fn keep_state(&mut self, at: usize, job: &str, data: &str) {
        let path = triggered::state_path(&self.hosts[at].address, job);
        let written = match (path, STANDARD.decode(data)) {
            (Some(path), Ok(state)) => fs::write(path, state).map_err(|error| reason(&error)),
            _ => Err("the server sent a damaged one".to_owned()),
        };
        if let Err(reason) = written {
            self.complain(at, &format!("the verify state of job {job} cannot be saved: {reason}"));
        }
    }

    fn read(&mut self, at: usize, result: &str) -> Option<Box<HostReport>> {
        match HostReport::of_text(result) {
            Ok(report) => Some(Box::new(report)),
            Err(error) => {
                self.complain(at, &format!("its results cannot be read: {error}"));
                None
            }
        }
    }

    /// A server has ended its part.
    fn end(&mut self, at: usize, failed: u8) {
        let host = &mut self.hosts[at];
        host.live = None;
        let report = host.report.take();
        if failed > 0 {
            self.status = 1;
            self.output.write_now(&format!("client <{}>: exited with error {failed}\n", host.name));
        }
        if let Some(report) = report {
            self.report.take_last(at, *report);
            self.show(at);
        }
    }

    /// Shows the figures of a server in the formats that have several reports.
    fn show(&mut self, at: usize) {
        let label = self.hosts[at].label();
        if self.settings.formats.has(Format::Normal)
            && let Some(report) = self.report.of_host(at)
        {
            let text = report.in_formats(Formats::only(Format::Normal), self.settings.terse_version);
            self.output.write_now(&format!("<{label}> {text}"));
        }
        if self.has(Format::Terse) {
            self.output.write_now(&self.report.terse_of_host(at, self.settings.terse_version.into()));
        }
    }

    fn lose(&mut self, at: usize, loss: &HostLoss) {
        let host = &mut self.hosts[at];
        host.live = None;
        let reason = match loss {
            HostLoss::NotStarted(reason) | HostLoss::Disconnected(reason) if host.own_name.is_none() => {
                format!("it does not speak ferrio's protocol, a client/server version mismatch: {reason}")
            }
            loss => loss.to_string(),
        };
        self.complain(at, &reason);
        self.report.hosts[at].lost = Some(reason);
        let host = &mut self.hosts[at];
        self.output.write_now(&format!("client: host={} disconnected\n", host.name));
        // Its figures came, and the end of its part did not.
        if let Some(report) = host.report.take() {
            self.report.take_last(at, *report);
            self.show(at);
        }
    }

    fn complain(&mut self, at: usize, reason: &str) {
        self.status = 1;
        let name = &self.hosts[at].name;
        let line = format!("fio: client {name}: {reason}");
        let message =
            Diagnostic::error(format!("{name} is lost: {reason}"), Origin::Builtin).code("host-lost");
        self.messages.note(&message.in_fio(FioWords::Lines(vec![line])));
    }

    /// Writes what is about all servers, and returns the exit status.
    ///
    /// # Errors
    /// The report cannot be written.
    pub fn finish(mut self) -> Result<u8, Error> {
        let all = self.report.all_clients();
        if let Some(all) = &all
            && self.has(Format::Normal)
        {
            let text = all.in_formats(Formats::only(Format::Normal), self.settings.terse_version);
            self.output.write_now(&format!("{text}\n"));
        }
        if let Some(all) = &all
            && self.has(Format::Terse)
        {
            self.output.write_now(&all.in_formats(Formats::only(Format::Terse), self.settings.terse_version));
        }
        if self.has_any && (self.has(Format::Json) || self.has(Format::JsonPlus)) {
            self.output.write_now(&format!("\n{}", self.report.to_clients_json()));
        }
        self.output.close()?;
        Ok(self.status)
    }
}

/// The first line about a server.
fn host_line(hello: &AgentHello) -> String {
    let is_big = matches!(hello.arch.as_str(), "s390x" | "ppc" | "ppc64" | "mips" | "mips64" | "sparc64");
    let bits = if hello.arch.contains("64") || hello.arch == "s390x" { 64 } else { 32 };
    let arch = if hello.arch == "x86_64" { "x86-64" } else { &hello.arch };
    format!(
        "hostname={}, be={}, {bits}-bit, os=Linux, arch={arch}, fio={FIO_VERSION}, flags=1\n",
        hello.host,
        u8::from(is_big)
    )
}

/// A message of a server with the server's name. A message that begins with an empty line has the name there.
fn labelled(label: &str, text: &str) -> String {
    if text.starts_with('\n') {
        return format!("<{label}> {text}");
    }
    text.lines().map(|line| format!("<{label}> {line}\n")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_line_of_a_message_has_the_name_of_its_server() {
        assert_eq!(labelled("vm", "a: one\nb: two\n"), "<vm> a: one\n<vm> b: two\n");
        assert_eq!(
            labelled("vm", "\nfio: terminating on signal 15\n"),
            "<vm> \nfio: terminating on signal 15\n"
        );
    }

    #[test]
    fn the_first_line_names_the_host_and_its_machine() {
        let line = |arch| host_line(&AgentHello::new("ferrio 0.1", "vm", arch));
        let want = "hostname=vm, be=0, 64-bit, os=Linux, arch=x86-64, fio=fio-3.42, flags=1\n";
        assert_eq!(line("x86_64"), want);
        assert!(line("s390x").contains("be=1, 64-bit") && line("armv7l").contains("be=0, 32-bit"));
    }
}
