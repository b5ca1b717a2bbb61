//! Where the bytes of a job come from: zeroes, a pattern, random words, or pieces that compress or repeat.

use ferrio_job::{BufferContent, JobSpec};

use super::dedupe::Duplicates;
use super::fill::{fill_random, repeat};
use super::pieces::Pieces;
use crate::WorkloadError;
use crate::random::Stream;
use crate::seeds::{self, SEEDS};

/// ByteSource of bytes.
#[derive(Clone, Debug)]
pub(super) struct ByteSource {
    kind: ByteKind,
    /// The stream of contents.
    stream: Stream,
    /// The seeds of a job whose streams start again with each pass.
    restart: Option<Box<[u64; SEEDS]>>,
}

#[derive(Clone, Debug)]
enum ByteKind {
    Zero,
    Pattern(Vec<u8>),
    Random,
    Pieces(Box<Pieces>),
}

impl ByteSource {
    /// The source for a job with these seeds.
    pub(super) fn new(spec: &JobSpec, seeds: &[u64; SEEDS]) -> Result<Self, WorkloadError> {
        let content = &spec.buffer;
        let stream = Stream::new(spec.generator, seeds[seeds::CONTENT]);
        let kind = match content {
            BufferContent { dedupe: Some(dedupe), .. } => {
                let dedupe = Duplicates::new(spec, dedupe, &stream, seeds)?;
                ByteKind::Pieces(Box::new(Pieces::new(content, Some(dedupe))))
            }
            BufferContent { compress: 1.., .. } => ByteKind::Pieces(Box::new(Pieces::new(content, None))),
            BufferContent { pattern, .. } if !pattern.is_empty() => ByteKind::Pattern(pattern.clone()),
            BufferContent { zero: true, .. } => ByteKind::Zero,
            _ => ByteKind::Random,
        };
        let restart = seeds::restarts_each_pass(spec).then(|| Box::new(*seeds));
        Ok(ByteSource { kind, stream, restart })
    }

    /// Pieces have `chunk` bytes, at most `unit`; 0 stands for `unit`.
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

    /// Moves on as [`fill`](Self::fill) does; the buffer may be overwritten or not.
    pub(super) fn skip(&mut self, buffer: &mut [u8]) {
        match &mut self.kind {
            ByteKind::Zero | ByteKind::Pattern(_) => {}
            ByteKind::Random => {
                self.stream.seed_draw();
            }
            ByteKind::Pieces(pieces) => pieces.fill(&mut self.stream, buffer),
        }
    }

    /// Starts the streams again, if the job repeats.
    pub(super) fn begin_pass(&mut self) {
        if let Some(seeds) = self.restart.as_deref() {
            self.stream.reseed(seeds[seeds::CONTENT]);
            if let ByteKind::Pieces(pieces) = &mut self.kind {
                pieces.restart(&self.stream, seeds);
            }
        }
    }
}
