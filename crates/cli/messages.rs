//! What is said beside the report: errors, warnings and notes, on standard error, for people or (with
//! `--message-format=json`) for programs, one JSON object per line.
//!
//! Mistakes on the command line become the same diagnostics as mistakes in job files.

use std::error::Error;
use std::io::{self, IsTerminal, Write};

use clap::error::{ContextKind, ContextValue, ErrorKind};
use ferrio_job::{Diagnostic, Origin, codes};
use ferrio_jobfile::{Problems, Sources, diagnostics_json, diagnostics_render};
use ferrio_report::model::Warning;

use crate::arguments::{ArgumentError, Item, Mistake};
use crate::program::{MESSAGE_FORMAT, Program, ProgramError, QUIET};

/// Says things on standard error. That it may be closed is nobody's business.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Messages {
    json: bool,
    quiet: bool,
}

impl Messages {
    /// In the format that a command line asks for, the last of several, and without advice if it says so.
    #[must_use]
    pub fn of(items: &[Item]) -> Self {
        let mut formats = items.iter().filter_map(|item| match item {
            Item::Program { name, value: Some(value), .. } if name == MESSAGE_FORMAT => Some(value.as_str()),
            _ => None,
        });
        let quiet = items.iter().any(|item| matches!(item, Item::Program { name, .. } if *name == QUIET));
        Messages { json: formats.next_back() == Some("json"), quiet }
    }

    /// False when only what goes wrong is to be said: then nobody asks for doubts, nor for options without effect.
    #[must_use]
    pub const fn advises(self) -> bool {
        !self.quiet
    }

    /// Says what is wrong or odd about options and job files, with place and advice.
    pub fn show(self, diagnostics: &[Diagnostic], sources: &Sources) {
        self.print(&self.shown(diagnostics, sources));
    }

    /// Says something that people read as one line, without its place.
    pub fn line(self, diagnostic: &Diagnostic, sources: &Sources) {
        self.print(&self.one_line(diagnostic, sources));
    }

    /// The same of something that is not in a job file.
    pub fn note(self, diagnostic: &Diagnostic) {
        self.line(diagnostic, &Sources::default());
    }

    /// Says why figures may mean something else than they seem to: one warning per doubt, without blank lines between them.
    pub fn doubts(self, warnings: &[Warning]) {
        if self.advises() {
            self.print(&self.doubted(warnings));
        }
    }

    /// Says that something asked for by name does not exist.
    pub fn not_found(self, message: impl Into<String>) {
        self.note(&Diagnostic::error(message, Origin::Builtin).code("not-found"));
    }

    /// What makes a line of `--debug` one of this format.
    #[must_use]
    pub fn debug_form(self) -> fn(String) -> String {
        if self.json {
            |line| {
                let line = Diagnostic::note(line.trim_end()).code("debug");
                diagnostics_json(&[line], &Sources::default())
            }
        } else {
            |line| line
        }
    }

    /// Says something that only helps people.
    pub fn explain(self, text: &str) {
        if !self.json {
            self.print(text);
        }
    }

    fn shown(self, diagnostics: &[Diagnostic], sources: &Sources) -> String {
        if self.json {
            diagnostics_json(diagnostics, sources)
        } else {
            diagnostics_render(diagnostics, sources, colour(&io::stderr()))
        }
    }

    fn doubted(self, warnings: &[Warning]) -> String {
        if self.json {
            let diagnostic = |warning: &Warning| {
                let diagnostic = Diagnostic::warning(&warning.message, Origin::Builtin).help(&warning.help);
                let diagnostic = Diagnostic { jobs: warning.jobs.clone(), ..diagnostic };
                match codes::find(&warning.code) {
                    Some(code) => diagnostic.code(code.name),
                    None => diagnostic,
                }
            };
            let diagnostics: Vec<Diagnostic> = warnings.iter().map(diagnostic).collect();
            return diagnostics_json(&diagnostics, &Sources::default());
        }
        // Names of jobs may hold anything.
        let clean = |text: &str| text.replace(char::is_control, " ");
        let block = |warning: &Warning| {
            format!("warning: {} [{}]\n  = {}\n", clean(&warning.message), warning.code, warning.help)
        };
        warnings.iter().map(block).collect()
    }

    fn one_line(self, diagnostic: &Diagnostic, sources: &Sources) -> String {
        if !self.json {
            return format!("{}\n", diagnostic.line());
        }
        // Spaces that line one message up with another mean nothing to programs.
        let message = diagnostic.message.trim().to_owned();
        diagnostics_json(&[Diagnostic { message, ..diagnostic.clone() }], sources)
    }

    fn print(self, text: &str) {
        let _ = io::stderr().write_all(text.as_bytes());
    }
}

/// True when text for `stream` may be coloured.
#[must_use]
pub fn colour(stream: &impl IsTerminal) -> bool {
    let unwanted = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty())
        || std::env::var_os("TERM").is_some_and(|terminal| terminal == "dumb");
    stream.is_terminal() && !unwanted
}

