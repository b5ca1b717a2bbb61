//! The list of written blocks to read back, with their order and seeds, and those to trim before.

mod synced;

use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;

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
    /// Number of blocks in the list.
    len: usize,
    /// Number of blocks in the list that are marked.
    marked: usize,
    /// The blocks that were marked, oldest first; includes blocks that have left the list since.
    marks: VecDeque<WrittenBlockKey>,
    /// The synced blocks, for a list by file and offset from which only these are taken.
    synced: Option<SyncedBlocks>,
}

#[derive(Clone, Debug)]
enum BlockOrder {
    /// In the order of issue. No block is written twice, or the remains of overwritten blocks can still be checked.
    Issued(VecDeque<IssuedBlock>),
    /// By file and offset. The blocks never overlap.
    Placed(Vec<BTreeMap<u64, PlacedBlock>>),
}

/// A block and the number of its write, among blocks in the order of these numbers.
#[derive(Clone, Copy, Debug)]
struct IssuedBlock {
    file: u32,
    block: PlacedBlock,
    offset: u64,
}

/// Length and number of a block, in three words so that nothing is lost to alignment: 44 bits for the length (16 TiB), 50 for the number of
/// the write, and the state bits of [`NumberAndState`].
#[derive(Clone, Copy, Debug)]
struct PlacedBlock([u32; 3]);

const _: () = assert!(size_of::<IssuedBlock>() == 24 && size_of::<(u64, [u32; 4])>() == 24);

/// The key of a block.
#[derive(Clone, Copy, Debug)]
struct WrittenBlockKey {
    file: u32,
    offset: u64,
    number: u64,
}

/// The number of a write and, in the bits above, the state of its block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct NumberAndState(u64);

impl NumberAndState {
    const TRIMMED: u64 = 1 << 63;
    const MARKED: u64 = 1 << 62;

    fn new(block: &WrittenBlock) -> Self {
        NumberAndState(block.number | if block.trimmed { Self::TRIMMED } else { 0 })
    }

    fn number(self) -> u64 {
        self.0 & !(Self::TRIMMED | Self::MARKED)
    }

    fn is_trimmed(self) -> bool {
        self.0 & Self::TRIMMED != 0
    }

    fn is_marked(self) -> bool {
        self.0 & Self::MARKED != 0
    }

    fn with_mark(self) -> Self {
        NumberAndState(self.0 | Self::MARKED)
    }

    fn trimmed(self) -> Self {
        NumberAndState(self.number() | Self::TRIMMED)
    }
}

impl WrittenList {
    /// An empty list. `forgets` says that the job may write to the same place twice, after which older blocks can no longer be checked.
    /// Then blocks are read back by ascending file and offset, and a newer block removes every older one that it touches, even in part.
    #[must_use]
    pub fn new(forgets: bool) -> Self {
        let order =
            if forgets { BlockOrder::Placed(Vec::new()) } else { BlockOrder::Issued(VecDeque::new()) };
        WrittenList { order, len: 0, marked: 0, marks: VecDeque::new(), synced: None }
    }

    /// The same list for a job that asks [`take_first`](Self::take_first) for synced blocks: they are found without searching all others.
    #[must_use]
    pub fn of_synced_blocks(self) -> Self {
        let synced = matches!(self.order, BlockOrder::Placed(_)).then(SyncedBlocks::default);
        WrittenList { synced, ..self }
    }

    /// Adds a block that is being written. Numbers ascend.
    pub fn record(&mut self, block: WrittenBlock) {
        let end = block.offset.saturating_add(block.len);
        match &mut self.order {
            BlockOrder::Issued(blocks) => blocks.push_back(IssuedBlock::new(&block)),
            BlockOrder::Placed(files) => {
                let file = block.file as usize;
                if files.len() <= file {
                    files.resize_with(file + 1, BTreeMap::new);
                }
                let blocks = &mut files[file];
                let (gone, marks) = remove_overlaps(blocks, block.offset..end);
                blocks.insert(block.offset, PlacedBlock::new(block.len, NumberAndState::new(&block)));
                self.left(gone, marks);
            }
        }
        self.len += 1;
        if let Some(mut synced) = self.synced.take() {
            synced.written(
                WrittenBlockKey { file: block.file, offset: block.offset, number: block.number },
                self,
            );
            self.synced = Some(synced);
        }
    }

    /// Marks a block of the list for trimming.
    pub fn mark(&mut self, block: &WrittenBlock) {
        let key = WrittenBlockKey { file: block.file, offset: block.offset, number: block.number };
        if let Some((_, number)) = self.find(key)
            && !number.is_marked()
        {
            self.set_number(key, number.with_mark());
            self.marks.push_back(key);
            self.marked += 1;
        }
    }

    /// Removes the record of the write `number` of a block at `offset`: it failed, or the contents of the block are no longer known. Recent
    /// records are found fast.
    pub fn forget(&mut self, file: u32, offset: u64, number: u64) {
        let key = WrittenBlockKey { file, offset, number };
        if let Some((_, number)) = self.find(key) {
            self.remove(key);
            self.left(1, usize::from(number.is_marked()));
        }
    }

