//! The report on standard output or in a file. `opening` has what is done before the run, `format_files` the formats with files of their own,
//! `messages` what is said beside the report, `reports` the reports themselves, and `live_line` the line that shows the progress.

mod format_files;
mod live_line;
mod messages;
mod opening;
mod reports;

use std::io;
use std::path::Path;

use ferrio_job::{Compat, Diagnostic, Plan};
use ferrio_machine::{CpuThrottling, terminal_columns};
use ferrio_report::{
    Format, Formats, LiveLine, ReportOptions, RunEnvironment, RunSeries, job_failed, laying_out_line,
    starting_line, terminating,
};
use ferrio_results::{Event, RunResult};
use ferrio_runner::{OutputWatch, stdout};
use ferrio_thresholds::Threshold;
use nix::errno::Errno;

use crate::error::Error;
use crate::escaped_stream::{self, EscapedStream};
use crate::intervals::IntervalStream;
use crate::messages::Messages;
use crate::option_values::{Eta, IntervalsTo};
use crate::report_stream::ReportStream;
use crate::settings::ProgramSettings;
use crate::visible::{Controls, NamesOfLines};
use format_files::FormatFile;
use messages::ReportLines;
use opening::open_output;
pub use opening::{begin_file, may_block, status_file};

/// Text for a terminal that the live view has.
enum Held {
    /// Of the report, on standard output.
    Report(String),
    /// On standard error.
    Message(String),
}

/// The streams of a run and the first error in writing the report.
pub struct Output {
    messages: Messages,
    name: String,
    stream: ReportStream,
    /// The report goes to standard output, where the live line is.
    writes_to_stdout: bool,
    /// Formats with a file of their own.
    files: Vec<FormatFile>,
    /// Limits for the figures of the last report.
    thresholds: Vec<Threshold>,
    /// How reports are made, apart from their time.
    options: ReportOptions,
    /// The machine that the jobs run on.
    environment: RunEnvironment,
    /// Lines before the run are written, which only the text report has.
    announces: bool,
    /// As in fio, failed jobs and signals are lines of the text report, and a file of it has all other messages as well.
    takes_messages: bool,
    /// Where lines go that fio prints in its report, if that is no text.
    report_lines: ReportLines,
    /// Warnings and notes that come before the run, and their texts, if they follow the report.
    kept: Option<Vec<(Diagnostic, String)>>,
    live: Option<LiveLine>,
    intervals: Option<IntervalStream>,
    /// Control characters of the report that are shown as text.
    shown_controls: Option<Controls>,
    /// What jobs are called, where it has line ends.
    names: NamesOfLines,
    /// What the live view keeps from the terminal, in order.
    held: Option<Vec<Held>>,
    /// A message reported a file that is missing or incomplete.
    lost_file: bool,
    /// Characters of the live line on the terminal; 0 on a pipe, which keeps every line.
    live_width: usize,
    error: Option<io::Error>,
    /// Standard output has what the file of the report lacks.
    is_rescued: bool,
    /// Ends the program if nobody reads it.
    watch: Option<OutputWatch>,
    /// The signal that has ended the run.
    signal: Option<i32>,
}

