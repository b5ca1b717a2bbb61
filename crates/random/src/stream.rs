//! The two combined Tausworthe generators of all random choices, and the conversions from a draw to a number.
//!
//! [`Tausworthe32`] is taus88 of L'Ecuyer's "Maximally equidistributed combined Tausworthe generators" (1996), [`Tausworthe64`] its 64-bit
//! companion taus258 (1999). The conversions are done in IEEE doubles in an order that gives fio's results bit for bit.

use ferrio_job::{Generator, GeneratorState};

use crate::prefetch::BATCH;

/// Outputs thrown away after seeding.
const WARM_UP: usize = 6;

/// Seeding keeps each component above the smallest state that its mask would turn into zero.
const fn at_least(value: u64, minimum: u64) -> u64 {
    if value < minimum { value + minimum } else { value }
}

/// Three components of 32 bits, period 2^88.
#[derive(Clone, Debug)]
pub struct Tausworthe32(pub(crate) [u32; 3]);

impl Tausworthe32 {
    /// Seeds from the low 32 bits of `seed`.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        const K: u32 = 69069;
        let x = seed as u32;
        let component = |v: u32, minimum: u32| at_least(u64::from(v), u64::from(minimum)) as u32;
        let s1 = component(53u32.wrapping_mul(K) ^ x, 1);
        let s2 = component(s1.wrapping_mul(K) ^ x, 7);
        let s3 = component(s2.wrapping_mul(K) ^ x, 15);
        let mut generator = Tausworthe32([s1, s2, s3]);
        for _ in 0..WARM_UP {
            generator.draw();
        }
        generator
    }

    /// The next 32-bit output.
    #[inline]
    pub fn draw(&mut self) -> u32 {
        let [s1, s2, s3] = self.0;
        let s1 = ((s1 & !1) << 12) ^ (((s1 << 13) ^ s1) >> 19);
        let s2 = ((s2 & !7) << 4) ^ (((s2 << 2) ^ s2) >> 25);
        let s3 = ((s3 & !15) << 17) ^ (((s3 << 3) ^ s3) >> 11);
        self.0 = [s1, s2, s3];
        s1 ^ s2 ^ s3
    }
}

/// Five components of 64 bits, period 2^258.
#[derive(Clone, Debug)]
pub struct Tausworthe64([u64; 5]);

impl Tausworthe64 {
    /// Seeds from all of `seed`.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        const K: u64 = 6_906_969_069;
        let mut state = [0; 5];
        let mut previous = 53;
        for (component, minimum) in state.iter_mut().zip([1, 7, 15, 33, 49]) {
            *component = at_least(K.wrapping_mul(previous) ^ seed, minimum);
            previous = *component;
        }
        let mut generator = Tausworthe64(state);
        for _ in 0..WARM_UP {
            generator.draw();
        }
        generator
    }

    /// The next 64-bit output.
    #[inline]
    pub fn draw(&mut self) -> u64 {
        let [s1, s2, s3, s4, s5] = self.0;
        let s1 = ((s1 & !0x1) << 10) ^ (((s1 << 1) ^ s1) >> 53);
        let s2 = ((s2 & !0x1ff) << 5) ^ (((s2 << 24) ^ s2) >> 50);
        let s3 = ((s3 & !0xfff) << 29) ^ (((s3 << 3) ^ s3) >> 23);
        let s4 = ((s4 & !0x1_ffff) << 23) ^ (((s4 << 5) ^ s4) >> 24);
        let s5 = ((s5 & !0x7f_ffff) << 8) ^ (((s5 << 3) ^ s5) >> 33);
        self.0 = [s1, s2, s3, s4, s5];
        s1 ^ s2 ^ s3 ^ s4 ^ s5
    }

    /// One draw below the prepared count; separate from the narrow case so that that one stays short where both are inlined.
    #[inline(never)]
    fn below(&mut self, scale: Scale) -> u64 {
        scale.pick_wide(self.draw())
    }
}

/// A count `n` prepared for [`Stream::below`].
///
/// `floor(n * (r / 2^w))` in doubles is the high word of the integer product `n * r`, unless rounding carries the double over
/// to another integer. That takes a low word close to 0 or 2^w, which is rare: only then is the formula itself evaluated.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scale {
    n: u64,
    /// Low words closer than this to 2^w (both generators) or to 0 (64 bits) are undecided.
    margin: u64,
}

