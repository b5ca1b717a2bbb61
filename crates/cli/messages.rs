//! Errors, warnings and notes on standard error, as text or, with `--message-format=json`, as one JSON object per line. And the
//! information on standard output that is not a report.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, IsTerminal as _, Stdout, Write};

use anstream::stream::RawStream;
use anstream::{AutoStream, ColorChoice};
use anstyle::{AnsiColor, Style};
use ferrio_job::{AsFio, Compat, Diagnostic, Origin, Severity, codes};
use ferrio_jobfile::{Sources, diagnostics_json, diagnostics_render, diagnostics_render_as_fio};
use ferrio_machine::RetryInterrupted;
use ferrio_report::WriteLine;
use ferrio_report::model::Warning;
use nix::errno::Errno;

use crate::arguments::{Item, values_of};
use crate::error::Error;
use crate::escaped_stream::{EscapedStream, stderr, stdout};
use crate::options::ProgramOption;
use crate::visible::{Controls, visible};

const ERROR: Style = AnsiColor::BrightRed.on_default().bold();
const WARNING: Style = AnsiColor::Yellow.on_default().bold();
const NOTE: Style = AnsiColor::BrightGreen.on_default().bold();

/// Writes to standard error; write errors are ignored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Messages {
    json: bool,
    quiet: bool,
    compat: Compat,
    color: ColorChoice,
}

/// The choice that a value of `--color` means.
fn color(when: &str) -> Option<ColorChoice> {
    match when {
        "always" => Some(ColorChoice::Always),
        "never" => Some(ColorChoice::Never),
        "auto" => Some(ColorChoice::Auto),
        _ => None,
    }
}

impl Messages {
    /// The settings in a command line; of several values the last one counts.
    #[must_use]
    pub fn of(items: &[Item], compat: Compat) -> Self {
        let last = |option| values_of(items, option).next_back();
        let quiet = items.iter().any(|item| item.is(ProgramOption::Quiet));
        let color = last(ProgramOption::Color).and_then(color).unwrap_or_default();
        let json = last(ProgramOption::MessageFormat) == Some("json");
        Messages { json, quiet, compat, color }
    }

    /// These messages in the colours that one word of a command line asks for: `--color=never`. `None` for any other word.
    #[must_use]
    pub fn with_color(self, word: &OsStr) -> Option<Self> {
        let when = word
            .to_str()?
            .strip_prefix("--")?
            .strip_prefix(ProgramOption::Color.row().name)?
            .strip_prefix('=')?;
        Some(Messages { color: color(when)?, ..self })
    }

    /// Whether text for this stream is coloured. Without `--color`, it is not if the program is called
    /// `fio`; otherwise the terminal and the variables NO_COLOR and CLICOLOR_FORCE decide.
    #[must_use]
    pub fn colors(self, stream: &impl RawStream) -> bool {
        let choice = match self.color {
            // fio has no colours.
            ColorChoice::Auto if self.compat == Compat::Fio => ColorChoice::Never,
            ColorChoice::Auto => AutoStream::choice(stream),
            choice => choice,
        };
        choice != ColorChoice::Never
    }

    /// True unless `--quiet` leaves only errors.
    #[must_use]
    pub const fn shows_warnings(self) -> bool {
        !self.quiet
    }

    /// False for warnings and notes about jobs that `--quiet` silences, or that fio does not have if the program is called `fio`.
    #[must_use]
    pub fn shows(self, diagnostic: &Diagnostic) -> bool {
        self.shows_warnings() && self.place(diagnostic) != AsFio::Hidden
    }

    /// Where a message goes.
    #[must_use]
    pub fn place(self, diagnostic: &Diagnostic) -> AsFio {
        match self.compat {
            Compat::Ferrio => AsFio::Stderr,
            Compat::Fio => diagnostic.as_fio(),
        }
    }

    /// True if warnings that come before the run are printed after the report: captured logs are read from their end.
    #[must_use]
    pub fn warnings_follow_report(self) -> bool {
        self.compat == Compat::Ferrio && !self.json && !stderr().is_terminal()
    }

    /// Prints diagnostics with the place, the line of the job file and advice.
    pub fn show(self, diagnostics: &[Diagnostic], sources: &Sources) {
        self.write_coloured(&self.diagnostics_text(diagnostics, sources));
    }

    /// Prints an error that ends the program.
    pub fn error(self, error: &Error) {
        match error {
            Error::Problems(problems) => self.show(&problems.diagnostics, &problems.sources),
            error => self.show(&[error.diagnostic()], &Sources::default()),
        }
    }

