//! Chooses the grammar for an option and reads its value.

use std::io::ErrorKind;
use std::path::Path;
use std::sync::LazyLock;

use super::error::{TextPiece, ValueError};
use super::model::{ReadPatternFile, Value};
use super::number::NumberReader;
use super::{lists, pattern, split, words};
use crate::catalogue::{Opt, OptionRow, OptionScope, ValueKind, rows};

/// Maximum length of a file name in bytes.
pub(super) const MAX_NAME_BYTES: usize = 4095;

impl OptionRow {
    /// The value that applies if the option is not given, if one is declared.
    pub fn default_value(&self) -> Option<&'static Value> {
        DEFAULTS[self.opt as usize].as_ref()
    }
}

/// The declared defaults in table order. A test makes sure that all of them can be read.
static DEFAULTS: LazyLock<Vec<Option<Value>>> = LazyLock::new(|| {
    let no_file = |_: &Path| Err(ErrorKind::NotFound.into());
    let read = |row| parse(row, Some(row.default), 1024, &no_file).ok();
    rows().iter().map(|row| Some(row).filter(|row| !row.default.is_empty()).and_then(read)).collect()
});

/// Reads a value in its plain meaning, or refuses it.
pub(crate) fn parse(
    row: &'static OptionRow,
    text: Option<&str>,
    kb_base: u64,
    read_file: ReadPatternFile<'_>,
) -> Result<Value, ValueError> {
    let Some(text) = text else { return bare(row) };
    if text.is_empty() {
        return empty(row);
    }
    let kb_base = base_of(row, kb_base);
    let reader = NumberReader { row, kb_base };
    match row.kind {
        ValueKind::Flag | ValueKind::Bool => reader.switch(text),
        // A word in place of a number.
        ValueKind::Int if row.choice(text).is_some() => words::choice(row, kb_base, text),
        ValueKind::Int if !row.choices.is_empty() => reader.value(text).map_err(|error| {
            let help = error.help.or_else(|| Some(format!("in place of a number: {}", words::listed(row))));
            ValueError { help, ..error }
        }),
        ValueKind::Int | ValueKind::Size | ValueKind::Time => reader.value(text),
        ValueKind::SizeZone => reader.amount(text),
        ValueKind::SizeRange | ValueKind::TimeRange => reader.bounds(text),
        ValueKind::Range => reader.ranges(text),
        ValueKind::Float | ValueKind::FloatList => lists::floats(row, text),
        ValueKind::Str | ValueKind::OptStr => plain(row, text).map(|()| Value::Text(text.to_owned())),
        ValueKind::StrList => plain(row, text).and_then(|()| lists::names(text)),
        ValueKind::Enum | ValueKind::EnumArg => words::choice(row, kb_base, text),
        ValueKind::EnumList | ValueKind::WordList => words::choices(row, text),
        ValueKind::Bssplit => split::blocks(row, kb_base, text),
        ValueKind::PrioBssplit => split::priorities(row, kb_base, text),
        ValueKind::ModeSplit => words::mode_split(row, text),
        ValueKind::Pattern => pattern::pattern(text, row.opt == Opt::VerifyPattern, read_file),
        ValueKind::CpuList => lists::cpus(text),
        ValueKind::NodeList => lists::nodes(TextPiece::whole(text)).map(Value::Nodes),
        ValueKind::IdList => lists::ids(text),
        ValueKind::NumaPolicy => words::numa_policy(row, text),
        ValueKind::ErrorList => lists::errors(text),
        ValueKind::Deprecated => Err(withdrawn(row)),
        ValueKind::Ignored => Ok(Value::Nothing),
    }
}

/// The value of the suffix `k` in a value of `row`: engine options ignore `kb_base`.
pub(super) fn base_of(row: &OptionRow, kb_base: u64) -> u64 {
    if matches!(row.scope, OptionScope::Engines(_)) { 1024 } else { kb_base }
}

