//! `random_generator=lfsr`: a linear feedback shift register that visits each block of a file once and keeps no record of the blocks.
//!
//! A register of `n` bits goes through all of its states but one, all bits set, which it never leaves. States that are not blocks are
//! skipped. Sequences are fio's.

mod taps;

use taps::taps;

/// Blocks that are searched for at once. Whether a state is a block is unpredictable: searching for one at a time costs more than the
/// register itself.
const BATCH: usize = 16;

/// Start of a register whose seed is the one state that it never leaves: fio 3.33 begins its first jobs like this.
const SUBSTITUTE: u64 = 0b1101;

/// The blocks of a file, each once and then again on demand.
#[derive(Clone, Debug)]
pub(crate) struct Lfsr {
    value: u64,
    start: u64,
    /// Flipped by a step from an even value.
    mask: u64,
    /// The highest bit, which every step sets first.
    top: u64,
    blocks: u64,
    /// Number of blocks that were not found yet.
    left: u64,
    /// Found blocks, of which those from `at` to `end` were not returned yet.
    found: [u64; BATCH],
    at: usize,
    end: usize,
    /// Whether the first block is still to come, which takes two steps, as in fio.
    fresh: bool,
}

impl Lfsr {
    /// The order of `blocks` blocks that begins at `seed`.
    pub(crate) fn new(blocks: u64, seed: u64) -> Self {
        let bits = bits(blocks);
        let ones = !0 >> (64 - bits);
        let start = if seed & ones == ones { SUBSTITUTE & ones } else { seed & ones };
        Lfsr {
            value: start,
            start,
            mask: taps(bits).iter().fold(0, |mask, tap| mask | 1 << (tap - 1)),
            top: 1 << (bits - 1),
            blocks,
            left: blocks,
            found: [0; BATCH],
            at: 0,
            end: 0,
            fresh: true,
        }
    }

    /// The next block; `None` after the last one.
    #[inline]
    pub(crate) fn next(&mut self) -> Option<u64> {
        if self.at == self.end {
            self.find();
        }
        let block = *self.found[..self.end].get(self.at)?;
        self.at += 1;
        Some(block)
    }

    /// Fills `blocks` with the next blocks, as far as there are any, and returns their number. No branch depends on the register, because
    /// it is unpredictable which states are blocks.
    pub(crate) fn fill(&mut self, blocks: &mut [u64]) -> usize {
        let count = self.left.min(blocks.len() as u64) as usize;
        if count > 0 && self.fresh {
            self.fresh = false;
            self.step();
        }
        let mut at = 0;
        while at < count {
            self.step();
            blocks[at] = self.value;
            at += usize::from(self.value < self.blocks);
        }
        self.left -= count as u64;
        count
    }

    /// Restarts from the first state.
    pub(crate) fn rewind(&mut self) {
        self.value = self.start;
        self.left = self.blocks;
        self.at = self.end;
    }

    #[inline(never)]
    fn find(&mut self) {
        let mut found = std::mem::take(&mut self.found);
        (self.at, self.end) = (0, self.fill(&mut found));
        self.found = found;
    }

    #[inline]
    fn step(&mut self) {
        let if_even = (self.value & 1).wrapping_sub(1);
        self.value = (self.value >> 1 | self.top) ^ (self.mask & if_even);
    }
}

/// Bits of a register with a state for each block and one more; no file has more blocks than the largest register.
fn bits(blocks: u64) -> u32 {
    (u64::BITS - blocks.leading_zeros()).clamp(3, 63)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::*;

    /// Each bit of the register by itself, and a set of the blocks that came.
    fn plain(blocks: u64, seed: u64) -> Vec<u64> {
        let bits = (3..).find(|&bits| 1 << bits > blocks).unwrap();
        let mut register: Vec<bool> = (0..bits).map(|bit| seed >> bit & 1 == 1).collect();
        let step = |register: &mut Vec<bool>| {
            let even = !register.remove(0);
            register.push(true);
            if even {
                taps(bits as u32).iter().for_each(|&tap| register[tap as usize - 1] ^= true);
            }
        };
        let mut order = Vec::new();
        let mut seen = HashSet::new();
        step(&mut register);
        while seen.len() < blocks as usize {
            step(&mut register);
            let value = register.iter().rev().fold(0, |value, &bit| value << 1 | u64::from(bit));
            if value < blocks && seen.insert(value) {
                order.push(value);
            }
        }
        order
    }

    proptest! {
        #[test]
        fn a_round_is_that_of_a_register_of_single_bits(blocks in 1u64..5000, seed: u64) {
            let mut lfsr = Lfsr::new(blocks, seed);
            let round: Vec<_> = std::iter::from_fn(|| lfsr.next()).collect();
            prop_assert_eq!(&round, &plain(blocks, lfsr.start));
            prop_assert_eq!(lfsr.next(), None);
            let mut filled = vec![0; 31];
            let mut register = Lfsr::new(blocks, seed);
            let batches = std::iter::from_fn(|| match register.fill(&mut filled) {
                0 => None,
                count => Some(filled[..count].to_vec()),
            });
            prop_assert_eq!(&batches.collect::<Vec<_>>().concat(), &round);
            lfsr.rewind();
            let again: HashSet<_> = std::iter::from_fn(|| lfsr.next()).collect();
            prop_assert_eq!(again.len() as u64, blocks);
        }
    }

    #[test]
    fn a_seed_with_all_bits_set_gives_way_to_a_state_that_moves() {
        let order = |blocks, seed| {
            let mut lfsr = Lfsr::new(blocks, seed);
            std::iter::from_fn(|| lfsr.next()).collect::<Vec<_>>()
        };
        // As fio 3.33 does with its default seed.
        assert_eq!(order(4, 0b111), [1, 0, 2, 3]);
        assert_eq!(order(8, u64::MAX), [3, 2, 5, 1, 0, 4, 6, 7]);
        assert_eq!(order(15, 0b1111), [3, 9, 12, 2, 5, 10, 1, 8, 0, 4, 6, 7, 11, 13, 14]);
        assert_eq!(order(16, 0b1_1111), [15, 11, 9, 14, 3, 8, 0, 4, 6, 7, 10, 1, 12, 2, 5, 13]);
        assert_eq!(Lfsr::new(16, 0b1111).start, 0b1111, "not all of five bits");
    }

    /// By Brent's method on the power of the step that must bring every state back: a table of bits, squared `n` times, is the
    /// step taken 2^n times, and must equal the step taken once.
    #[test]
    fn every_register_returns_after_all_states_but_one() {
        for bits in 3..=63 {
            let lfsr = Lfsr::new((1 << bits) - 1, 0);
            // Inverted, the register is linear: 0 stays 0.
            let ones = !0 >> (64 - bits);
            let step = |value: u64| {
                let mut register = lfsr.clone();
                register.value = !value & ones;
                register.step();
                !register.value & ones
            };
            let apply = |table: &[u64], value: u64| {
                (0..bits).fold(0, |sum, bit| if value >> bit & 1 == 1 { sum ^ table[bit] } else { sum })
            };
            let once: Vec<u64> = (0..bits).map(|bit| step(1 << bit)).collect();
            let mut power = once.clone();
            for _ in 0..bits {
                power = power.iter().map(|&image| apply(&power, image)).collect();
            }
            assert_eq!(power, once, "{bits} bits");
        }
    }
}
