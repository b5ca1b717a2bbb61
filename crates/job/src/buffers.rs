//! The contents of the I/O buffers of a job.

use std::sync::Arc;

use crate::Generator;
use crate::choice::choices;

/// Content of the I/O buffers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BufferContent {
    /// All zero bytes: `zero_buffers`, `buffer_compress_percentage=100`.
    pub zero: bool,
    /// `refill_buffers`: new content for every write.
    pub refill: bool,
    /// `scramble_buffers` in force: a few words of every sector change with every write.
    pub scramble: bool,
    /// `buffer_pattern` bytes, repeated from the start of every buffer; empty when not given.
    pub pattern: Vec<u8>,
    /// `buffer_compress_percentage`: share of each piece that is zero bytes or the pattern, percent, 0..=99.
    pub compress: u32,
    /// `buffer_compress_chunk`: most bytes of a piece; 0 for the smallest write.
    pub chunk: u64,
    /// Duplicate buffers, if requested.
    pub dedupe: Option<Dedupe>,
}

/// A fill pattern: bytes to repeat, with places for the block's offset.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Pattern {
    /// The bytes; zeros where an offset goes.
    pub bytes: Vec<u8>,
    /// Where in `bytes` an 8-byte block offset (`%o`) goes.
    pub offsets: Vec<usize>,
}

/// Duplicate buffers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dedupe {
    /// `dedupe_percentage`: share of the buffers that equal another one, 1..=100.
    pub percent: u32,
    /// `dedupe_mode=working_set`: equal buffers are copies of one of a set; without one they equal the next unique buffer.
    pub working_set: Option<WorkingSet>,
}

choices! {
    /// `dedupe_mode`: where duplicate contents come from.
    pub enum DedupeMode default Repeat {
        Repeat: "repeat", "A duplicate repeats the next unique block";
        WorkingSet: "working_set", "Duplicates come from a fixed set of blocks";
    }
}

/// The buffers that duplicates are made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkingSet {
    /// `dedupe_working_set_percentage`: part of the job's size, 0..=100.
    pub percent: u32,
    /// `size` in bytes as given; without it the size of the job's region.
    pub size: Option<u64>,
    /// `dedupe_global`: the content seeds of all jobs of the run, in the order of their numbers.
    pub pool: Option<Arc<[ContentSeed]>>,
}

/// The seed of a job's contents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ContentSeed {
    /// The generator of the stream.
    pub generator: Generator,
    /// The seed of the stream.
    pub seed: u64,
}
