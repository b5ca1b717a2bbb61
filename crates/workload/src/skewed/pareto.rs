//! Pareto's law: a share `h` of the things gets the share `1 - h` of the choices.

use super::power::Power;

/// Ranks among `n` things.
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

    /// The rank as [`Pareto::rank`] gives it, or [`super::power::UNDECIDED`].
    #[inline(always)]
    pub(super) fn guess(&self, draw: u32) -> u64 {
        self.power.whole(f64::from(draw) / 4_294_967_295.0)
    }

    pub(super) fn rank(&self, draw: u32) -> u64 {
        (self.last * (f64::from(draw) / 4_294_967_295.0).powf(self.exponent)) as u64
    }
}
