//! Where the bytes of a job come from: zeroes, a pattern, random words, or pieces that compress or repeat.

use ferrio_job::{BufferContent, JobSpec};

use super::dedupe::Dedupe;
use super::fill::{fill_random, repeat};
use super::pieces::Pieces;
use crate::WorkloadError;
use crate::random::Stream;
use crate::seeds::{self, SEEDS};

/// Source of bytes.
#[derive(Clone, Debug)]
pub(super) struct Source {
    kind: Kind,
    /// The stream of contents.
    stream: Stream,
    /// The seeds of a job whose streams start again with each pass.
    restart: Option<Box<[u64; SEEDS]>>,
}

#[derive(Clone, Debug)]
enum Kind {
    Zero,
    Pattern(Vec<u8>),
    Random,
    Pieces(Box<Pieces>),
}

impl Source {
    /// The source for a job with these seeds.
    pub(super) fn new(spec: &JobSpec, seeds: &[u64; SEEDS]) -> Result<Self, WorkloadError> {
        let content = &spec.buffer;
        let stream = Stream::new(spec.generator, seeds[seeds::CONTENT]);
        let kind = match content {
            BufferContent { dedupe: Some(dedupe), .. } => {
                let dedupe = Dedupe::new(spec, dedupe, &stream, seeds)?;
                Kind::Pieces(Box::new(Pieces::new(content, Some(dedupe))))
            }
            BufferContent { compress: 1.., .. } => Kind::Pieces(Box::new(Pieces::new(content, None))),
            BufferContent { pattern, .. } if !pattern.is_empty() => Kind::Pattern(pattern.clone()),
            BufferContent { zero: true, .. } => Kind::Zero,
            _ => Kind::Random,
        };
        let restart = seeds::restarts_each_pass(spec).then(|| Box::new(*seeds));
        Ok(Source { kind, stream, restart })
    }

    /// Pieces have `chunk` bytes, at most `unit`; 0 stands for `unit`.
    pub(super) fn cut(&mut self, chunk: u64, unit: u64) {
        if let Kind::Pieces(pieces) = &mut self.kind {
            pieces.cut(chunk, unit);
        }
    }

    /// Fills one buffer.
    pub(super) fn fill(&mut self, buffer: &mut [u8]) {
        match &mut self.kind {
            Kind::Zero => buffer.fill(0),
            Kind::Pattern(pattern) => repeat(pattern, buffer),
            Kind::Random => fill_random(buffer, self.stream.seed_draw()),
            Kind::Pieces(pieces) => pieces.fill(&mut self.stream, buffer),
        }
    }

    /// Moves on as [`fill`](Self::fill) does; the buffer may be overwritten or not.
    pub(super) fn skip(&mut self, buffer: &mut [u8]) {
        match &mut self.kind {
            Kind::Zero | Kind::Pattern(_) => {}
            Kind::Random => {
                self.stream.seed_draw();
            }
            Kind::Pieces(pieces) => pieces.fill(&mut self.stream, buffer),
        }
    }

    /// Starts the streams again, if the job repeats.
    pub(super) fn begin_pass(&mut self) {
        if let Some(seeds) = self.restart.as_deref() {
            self.stream.reseed(seeds[seeds::CONTENT]);
            if let Kind::Pieces(pieces) = &mut self.kind {
                pieces.restart(&self.stream, seeds);
            }
        }
    }
}
