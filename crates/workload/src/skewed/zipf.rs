//! Zipf's law: rank `k` is chosen in proportion to `1 / (k + 1)^theta`, by Gray's approximation.

use super::power::Power;
use super::zeta::zeta;

/// Ranks among `n` things.
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

    /// The rank as [`Zipf::rank`] gives it, or [`super::power::UNDECIDED`].
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