    /// Removes the blocks that begin in a range of a file, whose contents are gone.
    pub fn forget_range(&mut self, file: u32, range: Range<u64>) {
        let (mut blocks_left, mut marks_left) = (0, 0);
        let mut leaves = |number: NumberAndState| {
            blocks_left += 1;
            marks_left += usize::from(number.is_marked());
        };
        match &mut self.order {
            BlockOrder::Issued(blocks) => blocks.retain(|block| {
                let stays = block.file != file || !range.contains(&block.offset);
                if !stays {
                    leaves(block.number());
                }
                stays
            }),
            BlockOrder::Placed(files) => {
                let Some(blocks) = files.get_mut(file as usize) else { return };
                while let Some((&start, block)) = blocks.range(range.clone()).next() {
                    leaves(block.number());
                    blocks.remove(&start);
                }
            }
        }
        self.left(blocks_left, marks_left);
    }

    /// Removes the blocks that touch a range that the job itself trims. In the order of issue there are none, because a block is written
    /// after its trim.
    pub fn forget_overlaps(&mut self, file: u32, range: Range<u64>) {
        if let BlockOrder::Placed(files) = &mut self.order
            && let Some(blocks) = files.get_mut(file as usize)
        {
            let (gone, marks) = remove_overlaps(blocks, range);
            self.left(gone, marks);
        }
    }

    /// Takes the next block to read back among the writes with numbers below `end`. `busy` returns whether a write, by number, or a trim of
    /// its block is in flight: in the order of issue nothing is taken before the first block that is busy or not below `end`; otherwise
    /// such blocks are skipped.
    pub fn take_first(&mut self, end: u64, busy: impl Fn(u64) -> bool) -> Option<WrittenBlock> {
        let waits = |number: NumberAndState| number.number() >= end || busy(number.number());
        let (taken, is_marked) = match &mut self.order {
            BlockOrder::Issued(blocks) => {
                let block = *blocks.front().filter(|block| !waits(block.number()))?;
                blocks.pop_front();
                (block.written(), block.number().is_marked())
            }
            BlockOrder::Placed(_) if end < u64::MAX && self.synced.is_some() => {
                let mut synced = self.synced.take()?;
                let key = synced.first(end, busy, self);
                self.synced = Some(synced);
                let key = key?;
                let (len, number) = self.find(key)?;
                self.remove(key);
                let WrittenBlockKey { file, offset, .. } = key;
                (PlacedBlock::new(len, number).written(file, offset), number.is_marked())
            }
            BlockOrder::Placed(files) => (0u32..).zip(files).find_map(|(file, blocks)| {
                let (&offset, &block) = blocks.iter().find(|(_, block)| !waits(block.number()))?;
                blocks.remove(&offset);
                Some((block.written(file, offset), block.number().is_marked()))
            })?,
        };
        self.left(1, usize::from(is_marked));
        Some(taken)
    }

    /// Unmarks the oldest marked block, which is being trimmed: it stays in the list as a block of zeros, or leaves it. `None` if there is
    /// none, or if it is `busy` as in [`take_first`](Self::take_first).
    pub fn take_marked(&mut self, stays: bool, busy: impl Fn(u64) -> bool) -> Option<WrittenBlock> {
        while let Some(&key) = self.marks.front() {
            // A mark without its block is stale: the block was read back or written again.
            let Some((len, number)) = self.find(key).filter(|(_, number)| number.is_marked()) else {
                self.marks.pop_front();
                continue;
            };
            if busy(key.number) {
                return None;
            }
            self.marks.pop_front();
            if stays {
                self.set_number(key, number.trimmed());
                self.left(0, 1);
            } else {
                self.remove(key);
                self.left(1, 1);
            }
            let WrittenBlockKey { file, offset, number } = key;
            return Some(WrittenBlock { file, len, offset, number, trimmed: true });
        }
        None
    }

    /// Number of blocks in the list.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether nothing is left to read back.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Number of blocks in the list that are marked for trimming.
    #[must_use]
    pub fn marked(&self) -> usize {
        self.marked
    }

    /// Removes all blocks, as at the start of a further loop.
    pub fn clear(&mut self) {
        match &mut self.order {
            BlockOrder::Issued(blocks) => blocks.clear(),
            BlockOrder::Placed(files) => files.clear(),
        }
        self.marks.clear();
        self.synced = self.synced.take().map(|_| SyncedBlocks::default());
        (self.len, self.marked) = (0, 0);
    }

    fn left(&mut self, blocks: usize, marks: usize) {
        self.len -= blocks;
        self.marked -= marks;
    }

    /// Length and number of a block, if it is in the list.
    fn find(&self, key: WrittenBlockKey) -> Option<(u64, NumberAndState)> {
        let (len, number) = match &self.order {
            BlockOrder::Issued(blocks) => {
                index(blocks, key).map(|at| (blocks[at].block.len(), blocks[at].number()))?
            }
            BlockOrder::Placed(files) => {
                let block = files.get(key.file as usize)?.get(&key.offset)?;
                (block.len(), block.number())
            }
        };
        (number.number() == key.number).then_some((len, number))
    }

