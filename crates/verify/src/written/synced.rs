//! Which blocks of a list by file and offset were synced, so that the first of them is found without a look at those that were not.

use std::collections::{BTreeSet, VecDeque};

use super::{Key, WrittenList};

/// Blocks that have left the list stay in here until there are so many more than in the list.
const SLACK: usize = 1 << 10;

/// The blocks of a list, before and after their sync. Blocks that were taken or overwritten are found to be gone when it is their turn.
#[derive(Clone, Debug, Default)]
pub(super) struct SyncedBlocks {
    /// Not known to be synced, by ascending number.
    waiting: VecDeque<Key>,
    /// Files and offsets of those that are.
    ready: BTreeSet<(u32, u64)>,
}

impl SyncedBlocks {
    /// A block was added to the list.
    pub(super) fn written(&mut self, key: Key, list: &WrittenList) {
        self.waiting.push_back(key);
        if self.waiting.len() > 2 * list.len + SLACK {
            self.waiting.retain(|&key| list.find(key).is_some());
        }
    }

    /// The first block of the list whose number is below `end` and that is not `busy`. It leaves the list.
    pub(super) fn first(&mut self, end: u64, busy: impl Fn(u64) -> bool, list: &WrittenList) -> Option<Key> {
        while let Some(&key) = self.waiting.front().filter(|key| key.number < end) {
            self.waiting.pop_front();
            if list.find(key).is_some() {
                self.ready.insert((key.file, key.offset));
            }
        }
        let mut from = (0, 0);
        loop {
            let &(file, offset) = self.ready.range(from..).next()?;
            // A block that was written again since waits for another sync.
            match list.number_at(file, offset).filter(|&number| number < end) {
                Some(number) if busy(number) => from = (file, offset + 1),
                found => {
                    self.ready.remove(&(file, offset));
                    if let Some(number) = found {
                        return Some(Key { file, offset, number });
                    }
                }
            }
        }
    }

    /// How many blocks are followed.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.waiting.len() + self.ready.len()
    }
}
