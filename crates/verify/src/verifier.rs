//! Writes headers and digests into blocks before they are written, and checks blocks that were read.
//!
//! A block is one I/O. It is cut into intervals of equal length, each with its own header; header and digest lie at the start of
//! the interval, or `verify_offset` bytes into it, in exchange for the data there. Nothing allocates unless a check fails.

mod dump;

use std::time::Duration;

use thiserror::Error;

use crate::{
    BadDigest, BlockHeader, BlockMismatch, Digest, HeaderLayout, IntervalFailure, IntervalProblem, MAGIC,
    SpecError, VERSION, VerifyMethod, VerifySpec, layout,
};

pub use dump::{Dump, DumpKind};

/// An interval that is completely filled by its header. fio fails the job at the first such write, with `EINVAL` and these words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("Blocksize too small")]
pub struct BlockTooSmall;

/// The fields of a write's header that are not constant for the job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WriteStamp {
    /// Offset of the block in the file, bytes.
    pub offset: u64,
    /// Seed of the body: the next of the job's header seeds.
    pub seed: u64,
    /// Number of writes that the job has issued before; counts on over loops.
    pub number: u64,
    /// Time at which the write is issued, by any clock; zero where latencies are off.
    pub time: Duration,
}

/// The expected fields in the header of a block that is read back. `None` accepts anything, for jobs that read data of others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ExpectedHeader {
    /// Seed that was drawn for the write.
    pub seed: Option<u64>,
    /// Number of the write.
    pub number: Option<u64>,
}

/// Prepares and checks the blocks of one job.
#[derive(Clone, Debug)]
pub struct Verifier {
    pub(crate) spec: VerifySpec,
    /// Bytes of header and digest in written blocks.
    overhead: usize,
}

impl Verifier {
    /// A verifier for one job.
    ///
    /// # Errors
    /// The options contradict each other.
    pub fn new(spec: VerifySpec) -> Result<Self, SpecError> {
        let VerifySpec { method, layout, offset, interval, .. } = spec;
        let overhead = layout.overhead(method);
        let header = overhead as u32;
        if method.needs_pattern() && spec.pattern.is_none() {
            return Err(SpecError::PatternMissing(method));
        }
        if method == VerifyMethod::Sha512 && layout != HeaderLayout::Current && !spec.any_layout {
            return Err(SpecError::NoDigest { method, layout });
        }
        if method.has_header() && offset > 0 {
            if offset < header {
                return Err(SpecError::OffsetInHeader { offset, method, header });
            }
            if offset.saturating_add(header) > interval && !spec.whole_blocks {
                return Err(SpecError::OffsetBeyondInterval { offset, header, interval });
            }
        }
        Ok(Verifier { overhead, spec })
    }

    /// Whether [`fill`](Self::fill) takes the body from its argument, so that each write draws a seed.
    #[must_use]
    pub fn draws_seeds(&self) -> bool {
        self.spec.method != VerifyMethod::Null && self.spec.pattern.is_none()
    }

    /// Whether a check compares the seed, so that [`ExpectedHeader`] should contain it.
    #[must_use]
    pub fn expects_seeds(&self) -> bool {
        self.spec.header_seed && self.spec.method.has_header() && self.spec.pattern.is_none()
    }

    /// Whether reading back checks anything.
    #[must_use]
    pub fn checks(&self) -> bool {
        self.spec.method != VerifyMethod::Null
    }

    /// Whether all blocks have the same bytes: a pattern without offsets and headers. A shorter block is the start of a longer one.
    #[must_use]
    pub fn repeats_blocks(&self) -> bool {
        let is_constant = self.spec.pattern.as_ref().is_some_and(|pattern| !pattern.has_offsets());
        is_constant && !self.spec.method.has_header() && self.checks()
    }

