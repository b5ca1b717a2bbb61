//! The contents of the I/O buffers of a job that writes, and of the files that it lays out.
//!
//! By default a buffer is filled once with random words and a few words of each sector change with every write; the same seed gives the
//! same bytes as fio. Filling runs at memory speed: four independent multiplications at a time. Contents that compress or repeat are made
//! of chunks; nothing is allocated after the start.

mod dedupe;
mod fill;
mod source;
#[cfg(test)]
mod tests;

use ferrio_job::{Direction, JobSpec};

use crate::WorkloadError;
use crate::seeds::{SEEDS, thread_seeds};
use source::ByteSource;

pub use fill::fill_random;
pub(crate) use fill::{compressed, fill_part};

/// The contents of the buffers of one job.
#[derive(Clone, Debug)]
pub struct BufferContents {
    source: ByteSource,
    writes: bool,
    prep: WritePreparation,
}

/// The preparation of a buffer before each write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum WritePreparation {
    Nothing,
    Refill,
    Scramble,
}

impl BufferContents {
    /// The contents of a job's buffers. `entropy` seeds it if [`ferrio_job::Seeding::FromSystem`] asks for that.
    ///
    /// # Errors
    /// The working set of duplicates does not fit into memory.
    pub fn new(spec: &JobSpec, entropy: [u64; SEEDS]) -> Result<Self, WorkloadError> {
        LayoutContent::new(spec, entropy).map(|layout| BufferContents::after_layout(spec, layout))
    }

    /// The contents of the buffers after the job's own files were laid out: like in fio, the random stream continues.
    #[must_use]
    pub fn after_layout(spec: &JobSpec, layout: LayoutContent) -> Self {
        let writes = spec.rw.does(Direction::Write);
        let prep = match &spec.buffer {
            _ if !writes => WritePreparation::Nothing,
            b if b.refill => WritePreparation::Refill,
            b if b.scramble => WritePreparation::Scramble,
            _ => WritePreparation::Nothing,
        };
        let mut source = layout.0;
        source.cut(spec.buffer.chunk, spec.block[Direction::Write].min);
        BufferContents { source, writes, prep }
    }

    /// Whether each write needs [`before_write`](Self::before_write).
    #[inline]
    #[must_use]
    pub fn needs_write_prep(&self) -> bool {
        self.prep != WritePreparation::Nothing
    }

    /// Fills the buffer of one unit before the first I/O. To be called for the units `0..iodepth` in this order, each with the whole of its
    /// largest I/O. Does nothing for a job that never writes.
    pub fn fill_initial(&mut self, unit_buffer: &mut [u8]) {
        if self.writes {
            self.source.fill(unit_buffer);
        }
    }

    /// Skips the draws of [`fill_initial`](Self::fill_initial) for unused units, so that the random stream advances. The contents of the
    /// buffer are unspecified afterwards.
    pub fn skip_initial(&mut self, unit_buffer: &mut [u8], units: u32) {
        if self.writes {
            (0..units).for_each(|_| self.source.skip(unit_buffer));
        }
    }

    /// Prepares the bytes of a write to `offset` of the file, issued at `now_ns`: fills or scrambles the buffer, or does nothing.
    #[inline]
    pub fn before_write(&mut self, buffer: &mut [u8], offset: u64, now_ns: u64) {
        match self.prep {
            WritePreparation::Nothing => {}
            WritePreparation::Refill => self.source.fill(buffer),
            WritePreparation::Scramble => fill::scramble(buffer, offset, now_ns),
        }
    }

    /// Begins another pass: the random streams restart if the job repeats.
    pub fn begin_pass(&mut self) {
        self.source.begin_pass();
    }
}

/// The contents of the files that a job lays out before it starts. They are never scrambled.
#[derive(Clone, Debug)]
pub struct LayoutContent(ByteSource);

impl LayoutContent {
    /// The contents of a job's files. `entropy` is that of [`BufferContents::new`].
    ///
    /// # Errors
    /// Those of [`BufferContents::new`].
    pub fn new(spec: &JobSpec, entropy: [u64; SEEDS]) -> Result<Self, WorkloadError> {
        let mut source = ByteSource::new(spec, &thread_seeds(spec, entropy))?;
        source.cut(spec.buffer.chunk, spec.block[Direction::Write].max);
        Ok(LayoutContent(source))
    }

    /// Fills the next block to write to a file. Blocks have the largest write block size of the job; the last of a file may be
    /// shorter. One `LayoutContent` serves all files of the job, in their order.
    pub fn layout_fill(&mut self, block: &mut [u8]) {
        self.0.fill(block);
    }
}
