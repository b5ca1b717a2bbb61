//! Parsers of the values of program options, and what fio makes of them.

use std::borrow::Cow;
use std::time::Duration;

use clap::builder::{
    NonEmptyStringValueParser, PossibleValue, PossibleValuesParser, TypedValueParser, ValueParser,
};
use ferrio_job::{Choice as _, Compat, EngineKind, debug_class};
use ferrio_jobfile::{OptionScope, is_listed, rows};
use ferrio_report::{Format, TerseVersion};
use ferrio_thresholds::Threshold;

use crate::option_values::{Eta, IdleProf, time, time_of_at_least};

/// A name, of a file for example.
pub(super) fn name() -> ValueParser {
    NonEmptyStringValueParser::new().into()
}

pub(super) fn eta() -> ValueParser {
    ValueParser::new(PossibleValuesParser::new(["auto", "always", "never"]).map(|word| match word.as_str() {
        "always" => Eta::Always,
        "never" => Eta::Never,
        _ => Eta::Auto,
    }))
}

/// A time of at least this much.
pub(super) fn at_least(least: Duration) -> ValueParser {
    ValueParser::new(move |text: &str| time_of_at_least(text, least))
}

pub(super) fn trigger_timeout() -> ValueParser {
    ValueParser::new(|text: &str| match time(text) {
        Some(Duration::ZERO) => Ok(Duration::ZERO),
        _ => time_of_at_least(text, Duration::from_secs(1)),
    })
}

pub(super) fn seed() -> ValueParser {
    ValueParser::new(|text: &str| text.parse::<u64>().map_err(|_| "a whole number is expected"))
}

pub(super) fn threshold() -> ValueParser {
    ValueParser::new(|text: &str| Threshold::parse(text))
}

pub(super) fn terse_version() -> ValueParser {
    PossibleValuesParser::new(TerseVersion::WORDS).try_map(|word| word.parse::<TerseVersion>()).into()
}

pub(super) fn compat() -> ValueParser {
    ValueParser::new(|word: &str| Compat::from_word(word).ok_or("choices are ferrio and fio"))
}

pub(super) fn idle_prof() -> ValueParser {
    ValueParser::new(PossibleValuesParser::new(["system", "percpu", "calibrate"]).map(|word| {
        match word.as_str() {
            "percpu" => IdleProf::EachCpu,
            "calibrate" => IdleProf::Calibrate,
            _ => IdleProf::System,
        }
    }))
}

pub(super) fn programs() -> Vec<PossibleValue> {
    ["ferrio", "fio"].map(PossibleValue::new).into()
}

/// The names of the options that every job has.
pub(super) fn job_options() -> Vec<PossibleValue> {
    let common = rows()
        .iter()
        .filter(|row| matches!(row.scope, OptionScope::Core | OptionScope::Database) && is_listed(row));
    common.map(|row| PossibleValue::new(row.name)).collect()
}

pub(super) fn engines() -> Vec<PossibleValue> {
    EngineKind::ALL.iter().map(|engine| PossibleValue::new(engine.word())).collect()
}

pub(super) fn formats() -> Vec<PossibleValue> {
    Format::WORDS.into_iter().map(PossibleValue::new).collect()
}

pub(super) fn debug_classes() -> Vec<PossibleValue> {
    debug_class::CLASSES.iter().map(|class| PossibleValue::new(class.name)).collect()
}

/// fio ignores other words.
pub(super) fn eta_in_fio(value: &str) -> Option<Cow<'_, str>> {
    ["always", "never"].contains(&value).then_some(value.into())
}

/// fio counts whole seconds; 0 turns the option off.
pub(super) fn trigger_timeout_in_fio(value: &str) -> Option<Cow<'_, str>> {
    match time(value) {
        Some(time) if !time.is_zero() && time.as_secs() == 0 => None,
        Some(time) => Some(time.as_secs().to_string().into()),
        None => Some(value.into()),
    }
}

/// The lines of fio about a format that it does not have.
pub fn invalid_format(word: &str) -> Vec<String> {
    vec![format!("fio: invalid output format {word}"), "fio: failed parsing output-format".to_owned()]
}

pub(super) fn invalid_formats(list: &str) -> Option<Vec<String>> {
    let unknown = list.split(',').find(|word| Format::of_word(word).is_none());
    Some(invalid_format(unknown.unwrap_or_default()))
}

/// The line of fio about the value of an option that it calls `what`, which is no time, or too short a time.
pub(super) fn invalid_time(value: &str, what: &str, too_short: &str) -> Option<Vec<String>> {
    Some(vec![match time(value) {
        None => format!("fio: failed parsing {what} {value}"),
        Some(_) => format!("fio: {too_short}"),
    }])
}

/// fio counts a fraction of a second as none.
pub(super) fn invalid_trigger_timeout(value: &str) -> Option<Vec<String>> {
    time(value).is_none().then(|| vec![format!("fio: failed parsing time {value}")])
}
