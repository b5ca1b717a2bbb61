//! Choices among `n` things of which a few are chosen often: zipf, pareto and normal, for offsets and for files.
//!
//! A distribution gives a rank; under zipf and pareto rank 0 is the most popular one. For offsets a hash turns the rank into a place, so
//! that popular blocks are spread over the file. The arithmetic is fio's: doubles, in the same order.
//!
//! fio's zipf is an approximation, and its hash puts several ranks on one place and none on others. `zipf_exact` has neither fault:
//! its ranks follow the law, and each has a place of its own.

mod arithmetic;
mod exact_zipf;
mod shapes;
#[cfg(test)]
mod tests;

use ferrio_job::{Skew, SkewShape};

use crate::random::{BATCH, Tausworthe32};
use arithmetic::Remainder;
use exact_zipf::{ExactZipf, coprime_step, draw_below};
use shapes::{Normal, Pareto, Zipf, normal_shift};

/// Spreads neighbouring ranks over all 64-bit numbers.
const SPREAD: u64 = 0x61C8_8646_80B5_83EB;

/// Skewed choices among the numbers below `n`.
#[derive(Clone, Debug)]
pub struct SkewedChoice {
    ranks: RankDistribution,
    draws: Tausworthe32,
    /// Added to every rank, hashed or not.
    shift: u64,
    places: RankPlaces,
    below: Remainder,
}

/// A distribution with everything that can be computed in advance.
#[derive(Clone, Debug)]
enum RankDistribution {
    Zipf(Zipf),
    ZipfExact(ExactZipf),
    Pareto(Pareto),
    Normal(Normal),
}

/// The mapping from ranks to places.
#[derive(Clone, Copy, Debug)]
enum RankPlaces {
    /// The rank times this number, modulo 2^64. With 1, neighbouring ranks are adjacent; with [`SPREAD`], they are spread over all places
    /// like with fio's hash, and several may share a place.
    Times(u64),
    /// Spread over all places, each rank this many places after the previous one: each has its own.
    Apart(u64),
}

impl SkewedChoice {
    /// Choices among `n` things, at least 1, from the low 32 bits of `seed`. Neighbouring ranks stay neighbours unless they are `hashed`.
    ///
    /// The first zipf of many things sums 10^7 terms, once for all.
    #[must_use]
    pub fn new(skew: &Skew, n: u64, seed: u64, hashed: bool) -> Self {
        debug_assert!(n > 0);
        let mut draws = Tausworthe32::new(seed);
        let (ranks, shift) = match skew.shape {
            SkewShape::Zipf(theta) => {
                (RankDistribution::Zipf(Zipf::new(theta, n)), hot_spot(&mut draws, skew.center, n))
            }
            SkewShape::ZipfExact(theta) => {
                let drawn = draw_below(&mut draws, n);
                let shift = skew.center.map_or(drawn, |center| (n as f64 * center) as u64);
                (RankDistribution::ZipfExact(ExactZipf::new(theta, n)), shift)
            }
            SkewShape::Pareto(h) => {
                (RankDistribution::Pareto(Pareto::new(h, n)), hot_spot(&mut draws, skew.center, n))
            }
            SkewShape::Normal(deviation) => {
                (RankDistribution::Normal(Normal::new(deviation, n)), normal_shift(skew.center, n))
            }
        };
        let places = match skew.shape {
            _ if !hashed => RankPlaces::Times(1),
            SkewShape::ZipfExact(_) => RankPlaces::Apart(coprime_step(n)),
            _ => RankPlaces::Times(SPREAD),
        };
        SkewedChoice { ranks, draws, shift, places, below: Remainder::new(n) }
    }

    /// The next choice, below `n`.
    #[inline]
    #[allow(clippy::should_implement_trait, reason = "choices never end, and are no items of a loop")]
    pub fn next(&mut self) -> u64 {
        let rank = match &self.ranks {
            RankDistribution::Zipf(zipf) => zipf.rank(self.draws.draw()),
            RankDistribution::ZipfExact(zipf) => zipf.rank(&mut self.draws),
            RankDistribution::Pareto(pareto) => pareto.rank(self.draws.draw()),
            RankDistribution::Normal(normal) => normal.rank(&mut self.draws),
        };
        self.place(rank)
    }

    /// The next choices, the same as those of [`SkewedChoice::next`].
    pub(crate) fn fill(&mut self, batch: &mut [u64; BATCH]) {
        let draws = self.draws.clone();
        self.draws = match &self.ranks {
            RankDistribution::Zipf(zipf) => zipf.fill(batch, draws),
            RankDistribution::ZipfExact(zipf) => zipf.fill(batch, draws),
            RankDistribution::Pareto(pareto) => pareto.fill(batch, draws),
            RankDistribution::Normal(normal) => normal.fill(batch, draws),
        };
        // One loop per kind: a choice inside would keep the compiler from vectorizing them.
        match self.places {
            RankPlaces::Times(factor) => {
                for number in batch {
                    *number = self.shifted(number.wrapping_mul(factor));
                }
            }
            RankPlaces::Apart(_) => {
                for number in batch {
                    *number = self.place(*number);
                }
            }
        }
    }

    /// The place of a rank.
    #[inline(always)]
    fn place(&self, rank: u64) -> u64 {
        self.shifted(match self.places {
            RankPlaces::Times(factor) => rank.wrapping_mul(factor),
            RankPlaces::Apart(step) => self.below.of_product(rank, step),
        })
    }

    #[inline(always)]
    fn shifted(&self, place: u64) -> u64 {
        self.below.of(place.wrapping_add(self.shift))
    }
}

/// The place of rank 0 of zipf and pareto. One number is drawn, needed or not.
fn hot_spot(draws: &mut Tausworthe32, center: Option<f64>, n: u64) -> u64 {
    let drawn = u64::from(draws.draw());
    center.map_or(drawn, |center| (n as f64 * center) as u64)
}
