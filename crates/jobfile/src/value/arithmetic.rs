//! The grammar of arithmetic, whatever numbers are.
//!
//! Loosest first: `+ -`, unit suffixes, `* /`, `^` (from the right), `%`, unary minus.

use super::fault::{Fault, TextPiece};

/// What numbers are and how one reckons with them.
pub(super) trait Arithmetic {
    /// A number on its way through an expression.
    type Number: Copy;

    /// The number that `rest` begins with, and its length in bytes.
    fn literal(&self, rest: TextPiece<'_>) -> Result<(Self::Number, usize), Fault>;

    /// `left` with the unit `suffix` after it.
    fn suffix(&self, left: Self::Number, suffix: TextPiece<'_>) -> Result<Self::Number, Fault>;

    /// `number` with the other sign.
    fn negate(&self, number: Self::Number) -> Self::Number;

    /// What the operator at `place` makes of two numbers: one of `+ - * / ^ %`.
    fn apply(
        &self,
        place: TextPiece<'_>,
        sign: char,
        left: Self::Number,
        right: Self::Number,
    ) -> Result<Self::Number, Fault>;

    /// Whether `%` binds no more tightly than `*`.
    fn remainder_is_loose(&self) -> bool {
        false
    }
}

/// How many operators may nest.
const DEPTH: usize = 64;

/// How tightly a suffix binds: between `+` and `*`.
const SUFFIX: u8 = 3;

/// Evaluates the whole of `piece`; also says whether a suffix took part.
pub(super) fn run<A: Arithmetic>(piece: TextPiece<'_>, arithmetic: &A) -> Result<(A::Number, bool), Fault> {
    let mut parser = Parser { piece, at: 0, arithmetic, suffixed: false, depth: 0 };
    let number = parser.expression(0)?;
    parser.blanks();
    if parser.at < piece.text.len() {
        return Err(parser.fault("an operator is expected here"));
    }
    Ok((number, parser.suffixed))
}

struct Parser<'a, A> {
    piece: TextPiece<'a>,
    at: usize,
    arithmetic: &'a A,
    suffixed: bool,
    depth: usize,
}

impl<A: Arithmetic> Parser<'_, A> {
    /// Reads operators that bind at least as tightly as `least`.
    fn expression(&mut self, least: u8) -> Result<A::Number, Fault> {
        self.depth += 1;
        if self.depth > DEPTH {
            return Err(self.fault("too deeply nested"));
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
            // the second figure is what the right side must bind with: higher than the first joins from the
            // left
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
            left = self.arithmetic.apply(operator, sign, left, right)?;
        }
        self.depth -= 1;
        Ok(left)
    }

    fn operand(&mut self) -> Result<A::Number, Fault> {
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
                let number = self.expression(9)?;
                Ok(self.arithmetic.negate(number))
            }
            Some(digit) if digit.is_ascii_digit() || digit == '.' => {
                let rest = self.piece.part(self.at, self.piece.text.len());
                let (number, length) = self.arithmetic.literal(rest)?;
                self.at += length;
                Ok(number)
            }
            _ => Err(self.fault("a number is expected here")),
        }
    }

    fn suffix(&mut self, left: A::Number) -> Result<A::Number, Fault> {
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

    /// A fault of the next character.
    fn fault(&self, label: &str) -> Fault {
        let length = self.peek().map_or(0, char::len_utf8);
        self.piece.part(self.at, self.at + length).fault(label)
    }
}
