//! Whole numbers, sizes, times and switches as fio reads them: invalid parts are skipped, cut or wrapped.

use super::expression;
use crate::catalogue::{Multi, Opt, OptionRow, ValueKind, ValueUnit};
use crate::value::error::{TextPiece, ValueError, leading_digits};
use crate::value::model::{Amount, Value};

/// Reads the numbers of one row.
#[derive(Debug, Clone, Copy)]
pub(super) struct FioNumberReader {
    /// The option's row.
    pub(super) row: &'static OptionRow,
    /// The value of the suffix `k`: 1024 or 1000.
    pub(super) kb_base: u64,
}

/// Most bytes of a number that count.
const MAX_NUMBER_BYTES: usize = 127;

impl FioNumberReader {
    /// The value of a row of kind int, size or time.
    pub(super) fn value(self, text: &str) -> Result<Value, ValueError> {
        if self.row.multi != Multi::No {
            let most = self.row.multi.directions();
            let pieces = pieces(text);
            let given = pieces.len();
            let is_negative = pieces.last().is_some_and(|piece| piece.text.starts_with('-'));
            let mut directions = spread(text, pieces, most, |piece| self.limited(piece))?;
            // A direction that takes the value of the one before it takes it without its sign.
            if is_negative && matches!(self.row.kind, ValueKind::Size | ValueKind::Int) {
                let inherited = directions.iter_mut().skip(given).flatten();
                inherited.for_each(|number| *number = self.unsigned(*number));
            }
            return Ok(Value::Directions(directions));
        }
        Ok(match (self.one(text, |piece| self.limited(piece))?, self.row.kind) {
            (None, _) => Value::Nothing,
            (Some(number), ValueKind::Time) => Value::Time(number),
            (Some(number), ValueKind::Size) => Value::Size(number),
            (Some(number), _) => Value::Int(number as i64),
        })
    }

    /// A flag or a bool: a whole number and any text after it.
    pub(super) fn switch(self, text: &str) -> Result<Value, ValueError> {
        let switched = self.one(text, |piece| {
            let number = integer(piece)? as i32;
            if self.row.kind == ValueKind::Bool && number > 1 {
                return Err(piece
                    .error("the maximum is 1")
                    .in_fio(format!("max value out of range: {number} (1 max)")));
            }
            Ok(number != 0)
        })?;
        // Any value switches `exitall` on.
        Ok(switched.map_or(Value::Nothing, |on| Value::Switch(on || self.row.opt == Opt::Exitall)))
    }

    /// A size, a percentage or a number of zones; percentages are the numbers next to 2^64. A dash at the beginning separates too: the
    /// number after it counts, but an offset is the percentage that the first piece is.
    pub(super) fn amount(self, text: &str) -> Result<Value, ValueError> {
        let unsigned =
            text.strip_prefix('-').filter(|rest| rest.starts_with(|sign: char| sign.is_ascii_digit()));
        if let Some(percent @ 2..=101) = unsigned.and_then(|number| number.parse::<u8>().ok())
            && self.row.opt == Opt::Offset
        {
            return Ok(Value::Amount(Amount::Percent(percent - 1)));
        }
        let amount = self.one(unsigned.unwrap_or(text), |piece| {
            if let Some(zones) = piece.text.strip_suffix('z') {
                let zones = zones.parse().ok().filter(|_| zones.bytes().all(|byte| byte.is_ascii_digit()));
                return zones.map(Amount::Zones).ok_or_else(|| piece.error("unexpected zone value"));
            }
            let number = self.limited(piece)?;
            match u8::try_from(u64::MAX - number) {
                Ok(percent) if percent <= 100 => Ok(Amount::Percent(percent)),
                // Only this option has a limit.
                Ok(_) if self.row.opt == Opt::IoSize => Err(piece
                    .error("more than 100%")
                    .in_fio("fio: io_size values greater than 100% aren't supported")),
                _ => Ok(Amount::Bytes(number)),
            }
        })?;
        Ok(amount.map_or(Value::Nothing, Value::Amount))
    }

