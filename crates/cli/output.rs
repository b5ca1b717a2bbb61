//! Where the results of a run go, in a type for each phase: [`Output`] is open before the run, `LiveOutput` shows a run, and `FinalOutput`
//! reports on it.
//!
//! It has three parts: `report_file` is one stream of reports, `screen` the terminal with messages and the live line or view, and the
//! `watchers` look at the figures of a run. `messages` routes lines between report and screen; `opening` opens files
//! of reports and inspects the outputs before the run.

mod final_output;
mod hosts_output;
mod live_output;
mod messages;
mod opening;
mod report_file;
mod screen;
mod watchers;

use ferrio_job::{Compat, Plan};
use ferrio_report::{
    Format, Formats, HostReport, LiveStatus, ReportOptions, RunEnvironment, RunReport, TerseLayout,
};
use ferrio_results::RunResult;
use ferrio_runner::OutputWatch;

use crate::error::Error;
use crate::escaped_stream;
use crate::hosts::Voice;
use crate::messages::Messages;
use crate::report_stream::ReportStream;
use crate::settings::ProgramSettings;
use crate::visible::{Controls, MultilineNames};
use final_output::FinalOutput;
use messages::ReportLines;
pub use opening::{begin_file, may_block, status_file};
use report_file::{ReportFile, UnwrittenText, controls_in};
use screen::{DeferredText, Screen};
pub use watchers::{IntervalStream, Watchers, reason_to_abort};

/// The report with `--output`, or on standard output, among all reports.
const MAIN: usize = 0;

/// The streams of reports, and the screen.
pub struct Output {
    screen: Screen,
    /// The main report, then formats with a file of their own.
    files: Vec<ReportFile>,
    /// Jobs that texts may name, where the names have line ends.
    names: MultilineNames,
    /// How reports are made, apart from their time.
    options: ReportOptions,
    /// The machine that the jobs run on.
    environment: RunEnvironment,
    /// Failed jobs and signals are lines of the text report, as in fio, and a file of it has all other messages as well.
    takes_messages: bool,
    report_lines: ReportLines,
    /// Makes the main report from the figures, in a run on many hosts.
    coordinator: Option<Voice>,
    /// A file beside the report is missing or incomplete.
    has_lost_file: bool,
    /// Ends the program if nobody reads an output.
    watch: Option<OutputWatch>,
    /// The signal that has ended the run.
    signal: Option<i32>,
}

impl Output {
    /// Opens the streams of reports. Called `fio`, the program has [begun](begin_file) its file before.
    ///
    /// # Errors
    /// A file cannot be created.
    pub fn open(settings: &ProgramSettings, messages: Messages) -> Result<Self, Error> {
        let mut files = vec![ReportFile::open_output(settings)?];
        for (format, name) in &settings.files_of_formats {
            files.push(ReportFile::open_format(*format, name)?);
        }
        let is_text = settings.formats.has(Format::Normal);
        Ok(Output {
            screen: Screen::new(settings, messages),
            files,
            names: MultilineNames::default(),
            options: settings.report_options(),
            environment: RunEnvironment::default(),
            takes_messages: is_text && settings.compat == Compat::Fio && messages.are_text(),
            report_lines: ReportLines::of(settings, messages),
            coordinator: None,
            has_lost_file: false,
            watch: None,
            signal: None,
        })
    }

    /// Sets the jobs that texts may name. Their control characters are shown as text; called `fio`, only on a terminal.
    pub fn set_names(&mut self, plan: &Plan, compat: Compat) {
        self.names = MultilineNames::of(plan);
        let is_shown = compat == Compat::Ferrio || self.is_on_terminal();
        self.files[MAIN].escaped_controls = is_shown.then(|| controls_in(self.options.formats));
    }

    /// Writes text that a program may read, or run: control characters are shown as text on a terminal only.
    pub fn write_commands(&mut self, text: &str) {
        self.files[MAIN].escaped_controls = self.is_on_terminal().then_some(Controls::All);
        self.write(text);
    }

    fn writes_to_stdout(&self) -> bool {
        self.files[MAIN].is_stdout()
    }

    fn is_on_terminal(&self) -> bool {
        self.writes_to_stdout() && escaped_stream::stdout().is_terminal()
    }

    /// Writes a part of the main report.
    pub fn write(&mut self, text: &str) {
        self.write_to(MAIN, text);
    }

