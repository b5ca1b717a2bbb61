//! Arithmetic as fio does it: literals of 32 bits, division by zero without effect, suffixes that know no
//! `kb_base`; and the arithmetic of `bc` for lines with `$ncpus` and the like.

use crate::value::arithmetic::{self, Arithmetic};
use crate::value::fault::{Fault, TextPiece};

/// A number on its way through an expression.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum FioNumber {
    Whole(i64),
    Real(f64),
}

/// The result of an expression.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct FioEvaluated {
    pub(super) number: FioNumber,
    /// Whether a suffix took part.
    pub(super) suffixed: bool,
}

impl FioEvaluated {
    /// Modulo 2^64; without a suffix only 32 bits are left.
    pub(super) fn whole(self) -> u64 {
        let whole = self.number.whole();
        (if self.suffixed { whole } else { i64::from(whole as i32) }) as u64
    }
}

impl FioNumber {
    fn whole(self) -> i64 {
        match self {
            FioNumber::Whole(number) => number,
            FioNumber::Real(number) => number as i64,
        }
    }

    pub(super) fn real(self) -> f64 {
        match self {
            FioNumber::Whole(number) => number as f64,
            FioNumber::Real(number) => number,
        }
    }
}

/// No expression is longer.
const LONGEST: usize = 4096;

/// Evaluates a piece up to its first `,`, `:` or `#`; in a time `m` is a minute.
pub(super) fn evaluate(piece: TextPiece<'_>, time: bool) -> Result<FioEvaluated, Fault> {
    let end = end(piece, |sign| matches!(sign, ',' | ':' | '#'));
    run(piece.part(0, end), if time { Dialect::Time } else { Dialect::Size })
}

/// The same for a decimal number, where a fraction times a suffix keeps its fraction.
pub(super) fn decimal(piece: TextPiece<'_>) -> Result<f64, Fault> {
    let end = end(piece, |sign| matches!(sign, ',' | '#'));
    run(piece.part(0, end), Dialect::Decimal).map(|outcome| outcome.number.real())
}

/// Where the expression in a piece ends; of a piece that is too long for one the beginning is looked at.
fn end(piece: TextPiece<'_>, ends: impl Fn(char) -> bool) -> usize {
    let mut signs = piece.text.char_indices();
    signs.find(|&(at, sign)| ends(sign) || at >= LONGEST).map_or(piece.text.len(), |(at, _)| at)
}

