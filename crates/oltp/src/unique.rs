//! Numbers that do not repeat (`sysbench.rand.unique`).

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// The largest prime below 2^32 whose remainder by 4 is 3.
const PRIME: u64 = 4_294_967_291;
/// Bits that are turned between the two permutations.
const MIX: u32 = 0x5bf0_3635;

/// A sequence of 32-bit numbers, all different, that threads share. It is a permutation of the numbers from 0: squares modulo a prime are
/// unique up to half of it, and their negatives are the others (Jeff Preshing, 'How to generate a sequence of unique random integers').
#[derive(Debug)]
pub struct UniqueNumbers {
    next: AtomicU32,
    offset: u32,
}

impl UniqueNumbers {
    /// The sequence of a seed.
    #[must_use]
    pub fn new(seed: u32) -> Self {
        let start = permute(permute(seed).wrapping_add(0x682f_0161));
        let offset = permute(permute(seed.wrapping_add(1)).wrapping_add(0x4679_0905));
        UniqueNumbers { next: AtomicU32::new(start), offset }
    }

    /// The next number.
    pub fn next(&self) -> u32 {
        let index = self.next.fetch_add(1, Relaxed);
        permute(permute(index).wrapping_add(self.offset) ^ MIX)
    }
}

fn permute(number: u32) -> u32 {
    let wide = u64::from(number);
    if wide >= PRIME {
        return number;
    }
    let residue = wide * wide % PRIME;
    // Both are below the prime.
    (if wide <= PRIME / 2 { residue } else { PRIME - residue }) as u32
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn numbers_do_not_repeat_and_seeds_differ() {
        let numbers = UniqueNumbers::new(7);
        let all: HashSet<u32> = (0..100_000).map(|_| numbers.next()).collect();
        assert_eq!(all.len(), 100_000);
        assert_ne!(UniqueNumbers::new(1).next(), UniqueNumbers::new(2).next());
        assert_eq!(UniqueNumbers::new(1).next(), UniqueNumbers::new(1).next());
    }
}
