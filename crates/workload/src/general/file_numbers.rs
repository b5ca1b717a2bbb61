//! A set of file numbers that finds the next member upward in a few steps however few are left.
//!
//! A tree of bits with 64 children to a node: a bit of a higher level says that the word below it has a member.

/// Some of the numbers below a count.
#[derive(Clone, Debug)]
pub(super) struct FileNumbers {
    /// The lowest level, one bit a number, first.
    levels: Vec<Vec<u64>>,
    count: u32,
}

impl FileNumbers {
    /// None of the numbers below `numbers`.
    pub(super) fn none(numbers: u32) -> Self {
        FileNumbers { levels: Self::levels(numbers, 0), count: 0 }
    }

    /// All numbers below `numbers`.
    pub(super) fn all(numbers: u32) -> Self {
        FileNumbers { levels: Self::levels(numbers, !0), count: numbers }
    }

    fn levels(numbers: u32, word: u64) -> Vec<Vec<u64>> {
        let (mut levels, mut size) = (Vec::new(), numbers as usize);
        loop {
            let mut level = vec![word; size.div_ceil(64).max(1)];
            if size == 0 {
                level[0] = 0;
            } else if !size.is_multiple_of(64) {
                level[size / 64] &= (1 << (size % 64)) - 1;
            }
            size = level.len();
            levels.push(level);
            if size == 1 {
                return levels;
            }
        }
    }

    /// How many there are.
    #[inline]
    pub(super) fn count(&self) -> u32 {
        self.count
    }

    #[inline]
    pub(super) fn contains(&self, number: u32) -> bool {
        self.levels[0][number as usize / 64] >> (number % 64) & 1 == 1
    }

    /// Adds a number that is no member.
    pub(super) fn insert(&mut self, number: u32) {
        debug_assert!(!self.contains(number));
        self.count += 1;
        let mut at = number as usize;
        for level in &mut self.levels {
            level[at / 64] |= 1 << (at % 64);
            at /= 64;
        }
    }

    /// Takes a member out.
    pub(super) fn remove(&mut self, number: u32) {
        debug_assert!(self.contains(number));
        self.count -= 1;
        let mut at = number as usize;
        for level in &mut self.levels {
            level[at / 64] &= !(1 << (at % 64));
            if level[at / 64] != 0 {
                return;
            }
            at /= 64;
        }
    }

    /// The smallest member from `number` on, else the smallest of all. `number` may be one beyond the last.
    #[inline]
    pub(super) fn next(&self, number: u32) -> Option<u32> {
        let word = self.levels[0].get(number as usize / 64).map_or(0, |word| word >> (number % 64));
        if word != 0 {
            return Some(number + word.trailing_zeros());
        }
        self.from(number as usize).or_else(|| self.from(0))
    }

    /// The smallest member that is `number` or above: up until a word has one, then down to it.
    fn from(&self, number: usize) -> Option<u32> {
        let (mut level, mut at) = (0, number);
        loop {
            let word = self.levels.get(level)?.get(at / 64)? >> (at % 64);
            if word != 0 {
                at += word.trailing_zeros() as usize;
                break;
            }
            level += 1;
            at = at / 64 + 1;
        }
        while level > 0 {
            level -= 1;
            at = at * 64 + self.levels[level][at].trailing_zeros() as usize;
        }
        Some(at as u32)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn members_are_found_as_in_an_ordered_set(
            numbers in prop::sample::select(&[1u32, 2, 63, 64, 65, 4095, 4096, 4097, 300_000][..]),
            full: bool,
            changes in prop::collection::vec(any::<prop::sample::Index>(), 0..200),
        ) {
            let mut set = if full { FileNumbers::all(numbers) } else { FileNumbers::none(numbers) };
            let mut slow: BTreeSet<u32> = if full { (0..numbers).collect() } else { BTreeSet::new() };
            for change in changes {
                let number = change.index(numbers as usize) as u32;
                if slow.remove(&number) {
                    set.remove(number);
                } else {
                    slow.insert(number);
                    set.insert(number);
                }
                prop_assert_eq!(set.contains(number), slow.contains(&number));
                prop_assert_eq!(set.count() as usize, slow.len());
                for from in [number, number + 1, 0, numbers] {
                    let wanted = slow.range(from..).next().or(slow.first()).copied();
                    prop_assert_eq!(set.next(from), wanted);
                }
            }
        }
    }

    #[test]
    fn nothing_is_found_among_none() {
        assert_eq!(FileNumbers::none(0).next(0), None);
        assert_eq!(FileNumbers::none(5000).next(4999), None);
        assert_eq!(FileNumbers::all(0).next(0), None);
    }
}
