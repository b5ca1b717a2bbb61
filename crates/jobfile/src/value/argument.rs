//! Arguments after the colon of a word: steps of `rw`, parameters of distributions, limits of steady states.

use ferrio_job::{
    AccessZone, Choice as _, Distribution, FileService, PerDirection, ReadWrite, RwPostfix, Skew, SkewShape,
    SteadyFigure, SteadyTest,
};

use super::error::{TextPiece, ValueError, leading_digits};
use super::lists::decimal;
use super::model::{Argument, SteadyLimit};
use super::number::{NumberReader, pieces_by_comma, size_factor, time_factor};
use crate::catalogue::{Opt, OptionRow};

/// Reads the argument that `word` of row `row` was given, if any.
pub(crate) fn read(
    row: &'static OptionRow,
    kb_base: u64,
    word: &str,
    argument: Option<TextPiece<'_>>,
    whole: TextPiece<'_>,
) -> Result<Argument, ValueError> {
    match (row.opt, word) {
        (Opt::Rw, _) => match argument {
            Some(argument) => postfix(row, kb_base, word, argument).map(Argument::Postfix),
            None => Ok(Argument::None),
        },
        (Opt::RandomDistribution, "zipf" | "zipf_exact" | "pareto" | "normal") => {
            skew(word, argument).map(|skew| Argument::Distribution(Distribution::Skewed(skew)))
        }
        (Opt::RandomDistribution, "zoned" | "zoned_abs" | "sequence") => {
            Ok(Argument::Distribution(match word {
                "zoned" => Distribution::Zoned(zones(kb_base, word, argument, whole)?),
                "zoned_abs" => Distribution::ZonedAbs(zones(kb_base, word, argument, whole)?),
                _ => Distribution::Sequence { blocks: sequence(argument, whole)?, stride: false },
            }))
        }
        (Opt::FileServiceType, "zipf" | "zipf_exact" | "pareto" | "normal") => {
            skew(word, argument).map(|skew| Argument::FileService(FileService::Skewed(skew)))
        }
        (Opt::FileServiceType, _) => file_service(word, argument),
        (Opt::Steadystate, _) => limit(kb_base, word, argument, whole).map(Argument::Limit),
        (Opt::Mem, "mmap" | "mmapshared" | "mmaphuge") => Ok(match argument {
            Some(path) if !path.text.is_empty() => Argument::Path(path.text.into()),
            _ => Argument::None,
        }),
        _ => match argument {
            Some(argument) => Err(argument.error(format!("`{word}` takes no argument"))),
            None => Ok(Argument::None),
        },
    }
}

/// `rw=randread:8` is a count, `rw=write:-4k` a number of bytes.
fn postfix(
    row: &'static OptionRow,
    kb_base: u64,
    word: &str,
    argument: TextPiece<'_>,
) -> Result<RwPostfix, ValueError> {
    let number = NumberReader { row, kb_base }.number(argument)?;
    Ok(match number {
        _ if ReadWrite::from_word(word).is_some_and(ReadWrite::is_random) => {
            let every = u32::try_from(number).ok().filter(|&every| every > 0);
            RwPostfix::Every(every.ok_or_else(|| {
                argument.error("the number of I/Os per random offset must be 1 to 4294967295")
            })?)
        }
        0 => RwPostfix::None,
        bytes => RwPostfix::Hole(bytes),
    })
}