/// Problems that no job file is to blame for.
#[must_use]
pub fn problems(diagnostics: Vec<Diagnostic>) -> Problems {
    Problems { diagnostics, sources: Sources::default() }
}

/// What is wrong with an argument.
#[must_use]
pub fn argument(mistake: &Mistake) -> Diagnostic {
    let Mistake { error, origin } = mistake;
    let message = error.to_string();
    let name = || Diagnostic::error(message.clone(), origin.name_origin());
    match error {
        ArgumentError::Unknown { near: None, .. } => name().code("unknown-option").label("no such option"),
        ArgumentError::Unknown { near: Some(near), .. } => name()
            .code("unknown-option")
            .label(format!("did you mean `--{near}`?"))
            .suggest(format!("--{near}")),
        ArgumentError::OtherEngine { engine, owners, .. } => name()
            .code("option-of-other-engine")
            .label(format!("an option of {}; the engine here is {engine}", owners.join(", ")))
            .help(format!("write it behind --ioengine={}", owners.first().unwrap_or(&""))),
        ArgumentError::Ambiguous { possible, .. } => {
            let names: Vec<_> = possible.iter().map(|name| format!("`--{name}`")).collect();
            name()
                .code("ambiguous-option")
                .label("begins several options")
                .help(format!("possibilities are {}", names.join(", ")))
        }
        ArgumentError::Missing { .. } => name().code("missing-value").label("a value is expected behind it"),
        ArgumentError::Empty { .. } => name().code("empty-value").label("a value is expected behind the `=`"),
        ArgumentError::Unwanted { text } => {
            let value = origin.text.split_once('=').map_or("", |(_, value)| value);
            Diagnostic::error(message, origin.value_origin(value))
                .code("unwanted-value")
                .label("takes no value")
                .suggest(text.clone())
        }
        ArgumentError::NotUtf8 { .. } => Diagnostic::error(message, origin.origin()).code("not-utf-8"),
    }
}

/// Everything wrong with the program options among `items`, of which `error` was met first.
#[must_use]
pub fn program(error: &ProgramError, items: &[Item]) -> Problems {
    // By themselves the options show which of them are wrong, and all of those that are.
    let wrong = items.iter().filter_map(|item| match item {
        Item::Program { value, origin, .. } => {
            let error = Program::read_each(std::slice::from_ref(item)).err()?;
            let place = match value.as_deref() {
                // No value would make it better.
                _ if matches!(error, ProgramError::Refused(..)) => origin.name_origin(),
                Some(value) if !value.is_empty() => origin.value_origin(value),
                _ => origin.origin(),
            };
            Some(option(&error, place))
        }
        _ => None,
    });
    let mut diagnostics: Vec<Diagnostic> = wrong.collect();
    if diagnostics.is_empty() {
        // Each for itself is right.
        let place = error.blames().and_then(|blamed| {
            items.iter().rev().find_map(|item| match item {
                Item::Program { name, value: Some(value), origin } if name == blamed => {
                    Some(origin.value_origin(value))
                }
                _ => None,
            })
        });
        diagnostics.push(option(error, place.unwrap_or(Origin::Builtin)));
    }
    problems(diagnostics)
}

/// What is wrong with one program option, or with its value at `place`.
fn option(error: &ProgramError, place: Origin) -> Diagnostic {
    match error {
        ProgramError::Clap(error) => value(error, place),
        ProgramError::Refused(..) | ProgramError::NoProfile(_) => {
            Diagnostic::error(error.to_string(), place).code("unimplemented-program-option")
        }
        _ => Diagnostic::error(error.to_string(), place).code("invalid-program-option"),
    }
}