    /// Number of the block that begins at `offset`, in a list by file and offset.
    fn number_at(&self, file: u32, offset: u64) -> Option<u64> {
        let BlockOrder::Placed(files) = &self.order else { return None };
        Some(files.get(file as usize)?.get(&offset)?.number().number())
    }

    fn set_number(&mut self, key: WrittenBlockKey, number: NumberAndState) {
        match &mut self.order {
            BlockOrder::Issued(blocks) => {
                if let Some(at) = index(blocks, key) {
                    blocks[at].block = PlacedBlock::new(blocks[at].block.len(), number);
                }
            }
            BlockOrder::Placed(files) => {
                let blocks = files.get_mut(key.file as usize);
                if let Some(block) = blocks.and_then(|blocks| blocks.get_mut(&key.offset)) {
                    *block = PlacedBlock::new(block.len(), number);
                }
            }
        }
    }

    fn remove(&mut self, key: WrittenBlockKey) {
        match &mut self.order {
            BlockOrder::Issued(blocks) => {
                if let Some(at) = index(blocks, key) {
                    blocks.remove(at);
                }
            }
            BlockOrder::Placed(files) => {
                if let Some(blocks) = files.get_mut(key.file as usize) {
                    blocks.remove(&key.offset);
                }
            }
        }
    }
}

/// Removes the blocks that touch a range, even in part. Returns the number of these blocks, and how many of them are marked.
fn remove_overlaps(blocks: &mut BTreeMap<u64, PlacedBlock>, range: Range<u64>) -> (usize, usize) {
    let (mut gone, mut marks) = (0, 0);
    // At most one block begins before the range and reaches into it.
    let before = blocks.range(..range.start).next_back();
    let first = before
        .filter(|(start, before)| *start + before.len() > range.start)
        .map_or(range.start, |(&start, _)| start);
    while let Some((&start, touched)) = blocks.range(first..range.end).next() {
        gone += 1;
        marks += usize::from(touched.number().is_marked());
        blocks.remove(&start);
    }
    (gone, marks)
}

/// The index of a block among blocks in the order of their numbers.
fn index(blocks: &VecDeque<IssuedBlock>, key: WrittenBlockKey) -> Option<usize> {
    blocks.binary_search_by_key(&key.number, |block| block.number().number()).ok()
}

impl IssuedBlock {
    fn new(block: &WrittenBlock) -> Self {
        let &WrittenBlock { file, len, offset, .. } = block;
        IssuedBlock { file, block: PlacedBlock::new(len, NumberAndState::new(block)), offset }
    }

    fn number(&self) -> NumberAndState {
        self.block.number()
    }

    fn written(&self) -> WrittenBlock {
        self.block.written(self.file, self.offset)
    }
}

impl PlacedBlock {
    /// Bits of the length above the first word.
    const HIGH_LEN_BITS: u32 = 12;
    const MAX_LEN: u64 = (1 << (u32::BITS + Self::HIGH_LEN_BITS)) - 1;
    const NUMBER_BITS: u32 = 62 - Self::HIGH_LEN_BITS;
    const NUMBER: u64 = (1 << Self::NUMBER_BITS) - 1;

    fn new(len: u64, NumberAndState(number): NumberAndState) -> Self {
        // A longer block has no buffer in which it could be checked.
        let len = len.min(Self::MAX_LEN);
        let high_len = len >> u32::BITS;
        // The upper bits of the length replace bits that no number has, below the two state bits.
        let state = number & (NumberAndState::TRIMMED | NumberAndState::MARKED);
        let rest = state | high_len << Self::NUMBER_BITS | number & Self::NUMBER;
        PlacedBlock([len as u32, rest as u32, (rest >> u32::BITS) as u32])
    }

    fn rest(&self) -> u64 {
        u64::from(self.0[1]) | u64::from(self.0[2]) << u32::BITS
    }

    fn len(&self) -> u64 {
        let high = self.rest() >> Self::NUMBER_BITS & ((1 << Self::HIGH_LEN_BITS) - 1);
        high << u32::BITS | u64::from(self.0[0])
    }

    fn number(&self) -> NumberAndState {
        NumberAndState(self.rest() & (NumberAndState::TRIMMED | NumberAndState::MARKED | Self::NUMBER))
    }

    fn written(&self, file: u32, offset: u64) -> WrittenBlock {
        let number = self.number();
        WrittenBlock { file, len: self.len(), offset, number: number.number(), trimmed: number.is_trimmed() }
    }
}

/// Recomputes the seed of a written block by drawing all seeds again, skipping those of writes that left no record.
///
/// So a [`WrittenBlock`] need not store its seed: blocks are read back in the order in which they were written, so each seed is drawn at
/// most once.
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

    /// The seed of write `number`; `None` if it was passed already. `draw` returns the seeds of the write phase again, from the first one
    /// on.
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
mod tests;