/// `[:parameter[:center]]` of zipf, zipf_exact, pareto and normal, with fio's defaults.
fn skew(word: &str, argument: Option<TextPiece<'_>>) -> Result<Skew, ValueError> {
    let shape = |number: Option<f64>| match word {
        "zipf" => SkewShape::Zipf(number.unwrap_or(1.1)),
        "zipf_exact" => SkewShape::ZipfExact(number.unwrap_or(1.1)),
        "pareto" => SkewShape::Pareto(number.unwrap_or(0.2)),
        _ => SkewShape::Normal(number.unwrap_or(0.0)),
    };
    let Some(argument) = argument else { return Ok(Skew { shape: shape(None), center: None }) };
    let (first, center) = argument.cut(':');
    let shape = shape(Some(decimal(first)?));
    let good = match shape {
        SkewShape::Zipf(1.0) => Err("theta must not be 1"),
        SkewShape::Zipf(theta) | SkewShape::ZipfExact(theta) if theta < 0.0 => {
            Err("theta must not be negative")
        }
        SkewShape::Pareto(h) if h <= 0.0 || h >= 1.0 => Err("must lie between 0 and 1"),
        SkewShape::Normal(deviation) if !(0.0..100.0).contains(&deviation) => {
            Err("the deviation must be at least 0 and below 100")
        }
        _ => Ok(()),
    };
    good.map_err(|why| first.error(why))?;
    let Some(piece) = center else { return Ok(Skew { shape, center: None }) };
    let center = decimal(piece)?;
    if !(0.0..=1.0).contains(&center) {
        return Err(piece.error("the center must be 0 to 1"));
    }
    Ok(Skew { shape, center: Some(center) })
}

/// `access/size:access/size...`, perhaps per direction; shares of accesses add up to 100. One list is for all directions, the second
/// of two for writes and trims.
fn zones(
    kb_base: u64,
    word: &str,
    argument: Option<TextPiece<'_>>,
    whole: TextPiece<'_>,
) -> Result<PerDirection<Vec<AccessZone>>, ValueError> {
    let Some(argument) = argument.filter(|argument| !argument.text.is_empty()) else {
        return Err(whole.error("zones are expected").help(format!("write `{word}:60/10:40/90`")));
    };
    let pieces = pieces_by_comma(argument.text, 3);
    if let Some(extra) = pieces.get(3) {
        return Err(TextPiece { at: argument.at + extra.at, ..*extra }
            .error("at most three lists (read, write, trim) are allowed"));
    }
    let list =
        |piece: TextPiece<'_>| zone_list(kb_base, word, TextPiece { at: argument.at + piece.at, ..piece });
    let mut lists = pieces.into_iter().map(list).collect::<Result<Vec<_>, _>>()?.into_iter();
    let read = lists.next().unwrap_or_default();
    let write = lists.next().unwrap_or_else(|| read.clone());
    let trim = lists.next().unwrap_or_else(|| write.clone());
    Ok(PerDirection([read, write, trim]))
}

fn zone_list(kb_base: u64, word: &str, list: TextPiece<'_>) -> Result<Vec<AccessZone>, ValueError> {
    let in_percent = word == "zoned";
    let mut zones = Vec::new();
    for zone in list.split(':') {
        if zones.len() == 256 {
            return Err(zone.error("at most 256 zones are allowed"));
        }
        let (accesses, size) = zone.cut('/');
        let accesses = share(accesses)?;
        let size = match size.filter(|size| !size.text.is_empty()) {
            Some(size) if in_percent => u64::from(share(size).map_err(|error| {
                error.help("`zoned` has whole percents without a sign; `zoned_abs` has sizes in bytes: `zoned_abs:60/512k:40/4m`")
            })?),
            Some(size) => NumberReader { row: Opt::Size.row(), kb_base }.limited(size)?.cast_unsigned(),
            None if in_percent => 0,
            None => return Err(zone.error("a size in bytes is expected")),
        };
        zones.push(AccessZone { accesses, size });
    }
    let accesses: u32 = zones.iter().map(|zone| zone.accesses).sum();
    if accesses != 100 {
        return Err(list.error(format!("the shares of accesses add up to {accesses}, not to 100")));
    }
    if in_percent {
        let given: u64 = zones.iter().map(|zone| zone.size).sum();
        if given > 100 {
            return Err(list.error(format!("the sizes add up to {given} percent")));
        }
        // Zones without a size, or with a size of 0, divide what the others leave into equal whole parts.
        let blank = zones.iter().filter(|zone| zone.size == 0).count() as u64;
        let rest = (100 - given).checked_div(blank).unwrap_or(0);
        zones.iter_mut().filter(|zone| zone.size == 0).for_each(|zone| zone.size = rest);
    }
    Ok(zones)
}

