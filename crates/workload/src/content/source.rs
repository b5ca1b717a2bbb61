//! Generates the bytes of a job: zeros, a pattern, random words, or chunks that compress or repeat.

use ferrio_job::{BufferContent, JobSpec};

use super::dedupe::{BufferOrigin, Duplicates};
use super::fill::{compressed, fill_part, fill_random, repeat};
use crate::WorkloadError;
use crate::random::Stream;
use crate::seeds::{self, SEEDS};

/// The source of a job's bytes.
#[derive(Clone, Debug)]
pub(super) struct ByteSource {
    kind: ByteKind,
    /// The stream of contents.
    stream: Stream,
    /// The seeds of a job whose streams restart with each pass.
    restart: Option<Box<[u64; SEEDS]>>,
}

#[derive(Clone, Debug)]
enum ByteKind {
    Zero,
    Pattern(Vec<u8>),
    Random,
    Pieces(Box<ChunkedSource>),
}

impl ByteSource {
    /// The source for a job with these seeds.
    pub(super) fn new(spec: &JobSpec, seeds: &[u64; SEEDS]) -> Result<Self, WorkloadError> {
        let content = &spec.buffer;
        let stream = Stream::new(spec.generator, seeds[seeds::CONTENT]);
        let kind = match content {
            BufferContent { dedupe: Some(dedupe), .. } => {
                let dedupe = Duplicates::new(spec, dedupe, &stream, seeds)?;
                ByteKind::Pieces(Box::new(ChunkedSource::new(content, Some(dedupe))))
            }
            BufferContent { compress: 1.., .. } => {
                ByteKind::Pieces(Box::new(ChunkedSource::new(content, None)))
            }
            BufferContent { pattern, .. } if !pattern.is_empty() => ByteKind::Pattern(pattern.clone()),
            BufferContent { zero: true, .. } => ByteKind::Zero,
            _ => ByteKind::Random,
        };
        let restart = seeds::restarts_each_pass(spec).then(|| Box::new(*seeds));
        Ok(ByteSource { kind, stream, restart })
    }

    /// Sets the bytes of a chunk, at most `unit`; 0 means `unit`.
    pub(super) fn cut(&mut self, chunk: u64, unit: u64) {
        if let ByteKind::Pieces(pieces) = &mut self.kind {
            pieces.cut(chunk, unit);
        }
    }

    /// Fills one buffer.
    pub(super) fn fill(&mut self, buffer: &mut [u8]) {
        match &mut self.kind {
            ByteKind::Zero => buffer.fill(0),
            ByteKind::Pattern(pattern) => repeat(pattern, buffer),
            ByteKind::Random => fill_random(buffer, self.stream.seed_draw()),
            ByteKind::Pieces(pieces) => pieces.fill(&mut self.stream, buffer),
        }
    }

    /// Advances like [`fill`](Self::fill); may overwrite the buffer.
    pub(super) fn skip(&mut self, buffer: &mut [u8]) {
        match &mut self.kind {
            ByteKind::Zero | ByteKind::Pattern(_) => {}
            ByteKind::Random => {
                self.stream.seed_draw();
            }
            ByteKind::Pieces(pieces) => pieces.fill(&mut self.stream, buffer),
        }
    }

    /// Restarts the streams, if the job repeats.
    pub(super) fn begin_pass(&mut self) {
        if let Some(seeds) = self.restart.as_deref() {
            self.stream.reseed(seeds[seeds::CONTENT]);
            if let ByteKind::Pieces(pieces) = &mut self.kind
                && let Some(dedupe) = &mut pieces.dedupe
            {
                dedupe.restart(&self.stream, seeds);
            }
        }
    }
}

/// Buffers made of chunks, each random in its first part and padded in the rest.
///
/// Every chunk has a draw of its own, so that a compressor that works on chunks of this size finds the same everywhere. A buffer that must
/// equal another one is made from the state in which the random stream was, or will be, for that one.
#[derive(Clone, Debug)]
struct ChunkedSource {
    /// Bytes of a chunk, at least 1.
    chunk: usize,
    /// Percent of a chunk that is padding, 0..=99.
    compress: u32,
    /// The repeated bytes of the padding; zeros if empty.
    padding: Vec<u8>,
    dedupe: Option<Duplicates>,
}

impl ChunkedSource {
    /// Must be [`cut`](Self::cut) before use.
    fn new(content: &BufferContent, dedupe: Option<Duplicates>) -> Self {
        ChunkedSource { chunk: 1, compress: content.compress, padding: content.pattern.clone(), dedupe }
    }

    /// Sets the bytes of a chunk, at most `unit`; 0 means `unit`.
    fn cut(&mut self, chunk: u64, unit: u64) {
        let bytes = if chunk == 0 { unit } else { chunk.min(unit) };
        self.chunk = usize::try_from(bytes).unwrap_or(usize::MAX).max(1);
    }

    /// Fills one buffer, from `stream` or as a duplicate.
    fn fill(&mut self, stream: &mut Stream, buffer: &mut [u8]) {
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
}
