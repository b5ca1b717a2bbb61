//! Picks the grammar of a row and reads a value by it.

use super::fault::{Fault, Piece};
use super::model::{ReadFile, Value};
use super::number::Reader;
use super::{lists, pattern, split, words};
use crate::catalogue::{Kind, Opt, Row, Scope};

/// The most bytes a file name may have.
pub(super) const NAME: usize = 4095;

/// Reads a value as it is meant, or refuses it.
pub(crate) fn parse(
    row: &'static Row,
    text: Option<&str>,
    kb_base: u64,
    read_file: ReadFile<'_>,
) -> Result<Value, Fault> {
    let Some(text) = text else { return bare(row) };
    if text.is_empty() {
        return empty(row);
    }
    let kb_base = base_of(row, kb_base);
    let reader = Reader { row, kb_base };
    match row.kind {
        Kind::Flag | Kind::Bool => reader.switch(text),
        Kind::Int | Kind::Size | Kind::Time => reader.value(text),
        Kind::SizeZone => reader.amount(text),
        Kind::SizeRange | Kind::TimeRange => reader.bounds(text),
        Kind::Range => reader.ranges(text),
        Kind::Float | Kind::FloatList => lists::floats(row, text),
        Kind::Str | Kind::OptStr => plain(row, text).map(|()| Value::Text(text.to_owned())),
        Kind::StrList => plain(row, text).and_then(|()| lists::names(text)),
        Kind::Enum | Kind::EnumArg => words::choice(row, kb_base, text),
        Kind::EnumList | Kind::WordList => words::choices(row, text),
        Kind::Bssplit => split::blocks(row, kb_base, text),
        Kind::PrioBssplit => split::priorities(row, kb_base, text),
        Kind::ModeSplit => words::mode_split(row, text),
        Kind::Pattern => pattern::pattern(text, row.opt == Opt::VerifyPattern, read_file),
        Kind::CpuList => lists::cpus(text),
        Kind::NodeList => lists::nodes(Piece::whole(text)),
        Kind::IdList => lists::ids(text),
        Kind::NumaPolicy => words::numa_policy(row, text),
        Kind::ErrorList => lists::errors(text),
        Kind::Deprecated => Err(withdrawn(row)),
        Kind::Ignored => Ok(Value::Nothing),
    }
}

/// What `k` means in a value of `row`: private options of engines do not know `kb_base`.
pub(super) fn base_of(row: &Row, kb_base: u64) -> u64 {
    if matches!(row.scope, Scope::Engines(_)) { 1024 } else { kb_base }
}

/// An option name without `=`.
fn bare(row: &'static Row) -> Result<Value, Fault> {
    match row.kind {
        Kind::Flag => Ok(Value::Switch(true)),
        Kind::OptStr => Ok(Value::Text(String::new())),
        Kind::Deprecated => Err(withdrawn(row)),
        _ => Err(missing(row, format!("option `{}` requires a value", row.name)).code("missing-value")),
    }
}

/// An option name with nothing behind its `=`.
fn empty(row: &'static Row) -> Result<Value, Fault> {
    match row.kind {
        Kind::OptStr => Ok(Value::Text(String::new())),
        Kind::Bssplit => split::blocks(row, 1024, ""),
        Kind::ErrorList => lists::errors(""),
        Kind::IdList => lists::ids(""),
        Kind::Deprecated => Err(withdrawn(row)),
        Kind::Ignored => Ok(Value::Nothing),
        Kind::Flag => Err(missing(row, format!("option `{}` has an empty value", row.name))
            .help(format!("write `{}` alone to switch it on, `{}=0` to switch it off", row.name, row.name))),
        _ => Err(missing(row, format!("option `{}` has an empty value", row.name))),
    }
}

fn missing(row: &'static Row, message: String) -> Fault {
    let label = match row.default {
        "" => "a value is expected".to_owned(),
        default => format!("a value is expected, for example `{}={default}`", row.name),
    };
    let help = (!row.choices.is_empty()).then(|| format!("choices are {}", words::listed(row)));
    let fault = Piece { text: "", at: 0 }.fault(label).code("empty-value");
    Fault { help, message: Some(message), ..fault }
}

fn withdrawn(row: &'static Row) -> Fault {
    let label = "no longer supported".to_owned();
    let help = (row.opt == Opt::PercentageSequential).then(|| "use `percentage_random`".to_owned());
    let message = Some(format!("option `{}` is deprecated and was removed", row.name));
    let fault = Piece { text: "", at: 0 }.fault(label).code("removed-option");
    Fault { help, message, ..fault }
}

/// Limits on text that is taken as it is.
fn plain(row: &'static Row, text: &str) -> Result<(), Fault> {
    if matches!(row.opt, Opt::Filename | Opt::DpScheme) && text.len() > NAME {
        return Err(Piece::whole(text).fault(format!("{} bytes long, the most is {NAME}", text.len())));
    }
    Ok(())
}
