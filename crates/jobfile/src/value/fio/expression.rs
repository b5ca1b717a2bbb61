//! Arithmetic as fio does it: literals of 32 bits, division by zero without effect, suffixes that know no
//! `kb_base`; and the arithmetic of `bc` for lines with `$ncpus` and the like.

use super::super::fault::{Fault, Piece};

/// A number on its way through an expression.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Number {
    Whole(i64),
    Real(f64),
}

/// What an expression came to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Outcome {
    pub(super) number: Number,
    /// Whether a suffix took part.
    pub(super) suffixed: bool,
}

impl Outcome {
    /// Modulo 2^64; without a suffix only 32 bits are left.
    pub(super) fn whole(self) -> u64 {
        let whole = self.number.whole();
        (if self.suffixed { whole } else { i64::from(whole as i32) }) as u64
    }
}

impl Number {
    fn whole(self) -> i64 {
        match self {
            Number::Whole(number) => number,
            Number::Real(number) => number as i64,
        }
    }

    pub(super) fn real(self) -> f64 {
        match self {
            Number::Whole(number) => number as f64,
            Number::Real(number) => number,
        }
    }
}

/// How deep operators may nest.
const DEPTH: usize = 64;

/// No expression is longer.
const LONGEST: usize = 4096;

/// Evaluates a piece up to its first `,`, `:` or `#`; in a time `m` is a minute.
pub(super) fn evaluate(piece: Piece<'_>, time: bool) -> Result<Outcome, Fault> {
    let end = end(piece, |sign| matches!(sign, ',' | ':' | '#'));
    run(piece.part(0, end), if time { Dialect::Time } else { Dialect::Size })
}

/// The same for a decimal number, where a fraction times a suffix keeps its fraction.
pub(super) fn decimal(piece: Piece<'_>) -> Result<f64, Fault> {
    let end = end(piece, |sign| matches!(sign, ',' | '#'));
    run(piece.part(0, end), Dialect::Decimal).map(|outcome| outcome.number.real())
}

/// Where the expression in a piece ends; of a piece that is too long for one the beginning is looked at.
fn end(piece: Piece<'_>, ends: impl Fn(char) -> bool) -> usize {
    let mut signs = piece.text.char_indices();
    signs.find(|&(at, sign)| ends(sign) || at >= LONGEST).map_or(piece.text.len(), |(at, _)| at)
}

/// What `bc` prints for a text; whole numbers divide to whole numbers.
pub(crate) fn bc(text: &str) -> Result<String, Fault> {
    Ok(match run(Piece::whole(text), Dialect::Bc)?.number {
        Number::Whole(number) => number.to_string(),
        Number::Real(number) => number.to_string(),
    })
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Dialect {
    Size,
    Time,
    Decimal,
    Bc,
}

fn run(piece: Piece<'_>, dialect: Dialect) -> Result<Outcome, Fault> {
    let mut parser = Parser { piece, at: 0, dialect, suffixed: false, depth: 0 };
    let number = parser.expression(0)?;
    parser.blanks();
    if parser.at < piece.text.len() {
        return Err(parser.fault("an operator is expected here"));
    }
    Ok(Outcome { number, suffixed: parser.suffixed })
}

struct Parser<'a> {
    piece: Piece<'a>,
    at: usize,
    dialect: Dialect,
    suffixed: bool,
    depth: usize,
}

