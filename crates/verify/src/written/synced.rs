//! The synced blocks of a list by file and offset, so that the first of them is found without searching the others.

use std::collections::{BTreeSet, VecDeque};

use super::WrittenBlockKey;
use super::order::BlockOrder;

/// Blocks that have left the list stay here until there are this many more than in the list.
const SLACK: usize = 1 << 10;

/// The blocks of a list, before and after their sync. Blocks that were taken or overwritten are discovered when it is their turn.
#[derive(Clone, Debug, Default)]
pub(super) struct SyncedBlocks {
    /// Not known to be synced, by ascending number.
    waiting: VecDeque<WrittenBlockKey>,
    /// Files and offsets of the synced blocks.
    ready: BTreeSet<(u32, u64)>,
}

impl SyncedBlocks {
    /// Adds a block to a list that has `len` blocks now.
    pub(super) fn add(&mut self, key: WrittenBlockKey, list: &BlockOrder, len: usize) {
        self.waiting.push_back(key);
        if self.waiting.len() > 2 * len + SLACK {
            self.waiting.retain(|&key| list.find(key).is_some());
        }
    }

    /// Takes the first block of the list whose number is below `end` and that is not `busy`.
    pub(super) fn first(
        &mut self,
        end: u64,
        busy: impl Fn(u64) -> bool,
        list: &BlockOrder,
    ) -> Option<WrittenBlockKey> {
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
                        return Some(WrittenBlockKey { file, offset, number });
                    }
                }
            }
        }
    }

    /// Number of blocks that are tracked.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.waiting.len() + self.ready.len()
    }
}
