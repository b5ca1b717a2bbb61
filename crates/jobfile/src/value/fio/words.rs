//! Words of a closed list as fio reads them: the rest after the first `,` or `:` is dropped where nothing uses it.

use super::lists::decimal;
use super::number::{FioNumberReader, any_good};
use crate::catalogue::{Opt, OptionRow, ValueKind};
use crate::value::argument;
use crate::value::fault::{Fault, TextPiece, leading_digits};
use crate::value::model::Value;
use crate::value::words::find;

/// One of the choices.
pub(super) fn choice(row: &'static OptionRow, kb_base: u64, text: &str) -> Result<Value, Fault> {
    let whole = TextPiece::whole(text);
    if text.starts_with([' ', '\t']) {
        return Err(whole
            .fault("fio accepts no space after the `=` of a word")
            .help("remove the space, or --strict=fio"));
    }
    let end = text.find([',', ':']).unwrap_or(text.len());
    let main = find(row, whole.part(0, end))?;
    if (row.opt, main) == (Opt::RandomGenerator, "permute") {
        return Err(whole.fault("fio has no such generator").help("remove --strict=fio"));
    }
    let rest = whole.part(end, text.len());
    let given = rest.text.starts_with(':').then(|| rest.part(1, rest.text.len()));
    let number = |text| FioNumberReader { row, kb_base }.number(text);
    let counts = match (row.opt, main, given) {
        _ if row.kind != ValueKind::EnumArg => None,
        (Opt::Rw, _, Some(argument)) => Some((number(argument)? as i64).to_string()),
        (Opt::RandomDistribution | Opt::FileServiceType, "zipf" | "pareto" | "normal", Some(argument)) => {
            Some(parameters(argument)?)
        }
        (Opt::RandomDistribution, "random", _) => None,
        (Opt::Steadystate, "bw" | "bw_slope", Some(limit)) if !limit.text.ends_with('%') => {
            Some(number(limit)?.to_string())
        }
        (Opt::Mem, word, _) if !word.starts_with("mmap") => None,
        (_, _, argument) => argument.map(|argument| argument.text.to_owned()),
    };
    argument::read(row, kb_base, main, counts.as_deref().map(TextPiece::whole), whole)
        .map(|argument| Value::Word(main, argument))
        .map_err(|fault| whole.fault(fault.label))
}

/// Decimal numbers, without what follows them.
fn parameters(argument: TextPiece<'_>) -> Result<String, Fault> {
    let numbers: Result<Vec<_>, _> =
        argument.split(':').take(2).map(|piece| decimal(piece).map(|number| number.to_string())).collect();
    Ok(numbers?.join(":"))
}

/// Choices joined by commas; unknown words are skipped as long as one is known.
pub(super) fn choices(row: &'static OptionRow, text: &str) -> Result<Value, Fault> {
    let mut given = Vec::new();
    let mut argument = None;
    for piece in TextPiece::whole(text).split(',') {
        let (word, after) = piece.cut(':');
        given.push(find(row, word));
        argument = argument.or(after);
    }
    let given: Vec<_> = any_good(given.into_iter(), text)?.into_iter().flatten().collect();
    let words = row.words().filter(|word| given.contains(word)).collect();
    let count = argument.filter(|_| row.opt == Opt::SyncFileRange).map_or("", |argument| argument.text);
    let count = leading_digits(count).parse::<u32>().ok().filter(|&count| count > 0);
    Ok(Value::Words(words, count))
}