    /// Prints a diagnostic as one line without its place. Called `ferrio`, warnings about options keep their place.
    pub fn line(self, diagnostic: &Diagnostic, sources: &Sources) {
        self.write_coloured(&self.text_of(diagnostic, sources));
    }

    /// Prints a diagnostic without a place in a job file as one line.
    pub fn note(self, diagnostic: &Diagnostic) {
        self.line(diagnostic, &Sources::default());
    }

    /// Prints warnings about misleading figures, which fio does not have, without blank lines between them.
    pub fn figure_warnings(self, warnings: &[Warning]) {
        if self.shows_warnings() && self.compat == Compat::Ferrio {
            self.write_coloured(&self.figure_warnings_text(warnings));
        }
    }

    /// Reports that a name on the command line does not exist.
    pub fn not_found(self, message: impl Into<String>) {
        self.note(&Diagnostic::error(message, Origin::Builtin).code("not-found"));
    }

    /// The function that prints lines of `--debug`. Called `fio`, the program writes them between the lines of its text report, if it
    /// has one: to standard output or to the `file` of the report.
    #[must_use]
    pub fn debug_writer(self, has_text: bool, file: Option<File>) -> WriteLine {
        match (self.compat, file) {
            _ if self.json => Box::new(|line| write_message(stderr(), &debug_object(&line))),
            (Compat::Fio, Some(file)) if has_text => {
                let is_terminal = file.is_terminal();
                Box::new(move |line| match is_terminal {
                    true => write_message(&file, &visible(&line, Controls::All)),
                    false => write_message(&file, &line),
                })
            }
            (Compat::Fio, None) if has_text => Box::new(|line| write_message(stdout(), &line)),
            _ => Box::new(move |line| write_message(stderr(), &self.visible(&line))),
        }
    }

    /// Prints the notes about the choice of `--debug` where its lines go, or on standard error.
    pub fn debug_notes(self, notes: &[Diagnostic], has_text: bool, file: Option<&File>) {
        for note in notes {
            match self.place(note) {
                AsFio::Hidden => {}
                AsFio::Report if has_text => self.report_line(note, &Sources::default(), file),
                AsFio::Report | AsFio::Stderr => self.note(note),
            }
        }
    }

    /// Prints a line where reports go if there is none: to their `file`, or to standard output. If programs read the messages, it is one of
    /// them.
    pub fn report_line(self, diagnostic: &Diagnostic, sources: &Sources, file: Option<&File>) {
        let line = || format!("{}\n", diagnostic.line(self.compat));
        match file {
            _ if !self.are_text() => self.line(diagnostic, sources),
            Some(file) if file.is_terminal() => write_message(file, &visible(&line(), Controls::All)),
            Some(file) => write_message(file, &line()),
            None => write_message(stdout(), &line()),
        }
    }

    /// True if the program prints what fio prints.
    #[must_use]
    pub fn are_of_fio(self) -> bool {
        self.compat == Compat::Fio
    }

    /// True unless programs read the messages.
    #[must_use]
    pub const fn are_text(self) -> bool {
        !self.json
    }

    /// Prints text that is no diagnostic; JSON leaves it out.
    pub fn text(self, text: &str) {
        if !self.json {
            self.write(text);
        }
    }

    /// Prints text.
    pub fn write(self, text: &str) {
        write_message(stderr(), text);
    }

    /// Prints the text of messages, in which all that is not the program's own has no control characters.
    pub fn write_coloured(self, text: &str) {
        let _ = stderr().write_coloured(text);
    }

    fn diagnostics_text(self, diagnostics: &[Diagnostic], sources: &Sources) -> String {
        if self.json {
            diagnostics_json(diagnostics, sources)
        } else if self.compat == Compat::Fio {
            diagnostics_render_as_fio(diagnostics, sources, self.colors(stderr().get_ref()))
        } else {
            diagnostics_render(diagnostics, sources, self.colors(stderr().get_ref()))
        }
    }

    fn figure_warnings_text(self, warnings: &[Warning]) -> String {
        if self.json {
            let diagnostic = |warning: &Warning| {
                let diagnostic =
                    Diagnostic::warning(warning.message_with_hosts(), Origin::Builtin).help(&warning.help);
                let diagnostic = Diagnostic { jobs: warning.jobs.clone(), ..diagnostic };
                match codes::find(&warning.code) {
                    Some(code) => diagnostic.code(code.name),
                    None => diagnostic,
                }
            };
            let diagnostics: Vec<Diagnostic> = warnings.iter().map(diagnostic).collect();
            return diagnostics_json(&diagnostics, &Sources::default());
        }
        // Job names may contain control characters.
        let clean = |text: &str| text.replace(char::is_control, " ");
        let label = self.painted("warning:", WARNING);
        let block = |warning: &Warning| {
            let [code, help] = [&*warning.code, &warning.help].map(|text| visible(text, Controls::All));
            format!("{label} {} [{code}]\n  = {help}\n", clean(&warning.message_with_hosts()))
        };
        warnings.iter().map(block).collect()
    }

