//! Arguments behind the colon of a word: steps of `rw`, parameters of distributions, limits of steady states.

use super::fault::{Fault, Piece};
use super::lists::decimal;
use super::number::{Reader, pieces_by_comma, size_factor, time_factor};
use crate::catalogue::{Opt, Row};

/// Checks the argument `word` of row `row` was given, if any.
pub(crate) fn check(
    row: &'static Row,
    kb_base: u64,
    word: &str,
    argument: Option<Piece<'_>>,
    whole: Piece<'_>,
) -> Result<(), Fault> {
    match (row.opt, word) {
        (Opt::Rw, _) => argument.map_or(Ok(()), |argument| step(row, kb_base, word, argument)),
        (Opt::RandomDistribution | Opt::FileServiceType, "zipf" | "pareto" | "normal") => {
            parameters(word, argument)
        }
        (Opt::RandomDistribution, "zoned" | "zoned_abs") => zones(kb_base, word, argument, whole),
        (Opt::RandomDistribution, "sequence") => sequence(argument, whole),
        (Opt::FileServiceType, _) => match argument {
            Some(argument) if argument.text.parse::<u32>().is_err() => {
                Err(argument.fault("a number of I/Os per file is expected"))
            }
            _ => Ok(()),
        },
        (Opt::Steadystate, _) => limit(kb_base, word, argument, whole),
        (Opt::Mem, "mmap" | "mmapshared" | "mmaphuge") => Ok(()),
        _ => match argument {
            Some(argument) => Err(argument.fault(format!("`{word}` takes no argument"))),
            None => Ok(()),
        },
    }
}

/// `rw=randread:8` is a count, `rw=write:-4k` a number of bytes.
fn step(row: &'static Row, kb_base: u64, word: &str, argument: Piece<'_>) -> Result<(), Fault> {
    let number = Reader { row, kb_base }.number(argument)?;
    if word.contains("rand") && !(1..=i64::from(u32::MAX)).contains(&number) {
        return Err(argument.fault("the number of I/Os per random offset is 1 to 4294967295"));
    }
    Ok(())
}

/// `[:parameter[:center]]` of zipf, pareto and normal.
fn parameters(word: &str, argument: Option<Piece<'_>>) -> Result<(), Fault> {
    let Some(argument) = argument else { return Ok(()) };
    let (first, center) = argument.cut(':');
    let number = decimal(first)?;
    let good = match word {
        "zipf" if number == 1.0 => Err("theta must not be 1"),
        "zipf" if number < 0.0 => Err("theta must not be negative"),
        "pareto" if number <= 0.0 || number >= 1.0 => Err("must lie between 0 and 1"),
        "normal" if !(0.0..100.0).contains(&number) => Err("the deviation is 0 to less than 100"),
        _ => Ok(()),
    };
    good.map_err(|why| first.fault(why))?;
    if let Some(center) = center
        && !(0.0..=1.0).contains(&decimal(center)?)
    {
        return Err(center.fault("the center is 0 to 1"));
    }
    Ok(())
}

/// `access/size:access/size...`, perhaps per direction; shares of accesses add up to 100.
fn zones(kb_base: u64, word: &str, argument: Option<Piece<'_>>, whole: Piece<'_>) -> Result<(), Fault> {
    let Some(argument) = argument.filter(|argument| !argument.text.is_empty()) else {
        return Err(whole.fault("zones are expected").help(format!("write `{word}:60/10:40/90`")));
    };
    let lists = pieces_by_comma(argument.text, 3);
    if let Some(extra) = lists.get(3) {
        return Err(Piece { at: argument.at + extra.at, ..*extra }
            .fault("three lists (read, write, trim) are possible"));
    }
    for list in lists {
        let list = Piece { at: argument.at + list.at, ..list };
        let (mut accesses, mut sizes) = (0_u32, 0_u32);
        for (number, zone) in list.split(':').enumerate() {
            if number == 256 {
                return Err(zone.fault("at most 256 zones are possible"));
            }
            let (access, size) = zone.cut('/');
            accesses += share(access)?;
            match size.filter(|size| !size.text.is_empty()) {
                Some(size) if word == "zoned" => sizes += share(size)?,
                Some(size) => absolute(kb_base, size)?,
                None if word == "zoned_abs" => return Err(zone.fault("a size in bytes is expected")),
                None => {}
            }
        }
        if accesses != 100 {
            return Err(list.fault(format!("the shares of accesses add up to {accesses}, not to 100")));
        }
        if sizes > 100 {
            return Err(list.fault(format!("the sizes add up to {sizes} percent")));
        }
    }
    Ok(())
}

fn share(piece: Piece<'_>) -> Result<u32, Fault> {
    let number = piece.text.trim().parse().ok().filter(|&number: &u32| number <= 100);
    number.ok_or_else(|| piece.fault("a whole number from 0 to 100 is expected"))
}

fn absolute(kb_base: u64, piece: Piece<'_>) -> Result<(), Fault> {
    Reader { row: Opt::Size.row(), kb_base }.limited(piece).map(drop)
}

/// Up to 64 offsets by comma.
fn sequence(argument: Option<Piece<'_>>, whole: Piece<'_>) -> Result<(), Fault> {
    let Some(argument) = argument.filter(|argument| !argument.text.is_empty()) else {
        return Err(whole.fault("a list of numbers is expected").help("write `sequence:0,2,1`"));
    };
    for (at, number) in argument.split(',').enumerate() {
        if at == 64 {
            return Err(number.fault("at most 64 numbers are possible"));
        }
        if number.text.trim().parse::<u32>().is_err() {
            return Err(number.fault("a number from 0 is expected"));
        }
    }
    Ok(())
}

/// `criterion:limit[%]`.
fn limit(kb_base: u64, word: &str, argument: Option<Piece<'_>>, whole: Piece<'_>) -> Result<(), Fault> {
    let help = format!("write `{word}:2%`, or `{word}:` and a limit");
    let Some(argument) = argument.filter(|argument| !argument.text.is_empty()) else {
        return Err(whole.fault("a limit is expected").help(help));
    };
    if let Some(percent) = argument.text.strip_suffix('%') {
        return decimal(argument.part(0, percent.len())).map(drop);
    }
    let digits = argument.text.bytes().take_while(u8::is_ascii_digit).count();
    let suffix = argument.text[digits..].trim().to_ascii_lowercase();
    let known = match word {
        "bw" | "bw_slope" => digits > 0 && (suffix.is_empty() || size_factor(&suffix, kb_base).is_some()),
        "lat" | "lat_slope" => digits > 0 && (suffix.is_empty() || time_factor(&suffix).is_some()),
        _ => return decimal(argument).map(drop),
    };
    if known { Ok(()) } else { Err(argument.fault("not a limit").help(help)) }
}