fn share(piece: TextPiece<'_>) -> Result<u32, ValueError> {
    let number = piece.text.trim().parse().ok().filter(|&number: &u32| number <= 100);
    number.ok_or_else(|| piece.error("a whole number from 0 to 100 is expected"))
}

/// Up to 64 offsets by comma.
fn sequence(argument: Option<TextPiece<'_>>, whole: TextPiece<'_>) -> Result<Vec<u64>, ValueError> {
    let Some(argument) = argument.filter(|argument| !argument.text.is_empty()) else {
        return Err(whole.error("a list of numbers is expected").help("write `sequence:0,2,1`"));
    };
    let numbers = argument.split(',').enumerate().map(|(at, number)| {
        if at == 64 {
            return Err(number.error("at most 64 numbers are allowed"));
        }
        let block = number.text.trim().parse::<u32>();
        block.map(u64::from).map_err(|_| number.error("a number from 0 is expected"))
    });
    numbers.collect()
}

/// The count after a word that is not a distribution: I/Os until the next file's turn.
fn file_service(word: &str, argument: Option<TextPiece<'_>>) -> Result<Argument, ValueError> {
    let number = |argument: TextPiece<'_>| {
        argument.text.parse::<u32>().map_err(|_| argument.error("a number of I/Os per file is expected"))
    };
    let given = argument.map(number).transpose()?;
    let ios = given.unwrap_or(1).max(1);
    Ok(match (word, given) {
        ("sequential", Some(unused)) => Argument::Unused(unused),
        ("sequential", None) => Argument::FileService(FileService::Sequential),
        ("random", _) => Argument::FileService(FileService::Random { ios }),
        _ => Argument::FileService(FileService::RoundRobin { ios }),
    })
}

/// `criterion:limit[%]`.
fn limit(
    kb_base: u64,
    word: &str,
    argument: Option<TextPiece<'_>>,
    whole: TextPiece<'_>,
) -> Result<SteadyLimit, ValueError> {
    let help = format!("write `{word}:2%`, or `{word}:` and a limit");
    let Some(argument) = argument.filter(|argument| !argument.text.is_empty()) else {
        return Err(whole.error("a limit is expected").help(help));
    };
    if let Some(percent) = argument.text.strip_suffix('%') {
        let limit = decimal(argument.part(0, percent.len()))?;
        return Ok(SteadyLimit { limit, percent: true });
    }
    let digits = leading_digits(argument.text).len();
    let suffix = argument.text[digits..].trim().to_ascii_lowercase();
    // A limit of a latency is in ns.
    let (unit, scale) = match SteadyTest::from_word(word).map(SteadyTest::figure) {
        Some(SteadyFigure::Bandwidth) => (size_factor(&suffix, kb_base), 1.0),
        Some(SteadyFigure::Latency) => (time_factor(&suffix), 1e3),
        _ => return decimal(argument).map(|limit| SteadyLimit { limit, percent: false }),
    };
    let unit = if suffix.is_empty() { Some(1) } else { unit };
    let Some(unit) = unit.filter(|_| digits > 0) else {
        return Err(argument.error("not a limit").help(help));
    };
    let number = argument.text[..digits].parse::<u64>().ok().and_then(|number| number.checked_mul(unit));
    let number = number.filter(|&number| i64::try_from(number).is_ok());
    let number = number.ok_or_else(|| argument.error("too large").code("invalid-steadystate-limit"))?;
    Ok(SteadyLimit { limit: number as f64 * scale, percent: false })
}
