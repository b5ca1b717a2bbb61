//! `random_generator=permute`: all blocks of a file in a pseudo-random order, each once, without a record of the visited blocks.
//!
//! Blocks are laid out in a rectangle that is nearly square. A counter walks through it, and a Feistel network maps each of its places to
//! another one: rounds shift a place along its row by a hash of the column, then along its column by a hash of the row. Each round can be
//! undone, so no two places meet; places beyond the last block are skipped. The tests measure the quality of the order, and
//! `docs/permute.md` reports it.

#[cfg(test)]
mod tests;

use crate::scramble::{GOLDEN_GAMMA as NEXT_KEY, scramble};

/// The blocks of a file, each once and then again in another order on demand.
#[derive(Clone, Debug)]
pub(crate) struct Permute {
    blocks: u64,
    width: u32,
    height: u32,
    /// The counter's position.
    x: u32,
    y: u32,
    /// Key of the first round of the network.
    key: u64,
    /// Pairs of rounds.
    pairs: u32,
    seed: u64,
    /// Number of orders that were begun before this one.
    orders: u64,
}

impl Permute {
    /// The first order of `blocks` blocks, at most 2^63, for this seed and file.
    pub(crate) fn new(blocks: u64, seed: u64, file: usize) -> Self {
        debug_assert!(blocks <= 1 << 63);
        let width = blocks.isqrt().max(1);
        let height = blocks.div_ceil(width);
        let mut permute = Permute {
            blocks,
            width: width as u32,
            height: height as u32,
            x: 0,
            y: 0,
            key: 0,
            pairs: pairs(width),
            seed: scramble(seed ^ scramble(file as u64)),
            orders: 0,
        };
        permute.begin();
        permute
    }

    /// The next block; `None` after the last one.
    #[inline]
    pub(crate) fn next(&mut self) -> Option<u64> {
        while self.y < self.height {
            let (x, y) = self.map(self.x, self.y);
            self.x += 1;
            if self.x == self.width {
                self.x = 0;
                self.y += 1;
            }
            let block = u64::from(y) * u64::from(self.width) + u64::from(x);
            if block < self.blocks {
                return Some(block);
            }
        }
        None
    }

    /// Begins the next order.
    pub(crate) fn rewind(&mut self) {
        self.orders += 1;
        self.begin();
    }

    /// Begins the first order again.
    pub(crate) fn restart(&mut self) {
        self.orders = 0;
        self.begin();
    }

    fn begin(&mut self) {
        (self.x, self.y) = (0, 0);
        self.key = scramble(self.seed.wrapping_add(self.orders));
    }

    /// The place to which the network maps a place.
    #[inline]
    fn map(&self, mut x: u32, mut y: u32) -> (u32, u32) {
        let mut key = self.key;
        for _ in 0..self.pairs {
            x = moved(x, hash(y, key), self.width);
            y = moved(y, hash(x, key.wrapping_add(NEXT_KEY)), self.height);
            key = key.wrapping_add(NEXT_KEY.wrapping_mul(2));
        }
        (x, y)
    }
}

/// Pairs of rounds for a rectangle of this width. Two pairs of good hashes give a permutation that looks random, and one more is for
/// safety. In a rectangle of few places a round changes little, so more are needed.
fn pairs(width: u64) -> u32 {
    match width {
        0..16 => 12,
        16..256 => 6,
        _ => 3,
    }
}

/// `place` shifted by the fraction `hash / 2^32` of `span`, wrapping at its end.
#[inline]
fn moved(place: u32, hash: u32, span: u32) -> u32 {
    let by = (u64::from(hash) * u64::from(span)) >> 32;
    let sum = u64::from(place) + by;
    let span = u64::from(span);
    (if sum >= span { sum - span } else { sum }) as u32
}

/// 32 bits that depend on all bits of the key and the number.
#[inline]
fn hash(number: u32, key: u64) -> u32 {
    let mut mixed = key.wrapping_add(u64::from(number)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed ^= mixed >> 29;
    (mixed.wrapping_mul(0x94D0_49BB_1331_11EB) >> 32) as u32
}
