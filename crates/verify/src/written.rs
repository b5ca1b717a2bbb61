//! What was written and is to be read back, in which order, and with which seeds.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;

/// One written block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Written {
    /// Index of the file in the job.
    pub file: u32,
    /// Bytes.
    pub len: u32,
    /// Where in the file, bytes.
    pub offset: u64,
    /// How many writes the job had issued before.
    pub number: u64,
}

/// The blocks to read back. Every write is recorded when it is issued, in that order.
///
/// Costs 24 bytes a block, plus the slack of the collection.
#[derive(Clone, Debug)]
pub struct WrittenList(Order);

#[derive(Clone, Debug)]
enum Order {
    /// No block is written twice: read back as written.
    Issued(VecDeque<Written>),
    /// By file and offset. Blocks in here never overlap.
    Placed(Vec<BTreeMap<u64, WrittenBlock>>),
}

/// Length and number of a block; the number is cut in two so that nothing is lost to alignment.
#[derive(Clone, Copy, Debug)]
struct WrittenBlock {
    len: u32,
    number: [u32; 2],
}

impl WrittenList {
    /// An empty list. `may_overlap`: the job may write to the same place twice. Then blocks are read back by ascending file and
    /// offset, and a newer block makes the list forget every older one that it touches, even in part.
    #[must_use]
    pub fn new(may_overlap: bool) -> Self {
        WrittenList(if may_overlap { Order::Placed(Vec::new()) } else { Order::Issued(VecDeque::new()) })
    }

    /// Adds the block that is being written.
    pub fn record(&mut self, block: Written) {
        match &mut self.0 {
            Order::Issued(blocks) => blocks.push_back(block),
            Order::Placed(files) => {
                let file = block.file as usize;
                if files.len() <= file {
                    files.resize_with(file + 1, BTreeMap::new);
                }
                let blocks = &mut files[file];
                let end = block.offset.saturating_add(u64::from(block.len));
                // At most one block begins before this one and reaches into it.
                if let Some((&start, before)) = blocks.range(..block.offset).next_back()
                    && start + u64::from(before.len) > block.offset
                {
                    blocks.remove(&start);
                }
                while let Some((&start, _)) = blocks.range(block.offset..end).next() {
                    blocks.remove(&start);
                }
                blocks.insert(block.offset, WrittenBlock::new(&block));
            }
        }
    }

    /// Takes back the record of a write that failed. Recent records are found fast.
    pub fn forget(&mut self, block: &Written) {
        match &mut self.0 {
            Order::Issued(blocks) => {
                if let Some(at) = blocks.iter().rposition(|recorded| recorded.number == block.number) {
                    blocks.remove(at);
                }
            }
            Order::Placed(files) => {
                if let Some(blocks) = files.get_mut(block.file as usize)
                    && blocks.get(&block.offset).is_some_and(|extent| extent.number() == block.number)
                {
                    blocks.remove(&block.offset);
                }
            }
        }
    }

    /// Forgets the blocks that begin in a range of a file: what was there is no more.
    pub fn forget_range(&mut self, file: u32, range: Range<u64>) {
        match &mut self.0 {
            Order::Issued(blocks) => {
                blocks.retain(|block| block.file != file || !range.contains(&block.offset));
            }
            Order::Placed(files) => {
                let Some(blocks) = files.get_mut(file as usize) else { return };
                while let Some((&start, _)) = blocks.range(range.clone()).next() {
                    blocks.remove(&start);
                }
            }
        }
    }

    /// Takes the block that is to be read back next.
    pub fn take_first(&mut self) -> Option<Written> {
        match &mut self.0 {
            Order::Issued(blocks) => blocks.pop_front(),
            Order::Placed(files) => (0u32..).zip(files).find_map(|(file, blocks)| {
                let (offset, extent) = blocks.pop_first()?;
                Some(Written { file, len: extent.len, offset, number: extent.number() })
            }),
        }
    }

    /// Number of blocks in the list.
    #[must_use]
    pub fn len(&self) -> usize {
        match &self.0 {
            Order::Issued(blocks) => blocks.len(),
            Order::Placed(files) => files.iter().map(BTreeMap::len).sum(),
        }
    }

    /// True when nothing is left to read back.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Forgets everything, as at the start of a further loop.
    pub fn clear(&mut self) {
        match &mut self.0 {
            Order::Issued(blocks) => blocks.clear(),
            Order::Placed(files) => files.clear(),
        }
    }
}

impl WrittenBlock {
    fn new(block: &Written) -> Self {
        WrittenBlock { len: block.len, number: [block.number as u32, (block.number >> 32) as u32] }
    }

    fn number(self) -> u64 {
        u64::from(self.number[0]) | u64::from(self.number[1]) << 32
    }
}

/// Finds the seed of a written block again by drawing all seeds once more, and skips those of writes that left no record.
///
/// That is why a [`Written`] need not remember its seed: blocks are read back in the order in which they were written, so each seed is
/// drawn at most once.
#[derive(Clone, Copy, Debug)]
pub struct SeedReplay {
    next: u64,
}

impl SeedReplay {
    /// A replay whose first draw belongs to write `first`.
    #[must_use]
    pub fn new(first: u64) -> Self {
        SeedReplay { next: first }
    }

