//! The random map: the blocks of a file that were used in this pass. Sets of file numbers use it too.
//!
//! A tree of bits with 64 children per node: level 0 has one bit for each block, a bit of a higher level says that the whole word below it
//! is set. So the next clear bit is found in a few steps even if one block of a billion is left, for 1.016 bits of memory per block. Words
//! are allocated zeroed, so untouched parts of a huge map cost no memory.

use crate::random::BATCH;

/// Asks the processor for words of memory: all words, and the indices of those that are needed soon.
pub type FetchWords = fn(&[u64], &[u64]);

/// Words of a map that are wiped to clear it, 2 MiB; a larger one is allocated again.
const MAX_WIPED: usize = 1 << 18;

/// Words of the lowest level from which on they are fetched ahead, 256 KiB: smaller maps stay in the caches of a core.
const MIN_FETCHED: u64 = 1 << 15;

/// Enough levels for 2^48 blocks.
const MAX_LEVELS: usize = 8;

/// A set of taken blocks.
#[derive(Clone, Debug)]
pub(crate) struct RandomMap {
    /// All levels, the lowest first.
    words: Vec<u64>,
    /// Start of each level in `words`.
    start: [usize; MAX_LEVELS],
    levels: usize,
    bits: u64,
}

impl RandomMap {
    /// A clear map of `bits` blocks, at least 1 and at most 2^48.
    pub(crate) fn new(bits: u64) -> Self {
        debug_assert!((1..=1 << 48).contains(&bits));
        let (mut start, mut levels, mut total, mut size) = ([0; MAX_LEVELS], 0, 0usize, bits);
        loop {
            size = size.div_ceil(64);
            start[levels] = total;
            levels += 1;
            total += size as usize;
            if size == 1 {
                break;
            }
        }
        let mut map = RandomMap { words: vec![0; total], start, levels, bits };
        map.fence();
        map
    }

    /// A map of `bits` blocks that are all taken.
    pub(crate) fn full(bits: u64) -> Self {
        let mut map = RandomMap::new(bits);
        map.words.fill(!0);
        map
    }

    /// Number of blocks in the map.
    pub(crate) fn bits(&self) -> u64 {
        self.bits
    }

    /// Whether the words of the map are hardly ever in the caches of the processor when they are needed.
    pub(crate) fn exceeds_caches(&self) -> bool {
        self.bits / 64 >= MIN_FETCHED
    }

    /// Prefetches the words of these blocks.
    pub(crate) fn fetch(&self, blocks: &[u64; BATCH], fetch: FetchWords) {
        fetch(&self.words, &blocks.map(|block| block / 64));
    }

    /// Clears all blocks.
    pub(crate) fn clear(&mut self) {
        // Wiping a large map would stall the job, and touch pages that were never used: fresh ones are zeroed one by one.
        if self.words.len() > MAX_WIPED {
            self.words = vec![0; self.words.len()];
        } else {
            self.words.fill(0);
        }
        self.fence();
    }

    /// Takes block `bit`, or the next free one upward, wrapping once. `None` if all are taken.
    #[inline(always)]
    pub(crate) fn take(&mut self, bit: u64) -> Option<u64> {
        debug_assert!(bit < self.bits);
        let index = (bit / 64) as usize;
        let word = &mut self.words[index];
        let free = !(*word | ((1 << (bit % 64)) - 1));
        if free == 0 {
            return self.take_elsewhere(bit);
        }
        *word |= free & free.wrapping_neg();
        if *word == !0 {
            self.summarise(index as u64);
        }
        Some((bit & !63) | u64::from(free.trailing_zeros()))
    }

    /// Takes the next free block if the word of `bit` has none from there on.
    #[inline(never)]
    fn take_elsewhere(&mut self, bit: u64) -> Option<u64> {
        let taken = self.search(bit)?;
        self.set(taken);
        Some(taken)
    }

    /// `bit` if it is clear, otherwise the smallest clear bit above it, otherwise the smallest of all.
    #[inline]
    pub(crate) fn next_clear(&self, bit: u64) -> Option<u64> {
        debug_assert!(bit < self.bits);
        let clear = !self.words[(bit / 64) as usize] & (!0 << (bit % 64));
        if clear != 0 {
            return Some((bit & !63) + u64::from(clear.trailing_zeros()));
        }
        self.search(bit)
    }

    /// Takes up to `count` blocks from `first` on, stopping before one that is taken or at the end; returns their number.
    #[inline]
    pub(crate) fn claim(&mut self, first: u64, count: u64) -> u64 {
        let (index, shift) = ((first / 64) as usize, first % 64);
        let count = count.min(self.bits - first);
        let Some([low, high]) = self.words.get_mut(index..index + 2).filter(|_| count < 64) else {
            return self.claim_long(first, count);
        };
        // The second word may be one of the next level; then no bit of it is used.
        let taken = *low >> shift | *high << 1 << (63 - shift) | 1 << count;
        let free = u64::from(taken.trailing_zeros());
        let mask = (1 << free) - 1;
        let above = mask >> 1 >> (63 - shift);
        *low |= mask << shift;
        *high |= above;
        let full = [*low == !0, above != 0 && *high == !0];
        if full[0] {
            self.summarise(index as u64);
        }
        if full[1] {
            self.summarise(index as u64 + 1);
        }
        free
    }

    fn claim_long(&mut self, first: u64, count: u64) -> u64 {
        let free = self.free_run(first, count);
        let (mut at, end) = (first, first + free);
        while at < end {
            let stop = end.min((at & !63) + 64);
            self.set_in_word(at / 64, (!0 >> (64 - (stop - at))) << (at % 64));
            at = stop;
        }
        free
    }

