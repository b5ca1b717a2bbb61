//! The terminal during a run: messages on standard error, and the live line or the live view, which give way to all other text.

use std::io::Write as _;

use ferrio_job::{Compat, Diagnostic, Plan};
use ferrio_jobfile::Sources;
use ferrio_machine::terminal_columns;
use ferrio_report::model::Warning;
use ferrio_report::{Format, LiveLine, LiveStatus};
use ferrio_results::{Progress, RunEvent, RunResult};
use ferrio_tui::{HostsView, LiveView};

use crate::escaped_stream;
use crate::messages::Messages;
use crate::option_values::{Eta, IntervalsTo};
use crate::options::ProgramOption;
use crate::settings::{ProgramSettings, ReportDestination};

/// Text that is deferred while the live view uses the terminal.
pub(super) enum DeferredText {
    /// For standard output: the index of the report stream and its text.
    Report(usize, String),
    /// Text for standard error, which may be coloured.
    Message(String),
    /// Text of another host for standard error.
    HostText(String),
}

/// The live view, and the text that is deferred until it ends, in order.
struct ActiveView {
    view: ShownRun,
    texts: Vec<DeferredText>,
}

/// The run that the live view shows.
pub(super) enum ShownRun {
    Here(LiveView),
    OnHosts(HostsView),
}

/// Messages, and the live line or view.
pub(super) struct Screen {
    pub(super) messages: Messages,
    live: Option<LiveLine>,
    /// Characters of the live line on the terminal; 0 on a pipe, which keeps every line.
    live_width: usize,
    view: Option<ActiveView>,
    /// Messages from before the run, with their texts, that are deferred until after the report; `None` if they are printed at once.
    deferred: Option<Vec<(Diagnostic, String)>>,
}

impl Screen {
    pub(super) fn new(settings: &ProgramSettings, messages: Messages) -> Self {
        let live = has_live_line(settings)
            .then(|| LiveLine::new(settings.compat, settings.eta_interval, settings.eta_newline));
        // A coordinator makes the report, and shows messages as they come.
        let has_report = settings.output != ReportDestination::Coordinator;
        let deferred = (has_report && messages.warnings_follow_report()).then(Vec::new);
        Screen { messages, live, live_width: 0, view: None, deferred }
    }

    /// True if there is a live line or view.
    pub(super) const fn is_live(&self) -> bool {
        self.live.is_some() || self.view.is_some()
    }

    pub(super) const fn has_view(&self) -> bool {
        self.view.is_some()
    }

    /// Gives the terminal to the live view.
    pub(super) fn show_view(&mut self, view: ShownRun) {
        self.view = Some(ActiveView { view, texts: Vec::new() });
    }

    /// Ends the live view. Returns the deferred text.
    pub(super) fn end_view(&mut self) -> Vec<DeferredText> {
        self.view.take().map(|active| active.texts).unwrap_or_default()
    }

    pub(super) fn show_event(&mut self, plan: &Plan, event: &RunEvent<'_>) {
        if let Some(ActiveView { view: ShownRun::Here(view), .. }) = &mut self.view {
            view.event(plan, event);
        }
    }

    pub(super) fn show_snapshot(&mut self, result: &RunResult) {
        if let Some(ActiveView { view: ShownRun::Here(view), .. }) = &mut self.view {
            view.look(result);
        }
    }

    /// The live view of a run on many hosts, if there is one.
    pub(super) fn hosts_view(&mut self) -> Option<&mut HostsView> {
        match &mut self.view {
            Some(ActiveView { view: ShownRun::OnHosts(view), .. }) => Some(view),
            _ => None,
        }
    }

    /// Defers text for standard output until the live view ends. Returns false if the text may be written now.
    pub(super) fn defer_report(&mut self, at: usize, text: &str) -> bool {
        match self.view.as_mut().filter(|_| escaped_stream::stdout().is_terminal()) {
            Some(active) => active.texts.push(DeferredText::Report(at, text.to_owned())),
            None => return false,
        }
        true
    }

    /// Prints text to standard error, above the live line.
    pub(super) fn print_message(&mut self, text: &str) {
        match self.view.as_mut().filter(|_| escaped_stream::stderr().is_terminal()) {
            Some(active) => active.texts.push(DeferredText::Message(text.to_owned())),
            None => {
                self.clear_live_line();
                self.messages.write_coloured(text);
            }
        }
    }