/// What `bc` prints for a text; whole numbers divide to whole numbers.
pub(crate) fn bc(text: &str) -> Result<String, Fault> {
    Ok(match run(TextPiece::whole(text), Dialect::Bc)?.number {
        FioNumber::Whole(number) => number.to_string(),
        FioNumber::Real(number) => number.to_string(),
    })
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Dialect {
    Size,
    Time,
    Decimal,
    Bc,
}

fn run(piece: TextPiece<'_>, dialect: Dialect) -> Result<FioEvaluated, Fault> {
    let (number, suffixed) = arithmetic::run(piece, &dialect)?;
    Ok(FioEvaluated { number, suffixed })
}

impl Arithmetic for Dialect {
    type Number = FioNumber;

    fn literal(&self, rest: TextPiece<'_>) -> Result<(FioNumber, usize), Fault> {
        if let Some(hex) = rest.text.strip_prefix("0x").filter(|_| *self != Dialect::Bc) {
            let length = hex.bytes().take_while(u8::is_ascii_hexdigit).count();
            let number = u128::from_str_radix(&hex[..length], 16)
                .map_err(|_| rest.part(0, 2 + length).fault("not a number"))?;
            return Ok((FioNumber::Whole(i64::from(number as i32)), 2 + length));
        }
        let text = decimal_prefix(rest.text);
        let number = match text.parse::<u128>() {
            Ok(number) if *self == Dialect::Bc => i64::try_from(number).ok().map(FioNumber::Whole),
            Ok(number) => Some(FioNumber::Whole(i64::from(number as i32))),
            Err(_) => text.parse().ok().map(FioNumber::Real),
        };
        let number = number.ok_or_else(|| rest.part(0, text.len()).fault("not a number"))?;
        Ok((number, text.len()))
    }

    fn suffix(&self, left: FioNumber, suffix: TextPiece<'_>) -> Result<FioNumber, Fault> {
        let factor: i64 = match suffix.text.to_ascii_lowercase().as_str() {
            _ if *self == Dialect::Bc => return Err(suffix.fault("an operator is expected here")),
            "m" if *self == Dialect::Time => 60_000_000,
            "k" | "kb" => 1 << 10,
            "m" | "mb" => 1 << 20,
            "g" | "gb" => 1 << 30,
            "t" | "tb" => 1 << 40,
            "p" | "pb" => 1 << 50,
            "kib" => 1_000,
            "mib" => 1_000_000,
            "gib" => 1_000_000_000,
            "pib" => 1_000_000_000_000,
            "us" => 1,
            "ms" => 1_000,
            "s" => 1_000_000,
            "h" => 3_600_000_000,
            "d" => 86_400_000_000,
            _ => return Err(suffix.fault("unknown suffix")),
        };
        Ok(match left {
            FioNumber::Real(number) if *self == Dialect::Decimal => FioNumber::Real(number * factor as f64),
            // the fraction goes first
            other => FioNumber::Whole(other.whole().wrapping_mul(factor)),
        })
    }

    fn negate(&self, number: FioNumber) -> FioNumber {
        match number {
            FioNumber::Whole(number) => FioNumber::Whole(number.wrapping_neg()),
            FioNumber::Real(number) => FioNumber::Real(-number),
        }
    }

    fn apply(
        &self,
        place: TextPiece<'_>,
        sign: char,
        left: FioNumber,
        right: FioNumber,
    ) -> Result<FioNumber, Fault> {
        if *self == Dialect::Bc && matches!(sign, '/' | '%') && right.real() == 0.0 {
            return Err(place.fault("division by zero"));
        }
        Ok(apply(sign, left, right))
    }

    fn remainder_is_loose(&self) -> bool {
        *self == Dialect::Bc
    }
}

/// Never fails: what is too large wraps, a division by zero leaves the left side.
fn apply(sign: char, left: FioNumber, right: FioNumber) -> FioNumber {
    if let (FioNumber::Whole(left), FioNumber::Whole(right)) = (left, right) {
        return FioNumber::Whole(match sign {
            '+' => left.wrapping_add(right),
            '-' => left.wrapping_sub(right),
            '*' => left.wrapping_mul(right),
            '/' if right != 0 => left.wrapping_div(right),
            '%' if right != 0 => left.wrapping_rem(right),
            '/' | '%' => left,
            _ => u32::try_from(right).map_or(0, |right| left.wrapping_pow(right)),
        });
    }
    let (left, right) = (left.real(), right.real());
    FioNumber::Real(match sign {
        '+' => left + right,
        '-' => left - right,
        '*' => left * right,
        '/' if right != 0.0 => left / right,
        '%' if right != 0.0 => left % right,
        '/' | '%' => left,
        _ => left.powf(right),
    })
}

/// The digits, sign and point that C's conversions would take from the beginning of a text, blanks before them
/// included.
pub(super) fn decimal_prefix(text: &str) -> &str {
    let start = text.len() - text.trim_start().len();
    let bytes = text.as_bytes();
    let digits = |from: usize| {
        from + bytes.get(from..).unwrap_or_default().iter().take_while(|byte| byte.is_ascii_digit()).count()
    };
    let sign = |at: usize| at + usize::from(matches!(bytes.get(at), Some(b'+' | b'-')));
    let mut end = digits(sign(start));
    if bytes.get(end) == Some(&b'.') {
        end = digits(end + 1);
    }
    if matches!(bytes.get(end), Some(b'e' | b'E')) && digits(sign(end + 1)) > sign(end + 1) {
        end = digits(sign(end + 1));
    }
    &text[..end]
}