    /// Writes a part of the main report, and everything before it, for a reader who waits for it.
    pub fn write_now(&mut self, text: &str) {
        self.write_to(MAIN, text);
        let unwritten = self.files[MAIN].attempt(ReportStream::flush);
        self.rescue(MAIN, unwritten);
    }

    /// Writes text that may be coloured to the main report. All that is not the program's own has no control characters.
    pub fn write_coloured(&mut self, text: &str) {
        let unwritten = self.files[MAIN].attempt(|stream| stream.write_coloured(text));
        self.rescue(MAIN, unwritten);
    }

    /// Writes text to the files that this format has for itself.
    pub fn write_to_files(&mut self, format: Format, text: &str) {
        for at in MAIN + 1..self.files.len() {
            if self.files[at].formats.has(format) {
                self.write_to(at, text);
            }
        }
    }

    /// Writes lines before the run, which only text reports have.
    pub fn announce(&mut self, text: &str) {
        if self.files[MAIN].formats.has(Format::Normal) {
            self.write(text);
        }
        self.write_to_files(Format::Normal, text);
    }

    /// Writes a part of the report at this place.
    fn write_to(&mut self, at: usize, text: &str) {
        let is_stdout = self.files[at].is_stdout();
        if is_stdout && self.screen.defer_report(at, text) {
            return;
        }
        // The empty line at the start of a text report keeps the live line, as in fio.
        if is_stdout && text.starts_with('\n') {
            self.screen.leave_live_line();
        } else if is_stdout || at == MAIN {
            self.screen.clear_live_line();
        }
        let unwritten = self.files[at].write(text, &self.names);
        self.rescue(at, unwritten);
    }

    /// Leaves the main report to a coordinator, if there is one.
    pub fn leave_report_to(&mut self, coordinator: Option<&Voice>) {
        self.coordinator = coordinator.cloned();
    }

    /// The coordinator that makes the report at this place, with what it needs.
    fn host_report(
        &self,
        at: usize,
        plan: &Plan,
        result: &RunResult,
        options: &ReportOptions,
        report: &RunReport,
    ) -> Option<(&Voice, HostReport)> {
        let voice = self.coordinator.as_ref().filter(|_| at == MAIN)?;
        let options = options.in_formats(self.files[at].formats);
        Some((voice, HostReport::new(plan, result, &options, report)))
    }

    /// Sends the figures of a moment to the coordinator.
    pub fn send_snapshot(&self, plan: &Plan, result: &RunResult) {
        let options = self.options_now();
        let report = self.report_at(MAIN, plan, result, &options);
        if let Some((voice, report)) = self.host_report(MAIN, plan, result, &options, &report) {
            voice.snapshot(&report);
        }
    }

    /// Writes and flushes a report to the stream at this place.
    fn write_report(&mut self, at: usize, report: &RunReport) {
        self.write_to(at, &report.in_formats(self.files[at].formats, self.options.terse_layout()));
        let unwritten = self.files[at].attempt(ReportStream::flush);
        self.rescue(at, unwritten);
    }

    /// Writes what a file lacks to standard output, which the report goes on with.
    fn rescue(&mut self, at: usize, unwritten: UnwrittenText) {
        let Some(unwritten) = unwritten else { return };
        self.screen.clear_live_line();
        // It would stand between documents.
        if !self.files[at].formats.has(Format::Normal) {
            self.screen.stop_live_line();
        }
        self.begin_watch();
        self.write_to(at, &unwritten);
        let unwritten = self.files[at].attempt(ReportStream::flush);
        self.rescue(at, unwritten);
    }

    /// From now on, a signal ends the program if an output is blocked, unless it is so already.
    fn begin_watch(&mut self) {
        self.watch = self.watch.take().or_else(OutputWatch::begin);
        self.watch.iter().zip(self.signal).for_each(|(watch, signal)| watch.signalled(signal));
    }

    /// The report of a run for the stream at this place.
    fn report_at(&self, at: usize, plan: &Plan, result: &RunResult, options: &ReportOptions) -> RunReport {
        RunReport::new(plan, result, &options.in_formats(self.files[at].formats))
    }

    /// How a report is made now.
    fn options_now(&self) -> ReportOptions {
        self.options.clone().now().within(&self.environment)
    }

    /// The figures so far, for thresholds.
    pub fn figures_so_far(&self, plan: &Plan, result: &RunResult) -> RunReport {
        self.report_at(MAIN, plan, result, &self.options)
    }

