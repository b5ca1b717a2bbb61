//! Words of a closed list as fio reads them: the rest after the first `,` or `:` is dropped where nothing uses it.

use ferrio_job::Distribution;

use super::lists::decimal;
use super::number::{FioNumberReader, any_good};
use crate::catalogue::{Opt, OptionRow, ValueKind};
use crate::value::argument;
use crate::value::error::{TextPiece, ValueError, leading_digits};
use crate::value::model::{Argument, Value};
use crate::value::words::find;

/// Parses one word of a closed list, with its argument if the option takes one.
pub(super) fn choice(row: &'static OptionRow, kb_base: u64, text: &str) -> Result<Value, ValueError> {
    let whole = TextPiece::whole(text);
    if text.starts_with([' ', '\t']) {
        return Err(whole
            .error("fio accepts no space after the `=` of a word")
            .help("remove the space; called ferrio without --strict=fio, it does not matter"));
    }
    let end = text.find([',', ':']).unwrap_or(text.len());
    let main = find(row, whole.part(0, end))?;
    let unknown = match (row.opt, main) {
        (Opt::RandomGenerator, "permute") => Some("fio has no such generator"),
        (Opt::RandomDistribution | Opt::FileServiceType, "zipf_exact") => {
            Some("fio has no such distribution")
        }
        _ => None,
    };
    if let Some(unknown) = unknown {
        return Err(whole
            .error(unknown)
            .help("use one that fio has; only ferrio without --strict=fio has this one"));
    }
    let rest = whole.part(end, text.len());
    let given = rest.text.starts_with(':').then(|| rest.part(1, rest.text.len()));
    let number = |text| FioNumberReader { row, kb_base }.number(text);
    let counts = match (row.opt, main, given) {
        _ if row.kind != ValueKind::EnumArg => None,
        // fio 3.33 accepts any number after a random `rw`; 3.42 accepts only those that it accepts after a sequential one, too.
        (Opt::Rw, _, Some(argument)) => Some((number(argument)? as i64).to_string()),
        (Opt::RandomDistribution | Opt::FileServiceType, "zipf" | "pareto" | "normal", Some(argument)) => {
            Some(distribution_parameters(argument)?)
        }
        // Without zones, all offsets are equally likely.
        (Opt::RandomDistribution, "zoned" | "zoned_abs", Some(argument)) if is_empty_zone_list(argument) => {
            return Ok(Value::Word(main, Argument::Distribution(Distribution::Uniform)));
        }
        (Opt::RandomDistribution, "zoned" | "zoned_abs", Some(argument)) => {
            Some(zones(FioNumberReader { row, kb_base }, main == "zoned", argument)?)
        }
        (Opt::RandomDistribution, "random", _) => None,
        // A whole number; text after it is ignored.
        (Opt::FileServiceType, _, Some(argument)) => Some(whole_number(argument.text).to_string()),
        (Opt::Steadystate, "bw" | "bw_slope", Some(limit)) if !limit.text.contains('%') => {
            Some(number(limit)?.to_string())
        }
        (Opt::Steadystate, "bw" | "bw_slope" | "lat" | "lat_slope", Some(limit))
            if !limit.text.contains('%') =>
        {
            Some(limit.text.to_owned())
        }
        (Opt::Steadystate, _, Some(limit)) => Some(threshold(limit)?),
        (Opt::Mem, word, _) if !word.starts_with("mmap") => None,
        (_, _, argument) => argument.map(|argument| argument.text.to_owned()),
    };
    argument::read(row, kb_base, main, counts.as_deref().map(TextPiece::whole), whole)
        .map(|argument| Value::Word(main, argument))
        .map_err(|error| whole.error(error.label))
}

/// The parameters of a distribution: up to two decimal numbers; text after a number is dropped.
fn distribution_parameters(argument: TextPiece<'_>) -> Result<String, ValueError> {
    let numbers: Result<Vec<_>, _> =
        argument.split(':').take(2).map(|piece| decimal(piece).map(|number| number.to_string())).collect();
    Ok(numbers?.join(":"))
}

/// True if the argument of `zoned` is a single list that is empty: its first zone is empty, which ends a list.
fn is_empty_zone_list(argument: TextPiece<'_>) -> bool {
    let (list, further) = argument.cut(',');
    further.is_none() && (list.text.is_empty() || list.text.starts_with(':'))
}

/// Zones as shares of accesses and sizes, such as `60/10:40/90`, in one list or one per direction. An empty zone ends its list. Text
/// after a size in percent is dropped, and sizes above 100 percent become 100.
fn zones(reader: FioNumberReader, in_percent: bool, argument: TextPiece<'_>) -> Result<String, ValueError> {
    let zone = |zone: TextPiece<'_>| -> Result<String, ValueError> {
        let (accesses, size) = zone.cut('/');
        let accesses = reader.number(accesses)?;
        let size = match size {
            Some(size) if in_percent => u64::from(whole_number(size.text).min(100)),
            Some(size) => bytes_of_zone(reader, size)?,
            None => 0,
        };
        Ok(format!("{accesses}/{}", size.min(i64::MAX.cast_unsigned())))
    };
    let list = |list: TextPiece<'_>| -> Result<String, ValueError> {
        let zones = list.split(':').take_while(|zone| !zone.text.is_empty());
        Ok(zones.map(zone).collect::<Result<Vec<_>, _>>()?.join(":"))
    };
    Ok(argument.split(',').map(list).collect::<Result<Vec<_>, _>>()?.join(","))
}

/// The size of a zone in bytes; a `z` after it is dropped.
fn bytes_of_zone(reader: FioNumberReader, size: TextPiece<'_>) -> Result<u64, ValueError> {
    reader.number(size.text.strip_suffix('z').map_or(size, |number| size.part(0, number.len())))
}

/// The whole number at the start of the text, modulo 2^32; 0 if there is none. It may have a sign.
fn whole_number(text: &str) -> u32 {
    let text = text.trim_start();
    if let Some(negative) = text.strip_prefix('-') {
        return leading_digits(negative).parse::<u64>().map_or(0, |number| (number as u32).wrapping_neg());
    }
    let digits = leading_digits(text.strip_prefix('+').unwrap_or(text));
    digits.parse::<u64>().map_or(if digits.is_empty() { 0 } else { u32::MAX }, |number| number as u32)
}

/// A limit without a unit: a decimal number, and a `%` anywhere after it.
fn threshold(limit: TextPiece<'_>) -> Result<String, ValueError> {
    let number = decimal(limit)?;
    Ok(if limit.text.contains('%') { format!("{number}%") } else { number.to_string() })
}

/// Choices joined by commas; unknown words are skipped as long as one is known.
pub(super) fn choices(row: &'static OptionRow, text: &str) -> Result<Value, ValueError> {
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
