//! Values as fio reads them, oddities included: what `--strict=fio` asks for.
//!
//! Nothing of this is used by the usual reading, except to tell someone whose value was refused what fio would
//! have made of it. Kinds that both read alike are left to the usual reading.

mod expression;
mod lists;
mod number;
#[cfg(test)]
mod tests;
mod words;

use super::fault::{Fault, Piece};
use super::{ReadFile, Value};
use crate::catalogue::{Kind, Opt, Row};
use number::Reader;

pub(crate) use expression::bc;

/// Reads the value of one assignment; `text` is `None` for a bare option name, and has its leading blanks.
pub(crate) fn parse(
    row: &'static Row,
    text: Option<&str>,
    kb_base: u64,
    read_file: ReadFile<'_>,
) -> Result<Value, Fault> {
    let same = || super::parse(row, text, kb_base, read_file);
    if row.kind == Kind::CpuList && text == Some("") {
        return lists::cpus("");
    }
    let Some(text) = text.filter(|text| !text.is_empty()) else { return same() };
    let kb_base = super::base_of(row, kb_base);
    let reader = Reader { row, kb_base };
    match row.kind {
        Kind::Flag | Kind::Bool => reader.switch(text),
        Kind::Int | Kind::Size | Kind::Time => reader.value(text),
        Kind::SizeZone => reader.amount(text),
        Kind::SizeRange | Kind::TimeRange => reader.bounds(text),
        Kind::Range => reader.ranges(text),
        Kind::Float | Kind::FloatList => lists::floats(row, text),
        Kind::Bssplit => lists::splits(reader, text),
        Kind::CpuList => lists::cpus(text),
        Kind::StrList if row.opt != Opt::Filename || text.len() < super::NAME => {
            same().or_else(|_| Ok(Value::List(Vec::new())))
        }
        Kind::Enum | Kind::EnumArg if row.opt != Opt::Ioengine => words::choice(row, kb_base, text),
        Kind::EnumList => words::choices(row, text),
        _ => same(),
    }
}

/// The digits, sign and point that C's conversions would take from the beginning of a text, blanks before them
/// included.
fn decimal_prefix(text: &str) -> &str {
    let start = text.len() - text.trim_start().len();
    let bytes = text.as_bytes();
    let digits = |from: usize| {
        from + bytes.get(from..).unwrap_or_default().iter().take_while(|byte| byte.is_ascii_digit()).count()
    };
    let sign = |at: usize| at + usize::from(matches!(bytes.get(at), Some(b'+' | b'-')));
    let mut end = digits(sign(start));
    if bytes.get(end) == Some(&b'.') {
        end = digits(end + 1);
    }
    if matches!(bytes.get(end), Some(b'e' | b'E')) && digits(sign(end + 1)) > sign(end + 1) {
        end = digits(sign(end + 1));
    }
    &text[..end]
}

/// What several results come to: the option fails only if all of its pieces do.
fn any_good<T>(results: &[Result<T, Fault>], whole: Piece<'_>) -> Result<(), Fault> {
    if results.iter().any(Result::is_ok) {
        return Ok(());
    }
    let first = results.iter().find_map(|result| result.as_ref().err());
    Err(first.cloned().unwrap_or_else(|| whole.fault("a value is expected")))
}
