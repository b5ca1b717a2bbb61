//! Whole numbers, sizes and times: suffixes, limits, values per direction, ranges.
//!
//! Blanks around a number are allowed. Anything after it that is not a known suffix is refused: guessing the meaning of `10sec` or `1.5g`
//! has ruined measurements.

use super::error::{TextPiece, ValueError};
use super::expression::{self, ExpressionResult, Number};
use super::model::{Amount, Value};
use crate::catalogue::{Multi, Opt, OptionRow, ValueKind, ValueUnit};

/// Reads the numbers of one row.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NumberReader<'a> {
    /// The option's row.
    pub(crate) row: &'a OptionRow,
    /// The value of the suffix `k`: 1024 or 1000.
    pub(crate) kb_base: u64,
}

impl NumberReader<'_> {
    /// The value of a row of kind int, size or time.
    pub(crate) fn value(self, text: &str) -> Result<Value, ValueError> {
        if self.row.multi != Multi::No {
            let most = self.row.multi.directions();
            let values = fill(text, pieces(text, most), most, |piece| self.limited(piece).map(|n| n as u64));
            return values.map(Value::Directions);
        }
        let number = self.limited(self.single(text)?)?;
        Ok(match self.row.kind {
            ValueKind::Time => Value::Time(number as u64),
            ValueKind::Size => Value::Size(number as u64),
            _ => Value::Int(number),
        })
    }

    /// A flag or a bool.
    pub(crate) fn switch(self, text: &str) -> Result<Value, ValueError> {
        let piece = TextPiece::whole(text).trim();
        let number = match piece.text {
            "yes" | "true" | "on" | "no" | "false" | "off" => {
                return Err(piece.error("words are not accepted here").help("write 1 for on or 0 for off"));
            }
            word if word.starts_with(char::is_alphabetic) => {
                return Err(piece.error("a number is expected").help("write 1 for on or 0 for off"));
            }
            _ => self.number(piece)?,
        };
        if self.row.kind == ValueKind::Bool && number > 1 {
            let error = piece.error("the maximum is 1").code("out-of-range");
            return Err(error.help("write 1 for on or 0 for off"));
        }
        if number < 0 {
            return Err(piece.error("must not be negative"));
        }
        Ok(Value::Switch(number != 0))
    }

    /// A size, a percentage or a number of zones.
    pub(crate) fn amount(self, text: &str) -> Result<Value, ValueError> {
        let piece = self.single(text)?;
        let amount = if let Some(digits) = piece.text.strip_suffix('%') {
            let percent = piece.part(0, digits.len());
            match percent.text.parse::<u8>() {
                Ok(number) if number <= 100 => Amount::Percent(number),
                _ => return Err(piece.error("a percentage is a whole number from 0 to 100")),
            }
        } else if let Some(digits) = piece.text.strip_suffix('z') {
            match digits.parse::<u64>() {
                Ok(zones) if !digits.starts_with('+') => Amount::Zones(zones),
                _ => return Err(piece.error("a whole number is expected before `z`")),
            }
        } else {
            Amount::Bytes(self.limited(piece)? as u64)
        };
        Ok(Value::Amount(amount))
    }

    /// One value or `low-high`, in bytes or µs; the bounds are put in order.
    pub(crate) fn bounds(self, text: &str) -> Result<Value, ValueError> {
        let pieces = pieces(text, 2);
        if let [_, _, extra, ..] = pieces[..] {
            return Err(extra.error("at most two values are allowed"));
        }
        let bounds = pieces.into_iter().map(|piece| self.limited(piece.trim()).map(|bound| bound as u64));
        let bounds: Vec<u64> = bounds.collect::<Result<_, _>>()?;
        let (low, high) = (bounds[0], bounds[bounds.len() - 1]);
        Ok(Value::Range(low.min(high), low.max(high)))
    }

    /// `low-high` or `low:high`, up to three of them by comma.
    pub(crate) fn ranges(self, text: &str) -> Result<Value, ValueError> {
        let list = pieces_by_comma(text, 3);
        let ranges = fill(text, list, 3, |piece| {
            let Some(at) = separator(piece.text, |sign, first| sign == ':' || sign == '-' && !first) else {
                return Err(piece
                    .error("two bounds are expected")
                    .help("write `low-high`, for example `4k-64k`"));
            };
            let low = self.limited(piece.part(0, at).trim())? as u64;
            let high = self.limited(piece.part(at + 1, piece.text.len()).trim())? as u64;
            match (low.min(high), low.max(high)) {
                (0, _) => Err(piece.error("a block must have at least 1 byte")),
                bounds => Ok(bounds),
            }
        })?;
        Ok(Value::Ranges(ranges))
    }

    /// A number within the row's limits, in bytes, µs or as it is.
    pub(crate) fn limited(self, piece: TextPiece<'_>) -> Result<i64, ValueError> {
        let number = self.number(piece)?;
        // Limits of times are in the option's own unit.
        let scale = i128::from(self.own_unit());
        let (min, max) = (self.row.min.unwrap_or(0), self.row.max.unwrap_or(i64::MAX.into()));
        if i128::from(number) < min * scale {
            let label = match self.row.min {
                None => "must not be negative".to_owned(),
                Some(min) => format!("the minimum is {min}"),
            };
            return Err(piece.error(label).code("out-of-range"));
        }
        if i128::from(number) > max * scale {
            return Err(piece.error(format!("the maximum is {max}")).code("out-of-range"));
        }
        if self.row.opt == Opt::ReplayAlign && number != 0 && !(number as u64).is_power_of_two() {
            return Err(piece.error("must be a power of 2"));
        }
        Ok(number)
    }

    /// A number with its suffix applied, without regard to limits.
    pub(crate) fn number(self, piece: TextPiece<'_>) -> Result<i64, ValueError> {
        let piece = piece.trim();
        let outcome = if piece.text.starts_with('(') {
            expression::evaluate(piece, &|suffix| self.factor(suffix))?
        } else {
            self.literal(piece)?
        };
        let own = if outcome.suffixed { 1 } else { self.own_unit() };
        let number = match outcome.number {
            Number::Whole(number) => number.checked_mul(own.into()),
            Number::Real(number) => {
                let scaled = Number::Real(number * own as f64).whole();
                Some(scaled.ok_or_else(|| piece.error("the result is not a whole number"))?)
            }
        };
        let number = number.and_then(|number| i64::try_from(number).ok());
        number.ok_or_else(|| piece.error("too large").help("the largest number is 9223372036854775807"))
    }

    /// Digits and a suffix. A fraction of zero changes nothing: programs whose numbers are all floating point write `32.0`.
    fn literal(self, piece: TextPiece<'_>) -> Result<ExpressionResult, ValueError> {
        let text = piece.text;
        let signed = usize::from(text.starts_with(['-', '+']));
        let hex = text[signed..].starts_with("0x") || text[signed..].starts_with("0X");
        let start = signed + if hex { 2 } else { 0 };
        let is_digit = |byte: &u8| if hex { byte.is_ascii_hexdigit() } else { byte.is_ascii_digit() };
        let end = start + text[start..].bytes().take_while(|byte| is_digit(byte)).count();
        if end == start {
            return Err(piece.error("a number is expected").code("not-a-number"));
        }
        let magnitude = i128::from_str_radix(&text[start..end], if hex { 16 } else { 10 });
        let magnitude = magnitude.ok().filter(|&number| number <= i64::MAX.into());
        let magnitude = magnitude.ok_or_else(|| piece.error("too large"))?;
        let number = if text.starts_with('-') { -magnitude } else { magnitude };

        let end = end + if hex { 0 } else { zero_fraction(&text[end..]) };
        let rest = piece.part(end, text.len());
        let suffix = if self.is_time() { rest.trim() } else { rest };
        if suffix.text.is_empty() {
            return Ok(ExpressionResult { number: Number::Whole(number), suffixed: false });
        }
        if suffix.text.starts_with('.') {
            let help = format!("whole numbers only; an expression may have fractions: `({text})`");
            return Err(suffix.error("fractions are not allowed here").help(help));
        }
        let factor = self.factor(&suffix.text.to_ascii_lowercase());
        let factor = factor.ok_or_else(|| self.unknown_suffix(suffix))?;
        let number = number.checked_mul(factor.into()).ok_or_else(|| piece.error("too large"))?;
        Ok(ExpressionResult { number: Number::Whole(number), suffixed: true })
    }

    fn unknown_suffix(self, suffix: TextPiece<'_>) -> ValueError {
        let error = |why: &str| suffix.error(why).code("unknown-suffix");
        if self.is_time() {
            return error("unknown time suffix")
                .help("suffixes are d, h, m, s, ms, us, msec and usec, one per value");
        }
        match suffix.text {
            "z" => return error("`z` (zones) is not applicable to this option"),
            "%" => return error("a percentage is not applicable to this option"),
            _ => {}
        }
        let is_time_suffix = time_factor(&suffix.text.to_ascii_lowercase()).is_some();
        match self.row.unit.text().filter(|_| self.row.unit.is_time() && is_time_suffix) {
            Some(unit) => error("no time suffixes here")
                .help(format!("this option counts {unit}; write the number only")),
            None => error("unknown suffix")
                .help("suffixes are k, m, g, t and p, also as kb, mb ... and kib, mib ..."),
        }
    }

    /// The only piece of a value that is a single number.
    fn single<'t>(self, text: &'t str) -> Result<TextPiece<'t>, ValueError> {
        match pieces(text, 1)[..] {
            [piece] => Ok(piece.trim()),
            _ => Err(TextPiece::whole(text).trim().error("one number is expected")),
        }
    }

    /// The factor of a lower-case suffix.
    fn factor(self, suffix: &str) -> Option<u64> {
        match self.row.unit {
            _ if self.is_time() => time_factor(suffix),
            ValueUnit::Bytes | ValueUnit::BytesPerSecond if suffix == "b" => Some(1),
            _ => size_factor(suffix, self.kb_base),
        }
    }

    /// Whether values are in microseconds.
    fn is_time(self) -> bool {
        matches!(self.row.kind, ValueKind::Time | ValueKind::TimeRange)
    }

    /// The unit of a number without a suffix, in microseconds if the option is a time.
    fn own_unit(self) -> u64 {
        match self.row.unit {
            ValueUnit::Seconds if self.is_time() => 1_000_000,
            ValueUnit::Milliseconds if self.is_time() => 1_000,
            _ => 1,
        }
    }
}

