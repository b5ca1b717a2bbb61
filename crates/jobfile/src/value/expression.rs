//! Arithmetic in parentheses: `(2*1k)`, `(10k)k`, `(1.5s)`.
//!
//! The grammar serves both readings of values. Loosest first: `+ -`, unit suffixes, `* /`, `^` (from the right), `%`,
//! unary minus. In ferrio's reading, which is here, integers stay integers, and nothing is cut or wraps. The same
//! evaluator, without suffixes, serves lines that use `$ncpus` and the like.

use super::error::{TextPiece, ValueError, leading_digits};

/// A number within an expression.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Number {
    /// Whole.
    Whole(i128),
    /// A number with a fraction.
    Real(f64),
}

/// The result of an expression.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct ExpressionResult {
    /// The number.
    pub(crate) number: Number,
    /// Whether the expression has a suffix: the number is in bytes or µs, not in the option's own unit.
    pub(crate) suffixed: bool,
}

/// The arithmetic of one reading.
pub(super) trait Arithmetic {
    /// The number that `rest` begins with, and its length in bytes.
    fn literal(&self, rest: TextPiece<'_>) -> Result<(Number, usize), ValueError>;

    /// `left` in units of `suffix`.
    fn suffix(&self, left: Number, suffix: TextPiece<'_>) -> Result<Number, ValueError>;

    /// The result of an operator, one of `+ - * / ^ %`, or the reason why there is none.
    fn apply(&self, sign: char, left: Number, right: Number) -> Result<Number, &'static str>;

    /// Whether `%` binds no more tightly than `*`.
    fn remainder_is_loose(&self) -> bool {
        false
    }
}

/// Evaluates the whole of `piece`; `unit` returns the factor of a suffix, `None` if there is no such suffix.
pub(crate) fn evaluate(
    piece: TextPiece<'_>,
    unit: &dyn Fn(&str) -> Option<u64>,
) -> Result<ExpressionResult, ValueError> {
    run(piece, &Exact { unit })
}

impl Number {
    /// The number as a whole one, if it is one.
    pub(crate) fn whole(self) -> Option<i128> {
        match self {
            Number::Whole(number) => Some(number),
            Number::Real(number) if number.fract() == 0.0 && number.abs() < 1e18 => Some(number as i128),
            Number::Real(_) => None,
        }
    }

    /// The number as a decimal one.
    pub(crate) fn real(self) -> f64 {
        match self {
            Number::Whole(number) => number as f64,
            Number::Real(number) => number,
        }
    }
}

/// Exact arithmetic; what cannot be computed exactly is an error.
struct Exact<'a> {
    unit: &'a dyn Fn(&str) -> Option<u64>,
}

impl Arithmetic for Exact<'_> {
    fn literal(&self, rest: TextPiece<'_>) -> Result<(Number, usize), ValueError> {
        if let Some(digits) = rest.text.strip_prefix("0x").or_else(|| rest.text.strip_prefix("0X")) {
            let length = digits.bytes().take_while(u8::is_ascii_hexdigit).count();
            let text = rest.part(0, 2 + length);
            let number =
                i64::from_str_radix(&digits[..length], 16).map_err(|_| text.error("not a number"))?;
            return Ok((Number::Whole(number.into()), 2 + length));
        }
        let length = decimal_prefix(rest.text).len();
        let text = rest.part(0, length);
        let number = if leading_digits(text.text) == text.text {
            text.text.parse::<i64>().ok().map(|number| Number::Whole(number.into()))
        } else {
            text.text.parse().ok().filter(|number: &f64| number.is_finite()).map(Number::Real)
        };
        Ok((number.ok_or_else(|| text.error("not a number, or too large"))?, length))
    }

    fn suffix(&self, left: Number, suffix: TextPiece<'_>) -> Result<Number, ValueError> {
        let factor = (self.unit)(&suffix.text.to_ascii_lowercase());
        let factor = factor.ok_or_else(|| suffix.error("unknown suffix"))?;
        self.apply('*', left, Number::Whole(factor.into())).map_err(|why| suffix.error(why))
    }

    fn apply(&self, sign: char, left: Number, right: Number) -> Result<Number, &'static str> {
        const LARGE: &str = "the result is too large";
        if matches!(sign, '/' | '%') && right.real() == 0.0 {
            return Err("division by zero");
        }
        match (left, right) {
            (Number::Whole(left), Number::Whole(right)) if sign != '^' || right >= 0 => {
                let result = match sign {
                    '+' => left.checked_add(right),
                    '-' => left.checked_sub(right),
                    '*' => left.checked_mul(right),
                    '/' => left.checked_div(right),
                    '%' => left.checked_rem(right),
                    _ => u32::try_from(right).ok().and_then(|right| left.checked_pow(right)),
                };
                // Well below the limit, so that the sign of any result can be changed.
                result.filter(|result| result.abs() < 1 << 100).map(Number::Whole).ok_or(LARGE)
            }
            _ => {
                let result = apply_to_reals(sign, left.real(), right.real());
                if result.is_finite() { Ok(Number::Real(result)) } else { Err(LARGE) }
            }
        }
    }
}

/// The result of an operator in floating point.
pub(super) fn apply_to_reals(sign: char, left: f64, right: f64) -> f64 {
    match sign {
        '+' => left + right,
        '-' => left - right,
        '*' => left * right,
        '/' => left / right,
        '%' => left % right,
        _ => left.powf(right),
    }
}

/// The decimal number that C's conversions would read at the beginning of a text, blanks before it included.
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
    // An `e` is an exponent only with digits after it.
    if matches!(bytes.get(end), Some(b'e' | b'E')) && digits(sign(end + 1)) > sign(end + 1) {
        end = digits(sign(end + 1));
    }
    &text[..end]
}

