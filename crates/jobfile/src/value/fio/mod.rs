//! Values as fio reads them, oddities included, for `--strict=fio`.
//!
//! ferrio's own reading uses this only to report how fio reads a refused value. Kinds that both read alike are left to ferrio's reading.

mod expression;
mod lists;
mod number;
#[cfg(test)]
mod tests;
mod words;

use super::error::ValueError;
use super::model::{ReadPatternFile, Value};
use super::parse::{self, MAX_NAME_BYTES, base_of};
use crate::catalogue::{Opt, OptionRow, ValueKind};
use number::FioNumberReader;

pub(crate) use expression::bc;
pub(crate) use lists::floats_dropped;

/// The part of a value that fio examines with `--parse-only` and `--showcmd`.
pub(crate) fn examined_part(opt: Opt, text: &str) -> &str {
    match opt {
        // The number after the kind is not examined.
        Opt::Rw => text.split_once(':').map_or(text, |(kind, _)| kind),
        Opt::CpusAllowed
        | Opt::Cpumask
        | Opt::VerifyAsyncCpus
        | Opt::LogCompressionCpus
        | Opt::NumaCpuNodes
        | Opt::NumaMemPolicy
        | Opt::IgnoreError
        | Opt::ReplaySkip => "",
        _ => text,
    }
}

/// Reads the value of one assignment; `text` includes leading blanks and is `None` for an option name without a value.
pub(crate) fn parse(
    row: &'static OptionRow,
    text: Option<&str>,
    kb_base: u64,
    read_file: ReadPatternFile<'_>,
) -> Result<Value, ValueError> {
    let same = || parse::parse(row, text, kb_base, read_file);
    if row.kind == ValueKind::CpuList && text == Some("") {
        return lists::cpus("");
    }
    let Some(text) = text.filter(|text| !text.is_empty()) else { return same() };
    let kb_base = base_of(row, kb_base);
    let reader = FioNumberReader { row, kb_base };
    match row.kind {
        ValueKind::Flag | ValueKind::Bool => reader.switch(text),
        ValueKind::Int | ValueKind::Size | ValueKind::Time => reader.value(text),
        ValueKind::SizeZone => reader.amount(text),
        ValueKind::SizeRange | ValueKind::TimeRange => reader.bounds(text),
        ValueKind::Range => reader.ranges(text),
        ValueKind::Float | ValueKind::FloatList => lists::floats(row, text),
        ValueKind::Bssplit => lists::splits(reader, text),
        ValueKind::CpuList => lists::cpus(text),
        ValueKind::ErrorList => lists::errors(text),
        ValueKind::StrList if row.opt != Opt::Filename || text.len() < MAX_NAME_BYTES => {
            same().or_else(|_| Ok(Value::List(Vec::new())))
        }
        ValueKind::Enum | ValueKind::EnumArg if row.opt != Opt::Ioengine => words::choice(row, kb_base, text),
        ValueKind::EnumList => words::choices(row, text),
        _ => same(),
    }
}
