//! The blocks of a list in the order in which they are read back.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;

use super::packed_block::PackedBlock;
use super::{WrittenBlock, WrittenBlockKey};

/// The blocks in their order.
#[derive(Clone, Debug)]
pub(super) enum BlockOrder {
    /// In the order of issue. No block is written twice, or the remains of overwritten blocks can still be checked.
    Issued(VecDeque<IssuedBlock>),
    /// By file and offset. The blocks never overlap.
    Placed(Vec<BTreeMap<u64, PackedBlock>>),
}

/// A block among blocks in the order of their numbers.
#[derive(Clone, Copy, Debug)]
pub(super) struct IssuedBlock {
    file: u32,
    block: PackedBlock,
    offset: u64,
}

impl BlockOrder {
    /// Adds a block. By place, it replaces all blocks that it touches; `gone` is called for each of these.
    pub(super) fn insert(&mut self, written: &WrittenBlock, gone: impl FnMut(PackedBlock)) {
        let &WrittenBlock { file, len, offset, .. } = written;
        let block = PackedBlock::new(written);
        match self {
            BlockOrder::Issued(blocks) => blocks.push_back(IssuedBlock { file, block, offset }),
            BlockOrder::Placed(files) => {
                let file = file as usize;
                if files.len() <= file {
                    files.resize_with(file + 1, BTreeMap::new);
                }
                let blocks = &mut files[file];
                remove_overlaps(blocks, offset..offset.saturating_add(len), gone);
                blocks.insert(offset, block);
            }
        }
    }

    pub(super) fn find(&self, key: WrittenBlockKey) -> Option<PackedBlock> {
        let block = match self {
            BlockOrder::Issued(blocks) => blocks[index(blocks, key)?].block,
            BlockOrder::Placed(files) => *files.get(key.file as usize)?.get(&key.offset)?,
        };
        (block.number() == key.number).then_some(block)
    }

    /// Number of the block that begins at `offset`, in a list by place.
    pub(super) fn number_at(&self, file: u32, offset: u64) -> Option<u64> {
        let BlockOrder::Placed(files) = self else { return None };
        files.get(file as usize)?.get(&offset).map(|block| block.number())
    }

    pub(super) fn find_mut(&mut self, key: WrittenBlockKey) -> Option<&mut PackedBlock> {
        let block = match self {
            BlockOrder::Issued(blocks) => {
                let at = index(blocks, key)?;
                &mut blocks[at].block
            }
            BlockOrder::Placed(files) => files.get_mut(key.file as usize)?.get_mut(&key.offset)?,
        };
        (block.number() == key.number).then_some(block)
    }

    pub(super) fn remove(&mut self, key: WrittenBlockKey) -> Option<PackedBlock> {
        let block = self.find(key)?;
        match self {
            BlockOrder::Issued(blocks) => {
                let at = index(blocks, key)?;
                blocks.remove(at);
            }
            BlockOrder::Placed(files) => {
                files.get_mut(key.file as usize)?.remove(&key.offset);
            }
        }
        Some(block)
    }

    /// Takes the first block for which `waits` is false. In the order of issue, nothing is taken before a block that waits.
    pub(super) fn take_first(
        &mut self,
        waits: impl Fn(PackedBlock) -> bool,
    ) -> Option<(PackedBlock, u32, u64)> {
        match self {
            BlockOrder::Issued(blocks) => {
                let IssuedBlock { file, block, offset } =
                    *blocks.front().filter(|first| !waits(first.block))?;
                blocks.pop_front();
                Some((block, file, offset))
            }
            BlockOrder::Placed(files) => (0u32..).zip(files).find_map(|(file, blocks)| {
                let (&offset, &block) = blocks.iter().find(|(_, block)| !waits(**block))?;
                blocks.remove(&offset);
                Some((block, file, offset))
            }),
        }
    }

    /// Removes the blocks that begin in a range of a file, and calls `gone` for each.
    pub(super) fn remove_range(&mut self, file: u32, range: Range<u64>, mut gone: impl FnMut(PackedBlock)) {
        match self {
            BlockOrder::Issued(blocks) => blocks.retain(|issued| {
                let stays = issued.file != file || !range.contains(&issued.offset);
                if !stays {
                    gone(issued.block);
                }
                stays
            }),
            BlockOrder::Placed(files) => {
                if let Some(blocks) = files.get_mut(file as usize) {
                    remove_range(blocks, range, gone);
                }
            }
        }
    }

    /// Removes the blocks that touch a range, and calls `gone` for each. In the order of issue nothing is removed.
    pub(super) fn remove_overlaps(&mut self, file: u32, range: Range<u64>, gone: impl FnMut(PackedBlock)) {
        if let BlockOrder::Placed(files) = self
            && let Some(blocks) = files.get_mut(file as usize)
        {
            remove_overlaps(blocks, range, gone);
        }
    }

    pub(super) fn clear(&mut self) {
        match self {
            BlockOrder::Issued(blocks) => blocks.clear(),
            BlockOrder::Placed(files) => files.clear(),
        }
    }
}

/// The index of a block among blocks in the order of their numbers.
fn index(blocks: &VecDeque<IssuedBlock>, key: WrittenBlockKey) -> Option<usize> {
    blocks.binary_search_by_key(&key.number, |issued| issued.block.number()).ok()
}

fn remove_overlaps(
    blocks: &mut BTreeMap<u64, PackedBlock>,
    range: Range<u64>,
    gone: impl FnMut(PackedBlock),
) {
    // At most one block begins before the range and reaches into it.
    let before = blocks.range(..range.start).next_back();
    let first = before
        .filter(|(start, before)| *start + before.len() > range.start)
        .map_or(range.start, |(&start, _)| start);
    remove_range(blocks, first..range.end, gone);
}

fn remove_range(
    blocks: &mut BTreeMap<u64, PackedBlock>,
    range: Range<u64>,
    mut gone: impl FnMut(PackedBlock),
) {
    while let Some((&start, &block)) = blocks.range(range.clone()).next() {
        gone(block);
        blocks.remove(&start);
    }
}