    /// Prints text of another host to standard error, above the live line.
    pub(super) fn print_host_text(&mut self, text: &str) {
        match self.view.as_mut().filter(|_| escaped_stream::stderr().is_terminal()) {
            Some(active) => active.texts.push(DeferredText::HostText(text.to_owned())),
            None => {
                self.clear_live_line();
                self.messages.write(text);
            }
        }
    }

    /// Defers a warning or note from before the run until after the report. Returns false if messages are not deferred.
    pub(super) fn defer_message(&mut self, diagnostic: &Diagnostic, sources: &Sources) -> bool {
        let Some(deferred) = &mut self.deferred else { return false };
        deferred.push((diagnostic.clone(), self.messages.text_of(diagnostic, sources)));
        true
    }

    /// Prints the deferred messages, each once, except those that a warning about the results (`confirmed`) repeats.
    pub(super) fn show_deferred(&mut self, confirmed: &[Warning]) {
        let mut shown: Vec<String> = Vec::new();
        for (diagnostic, text) in self.deferred.take().unwrap_or_default() {
            let is_confirmed = confirmed.iter().any(|warning| warning.confirms(&diagnostic));
            if !is_confirmed && !shown.contains(&text) {
                self.messages.write_coloured(&text);
                shown.push(text);
            }
        }
    }

    /// Redraws the live line.
    pub(super) fn show_progress(&mut self, plan: &Plan, progress: &Progress) {
        self.draw(|live, columns| live.update(plan, progress, columns));
    }

    /// Redraws the live line of a run on several hosts.
    pub(super) fn show_statuses<'a>(&mut self, hosts: impl Iterator<Item = &'a LiveStatus> + Clone) {
        self.draw(|live, columns| live.update_together(hosts, columns));
    }

    fn draw(&mut self, line: impl FnOnce(&mut LiveLine, Option<usize>) -> Option<String>) {
        let mut stdout = escaped_stream::stdout();
        let columns = terminal_columns(&stdout);
        let Some(line) = self.live.as_mut().and_then(|live| line(live, columns)) else { return };
        // A closed terminal does not stop the run.
        let written = stdout.write_live_line(&line).and_then(|()| stdout.flush());
        if written.is_ok() && stdout.is_terminal() {
            self.live_width = line.trim_start_matches('\n').trim_end_matches('\r').chars().count();
        }
    }

    /// Ends the live line for good.
    pub(super) fn stop_live_line(&mut self) {
        self.live = None;
    }

    /// Leaves the live line where it is: text on standard output begins on a new line.
    pub(super) const fn leave_live_line(&mut self) {
        self.live_width = 0;
    }

    /// Removes the live line from the terminal.
    pub(super) fn clear_live_line(&mut self) {
        if self.live_width > 0 {
            let mut stdout = escaped_stream::stdout();
            let blanks = format!("\r{:1$}\r", "", self.live_width);
            let _ = stdout.write_live_line(&blanks).and_then(|()| stdout.flush());
            self.live_width = 0;
        }
    }
}

fn has_live_line(settings: &ProgramSettings) -> bool {
    let is_wanted = match settings.eta {
        Eta::Always => true,
        Eta::Never => false,
        // Debug messages come from all threads and would tear the line.
        Eta::Auto if settings.has(ProgramOption::Tui) => false,
        Eta::Auto if settings.debug.any() && settings.compat == Compat::Ferrio => false,
        Eta::Auto => escaped_stream::stdout().is_terminal(),
    };
    let intervals = settings.interval_report.as_ref();
    let intervals_to_stdout = intervals.is_some_and(|wanted| wanted.to == IntervalsTo::StandardOutput);
    // A live line would corrupt a document on standard output.
    let formats = settings.formats;
    let has_document =
        settings.output == ReportDestination::Stdout && !formats.has(Format::Normal) && !formats.are_none();
    is_wanted && !has_document && !intervals_to_stdout
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arguments::scan;
    use crate::options::OPTIONS;

    #[test]
    fn a_live_line_never_corrupts_a_document_on_standard_output() {
        let is_live = |words: &[&str]| {
            let words: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
            let items = scan(&words, 1, OPTIONS, Compat::Ferrio).items;
            has_live_line(&ProgramSettings::read(&items, Compat::Ferrio).unwrap())
        };
        assert!(is_live(&["--eta=always"]));
        assert!(!is_live(&["--eta=always", "--output-format=json"]));
        assert!(is_live(&["--eta=always", "--output-format=json", "--output=/dev/null"]));
        assert!(!is_live(&["--eta=never"]));
    }
}
