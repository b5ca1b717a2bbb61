//! Parses the text of values: one type for all values, and a grammar for each kind of option, read as ferrio or as fio does.

mod advice;
mod argument;
pub(crate) mod describe;
#[cfg(test)]
mod differences_tests;
mod error;
mod expression;
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

pub(crate) use advice::shortened;
pub(crate) use error::{TextPiece, ValueError};
pub(crate) use expression::evaluate;
pub use lists::escaped_name;
use model::ReadPatternFile;
pub use model::{Amount, Argument, NodeList, NodeNumbers, PrioritySplit, SplitEntry, SteadyLimit, Value};
pub(crate) use number::{fill, pieces, pieces_by_comma};
pub use number::{size_factor, time_factor};
pub(crate) use parse::parse;

use crate::catalogue::OptionRow;

/// The dialect in which lines and values are read.
///
/// fio accepts nearly every text: it reads `runtime=10sec` as 10 µs and `size=1.5g` as one byte. The values that the
/// two dialects treat differently are listed in `docs/differences.md`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Dialect {
    /// A value means what it says, or is refused with an explanation.
    #[default]
    Ferrio,
    /// A value has the meaning that fio finds in it, however odd.
    Fio,
}

/// Reads the value of one assignment; `text` is `None` for an option name without a value. A refused value that fio
/// accepts comes with advice.
pub(crate) fn read(
    dialect: Dialect,
    row: &'static OptionRow,
    text: Option<&str>,
    kb_base: u64,
    read_file: ReadPatternFile<'_>,
) -> Result<Value, ValueError> {
    match dialect {
        Dialect::Fio => fio::parse(row, text, kb_base, read_file),
        Dialect::Ferrio => parse(row, text, kb_base, read_file)
            .map_err(|error| advice::advise(error, row, text.unwrap_or(""), kb_base, read_file)),
    }
}