/// The factor of a lower-case size suffix. With a base of 1024, `k` is 1024 and `kib` 1000, with 1000 the other way
/// round; `ki` is always 1024.
#[must_use]
pub fn size_factor(suffix: &str, kb_base: u64) -> Option<u64> {
    let (letter, tail) = suffix.split_at_checked(1)?;
    let power = "kmgtp".find(letter)? as u32 + 1;
    let base = match tail {
        "" | "b" => kb_base,
        "i" => 1024,
        "ib" if kb_base == 1024 => 1000,
        "ib" => 1024,
        _ => return None,
    };
    base.checked_pow(power)
}

/// Microseconds of a lower-case time suffix.
pub fn time_factor(suffix: &str) -> Option<u64> {
    Some(match suffix {
        "d" => 86_400_000_000,
        "h" => 3_600_000_000,
        "m" => 60_000_000,
        "s" => 1_000_000,
        "ms" | "msec" => 1_000,
        "us" | "usec" => 1,
        _ => return None,
    })
}

/// Splits at the next `,`, without one at the next `:`, else at the next `-` that does not begin the rest; never
/// inside parentheses. At most `most` pieces and the rest.
pub(crate) fn pieces(text: &str, most: usize) -> Vec<TextPiece<'_>> {
    split(text, most, |rest| {
        separator(rest, |sign, _| sign == ',')
            .or_else(|| separator(rest, |sign, _| sign == ':'))
            .or_else(|| separator(rest, |sign, first| sign == '-' && !first))
    })
}

