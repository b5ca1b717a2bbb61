//! The list of written blocks to read back, in their order, and of those to trim before.

mod order;
mod packed_block;
mod synced;

use std::collections::VecDeque;
use std::ops::Range;

use order::BlockOrder;
use packed_block::PackedBlock;
use synced::SyncedBlocks;

/// A written block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WrittenBlock {
    /// Index of the file in the job.
    pub file: u32,
    /// Bytes.
    pub len: u64,
    /// Offset in the file, bytes.
    pub offset: u64,
    /// Number of writes that the job had issued before.
    pub number: u64,
    /// Whether it was trimmed after it was written, and must be zeros now.
    pub trimmed: bool,
}

/// The blocks to read back. Every write is recorded when it is issued, in that order.
///
/// Costs 24 bytes a block, plus the slack of the collection, and as much again for a block that is marked for trimming.
#[derive(Clone, Debug)]
pub struct WrittenList {
    order: BlockOrder,
    counts: BlockCounts,
    /// The blocks that were marked, oldest first; includes blocks that have left the list since.
    marks: VecDeque<WrittenBlockKey>,
    /// The synced blocks, for a list by file and offset from which only these are taken.
    synced: Option<SyncedBlocks>,
}

/// The key of a block.
#[derive(Clone, Copy, Debug)]
struct WrittenBlockKey {
    file: u32,
    offset: u64,
    number: u64,
}

impl WrittenBlock {
    fn key(&self) -> WrittenBlockKey {
        WrittenBlockKey { file: self.file, offset: self.offset, number: self.number }
    }
}

/// Numbers of blocks in a list.
#[derive(Clone, Copy, Debug, Default)]
struct BlockCounts {
    all: usize,
    marked: usize,
}

impl BlockCounts {
    /// A block leaves the list.
    fn remove(&mut self, block: PackedBlock) {
        self.all -= 1;
        self.marked -= usize::from(block.is_marked());
    }
}

impl WrittenList {
    /// An empty list. `forgets` says that the job may write to the same place twice, after which older blocks can no longer be checked.
    /// Then blocks are read back by ascending file and offset, and a newer block removes every older one that it touches, even in part.
    #[must_use]
    pub fn new(forgets: bool) -> Self {
        let order =
            if forgets { BlockOrder::Placed(Vec::new()) } else { BlockOrder::Issued(VecDeque::new()) };
        WrittenList { order, counts: BlockCounts::default(), marks: VecDeque::new(), synced: None }
    }

    /// Tracks synced blocks, for a job that asks [`take_first`](Self::take_first) for these: they are found without searching all others.
    #[must_use]
    pub fn of_synced_blocks(self) -> Self {
        let synced = matches!(self.order, BlockOrder::Placed(_)).then(SyncedBlocks::default);
        WrittenList { synced, ..self }
    }

    /// Adds a block that is being written. Numbers ascend.
    pub fn record(&mut self, block: WrittenBlock) {
        self.order.insert(&block, |gone| self.counts.remove(gone));
        self.counts.all += 1;
        if let Some(synced) = &mut self.synced {
            synced.add(block.key(), &self.order, self.counts.all);
        }
    }

    /// Marks a block of the list for trimming.
    pub fn mark(&mut self, block: &WrittenBlock) {
        let key = block.key();
        if let Some(block) = self.order.find_mut(key).filter(|block| !block.is_marked()) {
            block.mark();
            self.marks.push_back(key);
            self.counts.marked += 1;
        }
    }

    /// Removes the record of the write `number` of a block at `offset`: it failed, or the contents of the block are no longer known. Recent
    /// records are found fast.
    pub fn forget(&mut self, file: u32, offset: u64, number: u64) {
        if let Some(gone) = self.order.remove(WrittenBlockKey { file, offset, number }) {
            self.counts.remove(gone);
        }
    }

    /// Removes the blocks that begin in a range of a file, whose contents are gone.
    pub fn forget_range(&mut self, file: u32, range: Range<u64>) {
        self.order.remove_range(file, range, |gone| self.counts.remove(gone));
    }

    /// Removes the blocks that touch a range that the job itself trims. In the order of issue there are none, because a block is written
    /// after its trim.
    pub fn forget_overlaps(&mut self, file: u32, range: Range<u64>) {
        self.order.remove_overlaps(file, range, |gone| self.counts.remove(gone));
    }

    /// Takes the next block to read back among the writes with numbers below `end`. `busy` returns whether a write, by number, or a trim of
    /// its block is in flight: in the order of issue nothing is taken before the first block that is busy or not below `end`; otherwise
    /// such blocks are skipped.
    pub fn take_first(&mut self, end: u64, busy: impl Fn(u64) -> bool) -> Option<WrittenBlock> {
        let (block, file, offset) = match &mut self.synced {
            Some(synced) if end < u64::MAX => {
                let key = synced.first(end, busy, &self.order)?;
                (self.order.remove(key)?, key.file, key.offset)
            }
            _ => self.order.take_first(|block| block.number() >= end || busy(block.number()))?,
        };
        self.counts.remove(block);
        Some(block.unpack(file, offset))
    }

    /// Unmarks the oldest marked block, which is being trimmed: it stays in the list as a block of zeros, or leaves it. `None` if there is
    /// none, or if it is `busy` as in [`take_first`](Self::take_first).
    pub fn take_marked(&mut self, stays: bool, busy: impl Fn(u64) -> bool) -> Option<WrittenBlock> {
        while let Some(&key) = self.marks.front() {
            // A mark without its block is stale: the block was read back or written again.
            let Some(block) = self.order.find_mut(key).filter(|block| block.is_marked()) else {
                self.marks.pop_front();
                continue;
            };
            if busy(key.number) {
                return None;
            }
            self.marks.pop_front();
            block.trim();
            let taken = block.unpack(key.file, key.offset);
            self.counts.marked -= 1;
            if !stays {
                self.forget(key.file, key.offset, key.number);
            }
            return Some(taken);
        }
        None
    }

    /// Number of blocks in the list.
    #[must_use]
    pub fn len(&self) -> usize {
        self.counts.all
    }

    /// Whether nothing is left to read back.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.counts.all == 0
    }

    /// Number of blocks in the list that are marked for trimming.
    #[must_use]
    pub fn marked(&self) -> usize {
        self.counts.marked
    }

    /// Removes all blocks, as at the start of a further loop.
    pub fn clear(&mut self) {
        self.order.clear();
        self.marks.clear();
        self.synced = self.synced.take().map(|_| SyncedBlocks::default());
        self.counts = BlockCounts::default();
    }
}

#[cfg(test)]
mod tests;