/// An option name without `=`.
fn bare(row: &'static OptionRow) -> Result<Value, ValueError> {
    match row.kind {
        ValueKind::Flag => Ok(Value::Switch(true)),
        ValueKind::OptStr => Ok(Value::Text(String::new())),
        ValueKind::Deprecated => Err(withdrawn(row)),
        _ => Err(missing(row, format!("option `{}` requires a value", row.name))
            .code("missing-value")
            .in_fio(format!("Option {} requires an argument", row.name))),
    }
}

/// An option name with nothing after its `=`.
fn empty(row: &'static OptionRow) -> Result<Value, ValueError> {
    match row.kind {
        ValueKind::OptStr => Ok(Value::Text(String::new())),
        ValueKind::Bssplit => split::blocks(row, 1024, ""),
        ValueKind::ErrorList => lists::errors(""),
        ValueKind::IdList => lists::ids(""),
        ValueKind::Deprecated => Err(withdrawn(row)),
        ValueKind::Ignored => Ok(Value::Nothing),
        ValueKind::Flag => Err(missing(row, format!("option `{}` has an empty value", row.name))
            .help(format!("write `{}` alone to switch it on, `{}=0` to switch it off", row.name, row.name))),
        _ => Err(missing(row, format!("option `{}` has an empty value", row.name))),
    }
}

fn missing(row: &'static OptionRow, message: String) -> ValueError {
    let label = match row.default {
        "" => "a value is expected".to_owned(),
        default => format!("a value is expected, for example `{}={default}`", row.name),
    };
    // A number may have a word beside it.
    let is_word = !row.choices.is_empty() && row.kind != ValueKind::Int;
    let help = is_word.then(|| format!("choices are {}", words::listed(row)));
    let error = TextPiece { text: "", at: 0 }.error(label).code("empty-value");
    ValueError { help, message: Some(message.into()), ..error }
}

fn withdrawn(row: &'static OptionRow) -> ValueError {
    let label = "no longer supported".to_owned();
    let help = (row.opt == Opt::PercentageSequential).then(|| "use `percentage_random`".to_owned());
    let message = Some(format!("option `{}` is deprecated and was removed", row.name).into());
    let error = TextPiece { text: "", at: 0 }.error(label).code("removed-option");
    let error = error.in_fio(format!("Option {} is deprecated", row.name));
    ValueError { help, message, ..error }
}

/// Checks the limits on text that is taken unchanged.
fn plain(row: &'static OptionRow, text: &str) -> Result<(), ValueError> {
    if matches!(row.opt, Opt::Filename | Opt::DpScheme) && text.len() > MAX_NAME_BYTES {
        return Err(
            TextPiece::whole(text).error(format!("{} bytes long; the limit is {MAX_NAME_BYTES}", text.len()))
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::OptionStatus;

    fn read(row: &'static OptionRow, text: &str) -> Result<Value, String> {
        let no_file = |_: &Path| Err(ErrorKind::NotFound.into());
        parse(row, Some(text), 1024, &no_file)
            .map_err(|error| format!("{}={text}: {}", row.name, error.label))
    }

    #[test]
    fn every_default_is_a_value_of_its_own_option() {
        for row in rows().iter().filter(|row| !row.default.is_empty()) {
            assert!(read(row, row.default).is_ok(), "{:?}", read(row, row.default));
        }
    }

    #[test]
    fn every_choice_is_accepted_or_wants_its_argument() {
        for row in rows() {
            for choice in row.choices {
                match read(row, choice.word) {
                    Ok(Value::Word(main, _)) => {
                        assert_eq!(main, choice.main(), "{}={}", row.name, choice.word);
                    }
                    Ok(_) => {}
                    Err(why) => assert!(why.ends_with("expected") || why.ends_with("needs nodes"), "{why}"),
                }
            }
        }
    }

    #[test]
    fn values_without_effect_are_valid_values() {
        for row in rows() {
            if let OptionStatus::OnlyOff(texts) = row.status {
                assert!(!texts.is_empty(), "{}", row.name);
                for text in texts {
                    assert!(read(row, text).is_ok(), "{:?}", read(row, text));
                }
            }
        }
    }
}