impl Parser<'_> {
    /// Reads operators that bind at least as tightly as `least`.
    fn expression(&mut self, least: u8) -> Result<Number, Fault> {
        self.depth += 1;
        if self.depth > DEPTH {
            return Err(self.fault("too deeply nested"));
        }
        let mut left = self.operand()?;
        loop {
            self.blanks();
            let Some(sign) = self.peek() else { break };
            if sign.is_ascii_alphabetic() {
                if least > 3 {
                    break;
                }
                left = self.suffix(left)?;
                continue;
            }
            let (binds, right) = match sign {
                '+' | '-' => (1, 2),
                '*' | '/' => (4, 5),
                '%' if self.dialect == Dialect::Bc => (4, 5),
                '^' => (6, 6),
                '%' => (7, 8),
                _ => break,
            };
            if binds < least {
                break;
            }
            self.at += 1;
            let operand = self.expression(right)?;
            if self.dialect == Dialect::Bc && matches!(sign, '/' | '%') && operand.real() == 0.0 {
                return Err(self.fault("division by zero"));
            }
            left = apply(sign, left, operand);
        }
        self.depth -= 1;
        Ok(left)
    }

    fn operand(&mut self) -> Result<Number, Fault> {
        self.blanks();
        match self.peek() {
            Some('(') => {
                self.at += 1;
                let inner = self.expression(0)?;
                self.blanks();
                if self.peek() != Some(')') {
                    return Err(self.fault("`)` is expected here"));
                }
                self.at += 1;
                Ok(inner)
            }
            Some('-') => {
                self.at += 1;
                Ok(match self.expression(9)? {
                    Number::Whole(number) => Number::Whole(number.wrapping_neg()),
                    Number::Real(number) => Number::Real(-number),
                })
            }
            Some(digit) if digit.is_ascii_digit() || digit == '.' => self.literal(),
            _ => Err(self.fault("a number is expected here")),
        }
    }

    fn literal(&mut self) -> Result<Number, Fault> {
        let rest = &self.piece.text[self.at..];
        let begin = self.at;
        if let Some(hex) = rest.strip_prefix("0x").filter(|_| self.dialect != Dialect::Bc) {
            let length = hex.bytes().take_while(u8::is_ascii_hexdigit).count();
            self.at += 2 + length;
            let number = u128::from_str_radix(&hex[..length], 16);
            return number
                .map(|number| Number::Whole(i64::from(number as i32)))
                .map_err(|_| self.piece.part(begin, begin + 2 + length).fault("not a number"));
        }
        let text = super::decimal_prefix(rest);
        self.at += text.len();
        let number = match text.parse::<u128>() {
            Ok(number) if self.dialect == Dialect::Bc => i64::try_from(number).ok().map(Number::Whole),
            Ok(number) => Some(Number::Whole(i64::from(number as i32))),
            Err(_) => text.parse().ok().map(Number::Real),
        };
        number.ok_or_else(|| self.piece.part(begin, self.at).fault("not a number"))
    }

    fn suffix(&mut self, left: Number) -> Result<Number, Fault> {
        let length = self.piece.text[self.at..].bytes().take_while(u8::is_ascii_alphabetic).count();
        let suffix = self.piece.part(self.at, self.at + length);
        let factor: i64 = match suffix.text.to_ascii_lowercase().as_str() {
            _ if self.dialect == Dialect::Bc => return Err(suffix.fault("an operator is expected here")),
            "m" if self.dialect == Dialect::Time => 60_000_000,
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
        self.at += length;
        self.suffixed = true;
        Ok(match left {
            Number::Real(number) if self.dialect == Dialect::Decimal => Number::Real(number * factor as f64),
            // the fraction goes first
            other => Number::Whole(other.whole().wrapping_mul(factor)),
        })
    }

    fn blanks(&mut self) {
        self.at += self.piece.text[self.at..].bytes().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    }

    fn peek(&self) -> Option<char> {
        self.piece.text[self.at..].chars().next()
    }

    fn fault(&self, label: &str) -> Fault {
        let length = self.peek().map_or(0, char::len_utf8);
        self.piece.part(self.at, self.at + length).fault(label)
    }
}

/// Never fails: what is too large wraps, a division by zero leaves the left side.
fn apply(sign: char, left: Number, right: Number) -> Number {
    if let (Number::Whole(left), Number::Whole(right)) = (left, right) {
        return Number::Whole(match sign {
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
    Number::Real(match sign {
        '+' => left + right,
        '-' => left - right,
        '*' => left * right,
        '/' if right != 0.0 => left / right,
        '%' if right != 0.0 => left % right,
        '/' | '%' => left,
        _ => left.powf(right),
    })
}
