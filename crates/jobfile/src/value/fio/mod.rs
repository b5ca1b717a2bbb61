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

use super::fault::Fault;
use super::model::{ReadFile, Value};
use super::parse::{self, NAME, base_of};
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
    let same = || parse::parse(row, text, kb_base, read_file);
    if row.kind == Kind::CpuList && text == Some("") {
        return lists::cpus("");
    }
    let Some(text) = text.filter(|text| !text.is_empty()) else { return same() };
    let kb_base = base_of(row, kb_base);
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
        Kind::StrList if row.opt != Opt::Filename || text.len() < NAME => {
            same().or_else(|_| Ok(Value::List(Vec::new())))
        }
        Kind::Enum | Kind::EnumArg if row.opt != Opt::Ioengine => words::choice(row, kb_base, text),
        Kind::EnumList => words::choices(row, text),
        _ => same(),
    }
}
