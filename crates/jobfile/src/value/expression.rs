//! Arithmetic in parentheses: `(2*1k)`, `(10k)k`, `(1.5s)`.
//!
//! Integers stay integers, and nothing is cut or wraps. The same evaluator, without suffixes, serves lines that use
//! `$ncpus` and the like.

use super::arithmetic::{self, Arithmetic};
use super::fault::{Fault, TextPiece};

/// A number on its way through an expression.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum ExactNumber {
    /// Whole.
    Whole(i128),
    /// With a fraction.
    Real(f64),
}

/// The result of an expression.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Evaluated {
    /// The number.
    pub(crate) number: ExactNumber,
    /// Whether a suffix took part, so that the number is in bytes (or µs) and no longer in the option's own
    /// unit.
    pub(crate) suffixed: bool,
}

/// Evaluates the whole of `piece`; `unit` gives the factor of a suffix, `None` if there is no such suffix.
pub(crate) fn evaluate(piece: TextPiece<'_>, unit: &dyn Fn(&str) -> Option<u64>) -> Result<Evaluated, Fault> {
    let (number, suffixed) = arithmetic::run(piece, &Exact { unit })?;
    Ok(Evaluated { number, suffixed })
}

impl ExactNumber {
    /// The number as a whole one, if it is one.
    pub(crate) fn whole(self) -> Option<i128> {
        match self {
            ExactNumber::Whole(number) => Some(number),
            ExactNumber::Real(number) if number.fract() == 0.0 && number.abs() < 1e18 => Some(number as i128),
            ExactNumber::Real(_) => None,
        }
    }

    /// The number as a decimal one.
    pub(crate) fn real(self) -> f64 {
        match self {
            ExactNumber::Whole(number) => number as f64,
            ExactNumber::Real(number) => number,
        }
    }
}

/// Exact arithmetic; what cannot be computed exactly is an error.
struct Exact<'a> {
    unit: &'a dyn Fn(&str) -> Option<u64>,
}

impl Arithmetic for Exact<'_> {
    type Number = ExactNumber;

    fn literal(&self, rest: TextPiece<'_>) -> Result<(ExactNumber, usize), Fault> {
        if let Some(digits) = rest.text.strip_prefix("0x").or_else(|| rest.text.strip_prefix("0X")) {
            let length = digits.bytes().take_while(u8::is_ascii_hexdigit).count();
            let text = rest.part(0, 2 + length);
            let number =
                i64::from_str_radix(&digits[..length], 16).map_err(|_| text.fault("not a number"))?;
            return Ok((ExactNumber::Whole(number.into()), 2 + length));
        }
        let bytes = rest.text.as_bytes();
        let run = |from: usize| from + bytes[from..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        let mut length = run(0);
        let mut real = false;
        if bytes.get(length) == Some(&b'.') {
            (length, real) = (run(length + 1), true);
        }
        // an `e` is an exponent only with digits after it
        if matches!(bytes.get(length), Some(b'e' | b'E')) {
            let signed = length + 1 + usize::from(matches!(bytes.get(length + 1), Some(b'+' | b'-')));
            if run(signed) > signed {
                (length, real) = (run(signed), true);
            }
        }
        let text = rest.part(0, length);
        let number = if real {
            text.text.parse().ok().filter(|number: &f64| number.is_finite()).map(ExactNumber::Real)
        } else {
            text.text.parse::<i64>().ok().map(|number| ExactNumber::Whole(number.into()))
        };
        Ok((number.ok_or_else(|| text.fault("not a number, or too large"))?, length))
    }

    fn suffix(&self, left: ExactNumber, suffix: TextPiece<'_>) -> Result<ExactNumber, Fault> {
        let factor = (self.unit)(&suffix.text.to_ascii_lowercase());
        let factor = factor.ok_or_else(|| suffix.fault("unknown suffix"))?;
        apply('*', left, ExactNumber::Whole(factor.into())).map_err(|why| suffix.fault(why))
    }

    fn negate(&self, number: ExactNumber) -> ExactNumber {
        match number {
            ExactNumber::Whole(number) => ExactNumber::Whole(-number),
            ExactNumber::Real(number) => ExactNumber::Real(-number),
        }
    }

    fn apply(
        &self,
        place: TextPiece<'_>,
        sign: char,
        left: ExactNumber,
        right: ExactNumber,
    ) -> Result<ExactNumber, Fault> {
        apply(sign, left, right).map_err(|why| place.fault(why))
    }
}

