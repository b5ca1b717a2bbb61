//! Lists: decimal numbers, names, CPUs, ids, NUMA nodes, error numbers.

use std::collections::BTreeSet;

use nix::errno::Errno;

use super::error::{TextPiece, ValueError, leading_digits};
use super::expression;
use super::model::{NodeList, NodeNumbers, Value};
use super::number::size_factor;
use crate::catalogue::{OptionRow, ValueKind};

/// The highest CPU number plus one.
const MAX_CPUS: u32 = 1024;
/// Maximum number of placement ids.
const MAX_IDS: usize = 128;

/// Decimal numbers joined by `:`.
pub(crate) fn floats(row: &OptionRow, text: &str) -> Result<Value, ValueError> {
    let mut numbers = Vec::new();
    let pieces = || TextPiece::whole(text).trim().without_last(':').split(':');
    for piece in pieces() {
        if row.kind == ValueKind::Float && !numbers.is_empty() {
            return Err(piece.error("one number is expected"));
        }
        let number = decimal(piece)?;
        if row.min.is_some_and(|min| number < min as f64) || row.max.is_some_and(|max| number > max as f64) {
            let (min, max) = (row.min.unwrap_or(i128::MIN), row.max.unwrap_or(i128::MAX));
            return Err(piece.trim().error(format!("must lie between {min} and {max}")));
        }
        numbers.push(number);
    }
    Ok(Value::Floats(numbers, pieces().map(decimals).max().unwrap_or(0)))
}

/// The number of digits after the decimal point.
pub(crate) fn decimals(piece: TextPiece<'_>) -> u8 {
    let fraction = piece.text.split_once('.').map_or("", |(_, fraction)| fraction);
    u8::try_from(leading_digits(fraction).len()).unwrap_or(u8::MAX)
}

/// One decimal number or expression.
pub(crate) fn decimal(piece: TextPiece<'_>) -> Result<f64, ValueError> {
    let piece = piece.trim();
    if piece.text.starts_with('(') {
        return Ok(expression::evaluate(piece, &|suffix| size_factor(suffix, 1024))?.number.real());
    }
    // Rust also reads `inf`, `nan` and the like.
    let plain = piece.text.bytes().all(|byte| byte.is_ascii_digit() || b"+-.eE".contains(&byte));
    let number = piece.text.parse::<f64>().ok().filter(|number| plain && number.is_finite());
    number.ok_or_else(|| piece.error("a number is expected"))
}

/// Names joined by `:`, where `\:` is a colon; empty ones are skipped.
pub(crate) fn names(text: &str) -> Result<Value, ValueError> {
    let whole = TextPiece::whole(text).trim();
    let mut names = Vec::new();
    let mut name = String::new();
    let mut signs = whole.text.chars().peekable();
    while let Some(sign) = signs.next() {
        match sign {
            '\\' if signs.peek() == Some(&':') => name.extend(signs.next()),
            ':' => names.push(std::mem::take(&mut name)),
            _ => name.push(sign),
        }
    }
    names.push(name);
    names.retain(|name| !name.is_empty());
    if names.is_empty() { Err(whole.error("a name is expected")) } else { Ok(Value::List(names)) }
}

/// A file name as the value of an option that takes several: the list is read back as it was.
#[must_use]
pub fn escaped_name(name: &str) -> String {
    name.replace(':', "\\:")
}

/// CPU numbers and ranges by comma.
pub(crate) fn cpus(text: &str) -> Result<Value, ValueError> {
    let mut cpus = BTreeSet::new();
    for piece in TextPiece::whole(text).split(',') {
        let (first, last) = span(piece, "a CPU number is expected")?;
        if last >= MAX_CPUS {
            return Err(piece.trim().error(format!("the highest CPU number is {}", MAX_CPUS - 1)));
        }
        cpus.extend(first..=last);
    }
    Ok(Value::Numbers(cpus.into_iter().collect()))
}

