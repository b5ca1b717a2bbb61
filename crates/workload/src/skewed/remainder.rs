//! Remainders of a division by a number known beforehand, with a multiplication in place of the division.

/// Divides by `n`, 1..=2^63.
#[derive(Clone, Copy, Debug)]
pub(super) struct Remainder {
    n: u64,
    /// 2^64 / n, rounded down to where the quotient is right or one too small.
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
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn remainders_are_those_of_a_division(n in 1u64..=1 << 63, shift in 0u32..63, x: u64, near in -2i64..3) {
            let n = (n >> shift).max(1);
            let remainder = Remainder::new(n);
            let multiple = (x - x % n).wrapping_add_signed(near);
            for x in [x, multiple, u64::MAX, 0] {
                prop_assert_eq!(remainder.of(x), x % n, "{} % {}", x, n);
            }
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