    /// The metrics of the run so far, with histograms.
    pub fn metrics(&self, plan: &Plan, result: &RunResult) -> String {
        let options = ReportOptions { formats: Formats::only(Format::JsonPlus), ..self.options_now() };
        let report = RunReport::new(plan, result, &options);
        report.in_formats(Formats::only(Format::OpenMetrics), self.options.terse_layout())
    }

    /// The machine that the jobs run on.
    pub const fn environment(&self) -> &RunEnvironment {
        &self.environment
    }

    /// How terse lines are written.
    pub fn terse_layout(&self) -> TerseLayout {
        self.options.terse_layout()
    }

    /// True if a file beside the report is missing or incomplete.
    pub const fn has_lost_file(&self) -> bool {
        self.has_lost_file
    }

    /// Notes that a file beside the report is missing or incomplete, which the exit status says.
    pub const fn lose_file(&mut self) {
        self.has_lost_file = true;
    }

    /// Makes room for text of another part of the program.
    pub fn clear_live_line(&mut self) {
        self.screen.clear_live_line();
    }

    /// Prints text of another host to standard error, above the live line.
    pub fn print(&mut self, text: &str) {
        self.screen.print_host_text(text);
    }

    /// Ends the live view, and writes what has waited for that.
    fn end_view(&mut self) {
        for held in self.screen.end_view() {
            match held {
                DeferredText::Report(at, text) => self.write_to(at, &text),
                DeferredText::Message(text) => self.screen.messages.write_coloured(&text),
                DeferredText::HostText(text) => self.screen.messages.write(&text),
            }
        }
    }

    /// Redraws the live line of a run on several hosts.
    pub fn show_statuses<'a>(&mut self, hosts: impl Iterator<Item = &'a LiveStatus> + Clone) {
        self.screen.show_statuses(hosts);
    }

    /// Shows the figures of a moment in the live view.
    pub fn show_snapshot(&mut self, result: &RunResult) {
        self.screen.show_snapshot(result);
    }

    /// Removes the live line, flushes the reports and prints warnings that no report came before.
    ///
    /// # Errors
    /// The first error of any write to a report. Others are printed.
    pub fn close(mut self) -> Result<(), Error> {
        self.screen.clear_live_line();
        self.screen.show_deferred(&[]);
        for at in 0..self.files.len() {
            let unwritten = self.files[at].close();
            self.rescue(at, unwritten);
        }
        let mut errors = self.files.into_iter().filter_map(ReportFile::into_error);
        let Some(first) = errors.next() else { return Ok(()) };
        errors.for_each(|error| self.screen.messages.note(&error.diagnostic()));
        Err(first)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use ferrio_results::RunEvent;

    fn settings(words: &[&str]) -> ProgramSettings {
        let words: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
        ProgramSettings::read(
            &crate::arguments::scan(&words, 1, crate::options::OPTIONS, Compat::Ferrio).items,
            Compat::Ferrio,
        )
        .unwrap()
    }

    fn open(words: &[&str]) -> Result<Output, Error> {
        Output::open(&settings(words), Messages::default())
    }

    fn printed(format: &str) -> String {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("out").display().to_string();
        let mut output = open(&["--output", &file, "--output-format", format]).unwrap();
        let plan = Plan::default();
        output.announce("header\n");
        let mut output = output.begin(RunEnvironment::default(), Watchers::default());
        output.event(&plan, &RunEvent::Starting { threads: 1, processes: 0 });
        output.event(&plan, &RunEvent::LayingOut { job: "a", files: 1, bytes: 1 << 20 });
        output.output.write("report\n");
        output.output.close().unwrap();
        fs::read_to_string(file).unwrap()
    }

    #[test]
    fn only_a_text_report_has_lines_before_it() {
        let text = "header\nStarting 1 thread\na: Laying out IO file (1 file / 1MiB)\nreport\n";
        assert_eq!(printed("normal"), text);
        assert_eq!(printed("json"), "report\n");
    }

    #[test]
    fn a_full_disk_is_reported_at_the_end() {
        let mut output = open(&["--output=/dev/full"]).unwrap();
        output.write("report\n");
        let error = output.close().unwrap_err().to_string();
        assert_eq!(error, "cannot write to /dev/full: No space left on device");
    }

    #[test]
    fn a_file_that_cannot_be_created_is_reported_at_once() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("away/x").display().to_string();
        let error = open(&["--output", &file]).err().unwrap().to_string();
        assert_eq!(error, format!("output file open error: No such file or directory: {file}"));
    }
}
