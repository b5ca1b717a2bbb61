//! Lists as fio reads them: a bad element ends a list of decimal numbers, an empty one ends any list.

use super::expression::{self, decimal_prefix};
use super::number::{FioNumberReader, any_good};
use crate::catalogue::{OptionRow, ValueKind};
use crate::value::fault::{Fault, TextPiece};
use crate::value::lists;
use crate::value::model::{Split, Value};

/// Longest list of decimal numbers.
const FLOATS: usize = 20;
/// Most block sizes of one direction.
const ENTRIES: usize = 64;

/// Decimal numbers joined by `:`; only fatal if none of them is good.
pub(super) fn floats(row: &OptionRow, text: &str) -> Result<Value, Fault> {
    let most = if row.kind == ValueKind::Float { 1 } else { FLOATS };
    let mut results = Vec::new();
    let mut digits = 0;
    for piece in TextPiece::whole(text).split(':').take(most) {
        let fraction = piece.text.split_once('.').map_or("", |(_, fraction)| fraction);
        digits = digits.max(fraction.bytes().take_while(u8::is_ascii_digit).count());
        results.push(float(row, piece));
    }
    // elements after the longest list still count as good ones
    let more = TextPiece::whole(text).split(':').skip(most).any(|piece| float(row, piece).is_ok());
    if !more {
        any_good(&results, TextPiece::whole(text))?;
    }
    let numbers: Vec<f64> = results.into_iter().map_while(Result::ok).collect();
    Ok(Value::Floats(numbers, u8::try_from(digits).unwrap_or(u8::MAX)))
}

fn float(row: &OptionRow, piece: TextPiece<'_>) -> Result<f64, Fault> {
    let number = if piece.text.starts_with('(') { expression::decimal(piece)? } else { decimal(piece)? };
    let (min, max) = (row.min.unwrap_or(i128::MIN), row.max.unwrap_or(i128::MAX));
    if number.is_finite() && number >= min as f64 && number <= max as f64 {
        Ok(number)
    } else {
        Err(piece.fault(format!("must lie between {min} and {max}")))
    }
}

/// The decimal number at the beginning of a piece.
pub(super) fn decimal(piece: TextPiece<'_>) -> Result<f64, Fault> {
    let text = piece.text.trim_start();
    if let Some(hex) = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        let end = hex.find(|sign: char| !sign.is_ascii_hexdigit()).unwrap_or(hex.len());
        if let Ok(number) = u64::from_str_radix(&hex[..end], 16) {
            return Ok(number as f64);
        }
    }
    decimal_prefix(text).parse().map_err(|_| piece.fault("a number is expected"))
}

/// Block sizes with shares; of a share digits count, 100 at most.
pub(super) fn splits(reader: FioNumberReader, text: &str) -> Result<Value, Fault> {
    let mut lists = Vec::new();
    for list in TextPiece::whole(text).split(',').take(3) {
        let mut splits = Vec::new();
        for entry in list.split(':').take_while(|entry| !entry.text.is_empty()).take(ENTRIES) {
            let (size, share) = entry.cut('/');
            let bytes = reader.number(size)?;
            let share = share.map_or("", |share| share.text.trim_start());
            let end = share.find(|sign: char| !sign.is_ascii_digit()).unwrap_or(share.len());
            let percent =
                if end == 0 { 0 } else { share[..end].parse::<u8>().map_or(100, |share| share.min(100)) };
            splits.push(Split { bytes, percent: Some(percent).filter(|&percent| percent > 0) });
        }
        let sum: u32 = splits.iter().filter_map(|split| split.percent).map(u32::from).sum();
        if sum > 100 && splits.iter().filter(|split| split.percent.is_none()).count() > 1 {
            return Err(list.fault(format!("the shares add up to {sum}, nothing is left for blank ones")));
        }
        // a block of no bytes is none
        splits.retain(|split| split.bytes > 0);
        lists.push(Some(splits).filter(|splits| !splits.is_empty()));
    }
    Ok(Value::Splits(std::array::from_fn(|at| lists.get(at.min(lists.len() - 1)).cloned().flatten())))
}

/// CPU numbers and ranges up to the first empty element; a word is read as 0. Ranges that run backwards have no CPUs, so
/// that none may be left: such a job cannot run.
pub(super) fn cpus(text: &str) -> Result<Value, Fault> {
    let number = |text: &str| {
        let text = text.trim_start();
        let end = text.find(|sign: char| !sign.is_ascii_digit()).unwrap_or(text.len());
        let digits = text[..end].trim_start_matches('0');
        if digits.is_empty() { "0".to_owned() } else { digits.to_owned() }
    };
    // numbers without leading zeros compare like their lengths, then like their digits
    let backwards = |first: &str, last: &str| (last.len(), last) < (first.len(), first);
    let elements = text.split(',').take_while(|element| !element.is_empty()).filter_map(|element| {
        let Some((first, last)) = element.split_once('-') else { return Some(number(element)) };
        let (first, last) = (number(first), number(last));
        (!backwards(&first, &last)).then(|| format!("{first}-{last}"))
    });
    let list = elements.collect::<Vec<_>>().join(",");
    if list.is_empty() {
        return Ok(Value::Numbers(Vec::new()));
    }
    lists::cpus(&list).map_err(|fault| TextPiece::whole(text).fault(fault.label))
}
