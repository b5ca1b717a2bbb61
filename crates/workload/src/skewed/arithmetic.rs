//! Powers and remainders without a call of `powf` and without a division.

use std::sync::LazyLock;

/// Table entries for each doubling.
const STEPS: usize = 1 << BITS;
const BITS: u32 = 7;
const FRACTION: u64 = (1 << 52) - 1;
/// Adding this to a double and subtracting it again rounds to a whole number, which is then in the low bits of the sum.
const TO_WHOLE: f64 = (1u64 << 52) as f64;
const TO_SIGNED: f64 = (3u64 << 51) as f64;

/// Stands for a number that the approximation does not decide; no decided product comes near it.
pub(super) const UNDECIDED: u64 = u64::MAX;

/// The constant tables.
static TABLES: LazyLock<PowerTables> = LazyLock::new(PowerTables::new);

/// `(scale * x.powf(exponent)) as u64` without the power, wherever an approximation decides it.
///
/// Only the whole part is needed, and an approximation good to 2^-43 or so has the same one unless it lies next to a whole number: then,
/// and for arguments out of the common range, the formula itself is left to the caller.
///
/// The error, relative to the true product and for exponents `y`: the binary logarithm of `x` is within 2^-46 (its sum with up to
/// 64 whole powers is rounded to 2^-47, the series ends within 2^-50, table and reduction add 2^-52), `y` times that is rounded by
/// 2^-47 more at most, the exponential adds 2^-49, all factors together 2^-51, and powf is wrong by 2^-52. That is less than
/// `(|y| + 1) * 2^-45`, of which four times as much is allowed for.
#[derive(Clone, Debug)]
pub(super) struct Power {
    scale: f64,
    exponent: f64,
    /// Relative distance from a whole number below which nothing is decided.
    margin: f64,
    tables: &'static PowerTables,
}

#[derive(Debug)]
struct PowerTables {
    /// For each step of the mantissa a factor that brings it close to 1, and the negative logarithm of the factor.
    logarithms: [(f64, f64); STEPS],
    /// The bits of 2^(step / steps).
    powers: [u64; STEPS],
}

impl PowerTables {
    fn new() -> Self {
        let logarithms = std::array::from_fn(|step| {
            let factor = 1.0 / (1.0 + (step as f64 + 0.5) / STEPS as f64);
            (factor, -factor.log2())
        });
        let powers = std::array::from_fn(|step| (step as f64 / STEPS as f64).exp2().to_bits());
        PowerTables { logarithms, powers }
    }
}

impl Power {
    pub(super) fn new(scale: f64, exponent: f64) -> Self {
        let margin = (exponent.abs() + 1.0) / (1u64 << 43) as f64;
        Power { scale, exponent, margin, tables: &TABLES }
    }

    /// The whole part of `scale * x.powf(exponent)`, or [`UNDECIDED`]. No branches, so that several are computed at once.
    #[inline(always)]
    pub(super) fn whole(&self, x: f64) -> u64 {
        let log = self.log2(x);
        let power = log * self.exponent;
        let product = self.scale * self.exp2(power);
        let sum = product + TO_WHOLE;
        let nearest = sum - TO_WHOLE;
        let whole = (sum.to_bits() & FRACTION).wrapping_sub(u64::from(product < nearest));
        // All false for NaN.
        let decided = ((product - nearest).abs() > product * self.margin)
            & (product < TO_WHOLE / 2.0)
            & (power.abs() < 64.0)
            & (log.abs() < 64.0)
            & (x >= f64::MIN_POSITIVE);
        if decided { whole } else { UNDECIDED }
    }

    /// The binary logarithm of a positive normal number.
    #[inline(always)]
    fn log2(&self, x: f64) -> f64 {
        use std::f64::consts::LOG2_E;
        let bits = x.to_bits();
        let (factor, log) = self.tables.logarithms[(bits >> (52 - BITS)) as usize % STEPS];
        let doublings = f64::from((bits >> 52) as i32 - 1023);
        let r = f64::from_bits(bits & FRACTION | 1023 << 52) * factor - 1.0;
        let square = r * r;
        // The series of log2(1 + r), |r| <= 2^-8.
        let head = LOG2_E - LOG2_E / 2.0 * r;
        let tail = LOG2_E / 3.0 - LOG2_E / 4.0 * r + LOG2_E / 5.0 * square;
        (doublings + log) + r * (head + square * tail)
    }

    /// 2^x for |x| < 64.
    #[inline(always)]
    fn exp2(&self, x: f64) -> f64 {
        use std::f64::consts::LN_2;
        let sum = x * STEPS as f64 + TO_SIGNED;
        let steps = sum.to_bits();
        // The series of exp(r), |r| <= ln(2) * 2^-8.
        let r = (x - (sum - TO_SIGNED) / STEPS as f64) * LN_2;
        let square = r * r;
        let series = (1.0 + r) + square * ((0.5 + r * (1.0 / 6.0)) + square * (1.0 / 24.0));
        let doublings = (steps >> BITS) << 52;
        f64::from_bits(self.tables.powers[steps as usize % STEPS].wrapping_add(doublings)) * series
    }
}

