//! What to tell someone whose value was refused although fio takes it: what fio makes of it, and what to write.

use super::describe::describe;
use super::fault::Fault;
use super::fio;
use super::model::ReadPatternFile;
use super::number::time_factor;
use super::parse::parse;
use crate::catalogue::{OptionRow, ValueKind, ValueUnit};

/// Longer texts are not searched for a meaning.
const LONGEST: usize = 64;

/// At most this many characters of fio's reading of a value are shown.
const MEANING: usize = 100;

/// `fault` with fio's reading of the refused `text` in its help, if fio has one.
pub(crate) fn advise(
    fault: Fault,
    row: &'static OptionRow,
    text: &str,
    kb_base: u64,
    read_file: ReadPatternFile<'_>,
) -> Fault {
    let Ok(value) = fio::parse(row, Some(text), kb_base, read_file) else { return fault };
    let reads = match describe(row, &value).as_str() {
        "nothing" => "fio skips this and keeps what was set before".to_owned(),
        value => format!("fio reads this as {}", shortened(value)),
    };
    let help = match (meant(row, text.trim(), kb_base), &fault.help) {
        (Some(meant), _) => format!("{reads}; write `{meant}`, or use --strict=fio"),
        (None, Some(help)) => format!("{help}; {reads}, and so does --strict=fio"),
        (None, None) => format!("{reads}; to have that, use --strict=fio"),
    };
    fault.help(help)
}

/// The beginning of a long meaning: the rest of it says no more.
fn shortened(text: &str) -> String {
    match text.char_indices().nth(MEANING) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}

/// The value someone probably wanted, written so that it is accepted.
pub(super) fn meant(row: &'static OptionRow, text: &str, kb_base: u64) -> Option<String> {
    if text.len() > LONGEST {
        return None;
    }
    let no_file = |_: &std::path::Path| Err(std::io::ErrorKind::NotFound.into());
    let accepted = |text: &String| parse(row, Some(text), kb_base, &no_file).is_ok();
    guess(row, text).filter(accepted)
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
            let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
            (digits(whole) == whole.len() && digits(fraction) > 0).then(|| format!("({text})"))
        }
        _ => None,
    }
}

/// `500ms` or `2s` as the number of milliseconds.
fn milliseconds(text: &str) -> Option<String> {
    let end = text.find(|sign: char| !sign.is_ascii_digit())?;
    let number: u64 = text[..end].parse().ok()?;
    let us = number.checked_mul(time_factor(&text[end..].trim().to_ascii_lowercase())?)?;
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

/// The suffix for a unit of time as people write it.
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
