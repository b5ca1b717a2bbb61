//! Pareto's law: a share `h` of the things gets the share `1 - h` of the choices.

/// Ranks among `n` things.
#[derive(Clone, Debug)]
pub(super) struct Pareto {
    /// The last rank.
    last: f64,
    power: f64,
}

impl Pareto {
    pub(super) fn new(h: f64, n: u64) -> Self {
        Pareto { last: (n - 1) as f64, power: h.ln() / (1.0 - h).ln() }
    }

    #[inline]
    pub(super) fn rank(&self, draw: u32) -> u64 {
        (self.last * (f64::from(draw) / 4_294_967_295.0).powf(self.power)) as u64
    }
}
