//! Block sizes with shares: `bssplit` and `cmdprio_bssplit`.

use ferrio_job::IoPriority;

use super::error::{TextPiece, ValueError};
use super::model::{PrioritySplit, SplitEntry, Value};
use super::number::{NumberReader, fill, pieces_by_comma};
use crate::catalogue::OptionRow;

/// Maximum number of entries per direction.
const MAX_ENTRIES: usize = 64;

/// `size/percent:size/percent...`, per direction by comma; blank shares divide what the others leave.
pub(crate) fn blocks(row: &'static OptionRow, kb_base: u64, text: &str) -> Result<Value, ValueError> {
    if text.is_empty() {
        return Ok(Value::Splits([None, None, None]));
    }
    let reader = NumberReader { row, kb_base };
    let splits = fill(text, pieces_by_comma(text, 3), 3, |list| {
        let mut splits = Vec::new();
        for entry in list.without_last(':').split(':') {
            if splits.len() == MAX_ENTRIES {
                return Err(entry.error(format!("at most {MAX_ENTRIES} block sizes are allowed")));
            }
            let (size, percent) = entry.cut('/');
            let bytes = reader.limited(size)? as u64;
            if bytes == 0 {
                return Err(size.error("a block must have at least 1 byte"));
            }
            let percent = percent.map(TextPiece::trim).filter(|percent| !percent.text.is_empty());
            let percent = percent.map(share).transpose()?.filter(|&percent| percent > 0);
            splits.push(SplitEntry { bytes, percent });
        }
        let sum: u32 = splits.iter().filter_map(|split| split.percent).map(u32::from).sum();
        if sum > 100 && splits.iter().filter(|split| split.percent.is_none()).count() > 1 {
            return Err(
                list.error(format!("the shares add up to {sum}, so nothing is left for the blank ones"))
            );
        }
        Ok(splits)
    })?;
    Ok(Value::Splits(splits))
}

/// `size/percent` or `size/percent/class/level[/hint]`, joined by `:`, for reads and writes by comma. As in fio a third list, for
/// trims, has no meaning.
pub(crate) fn priorities(row: &'static OptionRow, kb_base: u64, text: &str) -> Result<Value, ValueError> {
    let reader = NumberReader { row, kb_base };
    let [read, write, _] = fill(text, pieces_by_comma(text, 3), 3, |list| {
        let entries = list.without_last(':').split(':').map(|entry| priority_entry(reader, entry));
        entries.collect::<Result<Option<Vec<_>>, _>>()
    })?;
    let [read, write] = [read, write].map(|list| list.unwrap_or(Some(Vec::new())));
    Ok(Value::Priorities(read.zip(write).map(|(read, write)| [read, write])))
}

/// One entry; `None` if it has another form.
fn priority_entry(
    reader: NumberReader<'_>,
    entry: TextPiece<'_>,
) -> Result<Option<PrioritySplit>, ValueError> {
    let parts: Vec<_> = entry.split('/').map(TextPiece::trim).collect();
    if !matches!(parts.len(), 2 | 4 | 5) {
        return Ok(None);
    }
    let bytes = reader.limited(parts[0])? as u64;
    let percent = share(parts[1])?;
    let mut numbers = [0; 3];
    for ((part, most), number) in parts[2..].iter().zip([3, 7, 1023]).zip(&mut numbers) {
        let valid = part.text.parse().ok().filter(|number| *number <= most);
        *number = valid.ok_or_else(|| part.error(format!("a number from 0 to {most} is expected")))?;
    }
    let [class, level, hint] = numbers;
    let priority = (parts.len() > 2).then_some(IoPriority::new(class as u8, hint, level as u8));
    Ok(Some(PrioritySplit { bytes, percent, priority }))
}

fn share(piece: TextPiece<'_>) -> Result<u8, ValueError> {
    let number = piece.text.parse().ok().filter(|&number: &u8| number <= 100);
    number.ok_or_else(|| piece.error("a whole number from 0 to 100 is expected"))
}