impl Output {
    /// Opens the stream of the report. Called `fio`, the program has [begun](begin_file) its file before.
    ///
    /// # Errors
    /// The file cannot be created.
    pub fn open(settings: &ProgramSettings, messages: Messages) -> Result<Self, Error> {
        let to_stdout = settings.output.is_none();
        let stream = match &settings.output {
            None if settings.compat == Compat::Ferrio && stdout::was_closed() => {
                return Err(Error::stdout(Errno::EBADF.into()));
            }
            None => ReportStream::Stdout(escaped_stream::stdout()),
            Some(name) if settings.compat == Compat::Ferrio || settings.shares_output => {
                let cannot_open = |error| Error::OpenOutput { name: name.clone(), error };
                ReportStream::whole(Path::new(name)).map_err(cannot_open)?
            }
            Some(name) => ReportStream::File(EscapedStream::new(open_output(name, false)?)),
        };
        let files = settings.files_of_formats.iter().map(|(format, name)| FormatFile::open(*format, name));
        let files = files.collect::<Result<Vec<_>, _>>()?;
        let wanted = match settings.eta {
            Eta::Always => true,
            Eta::Never => false,
            // Debug messages come from all threads and would tear the line.
            Eta::Auto if settings.tui => false,
            Eta::Auto if settings.debug.any() && settings.compat == Compat::Ferrio => false,
            Eta::Auto => escaped_stream::stdout().is_terminal(),
        };
        let intervals = settings.interval_report.as_ref();
        let intervals_to_stdout = intervals.is_some_and(|wanted| wanted.to == IntervalsTo::StandardOutput);
        // A live line would corrupt a document on standard output.
        let has_document = to_stdout && !settings.formats.has(Format::Normal) && !settings.formats.are_none();
        let live = wanted && !has_document && !intervals_to_stdout;
        let announces = settings.formats.has(Format::Normal);
        Ok(Output {
            messages,
            name: settings.output.clone().unwrap_or_else(|| "standard output".to_owned()),
            stream,
            writes_to_stdout: to_stdout,
            files,
            thresholds: settings.thresholds.clone(),
            options: settings.report_options(),
            environment: RunEnvironment::default(),
            announces,
            takes_messages: announces && settings.compat == Compat::Fio && messages.are_text(),
            report_lines: match settings.compat {
                Compat::Fio if !messages.are_text() => ReportLines::StandardError,
                Compat::Fio if settings.formats.has(Format::Json) => ReportLines::Document,
                Compat::Fio => ReportLines::Report,
                Compat::Ferrio => ReportLines::StandardError,
            },
            kept: messages.warnings_follow_report().then(Vec::new),
            live: live.then(|| LiveLine::new(settings.compat, settings.eta_interval, settings.eta_newline)),
            intervals: None,
            shown_controls: None,
            names: NamesOfLines::default(),
            held: None,
            lost_file: false,
            live_width: 0,
            error: None,
            is_rescued: false,
            watch: None,
            signal: None,
        })
    }

    /// Opens the interval report, if one is wanted.
    ///
    /// # Errors
    /// Its file cannot be created.
    pub fn open_intervals(&mut self, settings: &ProgramSettings) -> Result<(), Error> {
        self.intervals = settings.interval_report.as_ref().map(IntervalStream::open).transpose()?;
        Ok(())
    }

    /// Sets the jobs that texts may name. Their control characters are shown as text; called `fio`, only on a terminal.
    pub fn set_names(&mut self, plan: &Plan, compat: Compat) {
        self.names = NamesOfLines::of(plan);
        let is_seen = self.writes_to_stdout && escaped_stream::stdout().is_terminal();
        self.shown_controls =
            (compat == Compat::Ferrio || is_seen).then(|| controls_in(self.options.formats));
    }

    /// Writes text that a program may read, or run: control characters are shown as text on a terminal only.
    pub fn write_commands(&mut self, text: &str) {
        let is_seen = self.writes_to_stdout && escaped_stream::stdout().is_terminal();
        self.shown_controls = is_seen.then_some(Controls::All);
        self.write(text);
    }

    /// True if there is a live line.
    pub fn is_live(&self) -> bool {
        self.live.is_some()
    }

    /// Writes lines before the run, which only the text report has.
    pub fn announce(&mut self, text: &str) {
        if self.announces {
            self.write(text);
        }
        self.write_to_files(Format::Normal, text);
    }

    /// Writes the verdict of a profile: before the text report as fio does, to standard error if there is none.
    pub fn verdict(&mut self, text: &str) {
        if self.announces {
            self.write(text);
        } else {
            self.clear_live_line();
            self.messages.text(text);
        }
        self.write_to_files(Format::Normal, text);
    }

    /// From now on, what would go to a terminal waits until it is [released](Output::release), if the live view has the terminal.
    pub fn hold(&mut self, has_view: bool) {
        self.held = has_view.then(Vec::new);
    }

    /// Writes what waits. The live view must have given the terminal back.
    pub fn release(&mut self) {
        for held in self.held.take().unwrap_or_default() {
            match held {
                Held::Report(text) => self.write(&text),
                Held::Message(text) => self.messages.write_coloured(&text),
            }
        }
    }