/// clap's own errors.
fn value(error: &clap::Error, place: Origin) -> Diagnostic {
    let context = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => text.clone(),
        Some(ContextValue::Strings(texts)) => texts.join(", "),
        _ => String::new(),
    };
    let name = context(ContextKind::InvalidArg);
    let name = name.split([' ', '=']).next().unwrap_or(&name);
    let given = context(ContextKind::InvalidValue);
    let message = match given.as_str() {
        "" => format!("option `{name}` has an empty value"),
        given => format!("invalid value `{given}` for option `{name}`"),
    };
    let choices = context(ContextKind::ValidValue);
    match error.kind() {
        ErrorKind::ValueValidation => {
            let label = error.source().map(ToString::to_string).unwrap_or_default();
            let code = if given.is_empty() { "empty-value" } else { "invalid-value" };
            Diagnostic::error(message, place).code(code).label(label)
        }
        ErrorKind::InvalidValue if given.is_empty() => {
            Diagnostic::error(message, place).code("empty-value").label("a value is expected")
        }
        ErrorKind::InvalidValue => {
            let near = ferrio_jobfile::nearest(&given, choices.split(", "));
            let label =
                near.map_or("not one of the choices".to_owned(), |near| format!("did you mean `{near}`?"));
            let diagnostic = Diagnostic::error(message, place).code("not-a-choice").label(label);
            let suggestion = near.map(str::to_owned);
            Diagnostic { suggestion, ..diagnostic }.help(format!("choices are {choices}"))
        }
        _ => {
            let text = error.render().to_string();
            let first = text.lines().next().unwrap_or_default();
            let message = first.strip_prefix("error: ").unwrap_or(first);
            Diagnostic::error(message, place).code("invalid-program-option")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{arguments, options};

    const JSON: Messages = Messages { json: true, quiet: false };

    fn items(words: &[&str]) -> Vec<Item> {
        let words: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
        arguments::scan(&words, 1, &options::options()).unwrap()
    }

    fn wrong(words: &[&str]) -> Vec<Diagnostic> {
        let items = items(words);
        program(&Program::read(&items).unwrap_err(), &items).diagnostics
    }

    #[test]
    fn the_last_message_format_counts_wherever_it_stands() {
        assert_eq!(Messages::of(&items(&["--name=a"])), Messages::default());
        assert_eq!(Messages::of(&items(&["--name=a", "--message-format", "json"])), JSON);
        let both = ["--message-format=json", "--message-format=human"];
        assert_eq!(Messages::of(&items(&both)), Messages::default());
    }

    #[test]
    fn advice_is_given_unless_it_is_not_wanted() {
        assert!(Messages::of(&items(&["--name=a"])).advises());
        let quiet = Messages::of(&items(&["--quiet", "--message-format=json"]));
        assert_eq!(quiet, Messages { quiet: true, ..JSON });
        assert!(!quiet.advises());
    }

    #[test]
    fn all_wrong_program_options_are_told() {
        let wrong = wrong(&["--eta=nevr", "--readonly", "--eta-interval=1ms", "--aux-path=x"]);
        let told: Vec<_> = wrong.iter().map(|one| (one.code, one.label.as_str())).collect();
        let want = [
            ("not-a-choice", "did you mean `never`?"),
            ("invalid-value", "too short, the least is 250ms"),
            ("unimplemented-program-option", ""),
        ];
        assert_eq!(told, want);
        assert_eq!(wrong[0].suggestion.as_deref(), Some("never"));
    }

    #[test]
    fn doubts_are_one_block_for_people_and_an_object_each_for_programs() {
        let warning = |message: &str, code: &'static str| Warning {
            code: code.into(),
            jobs: vec!["a".to_owned()],
            count: 1,
            message: message.to_owned(),
            help: "run longer".to_owned(),
        };
        let doubts = [warning("a\tran for 3 ms only", "short-run"), warning("slow", "rate-not-held")];
        let text = Messages::default().doubted(&doubts);
        let want = "warning: a ran for 3 ms only [short-run]\n  = run longer\nwarning: slow [rate-not-held]\n  = run longer\n";
        assert_eq!(text, want);
        let objects = JSON.doubted(&doubts);
        let objects: Vec<serde_json::Value> =
            objects.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!((objects.len(), &objects[1]["code"]), (2, &"rate-not-held".into()));
        assert_eq!((&objects[0]["severity"], &objects[0]["help"]), (&"warning".into(), &"run longer".into()));
        assert_eq!(objects[0]["jobs"], serde_json::json!(["a"]));
        assert!(Messages::default().doubted(&[]).is_empty());
    }

    #[test]
    fn every_doubt_is_in_the_table_of_codes() {
        let unknown: Vec<&str> = ferrio_report::doubt_codes().filter(|code| !codes::is_known(code)).collect();
        assert_eq!(unknown, [""; 0]);
    }

    #[test]
    fn options_that_exclude_each_other_are_told_with_the_place_of_one() {
        let wrong = wrong(&["--readonly", "--interval-report=1s:-"]);
        assert_eq!((wrong.len(), wrong[0].code), (1, "invalid-program-option"));
        assert!(matches!(wrong[0].origin, Origin::Argument { .. }), "{:?}", wrong[0].origin);
    }

    #[test]
    fn a_line_for_people_stays_as_it_is_and_becomes_an_object_for_programs() {
        let note = || Diagnostic::note("--max-jobs has no effect").code("no-effect").job("a");
        assert_eq!(
            Messages::default().one_line(&note(), &Sources::default()),
            "fio: --max-jobs has no effect\n"
        );
        let object: serde_json::Value =
            serde_json::from_str(&JSON.one_line(&note(), &Sources::default())).unwrap();
        assert_eq!((&object["severity"], &object["code"]), (&"note".into(), &"no-effect".into()));
        assert_eq!((&object["message"], &object["jobs"][0]), (&note().message.into(), &"a".into()));
        assert_eq!(object["file"], serde_json::Value::Null);
        let line = "io       1 queue\n";
        assert_eq!(Messages::default().debug_form()(line.to_owned()), line);
        let object: serde_json::Value =
            serde_json::from_str(&JSON.debug_form()("io 1 queue\n".to_owned())).unwrap();
        assert_eq!((&object["code"], &object["message"]), (&"debug".into(), &"io 1 queue".into()));
    }
}
