//! Zipf's distribution by rejection-inversion (W. Hörmann, G. Derflinger: 'Rejection-inversion to generate variates from monotone discrete
//! distributions', 1996): no table, whatever the number of ranks.

/// The distribution over the ranks from 1 to a number.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Zipfian {
    ranks: f64,
    exponent: f64,
    /// The integral of the density, at 1.5 less the density at 1, and at the last rank and a half.
    first: f64,
    last: f64,
    /// Ranks that are this near to the inverse are taken at once.
    squeeze: f64,
}

impl Zipfian {
    pub(crate) fn new(ranks: u64, exponent: f64) -> Self {
        let ranks = ranks.max(1) as f64;
        let mut new = Zipfian { ranks, exponent, first: 0.0, last: 0.0, squeeze: 0.0 };
        new.first = new.integral(1.5) - 1.0;
        new.last = new.integral(ranks + 0.5);
        new.squeeze = 2.0 - new.inverse(new.integral(2.5) - new.density(2.0));
        new
    }

    /// True if it is over so many ranks.
    pub(crate) fn is_over(&self, ranks: u64) -> bool {
        self.ranks == ranks.max(1) as f64
    }

    /// A rank, by uniform numbers in 0..1.
    pub(crate) fn draw(&self, mut uniform: impl FnMut() -> f64) -> u64 {
        loop {
            let point = self.last + uniform() * (self.first - self.last);
            let at = self.inverse(point);
            let rank = (at + 0.5).floor().clamp(1.0, self.ranks);
            if rank - at <= self.squeeze || point >= self.integral(rank + 0.5) - self.density(rank) {
                return rank as u64;
            }
        }
    }

    fn density(&self, x: f64) -> f64 {
        (-self.exponent * x.ln()).exp()
    }

    fn integral(&self, x: f64) -> f64 {
        let log = x.ln();
        exp_m1_over((1.0 - self.exponent) * log) * log
    }

    fn inverse(&self, x: f64) -> f64 {
        let scaled = (x * (1.0 - self.exponent)).max(-1.0);
        (ln_1p_over(scaled) * x).exp()
    }
}

/// `(exp(x) - 1) / x`, also near 0.
fn exp_m1_over(x: f64) -> f64 {
    if x.abs() > 1e-8 { x.exp_m1() / x } else { 1.0 + x * 0.5 }
}

/// `ln(1 + x) / x`, also near 0.
fn ln_1p_over(x: f64) -> f64 {
    if x.abs() > 1e-8 { x.ln_1p() / x } else { 1.0 - x * 0.5 }
}

#[cfg(test)]
mod tests {
    use ferrio_random::Xoroshiro;

    use super::*;

    #[test]
    fn ranks_have_the_shares_of_zipf() {
        for exponent in [0.8, 1.0, 1.2] {
            let zipfian = Zipfian::new(100, exponent);
            let mut stream = Xoroshiro::of_thread(1, 0);
            let mut counts = [0_u32; 101];
            const DRAWS: u32 = 200_000;
            for _ in 0..DRAWS {
                counts[zipfian.draw(|| stream.uniform()) as usize] += 1;
            }
            let weight = |rank: u32| f64::from(rank).powf(-exponent);
            let all: f64 = (1..=100).map(weight).sum();
            for rank in [1, 2, 10, 100] {
                let (share, wanted) =
                    (f64::from(counts[rank as usize]) / f64::from(DRAWS), weight(rank) / all);
                assert!((share / wanted - 1.0).abs() < 0.1, "{exponent} {rank}: {share} {wanted}");
            }
            assert_eq!(counts[0], 0);
        }
        assert_eq!(Zipfian::new(1, 0.8).draw(|| 0.999), 1);
    }
}
