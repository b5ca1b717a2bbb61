//! What a value text means: one type for all values, and the parser that picks the grammar of the row.

mod advice;
mod argument;
mod arithmetic;
pub(crate) mod describe;
mod errno;
mod expression;
mod fault;
pub(crate) mod fio;
mod lists;
mod number;
mod pattern;
mod split;
#[cfg(test)]
mod tests;
mod words;

use ferrio_job::Pattern;
use std::io;
use std::path::Path;

pub use argument::{Argument, SteadyLimit};
pub(crate) use expression::evaluate;
pub(crate) use fault::{Fault, Piece};
use number::Reader;
pub use split::priority_splits;

use crate::catalogue::{Kind, Opt, Row, Scope};
use crate::reading::Reading;

/// Reads a file for a pattern.
pub(crate) type ReadFile<'a> = &'a dyn Fn(&Path) -> io::Result<Vec<u8>>;

/// A parsed value.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// Accepted and meaningless: an ignored option.
    Nothing,
    /// Flag or bool.
    Switch(bool),
    /// Whole number.
    Int(i64),
    /// Bytes.
    Size(u64),
    /// A number per direction (read, write, trim); `None` where the text left one alone. Times are in µs.
    Directions([Option<u64>; 3]),
    /// Bytes, percent or zones.
    Amount(Amount),
    /// A range of bytes per direction.
    Ranges([Option<(u64, u64)>; 3]),
    /// A range of bytes, or of µs.
    Range(u64, u64),
    /// Microseconds.
    Time(u64),
    /// Decimal numbers, and the most digits that stood after a point.
    Floats(Vec<f64>, u8),
    /// A word of the choices in its main spelling, with its argument.
    Word(&'static str, Argument),
    /// The name of an engine, and what follows its colon.
    Engine(String, Option<String>),
    /// Several words of the choices, and the count behind the colon.
    Words(Vec<&'static str>, Option<u32>),
    /// Text.
    Text(String),
    /// Texts of a colon list.
    List(Vec<String>),
    /// CPU or placement numbers, ascending, each once.
    Numbers(Vec<u32>),
    /// Bytes of a pattern.
    Pattern(Pattern),
    /// Block sizes with their shares, per direction.
    Splits([Option<Vec<Split>>; 3]),
    /// Error numbers per direction.
    Errors([Vec<i32>; 3]),
}

/// A size that may depend on the file or on the device's zones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Amount {
    /// Bytes.
    Bytes(u64),
    /// Percent, 0 to 100.
    Percent(u8),
    /// Whole zones.
    Zones(u64),
}

impl Default for Amount {
    fn default() -> Self {
        Amount::Bytes(0)
    }
}

/// One block size of a split.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Split {
    /// Block size in bytes.
    pub bytes: u64,
    /// Share in percent; `None` shares what the others leave.
    pub percent: Option<u8>,
}

/// One block size of a `cmdprio_bssplit`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PrioritySplit {
    /// Block size in bytes.
    pub bytes: u64,
    /// Share of the I/Os of that size, percent.
    pub percent: u8,
    /// Class, level and hint, if the entry has its own.
    pub priority: Option<(u8, u8, u16)>,
}

/// The most bytes a file name may have.
const NAME: usize = 4095;

/// Reads the value of one assignment in the way asked for; `text` is `None` for a bare option name. What is refused
/// although fio takes it comes with advice.
pub(crate) fn read(
    reading: Reading,
    row: &'static Row,
    text: Option<&str>,
    kb_base: u64,
    read_file: ReadFile<'_>,
) -> Result<Value, Fault> {
    match reading {
        Reading::Fio => fio::parse(row, text, kb_base, read_file),
        Reading::Ferrio => parse(row, text, kb_base, read_file)
            .map_err(|fault| advice::advise(fault, row, text.unwrap_or(""), kb_base, read_file)),
    }
}

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
fn base_of(row: &Row, kb_base: u64) -> u64 {
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