fn apply(sign: char, left: ExactNumber, right: ExactNumber) -> Result<ExactNumber, &'static str> {
    const LARGE: &str = "the result is too large";
    if let (ExactNumber::Whole(left), ExactNumber::Whole(right)) = (left, right) {
        let result = match sign {
            '+' => left.checked_add(right),
            '-' => left.checked_sub(right),
            '*' => left.checked_mul(right),
            '/' | '%' if right == 0 => return Err("division by zero"),
            '/' => left.checked_div(right),
            '%' => left.checked_rem(right),
            _ if right < 0 => {
                return apply(sign, ExactNumber::Real(left as f64), ExactNumber::Real(right as f64));
            }
            _ => u32::try_from(right).ok().and_then(|right| left.checked_pow(right)),
        };
        // well below the limit, so that a sign can be turned without a check
        return result.filter(|result| result.abs() < 1 << 100).map(ExactNumber::Whole).ok_or(LARGE);
    }
    let (left, right) = (left.real(), right.real());
    let result = match sign {
        '+' => left + right,
        '-' => left - right,
        '*' => left * right,
        '/' | '%' if right == 0.0 => return Err("division by zero"),
        '/' => left / right,
        '%' => left % right,
        _ => left.powf(right),
    };
    if result.is_finite() { Ok(ExactNumber::Real(result)) } else { Err(LARGE) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::number::size_factor;

    fn eval(text: &str) -> Result<ExactNumber, String> {
        let unit = |suffix: &str| size_factor(suffix, 1024);
        evaluate(TextPiece::whole(text), &unit).map(|outcome| outcome.number).map_err(|fault| fault.label)
    }

    #[test]
    fn operators_bind_as_documented() {
        for (text, want) in [
            ("(2+3k)", 3074),
            ("(2*3k)", 6144),
            ("(2^3k)", 8192),
            ("(2*10%4)", 4),
            ("(2^3^2)", 512),
            ("((1+3) * 1k)", 4096),
            ("(10k)k", 10 << 20),
            ("(4kib)", 4000),
            ("(7/2*2)", 6),
            ("(0x10k)", 16384),
            ("(2^12+4k)", 8192),
            ("(8k-2k)", 6144),
            ("(-3+5)", 2),
            ("(10-2-3)", 5),
            ("(2k*3)", 6144),
        ] {
            assert_eq!(eval(text), Ok(ExactNumber::Whole(want)), "{text}");
        }
    }

    #[test]
    fn a_fraction_times_a_suffix_is_not_cut_first() {
        assert_eq!(eval("(2.5k)").map(ExactNumber::whole), Ok(Some(2560)));
        assert_eq!(eval("(1e3)").map(ExactNumber::whole), Ok(Some(1000)));
        assert_eq!(eval("(1.3)").map(ExactNumber::whole), Ok(None));
    }

    #[test]
    fn nonsense_is_refused_where_it_stands() {
        for (text, at, why) in [
            ("(1+", 3, "a number is expected here"),
            ("()", 1, "a number is expected here"),
            ("(2**3)", 3, "a number is expected here"),
            ("(2/0)", 2, "division by zero"),
            ("(4foo)", 2, "unknown suffix"),
            ("(1)2", 3, "an operator is expected here"),
            ("(9999^99)", 5, "the result is too large"),
        ] {
            let fault = evaluate(TextPiece::whole(text), &|suffix| size_factor(suffix, 1024)).unwrap_err();
            assert_eq!((fault.start, fault.label.as_str()), (at, why), "{text}");
        }
    }

    #[test]
    fn deep_nesting_is_an_error_and_not_a_crash() {
        assert_eq!(eval(&"(".repeat(100_000)), Err("too deeply nested".to_owned()));
        assert_eq!(eval(&format!("({})", "-".repeat(100_000))), Err("too deeply nested".to_owned()));
    }
}
