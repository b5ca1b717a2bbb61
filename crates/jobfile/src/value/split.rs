//! Block sizes with shares: `bssplit` and `cmdprio_bssplit`.

use super::fault::{Fault, Piece};
use super::number::{Reader, fill, pieces_by_comma};
use super::{Split, Value};
use crate::catalogue::Row;

/// Most entries per direction.
const ENTRIES: usize = 64;

/// `size/percent:size/percent...`, per direction by comma; a blank share takes part in what the others leave.
pub(crate) fn blocks(row: &'static Row, kb_base: u64, text: &str) -> Result<Value, Fault> {
    if text.is_empty() {
        return Ok(Value::Splits([None, None, None]));
    }
    let reader = Reader { row, kb_base };
    let splits = fill(text, pieces_by_comma(text, 3), 3, |list| {
        let mut splits = Vec::new();
        for entry in list.without_last(':').split(':') {
            if splits.len() == ENTRIES {
                return Err(entry.fault(format!("at most {ENTRIES} block sizes are possible")));
            }
            let (size, percent) = entry.cut('/');
            let bytes = reader.limited(size)? as u64;
            if bytes == 0 {
                return Err(size.fault("a block must have at least 1 byte"));
            }
            let percent = percent.map(Piece::trim).filter(|percent| !percent.text.is_empty());
            let percent = percent.map(share).transpose()?.filter(|&percent| percent > 0);
            splits.push(Split { bytes, percent });
        }
        let sum: u32 = splits.iter().filter_map(|split| split.percent).map(u32::from).sum();
        if sum > 100 && splits.iter().filter(|split| split.percent.is_none()).count() > 1 {
            return Err(list.fault(format!("the shares add up to {sum}, nothing is left for the blank ones")));
        }
        Ok(splits)
    })?;
    Ok(Value::Splits(splits))
}

/// `size/percent` or `size/percent/class/level[/hint]`, joined by `:`, for read and write by comma.
pub(crate) fn priorities(row: &'static Row, kb_base: u64, text: &str) -> Result<Value, Fault> {
    let reader = Reader { row, kb_base };
    fill(text, pieces_by_comma(text, 2), 2, |list| {
        for entry in list.split(':') {
            let parts: Vec<_> = entry.split('/').map(Piece::trim).collect();
            if !matches!(parts.len(), 2 | 4 | 5) {
                let help = "write `size/percent` or `size/percent/class/level[/hint]`";
                return Err(entry.fault("not a block size with a share").help(help));
            }
            reader.limited(parts[0])?;
            share(parts[1])?;
            for (part, most) in parts[2..].iter().zip([3, 7, 1023]) {
                if !part.text.parse::<u32>().is_ok_and(|number| number <= most) {
                    return Err(part.fault(format!("a number from 0 to {most} is expected")));
                }
            }
        }
        Ok(())
    })?;
    Ok(Value::Text(text.trim().to_owned()))
}

fn share(piece: Piece<'_>) -> Result<u8, Fault> {
    let number = piece.text.parse().ok().filter(|&number: &u8| number <= 100);
    number.ok_or_else(|| piece.fault("a whole number from 0 to 100 is expected"))
}
