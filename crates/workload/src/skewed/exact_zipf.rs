//! Ranks exactly by Zipf's law: rank `k` is chosen in proportion to `1 / (k + 1)^theta`.
//!
//! The method is rejection-inversion (Hörmann and Derflinger, "Rejection-inversion to generate variates from monotone discrete
//! distributions", 1996): invert the integral of `x^-theta` at a random height, round, and in the few cases where the
//! rounded number may be chosen too often draw again. It needs no table and no sum, whatever the number of ranks.

use ferrio_job::greatest_common_divisor;

use crate::random::{BATCH, Tausworthe32};

/// The golden ratio minus 1.
const GOLDEN: f64 = 0.618_033_988_749_894_9;

/// Zipf's distribution of `n` ranks.
#[derive(Clone, Debug)]
pub(super) struct ExactZipf {
    theta: f64,
    n: u64,
    /// The integral at the start of the first rank; its width is 1, the weight of this rank.
    first: f64,
    /// The integral at the end of the last rank.
    last: f64,
    /// A number that was rounded up by no more than this is never chosen too often.
    always: f64,
}

impl ExactZipf {
    /// `theta` is at least 0, `n` at least 1.
    pub(super) fn new(theta: f64, n: u64) -> Self {
        let first = integral(theta, 1.5) - 1.0;
        let last = integral(theta, n as f64 + 0.5);
        let always = 2.0 - inverse(theta, integral(theta, 2.5) - weight(theta, 2.0));
        ExactZipf { theta, n, first, last, always }
    }

    /// Fills `ranks` with the next ranks; returns the state of the draws after them.
    #[inline(never)]
    pub(super) fn fill(&self, ranks: &mut [u64; BATCH], mut draws: Tausworthe32) -> Tausworthe32 {
        ranks.fill_with(|| self.rank(&mut draws));
        draws
    }

    /// The next rank, below `n`. Takes two draws, and two more for each rejected number.
    #[inline]
    pub(super) fn rank(&self, draws: &mut Tausworthe32) -> u64 {
        loop {
            let height = self.last + unit(draws) * (self.first - self.last);
            let x = inverse(self.theta, height);
            let nearest = (x.round() as u64).clamp(1, self.n);
            let k = nearest as f64;
            if k - x <= self.always || height >= integral(self.theta, k + 0.5) - weight(self.theta, k) {
                return nearest - 1;
            }
        }
    }
}

/// The weight of number `x`, counted from 1.
fn weight(theta: f64, x: f64) -> f64 {
    (-theta * x.ln()).exp()
}

/// The integral of the weight from 1 to `x`: `(x^(1 - theta) - 1) / (1 - theta)`, and the logarithm for a theta of 1.
fn integral(theta: f64, x: f64) -> f64 {
    let log = x.ln();
    let power = (1.0 - theta) * log;
    // Also accurate near a theta of 1, where the quotient loses all digits.
    if power == 0.0 { log } else { power.exp_m1() / power * log }
}

/// The position at which the integral has this height.
fn inverse(theta: f64, height: f64) -> f64 {
    // Rounding may lead just beyond the limit of the integral.
    let power = ((1.0 - theta) * height).max(-1.0);
    let log = if power == 0.0 { height } else { power.ln_1p() / power * height };
    log.exp()
}

/// A number in 0..=1 with 53 random bits.
#[inline]
fn unit(draws: &mut Tausworthe32) -> f64 {
    ((wide(draws) >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
}

/// A number below `n`.
pub(super) fn draw_below(draws: &mut Tausworthe32, n: u64) -> u64 {
    ((u128::from(wide(draws)) * u128::from(n)) >> 64) as u64
}

#[inline]
fn wide(draws: &mut Tausworthe32) -> u64 {
    let high = u64::from(draws.draw());
    high << 32 | u64::from(draws.draw())
}

/// A step that visits each of `n` places, 1..=2^63, before it returns to the first: about `n` divided by the golden ratio, so that any
/// number of steps in a row are spread over the places.
pub(super) fn coprime_step(n: u64) -> u64 {
    let from = ((n as f64 * GOLDEN) as u64).max(1);
    (from..).find(|&step| greatest_common_divisor(step, n) == 1).unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Sum of the squared distances from the law, each in units of its variance.
    fn chi_square(theta: f64, n: u64, draws: u32) -> f64 {
        let zipf = ExactZipf::new(theta, n);
        let mut random = Tausworthe32::new(0x89);
        let mut hits = vec![0_u32; n as usize];
        (0..draws).for_each(|_| hits[zipf.rank(&mut random) as usize] += 1);
        let weights: Vec<f64> = (1..=n).map(|k| (k as f64).powf(-theta)).collect();
        let all: f64 = weights.iter().sum();
        let expected = weights.iter().map(|weight| weight / all * f64::from(draws));
        hits.iter()
            .zip(expected)
            .map(|(&hits, expected)| (f64::from(hits) - expected).powi(2) / expected)
            .sum()
    }

    #[test]
    fn ranks_follow_the_law_for_every_theta() {
        for theta in [0.0, 0.2, 0.8, 0.999_999_999, 1.0, 1.000_000_001, 1.2, 2.0, 3.0] {
            for n in [1, 2, 3, 7, 20] {
                // The mean is n - 1, the variance twice that.
                let (found, mean) = (chi_square(theta, n, 200_000), (n - 1) as f64);
                let limit = mean + 5.0 * (2.0 * mean).sqrt();
                assert!(
                    found <= limit.max(0.001),
                    "theta {theta}, {n} ranks: {found:.1}, at most {limit:.1}"
                );
            }
        }
    }

    proptest! {
        #[test]
        fn any_theta_and_any_number_of_ranks_give_a_rank(
            theta in prop_oneof![0.0f64..5.0, 0.0f64..1e3, Just(1.0), Just(1e308), Just(f64::MIN_POSITIVE)],
            shift in 0u32..63, n in 1u64..=1 << 63, seed: u64,
        ) {
            let n = (n >> shift).max(1);
            let zipf = ExactZipf::new(theta, n);
            let mut random = Tausworthe32::new(seed);
            prop_assert!((0..100).all(|_| zipf.rank(&mut random) < n));
            prop_assert!(draw_below(&mut random, n) < n);
        }

        #[test]
        fn a_step_visits_every_place(n in 1u64..3000) {
            let step = coprime_step(n);
            let mut seen = vec![false; n as usize];
            (0..n).for_each(|k| seen[(k * step % n) as usize] = true);
            prop_assert!(seen.into_iter().all(|seen| seen));
        }
    }
}