    /// A diagnostic as [`Messages::line`] prints it.
    #[must_use]
    pub fn text_of(self, diagnostic: &Diagnostic, sources: &Sources) -> String {
        if self.json {
            // Leading spaces only align the text with other messages.
            let message = diagnostic.message.trim().to_owned();
            return diagnostics_json(&[Diagnostic { message, ..diagnostic.clone() }], sources);
        }
        let shown;
        let diagnostic = match self.visible(&diagnostic.message) {
            Cow::Borrowed(_) => diagnostic,
            Cow::Owned(message) => {
                shown = Diagnostic { message, ..diagnostic.clone() };
                &shown
            }
        };
        let has_place = diagnostic.severity == Severity::Warning && diagnostic.origin != Origin::Builtin;
        if has_place && self.compat == Compat::Ferrio {
            return self.diagnostics_text(std::slice::from_ref(diagnostic), sources);
        }
        let style = match diagnostic.severity {
            Severity::Error => ERROR,
            Severity::Warning => WARNING,
            Severity::Note => NOTE,
        };
        match diagnostic.line_label(self.compat) {
            Some(label) if self.colors(stderr().get_ref()) => {
                format!("{style}{}:{style:#} {}\n", self.visible(label), diagnostic.message)
            }
            _ => format!("{}\n", self.visible(&diagnostic.line(self.compat))),
        }
    }

    /// Text without control characters; called `fio`, only for a terminal.
    fn visible(self, text: &str) -> Cow<'_, str> {
        if self.are_of_fio() && !stderr().is_terminal() {
            Cow::Borrowed(text)
        } else {
            visible(text, Controls::All)
        }
    }

    /// Text in this style, if messages are coloured.
    fn painted(self, text: &str, style: Style) -> String {
        if self.colors(stderr().get_ref()) { format!("{style}{text}{style:#}") } else { text.to_owned() }
    }
}

/// A debug message for programs.
fn debug_object(line: &str) -> String {
    diagnostics_json(&[Diagnostic::note(line.trim_end()).code("debug")], &Sources::default())
}

/// Writes a message; write errors are ignored.
fn write_message(stream: impl Write, text: &str) {
    let _ = RetryInterrupted(stream).write_all(text.as_bytes());
}

/// Prints information: calls `write` with standard output. The status is 0 if it returns true, 1 otherwise.
///
/// # Errors
/// Standard output cannot be written to.
pub fn print(write: impl FnOnce(&mut dyn Write) -> io::Result<bool>) -> Result<u8, Error> {
    print_to(|stdout| write(stdout))
}

fn print_to(write: impl FnOnce(&mut EscapedStream<Stdout>) -> io::Result<bool>) -> Result<u8, Error> {
    if ferrio_runner::stdout::was_closed() {
        return Err(Error::stdout(Errno::EBADF.into()));
    }
    let mut stdout = stdout();
    match write(&mut stdout).and_then(|good| stdout.flush().map(|()| good)) {
        Ok(good) => Ok(u8::from(!good)),
        // The reader, for example `head`, has seen enough.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(0),
        Err(error) => Err(Error::stdout(error)),
    }
}

/// Prints text.
///
/// # Errors
/// Standard output cannot be written to.
pub fn print_text(text: &str) -> Result<u8, Error> {
    print(|out| out.write_all(text.as_bytes()).map(|()| true))
}

