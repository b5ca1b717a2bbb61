//! Arithmetic as fio does it: literals of 32 bits, division by zero without effect, suffixes that ignore `kb_base`. And
//! the arithmetic of `bc`, for lines with `$ncpus` and the like.

use crate::value::error::{TextPiece, ValueError};
use crate::value::expression::{Arithmetic, ExpressionResult, Number, apply_to_reals, decimal_prefix, run};

/// Most bytes of an expression that fio reads.
const MAX_EXPRESSION_BYTES: usize = 4096;

/// Evaluates a piece up to its first `,`, `:` or `#`; in a time `m` is a minute. The result is modulo 2^64, or 2^32
/// without a suffix; also says whether there is one.
pub(super) fn evaluate(piece: TextPiece<'_>, time: bool) -> Result<(u64, bool), ValueError> {
    let piece = piece.part(0, end(piece, |sign| matches!(sign, ',' | ':' | '#')));
    let ExpressionResult { number, suffixed } =
        run(piece, if time { &FioArithmetic::Time } else { &FioArithmetic::Size })?;
    let whole = truncated(number);
    Ok((if suffixed { whole } else { i64::from(whole as i32) } as u64, suffixed))
}

/// Evaluates a piece up to its first `,` or `#` as a decimal number: a fraction times a suffix keeps its fraction.
pub(super) fn decimal(piece: TextPiece<'_>) -> Result<f64, ValueError> {
    let end = end(piece, |sign| matches!(sign, ',' | '#'));
    run(piece.part(0, end), &FioArithmetic::Decimal).map(|outcome| outcome.number.real())
}

/// The end of the expression in a piece, at most at the longest length.
fn end(piece: TextPiece<'_>, ends: impl Fn(char) -> bool) -> usize {
    let mut signs = piece.text.char_indices();
    signs.find(|&(at, sign)| ends(sign) || at >= MAX_EXPRESSION_BYTES).map_or(piece.text.len(), |(at, _)| at)
}

/// The output of `bc` for a text; whole numbers divide to whole numbers.
pub(crate) fn bc(text: &str) -> Result<String, ValueError> {
    Ok(match run(TextPiece::whole(text), &FioArithmetic::Bc)?.number {
        Number::Whole(number) => number.to_string(),
        Number::Real(number) => number.to_string(),
    })
}

/// Kinds of arithmetic. Whole numbers have 64 bits in all of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FioArithmetic {
    Size,
    Time,
    Decimal,
    Bc,
}

/// The whole part of a number.
fn truncated(number: Number) -> i64 {
    match number {
        Number::Whole(number) => number as i64,
        Number::Real(number) => number as i64,
    }
}

impl Arithmetic for FioArithmetic {
    fn literal(&self, rest: TextPiece<'_>) -> Result<(Number, usize), ValueError> {
        if let Some(hex) = rest.text.strip_prefix("0x").filter(|_| *self != FioArithmetic::Bc) {
            let length = hex.bytes().take_while(u8::is_ascii_hexdigit).count();
            let number = u128::from_str_radix(&hex[..length], 16)
                .map_err(|_| rest.part(0, 2 + length).error("not a number"))?;
            return Ok((Number::Whole((number as i32).into()), 2 + length));
        }
        let text = decimal_prefix(rest.text);
        let number = match text.parse::<u128>() {
            Ok(number) if *self == FioArithmetic::Bc => {
                i64::try_from(number).ok().map(|number| Number::Whole(number.into()))
            }
            Ok(number) => Some(Number::Whole((number as i32).into())),
            Err(_) => text.parse().ok().map(Number::Real),
        };
        let number = number.ok_or_else(|| rest.part(0, text.len()).error("not a number"))?;
        Ok((number, text.len()))
    }

    fn suffix(&self, left: Number, suffix: TextPiece<'_>) -> Result<Number, ValueError> {
        let factor: i64 = match suffix.text.to_ascii_lowercase().as_str() {
            _ if *self == FioArithmetic::Bc => return Err(suffix.error("an operator is expected here")),
            "m" if *self == FioArithmetic::Time => 60_000_000,
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
            _ => return Err(suffix.error("unknown suffix")),
        };
        Ok(match left {
            Number::Real(number) if *self == FioArithmetic::Decimal => Number::Real(number * factor as f64),
            // The fraction is dropped first.
            other => Number::Whole(truncated(other).wrapping_mul(factor).into()),
        })
    }

    /// Only `bc` fails: elsewhere, large numbers wrap, and a division by zero leaves the left side.
    fn apply(&self, sign: char, left: Number, right: Number) -> Result<Number, &'static str> {
        let divides_by_zero = matches!(sign, '/' | '%') && right.real() == 0.0;
        if *self == FioArithmetic::Bc && divides_by_zero {
            return Err("division by zero");
        }
        let (Number::Whole(_), Number::Whole(_)) = (left, right) else {
            let (left, right) = (left.real(), right.real());
            return Ok(Number::Real(if divides_by_zero { left } else { apply_to_reals(sign, left, right) }));
        };
        let (left, right) = (truncated(left), truncated(right));
        let result = match sign {
            _ if divides_by_zero => left,
            '+' => left.wrapping_add(right),
            '-' => left.wrapping_sub(right),
            '*' => left.wrapping_mul(right),
            '/' => left.wrapping_div(right),
            '%' => left.wrapping_rem(right),
            _ => u32::try_from(right).map_or(0, |right| left.wrapping_pow(right)),
        };
        Ok(Number::Whole(result.into()))
    }

    fn remainder_is_loose(&self) -> bool {
        *self == FioArithmetic::Bc
    }
}
