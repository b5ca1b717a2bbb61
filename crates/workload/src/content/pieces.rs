//! Buffers made of pieces, each random in its first part and dull in the rest.
//!
//! Every piece has a draw of its own, so that a compressor that works on pieces of this size finds the same everywhere. A buffer
//! that must equal another one is made from the state in which the random stream was, or will be, for that one.

use ferrio_job::BufferContent;

use super::dedupe::{BufferOrigin, Duplicates};
use super::fill::{compressed, fill_part};
use crate::random::Stream;
use crate::seeds::SEEDS;

/// How buffers are cut, and which of them equal others.
#[derive(Clone, Debug)]
pub(super) struct Pieces {
    /// Bytes of a piece, at least 1.
    chunk: usize,
    /// Percent of a piece that is padding, 0..=99.
    compress: u32,
    /// What is repeated there; zeroes if empty.
    padding: Vec<u8>,
    dedupe: Option<Duplicates>,
}

impl Pieces {
    /// To be [`cut`](Self::cut) before use.
    pub(super) fn new(content: &BufferContent, dedupe: Option<Duplicates>) -> Self {
        Pieces { chunk: 1, compress: content.compress, padding: content.pattern.clone(), dedupe }
    }

    /// Pieces have `chunk` bytes, at most `unit`; 0 stands for `unit`.
    pub(super) fn cut(&mut self, chunk: u64, unit: u64) {
        let bytes = if chunk == 0 { unit } else { chunk.min(unit) };
        self.chunk = usize::try_from(bytes).unwrap_or(usize::MAX).max(1);
    }

    /// Fills one buffer, from `stream` or as a duplicate.
    pub(super) fn fill(&mut self, stream: &mut Stream, buffer: &mut [u8]) {
        let origin = self.dedupe.as_mut().map_or(BufferOrigin::Unique, Duplicates::choose);
        match origin {
            BufferOrigin::Unique => {
                self.fill_from(stream, buffer);
                if let Some(dedupe) = &mut self.dedupe {
                    dedupe.unique_ended(stream);
                }
            }
            BufferOrigin::CopyOf(mut state) => self.fill_from(&mut state, buffer),
            BufferOrigin::Constant => {
                let draw = stream.clone().seed_draw();
                self.fill_with(|| draw, buffer);
            }
        }
    }

    fn fill_from(&self, stream: &mut Stream, buffer: &mut [u8]) {
        self.fill_with(|| stream.seed_draw(), buffer);
    }

    fn fill_with(&self, mut draw: impl FnMut() -> u64, buffer: &mut [u8]) {
        let random = compressed(self.chunk, self.compress);
        let mut pieces = buffer.chunks_exact_mut(self.chunk);
        for piece in &mut pieces {
            fill_part(piece, draw(), random, &self.padding);
        }
        let rest = pieces.into_remainder();
        if !rest.is_empty() {
            let random = compressed(rest.len(), self.compress);
            fill_part(rest, draw(), random, &self.padding);
        }
    }

    /// Another pass begins with these seeds; `stream` was started again.
    pub(super) fn restart(&mut self, stream: &Stream, seeds: &[u64; SEEDS]) {
        if let Some(dedupe) = &mut self.dedupe {
            dedupe.restart(stream, seeds);
        }
    }
}
