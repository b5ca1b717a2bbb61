//! Diagnostics for mistakes on a command line, with their place and what to write instead.

use std::error::Error as _;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use ferrio_job::{Compat, Diagnostic, FioWords, Origin};
use ferrio_jobfile::{Problems, Sources};
use ferrio_report::Format;
use ferrio_thresholds::ExpressionError;

use crate::arguments::{InvalidCommandLine, Item};
use crate::error::Error;
use crate::option_values;
use crate::settings::{ProgramSettings, SettingsError};

/// The mistakes of a command line that cannot be read.
#[must_use]
pub fn command_line(invalid: InvalidCommandLine) -> Error {
    problems(invalid.mistakes)
}

/// All mistakes in the program options among `items`, read with this compatibility; `error` is the first.
#[must_use]
pub fn settings(error: SettingsError, items: &[Item], compat: Compat) -> Error {
    if let SettingsError::Help = error {
        return Error::Help;
    }
    // Reading each option by itself finds every wrong one.
    let wrong = items.iter().filter_map(|item| match item {
        Item::Program { name, value, origin } => {
            let error = ProgramSettings::read_each(std::slice::from_ref(item), compat).err()?;
            let place = match value.as_deref() {
                // The option is refused with any value.
                _ if matches!(error, SettingsError::Refused(..)) => origin.name_origin(),
                Some(value) if !value.is_empty() => origin.value_origin(value),
                _ => origin.origin(),
            };
            Some(option(&error, name, place))
        }
        _ => None,
    });
    let mut diagnostics: Vec<Diagnostic> = wrong.collect();
    if diagnostics.is_empty() {
        // Each is right by itself, so they exclude each other.
        let at_fault = match error {
            SettingsError::Conflict(name, _) => name,
            SettingsError::NoProfile(_) => "profile",
            _ => "",
        };
        let place = items.iter().rev().find_map(|item| match item {
            Item::Program { name, value: Some(value), origin } if name == at_fault => {
                Some(origin.value_origin(value))
            }
            _ => None,
        });
        diagnostics.push(option(&error, at_fault, place.unwrap_or(Origin::Builtin)));
    }
    problems(diagnostics)
}

/// An error without a job file.
fn problems(diagnostics: Vec<Diagnostic>) -> Error {
    Error::Problems(Problems { diagnostics, sources: Sources::default() })
}

/// The mistake in the program option `name` or in its value, at `place`.
fn option(error: &SettingsError, name: &str, place: Origin) -> Diagnostic {
    let fio = fio_words(error, name);
    let diagnostic = match error {
        SettingsError::Value(error) => value(error, name, place),
        SettingsError::Refused(..) => {
            Diagnostic::error(error.to_string(), place).code("unimplemented-program-option")
        }
        _ => Diagnostic::error(error.to_string(), place).code("invalid-program-option"),
    };
    diagnostic.in_fio(fio)
}

/// The lines of fio for a mistake in the program option `name`.
fn fio_words(error: &SettingsError, name: &str) -> FioWords {
    let error = match error {
        SettingsError::Value(error) => error,
        SettingsError::NoProfile(profile) => {
            return FioWords::Lines(vec![format!("fio: profile '{profile}' not found")]);
        }
        SettingsError::FormatOfFerrio(word) => return FioWords::Lines(invalid_format(word)),
        SettingsError::Refused("latency-log", _) => {
            let line = "fio: --latency-log is deprecated. Use per-job latency log options.";
            return FioWords::Lines(vec![line.to_owned()]);
        }
        _ => return FioWords::Message,
    };
    let given = given_value(error);
    let no_time = option_values::time(given).is_none();
    let lines = match name {
        "output-format" => {
            let unknown = given.split(',').find(|word| Format::of_word(word).is_none());
            invalid_format(unknown.unwrap_or_default())
        }
        "terse-version" => vec!["fio: bad terse version format".to_owned()],
        "eta-newline" if no_time => vec![format!("fio: failed parsing eta time {given}")],
        "eta-newline" => vec!["fio: eta new line time too short".to_owned()],
        "eta-interval" if no_time => vec![format!("fio: failed parsing eta interval {given}")],
        "eta-interval" => vec!["fio: eta interval time too short (250msec min)".to_owned()],
        "status-interval" | "trigger-timeout" if no_time => vec![format!("fio: failed parsing time {given}")],
        "status-interval" => vec!["fio: status interval too small".to_owned()],
        "idle-prof" => vec![format!("fio: incorrect idle-prof option: {given}")],
        _ => return FioWords::Message,
    };
    FioWords::Lines(lines)
}

