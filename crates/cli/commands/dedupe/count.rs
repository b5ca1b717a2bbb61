//! Counting different blocks by their sums: exactly in a map, or by a bloom filter.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::io::{self, Write as _};

use flate2::Compression;
use flate2::write::ZlibEncoder;

use super::Request;
use super::read::{Buffer, Problem, Source, Sum};
use crate::escaped_stream;

/// Bits of the filter for each block, and at most.
const BITS_PER_BLOCK: u64 = 16;
const MAX_BITS: u64 = 1 << 33;
/// Bits that a block sets.
const SET_BITS: u64 = 6;

/// What was counted.
#[derive(Debug, Default)]
pub struct Counts {
    /// All blocks, at least 1.
    pub blocks: u64,
    /// Different blocks, at least 1.
    pub unique: u64,
    /// Different blocks that occur more than once, if that was counted.
    pub duplicated: Option<u64>,
    /// Bytes of the unique blocks, each compressed, if that was asked for.
    pub capacity: u64,
    /// The unique blocks by their first offset, if that was asked for.
    pub listed: Vec<Listed>,
}

/// A unique block.
#[derive(Debug)]
pub struct Listed {
    /// Its MD5 sum.
    pub sum: Sum,
    /// Where it occurs, in bytes.
    pub offsets: Vec<u64>,
}

/// Reads and counts all blocks.
///
/// # Errors
/// A block cannot be read.
pub fn count(source: &Source, request: &Request) -> Result<Counts, Problem> {
    let mut seen = match request.is_exact {
        true => Seen::Exact { blocks: HashMap::new(), compares: request.compares, buffers: two(source) },
        false => Seen::Bloom(Bloom::new(source.blocks())?),
    };
    let mut counts = Counts::default();
    let mut places: HashMap<Key, Vec<u64>> = HashMap::new();
    let mut progress = Progress::new(request.shows_progress, source.blocks());
    let mut block = source.buffer(1);
    source.hash(request.threads, |(first, sums)| {
        for (number, sum) in (first..).zip(sums) {
            counts.blocks += 1;
            let (key, is_new) = seen.insert(source, sum, number)?;
            if is_new {
                counts.unique += 1;
                if request.compresses {
                    source.read(number, block.bytes())?;
                    counts.capacity += compressed(block.bytes())?;
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
    if let Seen::Exact { blocks, .. } = &seen {
        counts.duplicated = Some(blocks.values().filter(|seen| seen.is_repeated).count() as u64);
    }
    counts.listed = places.into_iter().map(|((sum, _), offsets)| Listed { sum, offsets }).collect();
    counts.listed.iter_mut().for_each(|listed| listed.offsets.sort_unstable());
    counts.listed.sort_unstable_by(|one, other| one.offsets.cmp(&other.offsets));
    Ok(counts)
}

fn two(source: &Source) -> [Buffer; 2] {
    [source.buffer(1), source.buffer(1)]
}

/// A block: its sum, and a number for blocks with the same sum and other bytes.
type Key = (Sum, u32);

/// A unique block.
struct First {
    /// Number of the block that was seen first.
    number: u64,
    is_repeated: bool,
}

/// The blocks that were seen.
enum Seen {
    Exact { blocks: HashMap<Key, First>, compares: bool, buffers: [Buffer; 2] },
    Bloom(Bloom),
}

impl Seen {
    /// Adds a block; true if it is a new one.
    fn insert(&mut self, source: &Source, sum: Sum, number: u64) -> Result<(Key, bool), Problem> {
        let (blocks, compares, [one, other]) = match self {
            Seen::Bloom(bloom) => return Ok(((sum, 0), bloom.insert(&sum))),
            Seen::Exact { blocks, compares, buffers } => (blocks, *compares, buffers),
        };
        let mut key = (sum, 0);
        loop {
            match blocks.entry(key) {
                Entry::Vacant(entry) => {
                    entry.insert(First { number, is_repeated: false });
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

/// A bloom filter: never misses a block that was seen, and rarely takes a new one for seen.
struct Bloom {
    words: Vec<u64>,
    bits: u64,
}

impl Bloom {
    fn new(blocks: u64) -> Result<Self, Problem> {
        let bits = blocks.saturating_mul(BITS_PER_BLOCK).clamp(1024, MAX_BITS);
        let (len, mut words) = (bits.div_ceil(64) as usize, Vec::new());
        words.try_reserve_exact(len).map_err(|_| Problem::NoMemory(bits.div_ceil(8) >> 20))?;
        words.resize(len, 0);
        Ok(Bloom { words, bits })
    }

    /// Adds a sum; true if it was not in the filter.
    fn insert(&mut self, sum: &Sum) -> bool {
        let (mut at, step) = {
            let sum = u128::from_le_bytes(*sum);
            (sum as u64, (sum >> 64) as u64 | 1)
        };
        let mut is_new = false;
        for _ in 0..SET_BITS {
            let bit = at % self.bits;
            let (word, mask) = (&mut self.words[(bit / 64) as usize], 1 << (bit % 64));
            is_new |= *word & mask == 0;
            *word |= mask;
            at = at.wrapping_add(step);
        }
        is_new
    }
}

/// Bytes of a block when it is compressed; no more than uncompressed.
fn compressed(block: &[u8]) -> io::Result<u64> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(block)?;
    Ok(encoder.finish()?.len().min(block.len()) as u64)
}

/// The share of the blocks that are done, in a line of a terminal.
struct Progress {
    is_on: bool,
    all: u64,
    /// Percent that the line says.
    shown: Option<u64>,
}

impl Progress {
    fn new(is_wanted: bool, all: u64) -> Self {
        Progress { is_on: is_wanted && escaped_stream::stderr().is_terminal(), all, shown: None }
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
        let mut bloom = Bloom::new(10_000).unwrap();
        let new = (1..=10_000).filter(|&n| bloom.insert(&sum(n))).count();
        assert!(new > 9_950, "{new}");
        assert!((1..=10_000).all(|n| !bloom.insert(&sum(n))));
    }
}