/// Splits at commas outside parentheses into at most `most` pieces and the rest.
pub(crate) fn pieces_by_comma(text: &str, most: usize) -> Vec<TextPiece<'_>> {
    split(text, most, |rest| separator(rest, |sign, _| sign == ','))
}

fn split(text: &str, most: usize, next: impl Fn(&str) -> Option<usize>) -> Vec<TextPiece<'_>> {
    let mut list = Vec::new();
    let mut rest = TextPiece::whole(text);
    while let Some(at) = next(rest.text).filter(|_| list.len() < most) {
        list.push(rest.part(0, at));
        rest = rest.part(at + 1, rest.text.len());
    }
    list.push(rest);
    list
}

/// Assigns pieces to directions: an empty piece leaves its direction alone, and the last one also applies to the
/// directions after it.
pub(crate) fn fill<T: Clone>(
    text: &str,
    pieces: Vec<TextPiece<'_>>,
    most: usize,
    read: impl Fn(TextPiece<'_>) -> Result<T, ValueError>,
) -> Result<[Option<T>; 3], ValueError> {
    if let Some(extra) = pieces.get(most).filter(|extra| !extra.text.is_empty()) {
        return Err(extra.error(if most == 2 {
            "two values (read, write) are possible"
        } else {
            "three values (read, write, trim) are possible"
        }));
    }
    let mut values = [None, None, None];
    let mut last = None;
    for (at, value) in values.iter_mut().enumerate().take(most) {
        if let Some(piece) = pieces.get(at) {
            let piece = piece.trim();
            last = if piece.text.is_empty() { None } else { Some(read(piece)?) };
        }
        *value = last.clone();
    }
    if values.iter().all(Option::is_none) {
        return Err(TextPiece::whole(text).error("no direction has a value"));
    }
    Ok(values)
}

/// Byte offset of the first separator outside parentheses. `wanted` receives the character and whether it is the
/// first one.
fn separator(text: &str, wanted: impl Fn(char, bool) -> bool) -> Option<usize> {
    let mut depth = 0_usize;
    let mut first = true;
    for (at, sign) in text.char_indices() {
        match sign {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ if depth == 0 && wanted(sign, first) => return Some(at),
            _ => {}
        }
        first &= sign.is_whitespace();
    }
    None
}

/// Bytes of the point and the zeros that a text begins with; 0 if another digit follows.
fn zero_fraction(text: &str) -> usize {
    let Some(digits) = text.strip_prefix('.') else { return 0 };
    let zeros = digits.bytes().take_while(|&byte| byte == b'0').count();
    let is_zero = zeros > 0 && !digits[zeros..].starts_with(|next: char| next.is_ascii_digit());
    if is_zero { 1 + zeros } else { 0 }
}