fn invalid_format(word: &str) -> Vec<String> {
    vec![format!("fio: invalid output format {word}"), "fio: failed parsing output-format".to_owned()]
}

/// The value that clap refuses.
fn given_value(error: &clap::Error) -> &str {
    match error.get(ContextKind::InvalidValue) {
        Some(ContextValue::String(text)) => text,
        _ => "",
    }
}

/// An error of clap about the value of an option.
fn value(error: &clap::Error, name: &str, place: Origin) -> Diagnostic {
    let given = given_value(error);
    let message = match given {
        "" => format!("option `--{name}` has an empty value"),
        given => format!("invalid value `{given}` for option `--{name}`"),
    };
    match error.kind() {
        ErrorKind::ValueValidation => {
            if let Some(wrong) = error.source().and_then(|error| error.downcast_ref::<ExpressionError>()) {
                return expression(wrong, message, &place);
            }
            let label = error.source().map(ToString::to_string).unwrap_or_default();
            let code = if given.is_empty() { "empty-value" } else { "invalid-value" };
            Diagnostic::error(message, place).code(code).label(label)
        }
        ErrorKind::InvalidValue if given.is_empty() => {
            Diagnostic::error(message, place).code("empty-value").label("a value is expected")
        }
        ErrorKind::InvalidValue => {
            let choices = match error.get(ContextKind::ValidValue) {
                Some(ContextValue::Strings(words)) => words.as_slice(),
                _ => &[],
            };
            let near = ferrio_jobfile::nearest(given, choices.iter().map(String::as_str));
            let label =
                near.map_or("not one of the choices".to_owned(), |near| format!("did you mean `{near}`?"));
            let diagnostic = Diagnostic::error(message, place).code("not-a-choice").label(label);
            let suggestion = near.map(str::to_owned);
            Diagnostic { suggestion, ..diagnostic }.help(format!("choices are {}", choices.join(", ")))
        }
        kind => Diagnostic::error(format!("option `--{name}`: {kind}"), place).code("invalid-program-option"),
    }
}

/// A mistake in an expression of `--fail-if`, whose value is at `place`.
fn expression(wrong: &ExpressionError, message: String, place: &Origin) -> Diagnostic {
    let diagnostic = Diagnostic::error(message, place.part(wrong.start, wrong.length));
    let diagnostic = diagnostic.code("invalid-threshold").label(&wrong.message).help(&wrong.help);
    Diagnostic { suggestion: wrong.suggestion.clone(), ..diagnostic }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{arguments, options};

    fn wrong(words: &[&str]) -> Vec<Diagnostic> {
        let words: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
        let items = arguments::scan(&words, 1, options::OPTIONS, Compat::Ferrio).unwrap();
        let compat = Compat::Ferrio;
        match settings(ProgramSettings::read(&items, compat).unwrap_err(), &items, compat) {
            Error::Problems(problems) => problems.diagnostics,
            other => panic!("{other}"),
        }
    }

    #[test]
    fn all_wrong_program_options_are_reported() {
        let wrong = wrong(&["--eta=nevr", "--readonly", "--eta-interval=1ms", "--remote-config=x"]);
        let reported: Vec<_> = wrong.iter().map(|one| (one.code, one.label.as_str())).collect();
        let want = [
            ("not-a-choice", "did you mean `never`?"),
            ("invalid-value", "too short: the minimum is 250ms"),
            ("unimplemented-program-option", ""),
        ];
        assert_eq!(reported, want);
        assert_eq!(wrong[0].suggestion.as_deref(), Some("never"));
    }

    #[test]
    fn options_that_exclude_each_other_are_reported_with_the_place_of_one() {
        let wrong = wrong(&["--readonly", "--interval-report=1s:-"]);
        assert_eq!((wrong.len(), wrong[0].code), (1, "invalid-program-option"));
        assert!(matches!(wrong[0].origin, Origin::Argument { .. }), "{:?}", wrong[0].origin);
    }
}