/// Remainders of a division by `n`, 1..=2^63, with a multiplication in place of the division.
#[derive(Clone, Copy, Debug)]
pub(super) struct Remainder {
    n: u64,
    /// 2^64 / n, rounded down so that the quotient is right or one too small.
    reciprocal: u64,
}

impl Remainder {
    pub(super) fn new(n: u64) -> Self {
        debug_assert!((1..=1 << 63).contains(&n));
        Remainder { n, reciprocal: u64::MAX / n }
    }

    /// `x % n`
    #[inline]
    pub(super) fn of(self, x: u64) -> u64 {
        let quotient = ((u128::from(x) * u128::from(self.reciprocal)) >> 64) as u64;
        let rest = x - quotient * self.n;
        if rest >= self.n { rest - self.n } else { rest }
    }

    /// `x * y % n`, whatever the size of the product.
    #[inline]
    pub(super) fn of_product(self, x: u64, y: u64) -> u64 {
        match x.checked_mul(y) {
            Some(product) => self.of(product),
            None => (u128::from(x) * u128::from(y) % u128::from(self.n)) as u64,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// An approximation as far from the formula as a tenth of the margin is a flaw even where it decides right.
    #[test]
    fn approximations_keep_well_within_their_margin() {
        for exponent in [-5.0, 10.0, 0.7, -0.01, 3.375, -100.0, 1000.0, -1e6] {
            let power = Power::new(1.0, exponent);
            for step in 1..40_000 {
                let x = (f64::from(step) / 9973.0).powi(if exponent.abs() < 12.0 { 3 } else { 1 });
                let expected = x.powf(exponent);
                let log = power.log2(x);
                if (log * exponent).abs() < 64.0 {
                    let got = power.exp2(log * exponent);
                    let error = (got / expected - 1.0).abs();
                    assert!(error < power.margin / 4.0, "{x}^{exponent}: off by {error:e}");
                }
            }
        }
    }

    #[test]
    fn common_arguments_are_decided_and_others_are_not() {
        let power = Power::new(65536.0, -5.0);
        assert_eq!(power.whole(1.5), (65536.0 * 1.5f64.powf(-5.0)) as u64);
        for x in [0.0, -1.0, f64::NAN, f64::INFINITY, 1.0, 2.0, 1e-300, f64::MIN_POSITIVE / 2.0] {
            assert_eq!(power.whole(x), UNDECIDED, "{x}");
        }
        assert_eq!(Power::new(1e18, 2.0).whole(0.999), UNDECIDED);
        assert_eq!(Power::new(65536.0, f64::INFINITY).whole(1.5), UNDECIDED);
        let undecided = (1..100_000).filter(|&i| power.whole(1.0 + f64::from(i) / 40_000.0) == UNDECIDED);
        assert!(undecided.count() < 10);
    }

    proptest! {
        #[test]
        fn what_is_decided_is_what_the_formula_says(
            scale in 1.0f64..1e12, exponent in -200.0f64..200.0, x in 0.0f64..4.0, near in 0u64..1 << 20, away in -3i64..4,
        ) {
            let power = Power::new(scale.floor(), exponent);
            let formula = |x: f64| (power.scale * x.powf(exponent)) as u64;
            // Any number, and one that is next to a step of the formula.
            let step = (near as f64 / power.scale).powf(1.0 / exponent);
            for x in [x, step, f64::from_bits(step.to_bits().wrapping_add_signed(away)), step * (1.0 + away as f64 * 1e-12)] {
                let whole = power.whole(x);
                if whole != UNDECIDED {
                    prop_assert_eq!(whole, formula(x), "{} * {}^{}", power.scale, x, exponent);
                }
            }
        }
    }

    proptest! {
        #[test]
        fn remainders_are_those_of_a_division(n in 1u64..=1 << 63, shift in 0u32..63, x: u64, near in -2i64..3) {
            let n = (n >> shift).max(1);
            let remainder = Remainder::new(n);
            let multiple = (x - x % n).wrapping_add_signed(near);
            for x in [x, multiple, u64::MAX, 0] {
                prop_assert_eq!(remainder.of(x), x % n, "{} % {}", x, n);
            }
            let product = u128::from(x) * u128::from(multiple) % u128::from(n);
            prop_assert_eq!(u128::from(remainder.of_product(x, multiple)), product, "{} * {} % {}", x, multiple, n);
        }
    }

    #[test]
    fn powers_of_two_leave_their_low_bits() {
        for bit in 0..64 {
            let remainder = Remainder::new(1 << bit);
            for x in [0, 1, u64::MAX, 1 << 63, 1 << bit, (1u64 << bit).wrapping_mul(3)] {
                assert_eq!(remainder.of(x), x % (1 << bit));
            }
        }
    }
}
