//! Counts distinct blocks by their sums: exactly with a map, or approximately with a Bloom filter.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::io::{self, Write as _};

use flate2::Compression;
use flate2::write::ZlibEncoder;

use super::DedupeOptions;
use super::read::{AlignedBuffer, BlockReader, BlockSum, DedupeError};
use crate::escaped_stream;

/// Filter bits per block, and their maximum total.
const BITS_PER_BLOCK: u64 = 16;
const MAX_BITS: u64 = 1 << 33;
/// Number of bits that a block sets.
const BITS_SET_PER_BLOCK: u64 = 6;

/// The counts of blocks.
#[derive(Debug, Default)]
pub struct Counts {
    /// Number of blocks; at least 1.
    pub blocks: u64,
    /// Number of distinct blocks; at least 1.
    pub unique: u64,
    /// Number of distinct blocks that occur more than once, if counted.
    pub duplicated: Option<u64>,
    /// Total compressed size of the unique blocks, if requested.
    pub capacity: u64,
    /// The unique blocks by their first offset, if requested.
    pub listed: Vec<ListedBlock>,
}

/// A unique block.
#[derive(Debug)]
pub struct ListedBlock {
    pub sum: BlockSum,
    /// Offsets of its occurrences in bytes.
    pub offsets: Vec<u64>,
}

/// Reads and counts all blocks.
///
/// # Errors
/// A block cannot be read.
pub fn count(source: &BlockReader, request: &DedupeOptions) -> Result<Counts, DedupeError> {
    let mut seen = match request.is_exact {
        true => SeenBlocks::Exact {
            blocks: HashMap::new(),
            compares: request.compares,
            buffers: [source.buffer(1), source.buffer(1)],
        },
        false => SeenBlocks::BloomFilter(BloomFilter::new(source.blocks())?),
    };
    let mut counts = Counts::default();
    let mut places: HashMap<BlockKey, Vec<u64>> = HashMap::new();
    let mut progress = ProgressLine::new(request.shows_progress, source.blocks());
    let mut block = source.buffer(1);
    source.hash(request.threads, |(first, sums)| {
        for (number, sum) in (first..).zip(sums) {
            counts.blocks += 1;
            let (key, is_new) = seen.insert(source, sum, number)?;
            if is_new {
                counts.unique += 1;
                if request.compresses {
                    source.read(number, block.bytes())?;
                    counts.capacity += compressed_size(block.bytes())?;
                }
            }
            if request.lists {
                places.entry(key).or_default().push(number * request.block_bytes as u64);
            }
        }
        progress.show(counts.blocks);
        Ok(())
    })?;
    progress.end();
    if let SeenBlocks::Exact { blocks, .. } = &seen {
        counts.duplicated = Some(blocks.values().filter(|seen| seen.is_repeated).count() as u64);
    }
    counts.listed = places.into_iter().map(|((sum, _), offsets)| ListedBlock { sum, offsets }).collect();
    counts.listed.iter_mut().for_each(|listed| listed.offsets.sort_unstable());
    counts.listed.sort_unstable_by(|one, other| one.offsets.cmp(&other.offsets));
    Ok(counts)
}

/// A block's sum, and a number that distinguishes blocks with the same sum and other bytes.
type BlockKey = (BlockSum, u32);

/// The first occurrence of a unique block.
struct FirstOccurrence {
    /// Index of the block.
    number: u64,
    is_repeated: bool,
}

/// The blocks that were seen so far.
enum SeenBlocks {
    Exact { blocks: HashMap<BlockKey, FirstOccurrence>, compares: bool, buffers: [AlignedBuffer; 2] },
    BloomFilter(BloomFilter),
}

impl SeenBlocks {
    /// Adds a block; true if it is new.
    fn insert(
        &mut self,
        source: &BlockReader,
        sum: BlockSum,
        number: u64,
    ) -> Result<(BlockKey, bool), DedupeError> {
        let (blocks, compares, [one, other]) = match self {
            SeenBlocks::BloomFilter(bloom) => return Ok(((sum, 0), bloom.insert(&sum))),
            SeenBlocks::Exact { blocks, compares, buffers } => (blocks, *compares, buffers),
        };
        let mut key = (sum, 0);
        loop {
            match blocks.entry(key) {
                Entry::Vacant(entry) => {
                    entry.insert(FirstOccurrence { number, is_repeated: false });
                    return Ok((key, true));
                }
                Entry::Occupied(mut entry) => {
                    let is_same = !compares || {
                        source.read(number, one.bytes())?;
                        source.read(entry.get().number, other.bytes())?;
                        one.bytes() == other.bytes()
                    };
                    if is_same {
                        entry.get_mut().is_repeated = true;
                        return Ok((key, false));
                    }
                    key.1 += 1;
                }
            }
        }
    }
}

/// A Bloom filter: recognises every block that was seen, and rarely takes a new block for a seen one.
struct BloomFilter {
    words: Vec<u64>,
    bits: u64,
}

impl BloomFilter {
    fn new(blocks: u64) -> Result<Self, DedupeError> {
        let bits = blocks.saturating_mul(BITS_PER_BLOCK).clamp(1024, MAX_BITS);
        let (len, mut words) = (bits.div_ceil(64) as usize, Vec::new());
        words.try_reserve_exact(len).map_err(|_| DedupeError::NoMemory(bits.div_ceil(8) >> 20))?;
        words.resize(len, 0);
        Ok(BloomFilter { words, bits })
    }

    /// Adds a sum; true if it was not in the filter.
    fn insert(&mut self, sum: &BlockSum) -> bool {
        let (mut at, step) = {
            let sum = u128::from_le_bytes(*sum);
            (sum as u64, (sum >> 64) as u64 | 1)
        };
        let mut is_new = false;
        for _ in 0..BITS_SET_PER_BLOCK {
            let bit = at % self.bits;
            let (word, mask) = (&mut self.words[(bit / 64) as usize], 1 << (bit % 64));
            is_new |= *word & mask == 0;
            *word |= mask;
            at = at.wrapping_add(step);
        }
        is_new
    }
}

/// Size of a block after compression; at most the original size.
fn compressed_size(block: &[u8]) -> io::Result<u64> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(block)?;
    Ok(encoder.finish()?.len().min(block.len()) as u64)
}

/// The progress line on a terminal.
struct ProgressLine {
    is_on: bool,
    all: u64,
    /// Percentage that the line shows.
    shown: Option<u64>,
}

impl ProgressLine {
    fn new(is_wanted: bool, all: u64) -> Self {
        ProgressLine { is_on: is_wanted && escaped_stream::stderr().is_terminal(), all, shown: None }
    }

    fn show(&mut self, done: u64) {
        let percent = (u128::from(done) * 100 / u128::from(self.all)) as u64;
        if self.is_on && self.shown != Some(percent) {
            self.shown = Some(percent);
            let _ = escaped_stream::stderr().write_live_line(&format!("{percent}% done\r"));
        }
    }

    fn end(&self) {
        if self.shown.is_some() {
            let _ = escaped_stream::stderr().write_live_line("         \r");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_knows_what_it_has_seen_and_little_else() {
        let sum = |n: u128| (n.wrapping_mul(0x9E37_79B9_7F4A_7C15_F39C_C060_5CED_C835)).to_le_bytes();
        let mut bloom = BloomFilter::new(10_000).unwrap();
        let new = (1..=10_000).filter(|&n| bloom.insert(&sum(n))).count();
        assert!(new > 9_950, "{new}");
        assert!((1..=10_000).all(|n| !bloom.insert(&sum(n))));
    }
}