impl Scale {
    /// For 32-bit draws: the product has at most 64 bits, a double keeps 53, so rounding adds at most 2^10.
    fn narrow(n: u64) -> Self {
        Scale { n, margin: if n <= u64::from(u32::MAX) { 1 << 10 } else { 1 << 32 } }
    }

    /// For 64-bit draws: the draw and the product are rounded by 2^-53 each, which is less than `n * 2^12` of the product.
    fn wide(n: u64) -> Self {
        Scale { n, margin: if n < 1 << 48 { n << 12 } else { 1 << 63 } }
    }

    #[inline(always)]
    fn pick_narrow(self, draw: u32) -> u64 {
        let product = self.n.wrapping_mul(u64::from(draw));
        if (product & 0xffff_ffff) + self.margin >= 1 << 32 {
            return self.pick_double(f64::from(draw) / 4_294_967_296.0);
        }
        product >> 32
    }

    /// [`Scale::pick_narrow`] for each draw. Without a branch for each, so that several are done at once.
    #[inline(always)]
    pub(crate) fn pick_all_narrow(self, draws: &[u32; BATCH], picks: &mut [u64; BATCH]) {
        let mut undecided = 0;
        for (pick, &draw) in picks.iter_mut().zip(draws) {
            let product = u64::from(draw) * (self.n & 0xffff_ffff);
            undecided |= (product & 0xffff_ffff) + self.margin;
            *pick = product >> 32;
        }
        // A count beyond 32 bits has a margin that decides nothing.
        if undecided >> 32 != 0 {
            self.pick_one_by_one(draws, picks);
        }
    }

    #[cold]
    #[inline(never)]
    fn pick_one_by_one(self, draws: &[u32; BATCH], picks: &mut [u64; BATCH]) {
        for (pick, &draw) in picks.iter_mut().zip(draws) {
            *pick = self.pick_narrow(draw);
        }
    }

    #[inline]
    pub(crate) fn pick_wide(self, draw: u64) -> u64 {
        let product = u128::from(self.n) * u128::from(draw);
        let low = product as u64;
        if low.wrapping_add(self.margin) < self.margin.wrapping_mul(2) || self.margin == 1 << 63 {
            return self.pick_double(draw as f64 / 18_446_744_073_709_551_616.0);
        }
        (product >> 64) as u64
    }

    #[cold]
    #[inline(never)]
    fn pick_double(self, unit: f64) -> u64 {
        (self.n as f64 * unit) as u64
    }
}

/// One random stream of a job.
#[derive(Clone, Debug)]
pub enum Stream {
    /// 32-bit outputs.
    Tausworthe32(Tausworthe32),
    /// 64-bit outputs.
    Tausworthe64(Tausworthe64),
}

impl Stream {
    /// A stream of the chosen width.
    #[must_use]
    pub fn new(generator: Generator, seed: u64) -> Self {
        match generator {
            Generator::Tausworthe32 => Stream::Tausworthe32(Tausworthe32::new(seed)),
            Generator::Tausworthe64 => Stream::Tausworthe64(Tausworthe64::new(seed)),
        }
    }

    /// The current state.
    #[must_use]
    pub fn state(&self) -> GeneratorState {
        match self {
            Stream::Tausworthe32(generator) => GeneratorState::Narrow(generator.0),
            Stream::Tausworthe64(generator) => GeneratorState::Wide(generator.0),
        }
    }

    /// Restarts from `seed` with the same width.
    pub fn reseed(&mut self, seed: u64) {
        match self {
            Stream::Tausworthe32(generator) => *generator = Tausworthe32::new(seed),
            Stream::Tausworthe64(generator) => *generator = Tausworthe64::new(seed),
        }
    }

    /// Prepares `n` for many draws below it.
    #[must_use]
    pub fn scale(&self, n: u64) -> Scale {
        match self {
            Stream::Tausworthe32(_) => Scale::narrow(n),
            Stream::Tausworthe64(_) => Scale::wide(n),
        }
    }

