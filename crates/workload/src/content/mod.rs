//! What is in the I/O buffers of a job that writes, and in the files it lays out.
//!
//! By default a buffer is filled once with random words and a few words of each sector change with every write; the same seed
//! gives the same bytes as fio. Filling runs at memory speed: four independent multiplications at a time. Contents that compress
//! or repeat are made of pieces; nothing is allocated after the start.

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

/// Content of the buffers of one job.
#[derive(Clone, Debug)]
pub struct Content {
    source: ByteSource,
    writes: bool,
    prep: Prep,
}

/// What happens to a buffer before each write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Prep {
    Nothing,
    Refill,
    Scramble,
}

impl Content {
    /// The content of a job's buffers. `entropy` seeds it when [`ferrio_job::Seeding::FromSystem`] asks for that.
    ///
    /// # Errors
    /// The working set of duplicates does not fit the memory.
    pub fn new(spec: &JobSpec, entropy: [u64; SEEDS]) -> Result<Self, WorkloadError> {
        LayoutContent::new(spec, entropy).map(|layout| Content::after_layout(spec, layout))
    }

    /// The content of the buffers after the job's own files were laid out: as with fio the random stream runs on from there.
    #[must_use]
    pub fn after_layout(spec: &JobSpec, layout: LayoutContent) -> Self {
        let writes = spec.rw.does(Direction::Write);
        let prep = match &spec.buffer {
            _ if !writes => Prep::Nothing,
            b if b.refill => Prep::Refill,
            b if b.scramble => Prep::Scramble,
            _ => Prep::Nothing,
        };
        let mut source = layout.0;
        source.cut(spec.buffer.chunk, spec.block[Direction::Write].min);
        Content { source, writes, prep }
    }

    /// True when each write needs [`before_write`](Self::before_write).
    #[inline]
    #[must_use]
    pub fn needs_write_prep(&self) -> bool {
        self.prep != Prep::Nothing
    }

    /// Fills one unit's buffer before the first I/O. To be called for the units `0..iodepth` in this order, each with the whole
    /// of its largest I/O. Does nothing for a job that never writes.
    pub fn fill_initial(&mut self, unit_buffer: &mut [u8]) {
        if self.writes {
            self.source.fill(unit_buffer);
        }
    }

    /// Skips what [`fill_initial`](Self::fill_initial) draws for units that are never used, so that the random stream moves on. The
    /// content of the buffer afterwards is unspecified.
    pub fn skip_initial(&mut self, unit_buffer: &mut [u8], units: u32) {
        if self.writes {
            (0..units).for_each(|_| self.source.skip(unit_buffer));
        }
    }

    /// Prepares the bytes of one write to `offset` (bytes in the file) that is issued at `now_ns`: new content, or the changes of
    /// scrambling, or nothing.
    #[inline]
    pub fn before_write(&mut self, buffer: &mut [u8], offset: u64, now_ns: u64) {
        match self.prep {
            Prep::Nothing => {}
            Prep::Refill => self.source.fill(buffer),
            Prep::Scramble => fill::scramble(buffer, offset, now_ns),
        }
    }

    /// Begins another pass: the random streams start again if the job repeats.
    pub fn begin_pass(&mut self) {
        self.source.begin_pass();
    }
}

/// Content of the files that a job lays out before it starts: never scrambled.
#[derive(Clone, Debug)]
pub struct LayoutContent(ByteSource);

impl LayoutContent {
    /// The content of a job's files. `entropy` as in [`Content::new`].
    ///
    /// # Errors
    /// As [`Content::new`].
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