    /// The first and the last piece, in order.
    pub(super) fn bounds(self, text: &str) -> Result<Value, ValueError> {
        let bounds = pieces(text).into_iter().map(|piece| self.limited(piece));
        let good: Vec<u64> = any_good(bounds, text)?.into_iter().flatten().collect();
        let (low, high) = (good[0], good[good.len() - 1]);
        Ok(Value::Range(low.min(high), low.max(high)))
    }

    /// `low-high` or `low:high`, up to three of them by comma.
    pub(super) fn ranges(self, text: &str) -> Result<Value, ValueError> {
        let list = TextPiece::whole(text).split(',').collect();
        let ranges = spread(text, list, 3, |piece| {
            let separator = piece.text.char_indices().find(|&(at, sign)| matches!(sign, '-' | ':') && at > 0);
            let Some((at, _)) = separator else { return Err(piece.error("two bounds are expected")) };
            let low = self.number(piece)?;
            let high = self.number(piece.part(at + 1, piece.text.len()))?;
            Ok((low.min(high), low.max(high)))
        })?;
        // A bound of 0 is the same as none.
        Ok(Value::Ranges(ranges.map(|range| range.filter(|&(low, _)| low > 0))))
    }

    /// The piece that counts if the option has one value; `None` if it is bad and another one is good.
    fn one<T>(
        self,
        text: &str,
        read: impl Fn(TextPiece<'_>) -> Result<T, ValueError>,
    ) -> Result<Option<T>, ValueError> {
        let mut good = any_good(pieces(text).into_iter().map(read), text)?.into_iter();
        Ok(if self.last_counts() { good.flatten().last() } else { good.next().flatten() })
    }

    /// Whether fio assigns the pieces one after the other, so that the last one counts.
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

    /// A number within the row's limits as far as fio checks them.
    fn limited(self, piece: TextPiece<'_>) -> Result<u64, ValueError> {
        if matches!(self.row.kind, ValueKind::Time | ValueKind::TimeRange) {
            return self.time(piece);
        }
        let number = self.number(piece)?;
        // Checked before the upper bits are lost.
        if self.row.opt == Opt::ReplayAlign && !number.is_power_of_two() {
            return Err(piece
                .error("must be a power of 2")
                .in_fio(format!("{}: must be a power-of-2", self.row.name)));
        }
        if self.is_narrow() { self.narrow(number, piece) } else { self.wide(number, piece) }
    }

    /// A number without its sign, which is in the highest bit of as many as the option has.
    fn unsigned(self, number: u64) -> u64 {
        if self.is_narrow() {
            (number as i32).unsigned_abs().into()
        } else {
            number.cast_signed().unsigned_abs()
        }
    }

    fn is_narrow(self) -> bool {
        self.row.max.is_some_and(|max| max <= u32::MAX.into())
    }

    /// An option of 32 bits: the upper bits are lost, and a number that is then negative is below any maximum.
    fn narrow(self, number: u64, piece: TextPiece<'_>) -> Result<u64, ValueError> {
        let low = number as u32;
        let signed = i128::from(low as i32);
        if let Some(min) = self.row.min.filter(|&min| signed < min) {
            return Err(self.too_small(piece, low.into(), min));
        }
        let Some(max) = self.row.max.filter(|&max| i128::from(low) > max) else { return Ok(low.into()) };
        match self.row.min {
            _ if signed >= 0 => {
                let fio = format!("{}: max value out of range: {low} ({max} max)", self.row.name);
                Err(piece.error(format!("the maximum is {max}")).in_fio(fio))
            }
            Some(min) if min < 0 => Ok(signed as i64 as u64),
            // A share above the whole is the whole.
            _ => Ok(max as u64),
        }
    }

    fn wide(self, number: u64, piece: TextPiece<'_>) -> Result<u64, ValueError> {
        match self.row.min {
            Some(min) if i128::from(number) < min => Err(self.too_small(piece, number, min)),
            _ => Ok(number),
        }
    }

    fn too_small(self, piece: TextPiece<'_>, number: u64, min: i128) -> ValueError {
        let fio = format!("{}: min value out of range: {number} ({min} min)", self.row.name);
        piece.error(format!("the minimum is {min}")).in_fio(fio)
    }

    fn no_zones(self, piece: TextPiece<'_>) -> ValueError {
        let fio = format!("{}: 'z' suffix isn't applicable", self.row.name);
        piece.error("`z` (zones) is not applicable to this option").in_fio(fio)
    }

    /// A number with its suffix applied, modulo 2^64.
    pub(super) fn number(self, piece: TextPiece<'_>) -> Result<u64, ValueError> {
        if piece.text.starts_with('(') {
            return expression::evaluate(piece, false).map(|(number, _)| number);
        }
        if piece.text.ends_with('z') {
            return Err(self.no_zones(piece));
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
    fn time(self, piece: TextPiece<'_>) -> Result<u64, ValueError> {
        let seconds = self.row.unit == ValueUnit::Seconds;
        let own = if seconds { 1_000_000 } else { 1 };
        let us = if piece.text.starts_with('(') {
            match expression::evaluate(piece, true)? {
                (number, false) => number.wrapping_mul(own),
                // An option in seconds keeps whole ones.
                (number, true) => number / own * own,
            }
        } else {
            if piece.text.ends_with('z') {
                return Err(self.no_zones(piece));
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
        Ok(if self.row.max == Some(u32::MAX.into()) { u64::from(us as u32) } else { us })
    }
}

/// The pieces of a value. Commas end pieces; after the last comma, colons begin further ones, and after the last
/// colon, dashes. Only commas cut: a piece at a colon or a dash extends to the end of the text.
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

/// The part of a number that fio reads.
fn cut(text: &str) -> &str {
    let end = (0..=text.len().min(MAX_NUMBER_BYTES)).rev().find(|&end| text.is_char_boundary(end));
    &text[..end.unwrap_or(0)]
}

/// The number at the beginning of a piece, hexadecimal if there is a `0x` anywhere in it.
fn digits(piece: TextPiece<'_>) -> Result<u64, ValueError> {
    let text = cut(piece.text);
    let hex = text.contains("0x") || text.contains("0X");
    let text = text.trim_start();
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let body = unsigned.strip_prefix("0x").or_else(|| unsigned.strip_prefix("0X"));
    let (body, radix) = if hex { (body.unwrap_or(unsigned), 16) } else { (unsigned, 10) };
    let end = body.find(|sign: char| !sign.is_digit(radix)).unwrap_or(body.len());
    if end == 0 && body.len() == unsigned.len() {
        return Err(piece.error("a number is expected"));
    }
    let magnitude = if end == 0 { Some(0) } else { i64::from_str_radix(&body[..end], radix).ok() };
    match (magnitude, text.starts_with('-')) {
        (Some(number), false) => Ok(number as u64),
        (Some(number), true) => Ok((number as u64).wrapping_neg()),
        (None, false) => Err(piece.error("too large")),
        (None, true) => Ok(i64::MIN as u64),
    }
}

/// The whole number of a switch.
fn integer(piece: TextPiece<'_>) -> Result<u64, ValueError> {
    let text = piece.text.trim_start();
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let hex = unsigned.starts_with("0x") || unsigned.starts_with("0X");
    let rest = if hex { 0 } else { unsigned.len() - leading_digits(unsigned).len() };
    digits(piece.part(0, piece.text.len() - rest))
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

/// Assigns pieces to directions: a bad piece leaves its direction alone, the last one also applies to the directions
/// after it, and pieces without a direction are dropped.
fn spread<T: Clone>(
    text: &str,
    pieces: Vec<TextPiece<'_>>,
    most: usize,
    read: impl Fn(TextPiece<'_>) -> Result<T, ValueError>,
) -> Result<[Option<T>; 3], ValueError> {
    let given = any_good(pieces.into_iter().take(most).map(read), text)?;
    Ok(std::array::from_fn(|at| given.get(at.min(given.len() - 1)).filter(|_| at < most).cloned().flatten()))
}

/// The results of the pieces of `text`, `None` for bad ones: the option fails only if all of its pieces do.
pub(super) fn any_good<T>(
    results: impl Iterator<Item = Result<T, ValueError>>,
    text: &str,
) -> Result<Vec<Option<T>>, ValueError> {
    let results: Vec<_> = results.collect();
    if results.iter().any(Result::is_ok) {
        return Ok(results.into_iter().map(Result::ok).collect());
    }
    let first = results.into_iter().find_map(Result::err);
    Err(first.unwrap_or_else(|| TextPiece::whole(text).error("a value is expected")))
}