/// Placement ids and ranges by comma.
pub(crate) fn ids(text: &str) -> Result<Value, ValueError> {
    let mut ids = Vec::new();
    if text.is_empty() {
        return Ok(Value::Numbers(ids));
    }
    for piece in TextPiece::whole(text).split(',') {
        let (first, last) = span(piece, "a placement id is expected")?;
        if last > 0xffff {
            return Err(piece.trim().error("the highest placement id is 65535"));
        }
        ids.extend(first..=last);
        if ids.len() > MAX_IDS {
            return Err(piece.trim().error(format!("at most {MAX_IDS} ids are allowed")));
        }
    }
    ids.sort_unstable();
    ids.dedup();
    Ok(Value::Numbers(ids))
}

/// NUMA nodes as libnuma writes them: `0-1,3`, `all`, with `!` or `+` in front.
pub(crate) fn nodes(piece: TextPiece<'_>) -> Result<NodeList, ValueError> {
    let piece = piece.trim();
    let list = piece.text.trim_start_matches(['!', '+']);
    let start = piece.text.len() - list.len();
    let meaning = match piece.text.as_bytes().first() {
        Some(b'!') => NodeNumbers::Others,
        Some(b'+') => NodeNumbers::Positions,
        _ => NodeNumbers::Named,
    };
    if list == "all" {
        return Ok(NodeList { meaning, ranges: None });
    }
    let ranges =
        piece.part(start, piece.text.len()).split(',').map(|node| span(node, "a node number is expected"));
    Ok(NodeList { meaning, ranges: Some(ranges.collect::<Result<_, _>>()?) })
}

/// Error names or numbers joined by `:`, for read, write and verify by comma.
pub(crate) fn errors(text: &str) -> Result<Value, ValueError> {
    errors_by(text, |name| named_error(name).or_else(|| error_number(name)))
}

/// Errors whose names and numbers `read` knows.
pub(crate) fn errors_by(text: &str, read: impl Fn(&str) -> Option<i32>) -> Result<Value, ValueError> {
    let mut errors = [Vec::new(), Vec::new(), Vec::new()];
    for (at, list) in TextPiece::whole(text).split(',').enumerate() {
        let Some(errors) = errors.get_mut(at) else {
            return Err(list.error("at most three lists (read, write, verify) are allowed"));
        };
        for name in list.split(':').map(TextPiece::trim).filter(|name| !name.text.is_empty()) {
            errors.push(
                read(name.text)
                    .ok_or_else(|| name.error("unknown error name").help("write the error's number"))?,
            );
        }
    }
    Ok(Value::Errors(errors))
}

/// The number of an error that errno(3) lists.
pub(crate) fn named_error(name: &str) -> Option<i32> {
    let name = match name {
        "EWOULDBLOCK" => "EAGAIN",
        "EDEADLOCK" => "EDEADLK",
        "ENOTSUP" => "EOPNOTSUPP",
        name => name,
    };
    let errors = (1..=Errno::ERFKILL as i32).map(Errno::from_raw);
    let mut known = errors.filter(|&error| error != Errno::UnknownErrno);
    known.find(|error| format!("{error:?}") == name).map(|error| error as i32)
}

/// A number whose sign does not matter, perhaps hexadecimal.
pub(crate) fn error_number(text: &str) -> Option<i32> {
    let text = text.strip_prefix('-').unwrap_or(text);
    match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) if digits.bytes().all(|byte| byte.is_ascii_hexdigit()) => {
            i32::from_str_radix(digits, 16).ok()
        }
        Some(_) => None,
        None => text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok())?,
    }
}

/// `n` or `n-m`.
fn span(piece: TextPiece<'_>, what: &str) -> Result<(u32, u32), ValueError> {
    let piece = piece.trim();
    let (first, last) = piece.cut('-');
    let number = |piece: TextPiece<'_>| piece.trim().text.parse::<u32>().map_err(|_| piece.error(what));
    let first = number(first)?;
    let last = last.map_or(Ok(first), number)?;
    if last < first {
        return Err(piece.error("the range is reversed"));
    }
    Ok((first, last))
}