    /// Number of free blocks from `first` on, up to `count`.
    pub(crate) fn free_run(&self, first: u64, count: u64) -> u64 {
        let end = first.saturating_add(count).min(self.bits);
        let mut at = first;
        while at < end {
            let taken = self.words[(at / 64) as usize] >> (at % 64);
            let room = 64 - at % 64;
            let run = u64::from(taken.trailing_zeros()).min(room);
            at += run;
            if run < room {
                break;
            }
        }
        at.clamp(first, end.max(first)) - first
    }

    /// Takes this block.
    #[inline]
    pub(crate) fn set(&mut self, bit: u64) {
        self.set_in_word(bit / 64, 1 << (bit % 64));
    }

    /// Whether this block is taken.
    #[inline]
    pub(crate) fn is_taken(&self, bit: u64) -> bool {
        self.words[(bit / 64) as usize] >> (bit % 64) & 1 == 1
    }

    /// Frees this block again, in each level whose word was full.
    pub(crate) fn free(&mut self, mut bit: u64) {
        for start in &self.start[..self.levels] {
            let word = &mut self.words[start + (bit / 64) as usize];
            let was_full = *word == !0;
            *word &= !(1 << (bit % 64));
            if !was_full {
                return;
            }
            bit /= 64;
        }
    }

    #[inline]
    fn set_in_word(&mut self, index: u64, mask: u64) {
        let word = &mut self.words[index as usize];
        *word |= mask;
        if *word == !0 {
            self.summarise(index);
        }
    }

    /// Sets the bits above word `index` of level 0, which became full, as long as that fills words.
    #[cold]
    #[inline(never)]
    fn summarise(&mut self, mut index: u64) {
        for level in 1..self.levels {
            let word = &mut self.words[self.start[level] + (index / 64) as usize];
            *word |= 1 << (index % 64);
            if *word != !0 {
                return;
            }
            index /= 64;
        }
    }

    /// The smallest clear bit from `bit` on, otherwise the smallest of all.
    #[inline(never)]
    fn search(&self, bit: u64) -> Option<u64> {
        self.clear_from(bit).or_else(|| self.clear_from(0))
    }

    /// The smallest clear bit at or above `bit`, by climbing until a word has one and then descending.
    fn clear_from(&self, bit: u64) -> Option<u64> {
        let (mut level, mut at) = (0, bit);
        loop {
            let index = self.start[level] + (at / 64) as usize;
            let end = self.start[..self.levels].get(level + 1).copied().unwrap_or(self.words.len());
            if index >= end {
                return None;
            }
            let clear = !self.words[index] & (!0 << (at % 64));
            if clear != 0 {
                at = (at & !63) + u64::from(clear.trailing_zeros());
                break;
            }
            level += 1;
            if level == self.levels {
                return None;
            }
            at = at / 64 + 1;
        }
        while level > 0 {
            level -= 1;
            let clear = !self.words[self.start[level] + at as usize];
            debug_assert!(clear != 0, "the level above said this word has room");
            at = at * 64 + u64::from(clear.trailing_zeros());
        }
        Some(at)
    }

    /// Marks the bits beyond the last block of each level as taken, so that no search ends there.
    fn fence(&mut self) {
        let mut size = self.bits;
        for level in 0..self.levels {
            let tail = size % 64;
            size = size.div_ceil(64);
            if tail != 0 {
                self.words[self.start[level] + size as usize - 1] |= !0 << tail;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_collision_takes_the_next_free_block_and_wraps_once() {
        let mut map = RandomMap::new(5);
        assert_eq!(
            [4, 2, 2, 2, 2, 2].map(|b| map.take(b)),
            [Some(4), Some(2), Some(3), Some(0), Some(1), None]
        );
    }

    #[test]
    fn the_last_free_block_of_a_large_map_is_found() {
        let bits = 64 * 64 * 64 + 77;
        let mut map = RandomMap::new(bits);
        for bit in (0..bits).filter(|&b| b != 70_000) {
            assert_eq!(map.take(bit), Some(bit));
        }
        assert_eq!(map.next_clear(70_001), Some(70_000));
        assert_eq!(map.take(3), Some(70_000));
        assert_eq!(map.take(3), None);
        map.clear();
        assert_eq!(map.take(bits - 1), Some(bits - 1));
        assert_eq!(map.take(bits - 1), Some(0));
    }

    #[test]
    fn a_claim_stops_before_a_taken_block_and_at_the_end() {
        let mut map = RandomMap::new(200);
        assert_eq!(map.take(130), Some(130));
        assert_eq!(map.claim(60, 100), 70);
        assert_eq!(map.claim(60, 1), 0);
        assert_eq!(map.claim(131, 1000), 69);
        assert_eq!(map.claim(0, 60), 60);
        assert_eq!(map.next_clear(0), None);
    }

    proptest! {
        #[test]
        fn the_map_behaves_like_a_list_of_booleans(
            bits in 1u64..9000,
            steps in prop::collection::vec((any::<u64>(), 0u64..300, 0u8..40), 1..400),
        ) {
            let mut map = RandomMap::new(bits);
            let mut plain = vec![false; bits as usize];
            for (at, count, action) in steps {
                let at = at % bits;
                match action {
                    0 => {
                        map.clear();
                        plain.fill(false);
                    }
                    1..20 => {
                        let run = plain[at as usize..].iter().take(count as usize).take_while(|&&b| !b).count();
                        plain[at as usize..][..run].fill(true);
                        prop_assert_eq!(map.claim(at, count), run as u64);
                    }
                    _ => {
                        let expected = (at..bits).chain(0..at).find(|&b| !plain[b as usize]);
                        prop_assert_eq!(map.take(at), expected);
                        if let Some(bit) = expected {
                            plain[bit as usize] = true;
                        }
                    }
                }
            }
        }
    }
}