    /// Writes a part of the report. The empty line at the start of a text report keeps the live line, as in fio.
    pub fn write(&mut self, text: &str) {
        if let Some(held) =
            self.held.as_mut().filter(|_| self.writes_to_stdout && escaped_stream::stdout().is_terminal())
        {
            held.push(Held::Report(text.to_owned()));
            return;
        }
        self.end_live_line(text);
        let text = match self.shown_controls {
            Some(controls) => self.names.visible(text, controls),
            None => text.into(),
        };
        let written = self.stream.write(&text);
        self.keep_first_error(written);
    }

    /// Writes text that may be coloured, in which all that is not the program's own has no control characters.
    pub fn write_coloured(&mut self, text: &str) {
        let written = self.stream.write_coloured(text);
        self.keep_first_error(written);
    }

    /// Sets the machine that the jobs run on, for all reports.
    pub fn set_machine(&mut self, environment: RunEnvironment) {
        self.environment = environment;
    }

    /// What throttled the CPUs since the jobs began their I/O.
    pub fn cpu_throttling(&self) -> CpuThrottling {
        self.environment.throttling_so_far()
    }

    /// Sets what jobs and devices did over time, for the report that follows.
    pub fn set_series(&mut self, series: RunSeries) {
        self.options.series = series;
    }

    /// Writes the lines of an interval to the interval report, if there is one. A failed write is reported once.
    pub fn write_interval(&mut self, plan: &Plan, result: &RunResult) {
        if self.intervals.is_none() {
            return;
        }
        self.clear_live_line();
        if let Some(error) = self.intervals.as_mut().and_then(|intervals| intervals.write(plan, result)) {
            self.message(&error);
        }
    }

    /// True if a file that the run was to write beside its report is missing or incomplete, and the exit status says so. As in fio, that of
    /// a program called `fio` does not for logs and verify states.
    pub fn lost_file(&self) -> bool {
        self.lost_file || self.intervals.as_ref().is_some_and(IntervalStream::is_lost)
    }

    /// Prints an event of the run.
    pub fn event(&mut self, plan: &Plan, event: &Event<'_>) {
        match event {
            Event::Starting { threads, processes } => self.announce(&starting_line(*threads, *processes)),
            Event::LayingOut { job, files, bytes } => self.announce(&laying_out_line(job, *files, *bytes)),
            Event::Diagnostic(diagnostic) => {
                self.options.add_run_note(diagnostic);
                self.message(diagnostic);
            }
            // Without an error number there is only a message, which came as a diagnostic.
            Event::JobFailed { error, .. } if error.errno == 0 => {}
            // A job that could not be set up has no worker.
            Event::JobFailed { job, pid, error } if *pid == 0 => self.message(&job_failed(job, 0, error)),
            Event::JobFailed { job, pid, error } => self.failure(&job_failed(job, *pid, error)),
            Event::Terminating { signal } => {
                self.signal = Some(*signal);
                self.watch.iter().for_each(|watch| watch.signalled(*signal));
                // The live line stays, and the message begins on a new line.
                if self.writes_to_stdout {
                    self.live_width = 0;
                }
                let message = terminating(*signal);
                if self.report_lines == ReportLines::Document {
                    self.options.add_run_note(&message);
                } else if self.takes_messages {
                    self.write("\n");
                } else if self.held.is_none() {
                    self.messages.text("\n");
                }
                self.message(&message);
            }
            Event::Interim(result) => {
                if self.report_so_far(plan, result) {
                    return;
                }
                let all = self.files.iter().fold(self.options.formats, |all, file| all.and(file.formats));
                let word = all.alone().map_or("", |(word, _)| word);
                let message =
                    format!("no report of the run so far: the format {word} allows only one, at the end");
                self.message(&Diagnostic::note(message).code("no-interim-report"));
            }
            // What wants intervals gets them from the run.
            Event::Interval { .. } => {}
            Event::Released => self.environment.begin_jobs(),
            Event::Progress(progress) => {
                let columns = terminal_columns(escaped_stream::stdout());
                if let Some(line) = self.live.as_mut().and_then(|live| live.update(plan, progress, columns)) {
                    self.show_live_line(&line);
                }
            }
        }
    }

