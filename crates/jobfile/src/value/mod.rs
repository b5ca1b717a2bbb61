//! What a value text means: one type for all values, and the parser that picks the grammar of the row.

mod advice;
mod argument;
mod arithmetic;
mod defaults;
pub(crate) mod describe;
#[cfg(test)]
mod differences_tests;
mod errno;
mod expression;
mod fault;
pub(crate) mod fio;
mod lists;
mod model;
mod number;
mod parse;
mod pattern;
mod split;
#[cfg(test)]
mod tests;
mod words;

pub(crate) use expression::evaluate;
pub(crate) use fault::{Fault, TextPiece};
use model::ReadPatternFile;
pub use model::{Amount, Argument, NodeList, NodeNumbers, PrioritySplit, Split, SteadyLimit, Value};
pub(crate) use parse::parse;

use crate::catalogue::OptionRow;
use crate::reading::Reading;

/// Reads the value of one assignment in the way asked for; `text` is `None` for an option name without a value. What is refused
/// although fio takes it comes with advice.
pub(crate) fn read(
    reading: Reading,
    row: &'static OptionRow,
    text: Option<&str>,
    kb_base: u64,
    read_file: ReadPatternFile<'_>,
) -> Result<Value, Fault> {
    match reading {
        Reading::Fio => fio::parse(row, text, kb_base, read_file),
        Reading::Ferrio => parse(row, text, kb_base, read_file)
            .map_err(|fault| advice::advise(fault, row, text.unwrap_or(""), kb_base, read_file)),
    }
}