    /// One draw below the prepared count; 0 if that is 0.
    #[inline(always)]
    pub fn below(&mut self, scale: Scale) -> u64 {
        match self {
            Stream::Tausworthe32(generator) => scale.pick_narrow(generator.draw()),
            Stream::Tausworthe64(generator) => generator.below(scale),
        }
    }

    /// One raw draw.
    #[inline]
    pub fn draw(&mut self) -> u64 {
        match self {
            Stream::Tausworthe32(generator) => u64::from(generator.draw()),
            Stream::Tausworthe64(generator) => generator.draw(),
        }
    }

    /// The largest result of [`Stream::draw`].
    #[must_use]
    pub fn largest(&self) -> u64 {
        match self {
            Stream::Tausworthe32(_) => u64::from(u32::MAX),
            Stream::Tausworthe64(_) => u64::MAX,
        }
    }

    /// The product of two draws, which seeds buffer contents.
    #[inline]
    pub fn seed_draw(&mut self) -> u64 {
        match self {
            Stream::Tausworthe32(generator) => {
                u64::from(generator.draw()).wrapping_mul(u64::from(generator.draw()))
            }
            Stream::Tausworthe64(generator) => generator.draw().wrapping_mul(generator.draw()),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn both_generators_give_the_published_first_outputs_for_seed_1() {
        let mut narrow = Tausworthe32::new(1);
        assert_eq!(
            [narrow.draw(), narrow.draw(), narrow.draw()],
            [2_634_262_343, 4_072_702_554, 2_367_269_570]
        );
        let mut wide = Tausworthe64::new(1);
        assert_eq!([wide.draw(), wide.draw()], [11_128_779_724_671_416_100, 6_550_831_460_819_418_398]);
    }

    #[test]
    fn the_default_offset_stream_begins_as_fio_begins_it() {
        let mut offsets = Tausworthe32::new(6_803_328_749_335_347_343);
        let first: Vec<u32> = (0..4).map(|_| offsets.draw()).collect();
        assert_eq!(first, [4_196_289_317, 3_719_163_915, 2_820_806_093, 2_217_523_518]);
    }

    fn formula_narrow(n: u64, draw: u32) -> u64 {
        (n as f64 * (f64::from(draw) / 2f64.powi(32))) as u64
    }

    fn formula_wide(n: u64, draw: u64) -> u64 {
        (n as f64 * (draw as f64 / 2f64.powi(64))) as u64
    }

    #[test]
    fn a_product_that_rounds_up_to_the_next_integer_does_so() {
        // n * draw = 3 * 2^62 - 1: the double nearest to it is 3 * 2^62.
        let (n, draw) = (4_294_967_295, 4_294_967_295);
        assert_eq!(Scale::narrow(n).pick_narrow(draw), formula_narrow(n, draw));
        assert_eq!(Scale::wide(3).pick_wide(u64::MAX), 3);
        assert_eq!(formula_wide(3, u64::MAX), 3);
    }

    proptest! {
        #[test]
        fn integers_pick_what_the_formula_in_doubles_picks(n: u64, shift in 0u32..64, draw: u64) {
            let n = n >> shift;
            prop_assert_eq!(Scale::narrow(n).pick_narrow(draw as u32), formula_narrow(n, draw as u32));
            prop_assert_eq!(Scale::wide(n).pick_wide(draw), formula_wide(n, draw));
        }

        #[test]
        fn draws_just_around_an_integer_pick_what_the_formula_picks(n in 1u64.., shift in 0u32..63, q: u64, near in -3i64..4) {
            let n = (n >> shift).max(1);
            let boundary = ((u128::from(q % n) << 64) / u128::from(n)) as u64;
            let draw = boundary.wrapping_add_signed(near);
            prop_assert_eq!(Scale::wide(n).pick_wide(draw), formula_wide(n, draw));
            let n = n & 0xffff_ffff;
            let boundary = ((q % n.max(1)) << 32).checked_div(n).unwrap_or(0) as u32;
            let draw = boundary.wrapping_add_signed(near as i32);
            prop_assert_eq!(Scale::narrow(n).pick_narrow(draw), formula_narrow(n, draw));
        }
    }
}