    /// Removes the live line, flushes the report and prints warnings that no report came before.
    ///
    /// # Errors
    /// The first error of any write to the report.
    pub fn close(mut self) -> Result<(), Error> {
        self.clear_live_line();
        self.show_kept(&[]);
        // A report that could not be written does not replace an older one.
        if self.error.is_none() {
            let closed = self.stream.close();
            self.keep_first_error(closed);
        }
        for at in 0..self.files.len() {
            if self.files[at].error.is_none() {
                let closed = self.files[at].stream.close();
                self.keep_error_of_file(at, closed);
            }
        }
        let outputs = std::iter::once((self.name, self.error, self.is_rescued))
            .chain(self.files.into_iter().map(|file| (file.name, file.error, file.is_rescued)));
        let mut errors = outputs.filter_map(|(name, error, is_rescued)| match (error?, is_rescued) {
            (error, true) => Some(Error::ReportElsewhere { name, error }),
            (error, false) => Some(Error::WriteOutput { name, error }),
        });
        let Some(first) = errors.next() else { return Ok(()) };
        errors.for_each(|error| self.messages.note(&error.diagnostic()));
        Err(first)
    }

    fn keep_first_error(&mut self, written: io::Result<()>) {
        let Err(error) = written else { return };
        if self.error.is_some() {
            // Standard output has failed, too.
            self.is_rescued = false;
            return;
        }
        self.error = Some(error);
        if let Some(unwritten) = self.stream.take_unwritten().filter(|_| !stdout::was_closed()) {
            self.rescue(&unwritten);
        }
    }

    /// From now on, a signal ends the program if an output is blocked, unless it is so already.
    pub fn begin_watch(&mut self) {
        self.watch = self.watch.take().or_else(OutputWatch::begin);
        self.watch.iter().zip(self.signal).for_each(|(watch, signal)| watch.signalled(signal));
    }

    /// Jobs are about to begin, which may be blocked for other reasons. The run itself looks at its outputs.
    pub fn end_watch(&mut self) {
        self.watch = self.watch.take().filter(|_| self.is_rescued);
    }

    /// Goes on with standard output, which gets first what the file of the report lacks.
    fn rescue(&mut self, unwritten: &str) {
        self.clear_live_line();
        self.stream = ReportStream::Stdout(escaped_stream::stdout());
        self.writes_to_stdout = true;
        // It would stand between documents.
        self.live = self.live.take().filter(|_| self.options.formats.has(Format::Normal));
        self.is_rescued = true;
        self.begin_watch();
        self.write(unwritten);
        let flushed = self.stream.flush();
        self.keep_first_error(flushed);
    }
}

/// The control characters that an output in these formats shows as text. Documents have escapes of their own for the others.
fn controls_in(formats: Formats) -> Controls {
    if formats.have_escapes() { Controls::C0 } else { Controls::All }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn settings(words: &[&str]) -> ProgramSettings {
        let words: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
        ProgramSettings::read(
            &crate::arguments::scan(&words, 1, crate::options::OPTIONS, Compat::Ferrio).unwrap(),
            Compat::Ferrio,
        )
        .unwrap()
    }

    fn opened(words: &[&str]) -> Result<Output, Error> {
        Output::open(&settings(words), Messages::default())
    }

    fn printed(format: &str) -> String {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("out").display().to_string();
        let mut output = opened(&["--output", &file, "--output-format", format]).unwrap();
        let plan = Plan::default();
        output.announce("header\n");
        output.event(&plan, &Event::Starting { threads: 1, processes: 0 });
        output.event(&plan, &Event::LayingOut { job: "a", files: 1, bytes: 1 << 20 });
        output.write("report\n");
        output.close().unwrap();
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
        let mut output = opened(&["--output=/dev/full"]).unwrap();
        output.write("report\n");
        let error = output.close().unwrap_err().to_string();
        assert_eq!(error, "cannot write to /dev/full: No space left on device");
    }

    #[test]
    fn a_file_that_cannot_be_created_is_reported_at_once() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("away/x").display().to_string();
        let error = opened(&["--output", &file]).err().unwrap().to_string();
        assert_eq!(error, format!("output file open error: No such file or directory: {file}"));
    }

    #[test]
    fn a_live_line_never_corrupts_a_document_on_standard_output() {
        let live = |words: &[&str]| opened(words).unwrap().live.is_some();
        assert!(live(&["--eta=always"]));
        assert!(!live(&["--eta=always", "--output-format=json"]));
        assert!(live(&["--eta=always", "--output-format=json", "--output=/dev/null"]));
        assert!(!live(&["--eta=never"]));
    }
}
