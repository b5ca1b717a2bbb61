//! Whole numbers, sizes, times and switches as fio reads them: what cannot be read is skipped, cut or wrapped.

use super::expression;
use crate::catalogue::{Multi, Opt, OptionRow, ValueKind, ValueUnit};
use crate::value::fault::{Fault, TextPiece};
use crate::value::model::{Amount, Value};

/// Reads the numbers of one row.
#[derive(Debug, Clone, Copy)]
pub(super) struct FioNumberReader {
    /// The option's row.
    pub(super) row: &'static OptionRow,
    /// What `k` means: 1024 or 1000.
    pub(super) kb_base: u64,
}

/// Only this many bytes of a number count.
const LENGTH: usize = 127;

impl FioNumberReader {
    /// The value of a row of kind int, size or time.
    pub(super) fn value(self, text: &str) -> Result<Value, Fault> {
        if self.row.multi != Multi::No {
            return self.directions(text, |piece| self.limited(piece)).map(Value::Directions);
        }
        Ok(match (self.one(text, |piece| self.limited(piece))?, self.row.kind) {
            (None, _) => Value::Nothing,
            (Some(number), ValueKind::Time) => Value::Time(number),
            (Some(number), ValueKind::Size) => Value::Size(number),
            (Some(number), _) => Value::Int(number as i64),
        })
    }

    /// A flag or a bool: a whole number, whatever follows it.
    pub(super) fn switch(self, text: &str) -> Result<Value, Fault> {
        let switched = self.one(text, |piece| {
            let number = integer(piece)? as i32;
            if self.row.kind == ValueKind::Bool && number > 1 {
                return Err(piece.fault("the maximum is 1"));
            }
            Ok(number != 0)
        })?;
        // giving `exitall` at all switches it on
        Ok(switched.map_or(Value::Nothing, |on| Value::Switch(on || self.row.opt == Opt::Exitall)))
    }

    /// A size, a percentage or a number of zones; percentages are the numbers next to 2^64.
    pub(super) fn amount(self, text: &str) -> Result<Value, Fault> {
        let amount = self.one(text, |piece| {
            if let Some(zones) = piece.text.strip_suffix('z') {
                let zones = zones.parse().ok().filter(|_| zones.bytes().all(|byte| byte.is_ascii_digit()));
                return zones.map(Amount::Zones).ok_or_else(|| piece.fault("unexpected zone value"));
            }
            let number = self.limited(piece)?;
            match u8::try_from(u64::MAX - number) {
                Ok(percent) if percent <= 100 => Ok(Amount::Percent(percent)),
                // for this option alone there is a limit
                Ok(_) if self.row.opt == Opt::IoSize => Err(piece.fault("more than 100%")),
                _ => Ok(Amount::Bytes(number)),
            }
        })?;
        Ok(amount.map_or(Value::Nothing, Value::Amount))
    }

    /// The first and the last piece, in order.
    pub(super) fn bounds(self, text: &str) -> Result<Value, Fault> {
        let results: Vec<_> = pieces(text).into_iter().map(|piece| self.limited(piece)).collect();
        any_good(&results, TextPiece::whole(text))?;
        let good: Vec<u64> = results.into_iter().flatten().collect();
        let (low, high) = (good[0], good[good.len() - 1]);
        Ok(Value::Range(low.min(high), low.max(high)))
    }

    /// `low-high` or `low:high`, up to three of them by comma.
    pub(super) fn ranges(self, text: &str) -> Result<Value, Fault> {
        let list = TextPiece::whole(text).split(',').collect();
        let ranges = self.spread(text, list, 3, |piece| {
            let separator = piece.text.char_indices().find(|&(at, sign)| matches!(sign, '-' | ':') && at > 0);
            let Some((at, _)) = separator else { return Err(piece.fault("two bounds are expected")) };
            let low = self.number(piece)?;
            let high = self.number(piece.part(at + 1, piece.text.len()))?;
            Ok((low.min(high), low.max(high)))
        })?;
        // a bound of 0 is as good as none
        Ok(Value::Ranges(ranges.map(|range| range.filter(|&(low, _)| low > 0))))
    }

