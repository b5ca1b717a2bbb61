//! Splits a line of strace into process, time, and the call with its result.

use super::super::event::{LineError, TraceContents};
use super::super::fields::{duration_ns, whole};

const SECOND: u64 = 1_000_000_000;
const DAY: u64 = 86_400 * SECOND;
/// Largest process number on Linux. A larger number at the beginning of a line is a time.
const MAX_PID: u64 = 1 << 22;

/// A line.
#[derive(Debug, PartialEq, Eq)]
pub struct StraceLine<'a> {
    /// The process, if the line names it.
    pub pid: Option<u32>,
    pub stamp: LineTime,
    /// The rest.
    pub body: LineContent<'a>,
}

/// The time formats of strace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineTime {
    /// None.
    None,
    /// Time of day: `-t` without and `-tt` with a fraction.
    OfDay { ns: u64, whole_seconds: bool },
    /// Since 1970: `-ttt`.
    Since1970 { ns: u64, whole_seconds: bool },
    /// Since the previous line: `-r`.
    SinceLine(u64),
}

/// The contents of a line.
#[derive(Debug, PartialEq, Eq)]
pub enum LineContent<'a> {
    /// A whole call and its duration.
    Call(&'a [u8], Option<u64>),
    /// The beginning of a call that continues in another line, and the process that it created.
    Begin { call: &'a [u8], child: Option<u32> },
    /// The end of a call.
    End { name: &'a [u8], rest: &'a [u8], took_ns: Option<u64> },
    /// The end of a call whose line was interrupted by a message of strace.
    Rest(&'a [u8]),
    /// strace attached to this process.
    Attached(u32),
    /// The process ended.
    Exit,
    /// Signals, and messages of strace itself.
    Other,
}

/// Parses a line.
///
/// # Errors
/// The line is not from strace.
pub fn parse(text: &[u8]) -> Result<StraceLine<'_>, LineError> {
    let (pid, rest) = pid(text.trim_ascii_start());
    let (stamp, rest) = stamp(rest);
    Ok(StraceLine { pid, stamp, body: body(rest)? })
}

/// `[pid  123] ` or `123 `.
fn pid(text: &[u8]) -> (Option<u32>, &[u8]) {
    let bracketed = || {
        let rest = text.strip_prefix(b"[pid")?;
        let end = rest.iter().position(|&byte| byte == b']')?;
        Some((whole::<u32>(rest[..end].trim_ascii())?, &rest[end + 1..]))
    };
    let bare = || {
        let end = text.iter().position(|byte| !byte.is_ascii_digit())?;
        let number = whole::<u64>(&text[..end]).filter(|&number| number <= MAX_PID)?;
        text[end..].starts_with(b" ").then_some((number as u32, &text[end..]))
    };
    match bracketed().or_else(bare) {
        Some((pid, rest)) => (Some(pid), rest.trim_ascii_start()),
        None => (None, text),
    }
}

/// The time at the beginning of a line.
fn stamp(text: &[u8]) -> (LineTime, &[u8]) {
    let end = text.iter().position(|&byte| byte == b' ').unwrap_or(text.len());
    let (word, rest) = text.split_at(end);
    let rest = rest.trim_ascii_start();
    // With -r as well, the difference follows in parentheses; the absolute time is more useful.
    let rest = match rest.strip_prefix(b"(+") {
        Some(after) => {
            after.iter().position(|&byte| byte == b')').map_or(rest, |at| after[at + 1..].trim_ascii_start())
        }
        None => rest,
    };
    let stamp = match word {
        [_, _, b':', _, _, b':', ..] => of_day(word),
        _ => {
            let word = word.strip_prefix(b"+").unwrap_or(word);
            let has_point = word.contains(&b'.');
            // -r counts from the previous line; nobody traces for years.
            duration_ns(word, SECOND).and_then(|ns| match ns >= 100_000_000 * SECOND {
                true => Some(LineTime::Since1970 { ns, whole_seconds: !has_point }),
                false => has_point.then_some(LineTime::SinceLine(ns)),
            })
        }
    };
    match stamp {
        Some(stamp) => (stamp, rest),
        None => (LineTime::None, text),
    }
}

/// `HH:MM:SS` and `HH:MM:SS.ffffff`.
fn of_day(word: &[u8]) -> Option<LineTime> {
    let hours: u64 = whole(&word[..2])?;
    let minutes: u64 = whole(&word[3..5])?;
    let ns = duration_ns(&word[6..], SECOND)?;
    let whole_seconds = !word.contains(&b'.');
    let valid = hours < 24 && minutes < 60 && ns < 62 * SECOND;
    valid.then_some(LineTime::OfDay { ns: (hours * 60 + minutes) * 60 * SECOND + ns, whole_seconds })
}

fn body(rest: &[u8]) -> Result<LineContent<'_>, LineError> {
    // The message may also interrupt the line of the call that created the process.
    if let Some((before, child)) = attached(rest) {
        return Ok(match before.trim_ascii() {
            b"" => LineContent::Attached(child),
            call => LineContent::Begin { call, child: Some(child) },
        });
    }
    // -i, -n and others add brackets before the call.
    let mut rest = rest;
    while rest.starts_with(b"[") {
        let end = rest.iter().position(|&byte| byte == b']').ok_or("it is no line of strace")?;
        rest = rest[end + 1..].trim_ascii_start();
    }
    if rest.starts_with(b"+++") {
        let ends = rest.starts_with(b"+++ exited") || rest.starts_with(b"+++ killed");
        return Ok(if ends { LineContent::Exit } else { LineContent::Other });
    }
    if rest.starts_with(b"---") || rest.starts_with(b"strace: ") || rest.starts_with(b"<unfinished ...>") {
        return Ok(LineContent::Other);
    }
    let (rest, took_ns) = without_duration(rest);
    if rest.starts_with(b", ") || rest.starts_with(b") ") {
        return Ok(LineContent::Rest(rest));
    }
    if let Some(resumed) = rest.strip_prefix(b"<... ") {
        let end = resumed.iter().position(|&byte| byte == b' ').unwrap_or(resumed.len());
        let (name, after) = resumed.split_at(end);
        let rest = after.strip_prefix(b" resumed>").ok_or("it is no line of strace")?;
        return Ok(LineContent::End { name, rest, took_ns });
    }
    if name_of(rest).is_none() {
        return Err("it has no system call".into());
    }
    Ok(match rest.strip_suffix(b"<unfinished ...>") {
        Some(call) => LineContent::Begin { call, child: None },
        None => LineContent::Call(rest, took_ns),
    })
}