    /// The seed of write `number`; `None` when it was passed already. `draw` gives the seeds of the write phase once more, from
    /// the first one on.
    pub fn seed_of(&mut self, number: u64, mut draw: impl FnMut() -> u64) -> Option<u64> {
        while self.next < number {
            draw();
            self.next += 1;
        }
        if self.next > number {
            return None;
        }
        self.next += 1;
        Some(draw())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn block(number: u64, offset: u64, len: u32) -> Written {
        Written { file: 0, len, offset, number }
    }

    fn drain(mut list: WrittenList) -> Vec<Written> {
        std::iter::from_fn(|| list.take_first()).collect()
    }

    #[test]
    fn an_entry_takes_at_most_24_bytes() {
        assert_eq!(size_of::<Written>(), 24);
        assert!(size_of::<(u64, WrittenBlock)>() <= 24);
    }

    #[test]
    fn blocks_that_cannot_overlap_come_back_as_issued() {
        let written = [28, 24, 20, 16, 0, 4, 8, 12];
        let mut list = WrittenList::new(false);
        for (number, kib) in (0..).zip(written) {
            list.record(block(number, kib << 10, 4096));
        }
        let offsets: Vec<u64> = drain(list).iter().map(|b| b.offset >> 10).collect();
        assert_eq!(offsets, written);
    }

    #[test]
    fn blocks_that_may_overlap_come_back_by_offset_the_newest_once() {
        let mut list = WrittenList::new(true);
        for (number, kib) in (0..).zip([28u64, 24, 20, 16, 16, 28, 0, 4]) {
            list.record(block(number, kib << 10, 4096));
        }
        let read: Vec<(u64, u64)> = drain(list).iter().map(|b| (b.offset >> 10, b.number)).collect();
        assert_eq!(read, [(0, 6), (4, 7), (16, 4), (20, 2), (24, 1), (28, 5)]);
    }

    #[test]
    fn a_block_that_is_touched_in_part_is_forgotten() {
        let mut list = WrittenList::new(true);
        list.record(block(0, 0, 8192));
        list.record(block(1, 8192, 4096));
        list.record(block(2, 4096, 4096));
        assert_eq!(drain(list), [block(2, 4096, 4096), block(1, 8192, 4096)]);
    }

    #[test]
    fn files_do_not_disturb_each_other() {
        let mut list = WrittenList::new(true);
        let other = Written { file: 2, ..block(1, 0, 4096) };
        list.record(other);
        list.record(block(0, 0, 4096));
        assert_eq!(list.len(), 2);
        assert_eq!(drain(list), [block(0, 0, 4096), other]);
    }

    #[test]
    fn a_failed_write_is_not_read_back() {
        for may_overlap in [false, true] {
            let mut list = WrittenList::new(may_overlap);
            list.record(block(0, 0, 4096));
            list.record(block(1, 4096, 4096));
            list.forget(&block(0, 0, 4096));
            list.forget(&block(7, 4096, 4096));
            assert_eq!(drain(list), [block(1, 4096, 4096)]);
        }
    }

    #[test]
    fn blocks_of_a_range_that_was_emptied_are_not_read_back() {
        for may_overlap in [false, true] {
            let mut list = WrittenList::new(may_overlap);
            [0, 4096, 8192].into_iter().zip(0..).for_each(|(offset, n)| list.record(block(n, offset, 4096)));
            list.forget_range(1, 0..1 << 20);
            list.forget_range(0, 4096..8192);
            assert_eq!(drain(list), [block(0, 0, 4096), block(2, 8192, 4096)]);
        }
    }

    #[test]
    fn a_cleared_list_is_empty() {
        for may_overlap in [false, true] {
            let mut list = WrittenList::new(may_overlap);
            list.record(block(u64::MAX, 0, 4096));
            assert!(!list.is_empty());
            list.clear();
            assert!(list.is_empty());
            assert_eq!(list.take_first(), None);
        }
    }

    proptest! {
        #[test]
        fn what_survives_is_what_no_newer_block_touches(writes in prop::collection::vec((0u32..2, 0u64..64, 1u32..20), 0..60)) {
            let blocks: Vec<Written> = (0u64..)
                .zip(writes)
                .map(|(n, (file, offset, len))| Written { file, len, offset, number: n << 32 | n })
                .collect();
            let mut list = WrittenList::new(true);
            blocks.iter().for_each(|&b| list.record(b));
            let touches = |a: &Written, b: &Written| {
                a.file == b.file && a.offset < b.offset + u64::from(b.len) && b.offset < a.offset + u64::from(a.len)
            };
            let mut expected: Vec<Written> = Vec::new();
            for (i, block) in blocks.iter().enumerate() {
                if !blocks[i + 1..].iter().any(|newer| touches(block, newer)) {
                    expected.push(*block);
                }
            }
            expected.sort_by_key(|b| (b.file, b.offset));
            prop_assert_eq!(drain(list), expected);
        }
    }

    /// The seeds of these writes, in a phase that began with write `first` and seed 101.
    fn seeds(first: u64, numbers: &[u64]) -> Vec<Option<u64>> {
        let mut drawn = 100;
        let mut replay = SeedReplay::new(first);
        let mut draw = || {
            drawn += 1;
            drawn
        };
        numbers.iter().map(|&number| replay.seed_of(number, &mut draw)).collect()
    }

    #[test]
    fn each_write_in_turn_has_the_next_seed() {
        assert_eq!(seeds(0, &[0, 1]), [Some(101), Some(102)]);
    }

    #[test]
    fn gaps_are_drawn_over_even_before_the_first_record() {
        assert_eq!(seeds(8, &[10, 12]), [Some(103), Some(105)]);
    }

    #[test]
    fn a_write_that_was_passed_has_no_seed() {
        assert_eq!(seeds(0, &[3, 3]), [Some(104), None]);
    }
}
