//! Advice on a refused value that fio accepts: fio's reading of it, and a replacement.

use super::describe::describe;
use super::error::{ValueError, leading_digits};
use super::fio;
use super::model::ReadPatternFile;
use super::number::time_factor;
use super::parse::parse;
use crate::catalogue::{OptionRow, OptionScope, ValueKind, ValueUnit};

/// Longest text whose meaning is guessed.
const MAX_GUESSED_BYTES: usize = 64;

/// Most characters of fio's reading of a value that are shown.
const MAX_MEANING_CHARS: usize = 100;

/// Adds fio's reading of the refused `text` to the help of `error`, if fio accepts it.
pub(crate) fn advise(
    error: ValueError,
    row: &'static OptionRow,
    text: &str,
    kb_base: u64,
    read_file: ReadPatternFile<'_>,
) -> ValueError {
    // fio has none of these options.
    if row.scope == OptionScope::Database {
        return match (meant(row, text.trim(), kb_base), &error.help) {
            (Some(meant), None) => error.help(format!("write `{meant}`")),
            _ => error,
        };
    }
    let Ok(value) = fio::parse(row, Some(text), kb_base, read_file) else { return error };
    let reads = match describe(row, &value).as_str() {
        "nothing" => "fio skips this and keeps what was set before".to_owned(),
        value => format!("fio reads this as {}", shortened(value, MAX_MEANING_CHARS)),
    };
    let help = match (meant(row, text.trim(), kb_base), &error.help) {
        (Some(meant), _) => format!("{reads}; write `{meant}`, or use --strict=fio"),
        (None, Some(help)) => format!("{help}; {reads}, and so does --strict=fio"),
        (None, None) => format!("{reads}; to have that, use --strict=fio"),
    };
    error.help(help)
}

/// The first `most` characters of a text.
pub(crate) fn shortened(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}

/// The value that was probably meant, in a form that is accepted.
pub(super) fn meant(row: &'static OptionRow, text: &str, kb_base: u64) -> Option<String> {
    let no_file = |_: &std::path::Path| Err(std::io::ErrorKind::NotFound.into());
    let accepted = |text: &String| parse(row, Some(text), kb_base, &no_file).is_ok();
    if text.len() <= MAX_GUESSED_BYTES { guess(row, text).filter(accepted) } else { None }
}

fn guess(row: &OptionRow, text: &str) -> Option<String> {
    match row.kind {
        ValueKind::Time => time(text),
        ValueKind::Bool | ValueKind::Flag if text.starts_with('-') => Some("1".to_owned()),
        ValueKind::Int | ValueKind::Size | ValueKind::SizeZone | ValueKind::SizeRange => {
            if let Some(number) = text.strip_suffix('%').filter(|_| row.unit == ValueUnit::Percent) {
                return Some(number.trim().to_owned());
            }
            if row.unit == ValueUnit::Milliseconds
                && let Some(us) = milliseconds(text)
            {
                return Some(us);
            }
            if text.contains([' ', '\t']) {
                return Some(text.split([' ', '\t']).collect());
            }
            let (whole, fraction) = text.split_once('.')?;
            let is_number = leading_digits(whole) == whole && !leading_digits(fraction).is_empty();
            is_number.then(|| format!("({text})"))
        }
        _ => None,
    }
}

/// `500ms` or `2s` as the number of milliseconds.
fn milliseconds(text: &str) -> Option<String> {
    let number = leading_digits(text);
    let factor = time_factor(&text[number.len()..].trim().to_ascii_lowercase())?;
    let us = number.parse::<u64>().ok()?.checked_mul(factor)?;
    us.is_multiple_of(1_000).then(|| (us / 1_000).to_string())
}

/// `10sec` as `10s`, `1h30m` as `(1h+30m)`, `1.5s` as `(1.5s)`.
fn time(text: &str) -> Option<String> {
    let mut parts = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        let number = rest.find(|sign: char| !sign.is_ascii_digit() && sign != '.')?;
        let (number, after) = rest.split_at(number);
        let after = after.trim_start();
        let end = after.find(|sign: char| !sign.is_alphabetic()).unwrap_or(after.len());
        let (word, more) = after.split_at(end);
        if number.is_empty() {
            return None;
        }
        parts.push(format!("{number}{}", unit(&word.to_ascii_lowercase())?));
        rest = more.trim_start();
    }
    match &parts[..] {
        [part] if !part.contains('.') => Some(part.clone()),
        [] => None,
        parts => Some(format!("({})", parts.join("+"))),
    }
}

/// The suffix for a unit of time in a common spelling.
fn unit(word: &str) -> Option<&'static str> {
    Some(match word {
        "d" | "day" | "days" => "d",
        "h" | "hr" | "hrs" | "hour" | "hours" => "h",
        "m" | "min" | "mins" | "minute" | "minutes" => "m",
        "s" | "sec" | "secs" | "second" | "seconds" => "s",
        "ms" | "msec" | "msecs" | "millisecond" | "milliseconds" => "ms",
        "us" | "usec" | "usecs" | "microsecond" | "microseconds" => "us",
        _ => return None,
    })
}