/// Prints text that may be coloured, in which all that is not the program's own has no control characters.
///
/// # Errors
/// Standard output cannot be written to.
pub fn print_coloured(text: &str) -> Result<u8, Error> {
    print_to(|stdout| stdout.write_coloured(text).map(|()| true))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{arguments, options};

    const JSON: Messages =
        Messages { json: true, quiet: false, compat: Compat::Ferrio, color: ColorChoice::Auto };

    fn items(words: &[&str]) -> Vec<Item> {
        let words: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
        arguments::scan(&words, 1, options::OPTIONS, Compat::Ferrio).items
    }

    fn of(items: &[Item]) -> Messages {
        Messages::of(items, Compat::Ferrio)
    }

    #[test]
    fn fio_has_only_its_own_notes() {
        let note = |code| Diagnostic::note("x").code(code);
        let shown = |compat| {
            let messages = Messages { compat, ..Messages::default() };
            ["no-effect", "option-without-effect", "iodepth-sync-engine"]
                .map(|code| messages.shows(&note(code)))
        };
        assert_eq!(shown(Compat::Ferrio), [true; 3]);
        assert_eq!(shown(Compat::Fio), [false, false, true]);
        let fio = Messages { compat: Compat::Fio, ..Messages::default() };
        assert_eq!(fio.place(&note("iodepth-sync-engine")), AsFio::Report);
        let error = Diagnostic::error("x", Origin::Builtin).code("trigger");
        assert_eq!(fio.place(&error), AsFio::Stderr, "errors are never left out");
        assert!(!Messages { quiet: true, ..Messages::default() }.shows(&note("iodepth-sync-engine")));
    }

    #[test]
    fn the_last_message_format_counts_wherever_it_stands() {
        assert_eq!(of(&items(&["--name=a"])), Messages::default());
        assert_eq!(of(&items(&["--name=a", "--message-format", "json"])), JSON);
        let both = ["--message-format=json", "--message-format=human"];
        assert_eq!(of(&items(&both)), Messages::default());
    }

    #[test]
    fn the_option_for_colours_comes_before_terminal_and_variables() {
        let colors = |words: &[&str]| of(&items(words)).colors(stderr().get_ref());
        assert!(colors(&["--color=never", "--color=always"]) && !colors(&["--color=never"]));
        let always = of(&items(&["--color=always"]));
        let note = Diagnostic::note("lost").code("log-error");
        let text = always.text_of(&note, &Sources::default());
        assert_eq!(text, "\u{1b}[1m\u{1b}[92mferrio:\u{1b}[0m lost\n");
    }

    #[test]
    fn quiet_leaves_out_warnings() {
        assert!(of(&items(&["--name=a"])).shows_warnings());
        let quiet = of(&items(&["--quiet", "--message-format=json"]));
        assert_eq!(quiet, Messages { quiet: true, ..JSON });
        assert!(!quiet.shows_warnings());
    }

    #[test]
    fn figure_warnings_are_one_block_of_text_and_one_object_each_in_json() {
        let warning = |message: &str, code: &'static str| Warning {
            code: code.into(),
            jobs: vec!["a".to_owned()],
            count: 1,
            message: message.to_owned(),
            help: "run longer".to_owned(),
            hosts: Vec::new(),
        };
        let warnings = [warning("a\tran for 3 ms only", "short-run"), warning("slow", "rate-not-held")];
        let text = Messages::default().figure_warnings_text(&warnings);
        let want = "warning: a ran for 3 ms only [short-run]\n  = run longer\nwarning: slow [rate-not-held]\n  = run longer\n";
        assert_eq!(text, want);
        let objects = JSON.figure_warnings_text(&warnings);
        let objects: Vec<serde_json::Value> =
            objects.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!((objects.len(), &objects[1]["code"]), (2, &"rate-not-held".into()));
        assert_eq!((&objects[0]["severity"], &objects[0]["help"]), (&"warning".into(), &"run longer".into()));
        assert_eq!(objects[0]["jobs"], serde_json::json!(["a"]));
        assert!(Messages::default().figure_warnings_text(&[]).is_empty());
    }

    #[test]
    fn every_figure_warning_is_in_the_table_of_codes() {
        let unknown: Vec<&str> =
            ferrio_report::warning_codes().filter(|code| codes::find(code).is_none()).collect();
        assert_eq!(unknown, [""; 0]);
    }

    #[test]
    fn a_line_of_text_is_unchanged_and_becomes_an_object_in_json() {
        let note = || Diagnostic::note("--max-jobs has no effect").code("no-effect").job("a");
        assert_eq!(
            Messages::default().text_of(&note(), &Sources::default()),
            "ferrio: --max-jobs has no effect\n"
        );
        let object: serde_json::Value =
            serde_json::from_str(&JSON.text_of(&note(), &Sources::default())).unwrap();
        assert_eq!((&object["severity"], &object["code"]), (&"note".into(), &"no-effect".into()));
        assert_eq!((&object["message"], &object["jobs"][0]), (&note().message.into(), &"a".into()));
        assert_eq!(object["file"], serde_json::Value::Null);
        let object: serde_json::Value = serde_json::from_str(&debug_object("io 1 queue\n")).unwrap();
        assert_eq!((&object["code"], &object["message"]), (&"debug".into(), &"io 1 queue".into()));
    }
}
