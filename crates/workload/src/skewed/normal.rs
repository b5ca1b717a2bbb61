//! The normal law: the mean of twelve draws, with a deviation of its own added if one is asked for.

use super::remainder::Remainder;
use crate::random::T88;

/// Ranks around the middle of `n` things.
#[derive(Clone, Debug)]
pub(super) struct Normal {
    n: u64,
    /// Draws count modulo `n + 1`.
    each: Remainder,
    /// Width of the deviation, 0 for none.
    width: u64,
}

impl Normal {
    /// `deviation` is in percent of `n`.
    pub(super) fn new(deviation: f64, n: u64) -> Self {
        let width = (n as f64 * deviation / 100.0).ceil() as u64;
        Normal { n, each: Remainder::new(n + 1), width: width.min(n / 2) }
    }

    #[inline]
    pub(super) fn rank(&self, draws: &mut T88) -> u64 {
        let sum: u64 = (0..12).map(|_| self.each.of(u64::from(draws.draw()))).sum();
        let mean = sum.div_ceil(12);
        if self.width == 0 {
            return mean;
        }
        let away = (u128::from(self.width) * u128::from(draws.draw())) >> 32;
        let mut away = away as i64 - (self.width / 2) as i64;
        // A mean of `n` stays outside however little is added.
        while away != 0 && mean.wrapping_add_signed(away) >= self.n {
            away /= 2;
        }
        mean.wrapping_add_signed(away)
    }
}

/// How far all ranks are moved for their middle to lie at `center`: `n * (center - 0.5)` modulo `n`.
pub(super) fn shift(center: Option<f64>, n: u64) -> u64 {
    center.map_or(0, |center| (n as f64 * (center - 0.5)) as i64).rem_euclid(n as i64) as u64
}
