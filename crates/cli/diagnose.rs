//! Diagnostics for mistakes on a command line, with their place and what to write instead.

use std::error::Error as _;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use ferrio_job::{Compat, Diagnostic, FioWords, Origin};
use ferrio_thresholds::ExpressionError;

use crate::arguments::Item;
use crate::error::Error;
use crate::options::{self, ProgramOption};
use crate::settings::{ProgramSettings, SettingsError};

/// Reads the program options among `items` with this compatibility.
///
/// # Errors
/// All mistakes, or a request for help.
pub fn settings(items: &[Item], compat: Compat) -> Result<ProgramSettings, Error> {
    ProgramSettings::read(items, compat).map_err(|error| all_mistakes(error, items, compat))
}

/// All mistakes in the program options, of which `error` is the first.
fn all_mistakes(error: SettingsError, items: &[Item], compat: Compat) -> Error {
    if let SettingsError::Help = error {
        return Error::Help;
    }
    // Reading each option by itself finds every wrong one.
    let wrong = items.iter().filter_map(|item| match item {
        Item::Program { option, value, origin } => {
            let error = ProgramSettings::read_each(std::slice::from_ref(item), compat).err()?;
            let place = match value.as_deref() {
                // The option is refused with any value.
                _ if matches!(error, SettingsError::Refused(..)) => origin.name_origin(),
                Some(value) if !value.is_empty() => origin.value_origin(value),
                _ => origin.origin(),
            };
            Some(diagnostic(&error, Some(*option), place))
        }
        _ => None,
    });
    let mut diagnostics: Vec<Diagnostic> = wrong.collect();
    if diagnostics.is_empty() {
        // Each is right by itself, so they exclude each other.
        let at_fault = match &error {
            SettingsError::Conflict(conflict) => Some(conflict.option),
            SettingsError::NoProfile(_) => Some(ProgramOption::Profile),
            _ => None,
        };
        let item = |option| items.iter().rev().find_map(|item| item.value_of(option));
        let place =
            at_fault.and_then(item).map_or(Origin::Builtin, |(value, origin)| origin.value_origin(value));
        diagnostics.push(diagnostic(&error, at_fault, place));
    }
    diagnostics.into()
}

/// The mistake in a program option or in its value, at `place`.
fn diagnostic(error: &SettingsError, option: Option<ProgramOption>, place: Origin) -> Diagnostic {
    let lines = match error {
        SettingsError::Value(error) => {
            option.and_then(|option| (option.row().error_in_fio)(given_value(error)))
        }
        SettingsError::Refused(option, _) => (option.row().error_in_fio)(""),
        SettingsError::NoProfile(profile) => Some(vec![format!("fio: profile '{profile}' not found")]),
        SettingsError::FormatOfFerrio(word) => Some(options::invalid_format(word)),
        _ => None,
    };
    let diagnostic = match (error, option) {
        (SettingsError::Value(error), Some(option)) => value(error, option, place),
        (SettingsError::Refused(..), _) => {
            Diagnostic::error(error.to_string(), place).code("unimplemented-program-option")
        }
        _ => Diagnostic::error(error.to_string(), place).code("invalid-program-option"),
    };
    diagnostic.in_fio(lines.map_or(FioWords::Message, FioWords::Lines))
}

/// The value that clap refuses.
fn given_value(error: &clap::Error) -> &str {
    match error.get(ContextKind::InvalidValue) {
        Some(ContextValue::String(text)) => text,
        _ => "",
    }
}

/// An error of clap about the value of an option.
fn value(error: &clap::Error, option: ProgramOption, place: Origin) -> Diagnostic {
    let given = given_value(error);
    let message = match given {
        "" => format!("option `--{option}` has an empty value"),
        given => format!("invalid value `{given}` for option `--{option}`"),
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
        kind => {
            Diagnostic::error(format!("option `--{option}`: {kind}"), place).code("invalid-program-option")
        }
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
    use crate::arguments;

    fn wrong(words: &[&str]) -> Vec<Diagnostic> {
        let words: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
        let items = arguments::scan(&words, 1, options::OPTIONS, Compat::Ferrio).items;
        match settings(&items, Compat::Ferrio).unwrap_err() {
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
