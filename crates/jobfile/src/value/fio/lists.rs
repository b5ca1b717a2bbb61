//! Lists as fio reads them: a bad element ends a list of decimal numbers, an empty one ends any list.

use super::expression;
use super::number::{FioNumberReader, any_good};
use crate::catalogue::{OptionRow, ValueKind};
use crate::value::error::{TextPiece, ValueError, leading_digits};
use crate::value::expression::decimal_prefix;
use crate::value::lists;
use crate::value::model::{SplitEntry, Value};

/// Maximum number of decimal numbers in a list.
const MAX_FLOATS: usize = 20;
/// Maximum number of block sizes per direction.
const MAX_ENTRIES: usize = 64;

/// Decimal numbers joined by `:`, refused only if none of them is good.
pub(super) fn floats(row: &OptionRow, text: &str) -> Result<Value, ValueError> {
    let most = if row.kind == ValueKind::Float { 1 } else { MAX_FLOATS };
    let pieces = || TextPiece::whole(text).split(':');
    let numbers = any_good(pieces().map(|piece| float(row, piece)), text)?;
    let numbers = numbers.into_iter().take(most).map_while(|number| number).collect();
    let decimals = pieces().take(most).map(lists::decimals).max().unwrap_or(0);
    Ok(Value::Floats(numbers, decimals))
}

/// The elements of a list of decimal numbers that are dropped because it is too long.
pub(crate) fn floats_dropped(text: &str) -> impl Iterator<Item = TextPiece<'_>> {
    TextPiece::whole(text).split(':').skip(MAX_FLOATS)
}

fn float(row: &OptionRow, piece: TextPiece<'_>) -> Result<f64, ValueError> {
    let number = if piece.text.starts_with('(') { expression::decimal(piece) } else { decimal(piece) };
    let number =
        number.map_err(|error| error.in_fio(format!("not a floating point value: {}", piece.text)))?;
    let (min, max) = (row.min.unwrap_or(i128::MIN), row.max.unwrap_or(i128::MAX));
    if number.is_finite() && number >= min as f64 && number <= max as f64 {
        Ok(number)
    } else {
        let bound =
            if number < min as f64 { format!("min: {min}.000000") } else { format!("max: {max}.000000") };
        let fio = format!("value out of range: {number:.6} (range {bound})");
        Err(piece.error(format!("must lie between {min} and {max}")).in_fio(fio))
    }
}

/// The decimal number at the beginning of a piece.
pub(super) fn decimal(piece: TextPiece<'_>) -> Result<f64, ValueError> {
    let text = piece.text.trim_start();
    if let Some(hex) = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        let end = hex.find(|sign: char| !sign.is_ascii_hexdigit()).unwrap_or(hex.len());
        if let Ok(number) = u64::from_str_radix(&hex[..end], 16) {
            return Ok(number as f64);
        }
    }
    decimal_prefix(text).parse().map_err(|_| piece.error("a number is expected"))
}

/// Block sizes with shares, of which the leading digits count, at most 100.
pub(super) fn splits(reader: FioNumberReader, text: &str) -> Result<Value, ValueError> {
    let mut lists = Vec::new();
    for list in TextPiece::whole(text).split(',').take(3) {
        let mut splits = Vec::new();
        for entry in list.split(':').take_while(|entry| !entry.text.is_empty()).take(MAX_ENTRIES) {
            let (size, share) = entry.cut('/');
            let bytes = reader.number(size)?;
            let share = leading_digits(share.map_or("", |share| share.text.trim_start()));
            let percent =
                if share.is_empty() { 0 } else { share.parse::<u8>().map_or(100, |share| share.min(100)) };
            splits.push(SplitEntry { bytes, percent: Some(percent).filter(|&percent| percent > 0) });
        }
        let sum: u32 = splits.iter().filter_map(|split| split.percent).map(u32::from).sum();
        if sum > 100 && splits.iter().filter(|split| split.percent.is_none()).count() > 1 {
            return Err(
                list.error(format!("the shares add up to {sum}, so nothing is left for the blank ones"))
            );
        }
        // A block of 0 bytes is dropped.
        splits.retain(|split| split.bytes > 0);
        lists.push(Some(splits).filter(|splits| !splits.is_empty()));
    }
    Ok(Value::Splits(std::array::from_fn(|at| lists.get(at.min(lists.len() - 1)).cloned().flatten())))
}

/// Parses error names and numbers; text after the digits of a number is dropped.
pub(super) fn errors(text: &str) -> Result<Value, ValueError> {
    lists::errors_by(text, |name| {
        let digits = leading_digits(name.strip_prefix(['-', '+']).unwrap_or(name));
        let number =
            || Some(digits.parse().unwrap_or(i32::MAX)).filter(|&number| !digits.is_empty() && number != 0);
        lists::named_error(name)
            .or_else(|| lists::error_number(name).filter(|&number| number != 0))
            .or_else(number)
    })
}

/// CPU numbers and ranges up to the first empty element; a word is read as 0. A reversed range has no CPUs, so the
/// list may be empty: such a job cannot run.
pub(super) fn cpus(text: &str) -> Result<Value, ValueError> {
    let number = |text: &str| {
        let digits = leading_digits(text.trim_start()).trim_start_matches('0');
        if digits.is_empty() { "0".to_owned() } else { digits.to_owned() }
    };
    // Without leading zeros, a number is less if it is shorter, or as long and its digits are less.
    let reversed = |first: &str, last: &str| (last.len(), last) < (first.len(), first);
    let elements = text.split(',').take_while(|element| !element.is_empty()).filter_map(|element| {
        let Some((first, last)) = element.split_once('-') else { return Some(number(element)) };
        let (first, last) = (number(first), number(last));
        (!reversed(&first, &last)).then(|| format!("{first}-{last}"))
    });
    let list = elements.collect::<Vec<_>>().join(",");
    if list.is_empty() {
        return Ok(Value::Numbers(Vec::new()));
    }
    lists::cpus(&list).map_err(|error| TextPiece::whole(text).error(error.label))
}