    /// Prepares `block` for writing: `body` fills it from the seed (or the pattern does), then the headers are written over it. With
    /// `verify=null` the block is not changed.
    ///
    /// # Errors
    /// The block has no room for a header and data, and must not be written.
    pub fn fill(
        &self,
        block: &mut [u8],
        stamp: &WriteStamp,
        body: impl FnOnce(&mut [u8], u64),
    ) -> Result<(), BlockTooSmall> {
        if self.spec.method == VerifyMethod::Null {
            return Ok(());
        }
        let step = self.step(block.len()).ok_or(BlockTooSmall)?;
        match &self.spec.pattern {
            Some(pattern) => pattern.fill(block, stamp.offset),
            None => body(block, stamp.seed),
        }
        if !self.spec.method.has_header() {
            return Ok(());
        }
        let mut offset = stamp.offset;
        for interval in block.chunks_mut(step) {
            self.seal(interval, &WriteStamp { offset, ..*stamp });
            self.exchange(interval, self.overhead);
            offset += interval.len() as u64;
        }
        Ok(())
    }

    /// Checks a block that was read at `offset`. With `verify_offset` the data is moved back to its place in `block`, otherwise nothing
    /// changes.
    ///
    /// A bad header ends the check of the block, a bad digest only that of its interval.
    ///
    /// # Errors
    /// The block fails the check.
    pub fn check(
        &self,
        block: &mut [u8],
        offset: u64,
        expected: &ExpectedHeader,
    ) -> Result<(), Box<BlockMismatch>> {
        if !self.checks() {
            return Ok(());
        }
        let block_len = block.len();
        let Some(step) = self.step(block_len) else {
            return Err(BlockMismatch::of_whole_block(offset, block_len as u64, IntervalProblem::NoRoom));
        };
        let mut failures = Vec::new();
        for start in (0..block_len).step_by(step) {
            let len = step.min(block_len - start);
            let interval = &mut block[start..start + len];
            let moved = (self.spec.offset as usize).min(len);
            let layout = self.layout_of(&interval[moved..], len, offset + start as u64);
            self.exchange(interval, layout.overhead(self.spec.method));
            if let Err(problem) = self.check_interval(layout, block, start, len, offset, expected) {
                let ends = self.spec.fatal || !problem.is_about_data();
                failures.push(IntervalFailure { offset: offset + start as u64, len: len as u64, problem });
                if ends {
                    break;
                }
            }
        }
        if failures.is_empty() {
            return Ok(());
        }
        Err(Box::new(BlockMismatch { offset, len: block_len as u64, failures }))
    }

    /// Bytes of an interval in a block of `len` bytes; `None` if there is no room for header, digest and data.
    pub(crate) fn step(&self, len: usize) -> Option<usize> {
        if !self.spec.method.has_header() {
            // Nothing repeats inside the block, so it is compared as a whole.
            return Some(len).filter(|&len| len > 0);
        }
        let interval = self.spec.interval as usize;
        let step = if interval <= len && !self.spec.whole_blocks { interval } else { len };
        // Blocks that are not a multiple of the interval end in a shorter one.
        let shortest = if len.is_multiple_of(step.max(1)) { step } else { len % step };
        let needed = self.overhead + (self.spec.offset as usize).max(1);
        (shortest >= needed).then_some(step)
    }

    /// Writes header and digest to the start of an interval whose body is complete.
    fn seal(&self, interval: &mut [u8], stamp: &WriteStamp) {
        let header = BlockHeader {
            seed: if self.spec.pattern.is_some() { 0 } else { stamp.seed },
            offset: stamp.offset,
            time_sec: stamp.time.as_secs() as u32,
            time_nsec: stamp.time.subsec_nanos(),
            number: stamp.number,
            thread: self.spec.thread as u16,
            ..BlockHeader::default()
        };
        header.seal(self.spec.layout, self.spec.method, interval);
    }

    /// The layout of the header at `place`, for an interval of `len` bytes at `offset` of the file: the expected one, unless the header is
    /// a sound one of the other layout.
    pub(crate) fn layout_of(&self, place: &[u8], len: usize, offset: u64) -> HeaderLayout {
        let VerifySpec { method, layout: expected, any_layout, offset: moved, .. } = self.spec;
        let current = place.get(2) == Some(&VERSION);
        if !any_layout || !method.has_header() || current == (expected == HeaderLayout::Current) {
            return expected;
        }
        let other = if current { HeaderLayout::Current } else { HeaderLayout::Fio340 };
        let (overhead, moved) = (other.overhead(method), moved as usize);
        let fits = (moved == 0 || moved >= overhead) && moved + overhead < len;
        if fits && layout::has_header(other, place, len, offset) { other } else { expected }
    }

