//! Ranks by the zipf, pareto and normal distributions.
//!
//! The `fill` of each is a function of its own, in which the compiler vectorizes several ranks; in one function for all it does not.

use std::sync::Mutex;

use super::arithmetic::{Power, Remainder, UNDECIDED};
use crate::lock::lock;
use crate::random::{BATCH, Tausworthe32};

/// Most terms that are added.
const MAX_TERMS: u64 = 10_000_000;
/// Terms between two sums that are kept.
const STEP: u64 = 1024;

/// Each theta (its bits) with the sums of its first 0, 1024, 2048, ... terms, as far as they were needed.
static SUMS: Mutex<Vec<(u64, Vec<f64>)>> = Mutex::new(Vec::new());

/// Zipf's distribution: rank `k` is chosen in proportion to `1 / (k + 1)^theta`, by Gray's approximation.
#[derive(Clone, Debug)]
pub(super) struct Zipf {
    n: f64,
    zetan: f64,
    zeta2: f64,
    alpha: f64,
    eta: f64,
    power: Power,
}

impl Zipf {
    pub(super) fn new(theta: f64, n: u64) -> Self {
        let zetan = zeta(theta, n);
        let zeta2 = 1.0 + 0.5f64.powf(theta);
        let n = n as f64;
        let alpha = 1.0 / (1.0 - theta);
        let eta = (1.0 - (2.0 / n).powf(1.0 - theta)) / (1.0 - zeta2 / zetan);
        Zipf { n, zetan, zeta2, alpha, eta, power: Power::new(n, alpha) }
    }

    /// Fills `ranks` with the next ranks; returns the state of the draws after them.
    #[inline(never)]
    pub(super) fn fill(&self, ranks: &mut [u64; BATCH], draws: Tausworthe32) -> Tausworthe32 {
        fill(ranks, draws, |draw| self.guess(draw), |draw| self.rank(draw))
    }

    /// The rank of [`Zipf::rank`], or [`UNDECIDED`].
    #[inline(always)]
    pub(super) fn guess(&self, draw: u32) -> u64 {
        let u = f64::from(draw) / 4_294_967_295.0;
        let z = u * self.zetan;
        let mut rank = self.power.whole(self.eta * u - self.eta + 1.0);
        rank = if z < self.zeta2 { 1 } else { rank };
        if z < 1.0 { 0 } else { rank }
    }

    pub(super) fn rank(&self, draw: u32) -> u64 {
        let u = f64::from(draw) / 4_294_967_295.0;
        let z = u * self.zetan;
        if z < 1.0 {
            0
        } else if z < self.zeta2 {
            1
        } else {
            (self.n * (self.eta * u - self.eta + 1.0).powf(self.alpha)) as u64
        }
    }
}

/// Pareto's distribution: a share `h` of the things gets the share `1 - h` of the choices.
#[derive(Clone, Debug)]
pub(super) struct Pareto {
    /// The last rank.
    last: f64,
    exponent: f64,
    power: Power,
}

impl Pareto {
    pub(super) fn new(h: f64, n: u64) -> Self {
        let (last, exponent) = ((n - 1) as f64, h.ln() / (1.0 - h).ln());
        Pareto { last, exponent, power: Power::new(last, exponent) }
    }

    /// Fills `ranks` with the next ranks; returns the state of the draws after them.
    #[inline(never)]
    pub(super) fn fill(&self, ranks: &mut [u64; BATCH], draws: Tausworthe32) -> Tausworthe32 {
        fill(ranks, draws, |draw| self.guess(draw), |draw| self.rank(draw))
    }

    /// The rank of [`Pareto::rank`], or [`UNDECIDED`].
    #[inline(always)]
    pub(super) fn guess(&self, draw: u32) -> u64 {
        self.power.whole(f64::from(draw) / 4_294_967_295.0)
    }

    pub(super) fn rank(&self, draw: u32) -> u64 {
        (self.last * (f64::from(draw) / 4_294_967_295.0).powf(self.exponent)) as u64
    }
}

/// Ranks for the next draws: guesses, and the formula where one is undecided.
#[inline(always)]
fn fill(
    ranks: &mut [u64; BATCH],
    mut draws: Tausworthe32,
    guess: impl Fn(u32) -> u64,
    formula: impl Fn(u32) -> u64,
) -> Tausworthe32 {
    let drawn: [u32; BATCH] = std::array::from_fn(|_| draws.draw());
    let mut undecided = false;
    for (rank, &draw) in ranks.iter_mut().zip(&drawn) {
        *rank = guess(draw);
        undecided |= *rank == UNDECIDED;
    }
    if undecided {
        let left = ranks.iter_mut().zip(&drawn).filter(|(rank, _)| **rank == UNDECIDED);
        left.for_each(|(rank, &draw)| *rank = formula(draw));
    }
    draws
}

/// The normal distribution around the middle of `n` things: the mean of twelve draws, plus a deviation if one is requested.
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

    /// Fills `ranks` with the next ranks; returns the state of the draws after them.
    #[inline(never)]
    pub(super) fn fill(&self, ranks: &mut [u64; BATCH], mut draws: Tausworthe32) -> Tausworthe32 {
        ranks.fill_with(|| self.rank(&mut draws));
        draws
    }

    #[inline]
    pub(super) fn rank(&self, draws: &mut Tausworthe32) -> u64 {
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

/// The shift of all ranks that moves their middle to `center`: `n * (center - 0.5)` modulo `n`.
pub(super) fn normal_shift(center: Option<f64>, n: u64) -> u64 {
    center.map_or(0, |center| (n as f64 * (center - 0.5)) as i64).rem_euclid(n as i64) as u64
}

/// The sum of the first `n` terms of `(1/i)^theta`, at most the first ten million: exactly the result of adding the terms one by one.
fn zeta(theta: f64, n: u64) -> f64 {
    let n = n.min(MAX_TERMS);
    let whole = n / STEP;
    let start = kept(theta, whole as usize);
    add(start, theta, whole * STEP, n)
}

/// The sum of the first `steps * STEP` terms. Another thread that needs the same theta meanwhile waits instead of adding too.
fn kept(theta: f64, steps: usize) -> f64 {
    // A panic elsewhere cannot leave a wrong sum: sums are only ever appended whole.
    let mut all = lock(&SUMS);
    let at = all.iter().position(|(bits, _)| *bits == theta.to_bits()).unwrap_or_else(|| {
        all.push((theta.to_bits(), vec![0.0]));
        all.len() - 1
    });
    let sums = &mut all[at].1;
    while sums.len() <= steps {
        let done = (sums.len() as u64 - 1) * STEP;
        let sum = add(sums[sums.len() - 1], theta, done, done + STEP);
        sums.push(sum);
    }
    sums[steps]
}

/// Adds terms number `from + 1` to `to`.
fn add(mut sum: f64, theta: f64, from: u64, to: u64) -> f64 {
    for i in from + 1..=to {
        sum += (1.0 / i as f64).powf(theta);
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sum_is_the_same_in_whatever_order_sums_are_asked_for() {
        for n in [5000, 1, 0, 1024, 1023, 2048, 70_000, 1025, 6000] {
            assert_eq!(zeta(1.37, n), add(0.0, 1.37, 0, n), "{n}");
        }
    }
}