/// The text before `strace: Process 123 attached`, and the process.
fn attached(text: &[u8]) -> Option<(&[u8], u32)> {
    const WORDS: &[u8] = b"strace: Process ";
    let rest = text.trim_ascii_end().strip_suffix(b" attached")?;
    let at = rest.iter().rposition(|byte| !byte.is_ascii_digit())? + 1;
    Some((rest[..at].strip_suffix(WORDS)?, whole(&rest[at..])?))
}

/// Splits off ` <0.000123>`.
fn without_duration(text: &[u8]) -> (&[u8], Option<u64>) {
    let text = text.trim_ascii_end();
    let duration = || {
        let inner = text.strip_suffix(b">")?;
        let at = inner.iter().rposition(|&byte| byte == b'<')?;
        let ns = duration_ns(&inner[at + 1..], SECOND)?;
        // `3<1>` is not a duration.
        text[..at].ends_with(b" ").then_some((text[..at].trim_ascii_end(), ns))
    };
    duration().map_or((text, None), |(rest, ns)| (rest, Some(ns)))
}

fn name_of(text: &[u8]) -> Option<&[u8]> {
    let end = text.iter().position(|&byte| byte == b'(')?;
    let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'?');
    (end > 0 && text[..end].iter().all(is_name)).then_some(&text[..end])
}

/// A call: its name, arguments and result.
#[derive(Debug, PartialEq, Eq)]
pub struct CallParts<'a> {
    /// The name.
    pub name: &'a [u8],
    /// The text between the parentheses.
    pub arguments: &'a [u8],
    /// The returned number; `None` for failures and unknown results.
    pub result: Option<i64>,
    /// Everything after the equals sign.
    pub result_text: &'a [u8],
}

/// Splits a whole call: `name(arguments) = result`.
pub fn split_call(text: &[u8]) -> Option<CallParts<'_>> {
    let name = name_of(text)?;
    let inside = &text[name.len() + 1..];
    let end = super::arguments::end_of_list(inside)?;
    let result_text = inside[end + 1..].trim_ascii().strip_prefix(b"=")?.trim_ascii();
    let word_end = result_text.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(result_text.len());
    let hexadecimal = || {
        let digits = std::str::from_utf8(result_text.strip_prefix(b"0x")?).ok()?;
        i64::from_str_radix(digits.split(' ').next()?, 16).ok()
    };
    let result = if result_text.starts_with(b"0x") { hexadecimal() } else { whole(&result_text[..word_end]) };
    Some(CallParts { name, arguments: &inside[..end], result, result_text })
}

/// Converts the times of lines to nanoseconds from one origin.
#[derive(Debug, Default)]
pub struct StraceClock {
    now: u64,
    /// Time of day of the previous line, and the midnights before it.
    of_day: Option<(u64, u64)>,
}

impl StraceClock {
    /// The time of a line; one without a time has that of the previous line. `None` if it is out of range.
    pub fn time(&mut self, line: &StraceLine<'_>, found: &mut TraceContents) -> Option<u64> {
        match line.stamp {
            LineTime::None => {
                let is_io = matches!(line.body, LineContent::Call(..) | LineContent::Begin { .. });
                found.remarks.untimed += u64::from(is_io);
            }
            LineTime::Since1970 { ns, whole_seconds } => {
                found.remarks.whole_seconds |= whole_seconds;
                self.now = ns;
            }
            LineTime::SinceLine(ns) => self.now = self.now.checked_add(ns)?,
            LineTime::OfDay { ns, whole_seconds } => {
                found.remarks.whole_seconds |= whole_seconds;
                let (before, days) = self.of_day.unwrap_or((ns, 0));
                // A jump back by half a day is midnight.
                let days = if before > ns && before - ns > DAY / 2 { days + 1 } else { days };
                self.of_day = Some((ns, days));
                self.now = days.checked_mul(DAY)?.checked_add(ns)?;
            }
        }
        Some(self.now)
    }
}