    /// Exchanges the `overhead` bytes of header and digest with the data at `verify_offset`; a second call undoes the first.
    pub(crate) fn exchange(&self, interval: &mut [u8], overhead: usize) {
        let offset = self.spec.offset as usize;
        if offset > 0 && self.spec.method.has_header() {
            let (front, back) = interval.split_at_mut(offset);
            front[..overhead].swap_with_slice(&mut back[..overhead]);
        }
    }

    pub(crate) fn check_interval(
        &self,
        layout: HeaderLayout,
        block: &[u8],
        start: usize,
        len: usize,
        block_offset: u64,
        expected: &ExpectedHeader,
    ) -> Result<(), IntervalProblem> {
        let method = self.spec.method;
        let interval = &block[start..start + len];
        let mut data = 0;
        let mut media = None;
        if method.has_header() {
            let header = BlockHeader::read_as(layout, interval).ok_or(IntervalProblem::NoRoom)?;
            let checksum = layout::checksum(layout, interval);
            self.check_header(layout, &header, checksum, len, block_offset + start as u64, expected)?;
            // The writer's type decides where data begins; a digest of another method then fails by itself.
            let writer = VerifyMethod::from_code(header.method);
            media = Some(header.method).filter(|_| writer != Some(method));
            data = layout.overhead(writer.unwrap_or(method)).clamp(layout.bytes(), len);
        }
        if method.has_digest() {
            let stored = Digest::of(&interval[layout.bytes()..layout.overhead(method)]);
            let computed = Digest::compute(method, &interval[data..]);
            let unfinished = || {
                let of_old_release = layout == HeaderLayout::Fio340 && method == VerifyMethod::Sha512;
                of_old_release && stored == layout::unfinished_sha512(&interval[data..])
            };
            if stored != computed && !unfinished() {
                return Err(IntervalProblem::Digest(Box::new(BadDigest { method, stored, computed, media })));
            }
        } else if let Some(pattern) = &self.spec.pattern
            && let Some(difference) = pattern.compare(block, start + data, start + len, block_offset)
        {
            let base = if difference.since == start + data { start } else { difference.since };
            return Err(IntervalProblem::Pattern {
                found: block[difference.at],
                wanted: difference.wanted,
                at: (difference.at - base) as u64,
                media: media.map(|media| (media, method.code())),
            });
        }
        Ok(())
    }

    fn check_header(
        &self,
        layout: HeaderLayout,
        header: &BlockHeader,
        computed: u32,
        len: usize,
        offset: u64,
        expected: &ExpectedHeader,
    ) -> Result<(), IntervalProblem> {
        if header.magic != MAGIC {
            return Err(IntervalProblem::Magic(header.magic));
        }
        if header.version != VERSION {
            return Err(IntervalProblem::Version(header.version));
        }
        let field = |name, found, wanted| match found == wanted {
            true => Ok(()),
            false => Err(IntervalProblem::Field { name, found, wanted }),
        };
        field("length", header.len.into(), len as u64)?;
        if let Some(wanted) = expected.seed.filter(|_| self.expects_seeds()) {
            field("rand_seed", header.seed, wanted)?;
        }
        field("offset", header.offset, offset)?;
        if let Some(wanted) = expected.number.filter(|_| self.spec.write_sequence) {
            field("numberio", header.number, layout::number(layout, wanted))?;
        }
        if header.checksum != computed {
            return Err(IntervalProblem::HeaderChecksum { found: header.checksum, computed });
        }
        Ok(())
    }
}

impl IntervalProblem {
    /// Whether the header is sound, so that the next intervals of the block are checked too.
    pub(crate) fn is_about_data(&self) -> bool {
        matches!(self, IntervalProblem::Digest(_) | IntervalProblem::Pattern { .. })
    }
}

#[cfg(test)]
pub(crate) mod tests;