    /// Up to three values.
    fn directions<T: Clone>(
        self,
        text: &str,
        read: impl Fn(TextPiece<'_>) -> Result<T, Fault>,
    ) -> Result<[Option<T>; 3], Fault> {
        self.spread(text, pieces(text), self.row.multi.directions(), read)
    }

    /// Gives the directions their pieces: a bad one leaves its direction alone, the last one also serves those
    /// after it, and those there is no direction for are dropped.
    pub(super) fn spread<T: Clone>(
        self,
        text: &str,
        pieces: Vec<TextPiece<'_>>,
        most: usize,
        read: impl Fn(TextPiece<'_>) -> Result<T, Fault>,
    ) -> Result<[Option<T>; 3], Fault> {
        let results: Vec<_> = pieces.into_iter().take(most).map(read).collect();
        any_good(&results, TextPiece::whole(text))?;
        let given: Vec<Option<T>> = results.into_iter().map(Result::ok).collect();
        Ok(std::array::from_fn(|at| {
            given.get(at.min(given.len() - 1)).filter(|_| at < most).cloned().flatten()
        }))
    }

    /// The piece that counts where there can be one only; `None` if it is bad and another one is good.
    fn one<T: Clone>(
        self,
        text: &str,
        read: impl Fn(TextPiece<'_>) -> Result<T, Fault>,
    ) -> Result<Option<T>, Fault> {
        let results: Vec<_> = pieces(text).into_iter().map(read).collect();
        any_good(&results, TextPiece::whole(text))?;
        let mut good = results.into_iter().map(Result::ok);
        Ok(if self.last_counts() { good.flatten().last() } else { good.next().flatten() })
    }

    /// Whether each piece is worked off by itself, so that the last one stays.
    fn last_counts(self) -> bool {
        self.row.kind == ValueKind::SizeZone
            || matches!(
                self.row.opt,
                Opt::Rwmixread
                    | Opt::Rwmixwrite
                    | Opt::Cpumask
                    | Opt::DedupePercentage
                    | Opt::BufferCompressPercentage
                    | Opt::GtodReduce
            )
    }

    /// A number within the row's limits as far as fio looks at them.
    fn limited(self, piece: TextPiece<'_>) -> Result<u64, Fault> {
        if matches!(self.row.kind, ValueKind::Time | ValueKind::TimeRange) {
            return self.time(piece);
        }
        let number = self.number(piece)?;
        // looked at before the upper bits are lost
        if self.row.opt == Opt::ReplayAlign && !number.is_power_of_two() {
            return Err(piece.fault("must be a power of 2"));
        }
        let narrow = self.row.max.is_some_and(|max| max <= u32::MAX.into());
        if narrow { self.narrow(number, piece) } else { self.wide(number, piece) }
    }

    /// An option of 32 bits: the rest is lost, and what is negative then is below any maximum.
    fn narrow(self, number: u64, piece: TextPiece<'_>) -> Result<u64, Fault> {
        let low = number as u32;
        let signed = i128::from(low as i32);
        if let Some(min) = self.row.min.filter(|&min| signed < min) {
            return Err(piece.fault(format!("the minimum is {min}")));
        }
        let Some(max) = self.row.max.filter(|&max| i128::from(low) > max) else { return Ok(low.into()) };
        match self.row.min {
            _ if signed >= 0 => Err(piece.fault(format!("the maximum is {max}"))),
            Some(min) if min < 0 => Ok(signed as i64 as u64),
            // a share of more than all is all of it
            _ => Ok(max as u64),
        }
    }

    fn wide(self, number: u64, piece: TextPiece<'_>) -> Result<u64, Fault> {
        match self.row.min {
            Some(min) if i128::from(number) < min => Err(piece.fault(format!("the minimum is {min}"))),
            _ => Ok(number),
        }
    }

    /// A number with its suffix applied, modulo 2^64.
    pub(super) fn number(self, piece: TextPiece<'_>) -> Result<u64, Fault> {
        if piece.text.starts_with('(') {
            let result = expression::evaluate(piece, false)?;
            return Ok(result.whole());
        }
        if piece.text.ends_with('z') {
            return Err(piece.fault("`z` (zones) is not applicable to this option"));
        }
        let text = cut(piece.text);
        let number = digits(piece)?;
        let unit = text.trim_start_matches(['-', '+']);
        let unit = unit.trim_start_matches(|sign: char| sign.is_ascii_digit());
        if unit.starts_with('%') {
            return Ok(u64::MAX.wrapping_sub(number));
        }
        Ok(number.wrapping_mul(size_factor(unit, self.kb_base)))
    }

    /// Microseconds.
    fn time(self, piece: TextPiece<'_>) -> Result<u64, Fault> {
        let seconds = self.row.unit == ValueUnit::Seconds;
        let own = if seconds { 1_000_000 } else { 1 };
        let us = if piece.text.starts_with('(') {
            let result = expression::evaluate(piece, true)?;
            match (result.suffixed, seconds) {
                (false, _) => result.whole().wrapping_mul(own),
                // what counts seconds keeps whole ones
                (true, true) => result.whole() / own * own,
                (true, false) => result.whole(),
            }
        } else {
            if piece.text.ends_with('z') {
                return Err(piece.fault("`z` (zones) is not applicable to this option"));
            }
            let number = digits(piece)?;
            let suffix = cut(piece.text).trim_start_matches(|sign: char| !sign.is_alphabetic());
            let factor = match suffix.to_ascii_lowercase().as_str() {
                "" => own,
                "s" => 1_000_000,
                "m" => 60_000_000,
                "h" => 3_600_000_000,
                "d" => 86_400_000_000,
                word if word.starts_with("ms") => 1_000,
                _ => 1,
            };
            number.wrapping_mul(factor)
        };
        // options of 32 bits count in their own unit
        Ok(if self.row.max == Some(u32::MAX.into()) { u64::from((us / own) as u32) * own } else { us })
    }
}

/// The pieces of a value. As long as there is a comma, the next one ends a piece; after the last comma colons do,
/// and after the last colon dashes. But only commas cut: the other pieces reach to the end.
pub(super) fn pieces(text: &str) -> Vec<TextPiece<'_>> {
    let mut list: Vec<TextPiece<'_>> = TextPiece::whole(text).split(',').collect();
    let Some(last) = list.pop() else { return list };
    let mut rest = last;
    for separator in [':', '-'] {
        let begin = |piece: TextPiece<'_>| usize::from(separator == '-' && piece.text.starts_with('-'));
        while let Some(at) = rest.text[begin(rest)..].find(separator) {
            list.push(rest);
            rest = rest.part(begin(rest) + at + 1, rest.text.len());
        }
    }
    list.push(rest);
    list
}

/// As much of a number as is looked at.
fn cut(text: &str) -> &str {
    let end = (0..=text.len().min(LENGTH)).rev().find(|&end| text.is_char_boundary(end));
    &text[..end.unwrap_or(0)]
}

/// The number at the beginning of a piece, hexadecimal if there is a `0x` anywhere in it.
fn digits(piece: TextPiece<'_>) -> Result<u64, Fault> {
    let text = cut(piece.text);
    let hex = text.contains("0x") || text.contains("0X");
    let text = text.trim_start();
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let body = unsigned.strip_prefix("0x").or_else(|| unsigned.strip_prefix("0X"));
    let (body, radix) = if hex { (body.unwrap_or(unsigned), 16) } else { (unsigned, 10) };
    let end = body.find(|sign: char| !sign.is_digit(radix)).unwrap_or(body.len());
    if end == 0 && body.len() == unsigned.len() {
        return Err(piece.fault("a number is expected"));
    }
    let magnitude = if end == 0 { Some(0) } else { i64::from_str_radix(&body[..end], radix).ok() };
    match (magnitude, text.starts_with('-')) {
        (Some(number), false) => Ok(number as u64),
        (Some(number), true) => Ok((number as u64).wrapping_neg()),
        (None, false) => Err(piece.fault("too large")),
        (None, true) => Ok(i64::MIN as u64),
    }
}

/// The whole number that a switch is given as.
fn integer(piece: TextPiece<'_>) -> Result<u64, Fault> {
    let text = piece.text.trim_start();
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let hex = unsigned.starts_with("0x") || unsigned.starts_with("0X");
    let end = if hex {
        piece.text.len()
    } else {
        let begin = piece.text.len() - unsigned.len();
        begin + unsigned.bytes().take_while(u8::is_ascii_digit).count()
    };
    digits(piece.part(0, end))
}

/// The factor of a text that begins with a unit, in any case, whatever follows it.
fn size_factor(unit: &str, kb_base: u64) -> u64 {
    let end = unit.find([':', '-', ',', '/']).unwrap_or(unit.len());
    let unit = unit[..end].to_ascii_lowercase();
    let Some(power) = unit.chars().next().and_then(|letter| "kmgtp".find(letter)) else { return 1 };
    let base: u64 = match (unit[1..].starts_with("ib"), kb_base) {
        (false, base) => base,
        (true, 1024) => 1000,
        (true, _) => 1024,
    };
    base.pow(power as u32 + 1)
}

/// What several results come to: the option fails only if all of its pieces do.
pub(super) fn any_good<T>(results: &[Result<T, Fault>], whole: TextPiece<'_>) -> Result<(), Fault> {
    if results.iter().any(Result::is_ok) {
        return Ok(());
    }
    let first = results.iter().find_map(|result| result.as_ref().err());
    Err(first.cloned().unwrap_or_else(|| whole.fault("a value is expected")))
}