/// Maximum nesting of operators.
const MAX_DEPTH: usize = 64;

/// Precedence of a suffix: between `+` and `*`.
const SUFFIX: u8 = 3;

/// Evaluates the whole of `piece`.
pub(super) fn run(
    piece: TextPiece<'_>,
    arithmetic: &impl Arithmetic,
) -> Result<ExpressionResult, ValueError> {
    let mut parser = ExpressionParser { piece, at: 0, arithmetic, suffixed: false, depth: 0 };
    let number = parser.expression(0)?;
    parser.blanks();
    if parser.at < piece.text.len() {
        return Err(parser.error("an operator is expected here"));
    }
    Ok(ExpressionResult { number, suffixed: parser.suffixed })
}

struct ExpressionParser<'a, A> {
    piece: TextPiece<'a>,
    at: usize,
    arithmetic: &'a A,
    suffixed: bool,
    depth: usize,
}

impl<A: Arithmetic> ExpressionParser<'_, A> {
    /// Reads operators that bind at least as tightly as `least`.
    fn expression(&mut self, least: u8) -> Result<Number, ValueError> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(self.error("too deeply nested"));
        }
        let mut left = self.operand()?;
        loop {
            self.blanks();
            let Some(sign) = self.peek() else { break };
            if sign.is_ascii_alphabetic() {
                if SUFFIX < least {
                    break;
                }
                left = self.suffix(left)?;
                continue;
            }
            // The precedence of the operator, and the lowest precedence of operators on its right side; the operators of one level are
            // applied from the left if that is higher.
            let (binds, right) = match sign {
                '+' | '-' => (1, 2),
                '*' | '/' => (4, 5),
                '%' if self.arithmetic.remainder_is_loose() => (4, 5),
                '^' => (6, 6),
                '%' => (7, 8),
                _ => break,
            };
            if binds < least {
                break;
            }
            let operator = self.piece.part(self.at, self.at + 1);
            self.at += 1;
            let right = self.expression(right)?;
            left = self.arithmetic.apply(sign, left, right).map_err(|why| operator.error(why))?;
        }
        self.depth -= 1;
        Ok(left)
    }

    fn operand(&mut self) -> Result<Number, ValueError> {
        self.blanks();
        match self.peek() {
            Some('(') => {
                self.at += 1;
                let inner = self.expression(0)?;
                self.blanks();
                if self.peek() != Some(')') {
                    return Err(self.error("`)` is expected here"));
                }
                self.at += 1;
                Ok(inner)
            }
            Some('-') => {
                self.at += 1;
                match self.expression(9)? {
                    Number::Real(number) => Ok(Number::Real(-number)),
                    whole => {
                        let difference = self.arithmetic.apply('-', Number::Whole(0), whole);
                        difference.map_err(|why| self.error(why))
                    }
                }
            }
            Some(digit) if digit.is_ascii_digit() || digit == '.' => {
                let rest = self.piece.part(self.at, self.piece.text.len());
                let (number, length) = self.arithmetic.literal(rest)?;
                self.at += length;
                Ok(number)
            }
            _ => Err(self.error("a number is expected here")),
        }
    }

    fn suffix(&mut self, left: Number) -> Result<Number, ValueError> {
        let length = self.piece.text[self.at..].bytes().take_while(u8::is_ascii_alphabetic).count();
        let number = self.arithmetic.suffix(left, self.piece.part(self.at, self.at + length))?;
        self.at += length;
        self.suffixed = true;
        Ok(number)
    }

    fn blanks(&mut self) {
        self.at += self.piece.text[self.at..].bytes().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    }

    fn peek(&self) -> Option<char> {
        self.piece.text[self.at..].chars().next()
    }

    /// A error at the next character.
    fn error(&self, label: &str) -> ValueError {
        let length = self.peek().map_or(0, char::len_utf8);
        self.piece.part(self.at, self.at + length).error(label)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::number::size_factor;

    fn eval(text: &str) -> Result<Number, String> {
        let unit = |suffix: &str| size_factor(suffix, 1024);
        evaluate(TextPiece::whole(text), &unit)
            .map(|outcome| outcome.number)
            .map_err(|error| error.label.into_string())
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
            assert_eq!(eval(text), Ok(Number::Whole(want)), "{text}");
        }
    }

    #[test]
    fn a_fraction_times_a_suffix_is_not_cut_first() {
        assert_eq!(eval("(2.5k)").map(Number::whole), Ok(Some(2560)));
        assert_eq!(eval("(1e3)").map(Number::whole), Ok(Some(1000)));
        assert_eq!(eval("(1.3)").map(Number::whole), Ok(None));
    }

    #[test]
    fn nonsense_is_refused_at_its_place() {
        for (text, at, why) in [
            ("(1+", 3, "a number is expected here"),
            ("()", 1, "a number is expected here"),
            ("(2**3)", 3, "a number is expected here"),
            ("(2/0)", 2, "division by zero"),
            ("(4foo)", 2, "unknown suffix"),
            ("(1)2", 3, "an operator is expected here"),
            ("(9999^99)", 5, "the result is too large"),
        ] {
            let error = evaluate(TextPiece::whole(text), &|suffix| size_factor(suffix, 1024)).unwrap_err();
            assert_eq!((error.start, &*error.label), (at, why), "{text}");
        }
    }

    #[test]
    fn deep_nesting_is_an_error_and_not_a_crash() {
        assert_eq!(eval(&"(".repeat(100_000)), Err("too deeply nested".to_owned()));
        assert_eq!(eval(&format!("({})", "-".repeat(100_000))), Err("too deeply nested".to_owned()));
    }
}
