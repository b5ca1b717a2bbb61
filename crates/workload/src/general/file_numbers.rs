//! Sets of file numbers.

use crate::random_map::RandomMap;

/// A set of numbers of a job's files. The absent numbers are marked in a map, so that the next member is found in a few steps however few
/// there are.
#[derive(Clone, Debug)]
pub(super) struct FileNumbers {
    others: RandomMap,
    pub(super) count: u32,
}

impl FileNumbers {
    /// The empty set of the numbers below `numbers`.
    pub(super) fn none(numbers: u32) -> Self {
        FileNumbers { others: RandomMap::full(u64::from(numbers.max(1))), count: 0 }
    }

    /// All numbers below `numbers`.
    pub(super) fn all(numbers: u32) -> Self {
        match numbers {
            0 => FileNumbers::none(0),
            count => FileNumbers { others: RandomMap::new(count.into()), count },
        }
    }

    #[inline]
    pub(super) fn contains(&self, number: u32) -> bool {
        !self.others.is_taken(number.into())
    }

    /// Adds a number that is not a member.
    pub(super) fn insert(&mut self, number: u32) {
        debug_assert!(!self.contains(number));
        self.count += 1;
        self.others.free(number.into());
    }

    /// Removes a member.
    pub(super) fn remove(&mut self, number: u32) {
        debug_assert!(self.contains(number));
        self.count -= 1;
        self.others.set(number.into());
    }

    /// The smallest member from `number` on, otherwise the smallest of all. `number` may be one beyond the last.
    #[inline]
    pub(super) fn next(&self, number: u32) -> Option<u32> {
        let from = u64::from(number);
        self.others.next_clear(if from < self.others.bits() { from } else { 0 }).map(|found| found as u32)
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
                prop_assert_eq!(set.count as usize, slow.len());
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
