//! What is in the I/O buffers of a job that writes, and in the files it lays out.
//!
//! By default a buffer is filled once with random words and a few words of each sector change with every write; the same seed
//! gives the same bytes as fio. Filling runs at memory speed: four independent multiplications at a time.

use ferrio_plan::{Direction, JobSpec};

use crate::random::Stream;
use crate::seeds::{self, SEEDS, thread_seeds};

/// Golden-ratio multiplier that turns one word into the next.
const HASH: u64 = 0x61C8_8646_80B5_83EB;
/// Unit in which scrambling changes data.
const SECTOR: usize = 512;

/// Content of the buffers of one job.
#[derive(Clone, Debug)]
pub struct Content {
    source: Source,
    writes: bool,
    prep: Prep,
    restart: Option<u64>,
}

/// What happens to a buffer before each write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Prep {
    Nothing,
    Refill,
    Scramble,
}

/// Where bytes come from.
#[derive(Clone, Debug)]
enum Source {
    Zero,
    Pattern(Vec<u8>),
    Random(Stream),
}

impl Content {
    /// The content of a job's buffers. `entropy` seeds it when [`ferrio_plan::Seeding::FromSystem`] asks for that.
    #[must_use]
    pub fn new(spec: &JobSpec, entropy: [u64; SEEDS]) -> Self {
        let seed = thread_seeds(spec, entropy)[seeds::CONTENT];
        let writes = spec.rw.does(Direction::Write);
        let prep = match &spec.buffer {
            _ if !writes => Prep::Nothing,
            b if b.refill => Prep::Refill,
            b if b.scramble => Prep::Scramble,
            _ => Prep::Nothing,
        };
        let restart = seeds::restarts_each_pass(spec).then_some(seed);
        Content { source: Source::new(spec, seed), writes, prep, restart }
    }

    /// The content of the buffers after the job's own files were laid out: as with fio the random stream runs on from there.
    #[must_use]
    pub fn after_layout(mut self, layout: LayoutContent) -> Self {
        self.source = layout.0;
        self
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

    /// Prepares the bytes of one write to `offset` (bytes in the file) that is issued at `now_ns`: new content, or the changes of
    /// scrambling, or nothing.
    #[inline]
    pub fn before_write(&mut self, buffer: &mut [u8], offset: u64, now_ns: u64) {
        match self.prep {
            Prep::Nothing => {}
            Prep::Refill => self.source.fill(buffer),
            Prep::Scramble => scramble(buffer, offset, now_ns),
        }
    }

    /// Begins another pass: the random stream starts again if the job repeats.
    pub fn begin_pass(&mut self) {
        if let (Some(seed), Source::Random(stream)) = (self.restart, &mut self.source) {
            stream.reseed(seed);
        }
    }
}

/// Content of the files that a job lays out before it starts: never scrambled.
#[derive(Clone, Debug)]
pub struct LayoutContent(Source);

impl LayoutContent {
    /// The content of a job's files. `entropy` as in [`Content::new`].
    #[must_use]
    pub fn new(spec: &JobSpec, entropy: [u64; SEEDS]) -> Self {
        LayoutContent(Source::new(spec, thread_seeds(spec, entropy)[seeds::CONTENT]))
    }

    /// Fills the next block to write to a file. Blocks have the largest write block size of the job; the last of a file may be
    /// shorter. One `LayoutContent` serves all files of the job, in their order.
    pub fn layout_fill(&mut self, block: &mut [u8]) {
        self.0.fill(block);
    }
}

impl Source {
    fn new(spec: &JobSpec, seed: u64) -> Self {
        if !spec.buffer.pattern.is_empty() {
            Source::Pattern(spec.buffer.pattern.clone())
        } else if spec.buffer.zero {
            Source::Zero
        } else {
            Source::Random(Stream::new(spec.generator, seed))
        }
    }

    fn fill(&mut self, buffer: &mut [u8]) {
        match self {
            Source::Zero => buffer.fill(0),
            Source::Pattern(pattern) => repeat(pattern, buffer),
            Source::Random(stream) => fill_random(buffer, stream.seed_draw()),
        }
    }
}

/// Repeats `pattern` (not empty) over `buffer`, from its first byte.
fn repeat(pattern: &[u8], buffer: &mut [u8]) {
    if let [byte] = pattern {
        return buffer.fill(*byte);
    }
    // Doubling what is filled keeps the copies long.
    let mut done = pattern.len().min(buffer.len());
    buffer[..done].copy_from_slice(&pattern[..done]);
    while done < buffer.len() {
        let (filled, rest) = buffer.split_at_mut(done);
        let step = done.min(rest.len());
        rest[..step].copy_from_slice(&filled[..step]);
        done += step;
    }
}

/// Words derived from one draw, in four lanes; the rest that does not make four words continues the first lane alone.
pub fn fill_random(buffer: &mut [u8], draw: u64) {
    let mut lanes = [1, 2, 3, 5].map(|factor| draw.wrapping_mul(factor));
    let (groups, rest) = buffer.as_chunks_mut::<32>();
    for group in groups {
        for (word, lane) in group.as_chunks_mut::<8>().0.iter_mut().zip(&mut lanes) {
            *word = lane.to_le_bytes();
            *lane = lane.wrapping_mul(HASH);
        }
    }
    let mut lane = lanes[0];
    for word in rest.chunks_mut(8) {
        word.copy_from_slice(&lane.to_le_bytes()[..word.len()]);
        lane = lane.wrapping_mul(HASH);
    }
}

/// Changes each whole sector of a write so that no two are alike: its offset in the file goes to a place that moves with the
/// time, the time itself to a fixed one.
fn scramble(buffer: &mut [u8], offset: u64, now_ns: u64) {
    let (seconds, nanoseconds) = (now_ns / 1_000_000_000, now_ns % 1_000_000_000);
    let line = 64 * ((nanoseconds ^ offset) & 7) as usize;
    let mut at = offset;
    for sector in buffer.as_chunks_mut::<SECTOR>().0 {
        sector[line..line + 8].copy_from_slice(&at.to_le_bytes());
        sector[48..56].copy_from_slice(&seconds.to_le_bytes());
        sector[56..64].copy_from_slice(&nanoseconds.to_le_bytes());
        at += SECTOR as u64;
    }
}

#[cfg(test)]
mod tests {
    use ferrio_plan::{Generator, ReadWrite, Seeding};
    use proptest::prelude::*;

    use super::*;
    use crate::testing::{cksum, job};

    fn writer() -> JobSpec {
        let mut spec = job();
        spec.rw = ReadWrite::Write;
        spec
    }

    #[test]
    fn a_laid_out_file_has_fios_bytes() {
        let mut content = LayoutContent::new(&job(), [0; 24]);
        let mut file = vec![0; 64 << 10];
        file.chunks_mut(4096).for_each(|block| content.layout_fill(block));
        assert_eq!(cksum(&file), 3_637_172_105);
    }

    #[test]
    fn the_first_buffer_has_fios_bytes() {
        let mut content = Content::new(&writer(), [0; 24]);
        let mut buffer = [0; 4096];
        content.fill_initial(&mut buffer);
        assert_eq!(buffer[..8], [0x35, 0xe0, 0x28, 0xcc, 0x38, 0xa0, 0x99, 0x16]);
    }

    #[test]
    fn buffers_go_on_where_the_layout_ended() {
        let mut layout = LayoutContent::new(&writer(), [0; 24]);
        let mut buffer = [0; 4096];
        (0..16).for_each(|_| layout.layout_fill(&mut buffer));
        Content::new(&writer(), [0; 24]).after_layout(layout).fill_initial(&mut buffer);
        assert_eq!(buffer[..8], [0x1b, 0x97, 0x15, 0x54, 0xd7, 0xbe, 0x73, 0x2b]);
    }

    #[test]
    fn a_refilling_job_never_scrambles_and_never_repeats() {
        let mut spec = writer();
        spec.buffer.refill = true;
        let mut content = Content::new(&spec, [0; 24]);
        assert!(content.needs_write_prep());
        let mut buffer = [0; 4096];
        content.fill_initial(&mut buffer);
        let first = buffer;
        content.before_write(&mut buffer, 0, 5);
        assert_ne!(buffer, first);
        content.begin_pass();
        content.before_write(&mut buffer, 0, 7);
        assert_eq!(buffer, first);
    }

    #[test]
    fn scrambling_changes_three_words_of_each_whole_sector() {
        let spec = writer();
        let mut content = Content::new(&spec, [0; 24]);
        let mut buffer = [0; 1500];
        content.fill_initial(&mut buffer);
        let before = buffer;
        content.before_write(&mut buffer, 8192, 3_000_000_005);
        assert_eq!(buffer[512 + 320..][..8], 8704u64.to_le_bytes());
        assert_eq!(buffer[512 + 48..][..8], 3u64.to_le_bytes());
        assert_eq!(buffer[512 + 56..][..8], 5u64.to_le_bytes());
        assert_eq!(buffer[1024..], before[1024..]);
        let kept = |at: &usize| !(320..328).contains(&(at % 512)) && !(48..64).contains(&(at % 512));
        assert!((0..1024).filter(kept).all(|at| buffer[at] == before[at]));
    }

    #[test]
    fn a_reader_leaves_its_buffers_alone() {
        let mut content = Content::new(&job(), [0; 24]);
        assert!(!content.needs_write_prep());
        let mut buffer = [9; 64];
        content.fill_initial(&mut buffer);
        assert_eq!(buffer, [9; 64]);
    }

    #[test]
    fn zeroes_and_patterns_are_what_was_asked_for() {
        let mut spec = writer();
        spec.buffer.scramble = false;
        spec.buffer.zero = true;
        let mut buffer = [7; 100];
        let mut content = Content::new(&spec, [0; 24]);
        assert!(!content.needs_write_prep());
        content.fill_initial(&mut buffer);
        assert_eq!(buffer, [0; 100]);
        spec.buffer.pattern = vec![1, 2, 3];
        Content::new(&spec, [0; 24]).fill_initial(&mut buffer);
        assert!(buffer.iter().enumerate().all(|(i, &b)| usize::from(b) == i % 3 + 1));
    }

    #[test]
    fn system_seeded_content_follows_the_entropy() {
        let mut spec = writer();
        spec.seeding = Seeding::FromSystem;
        spec.generator = Generator::Tausworthe64;
        let fill = |entropy| {
            let mut buffer = [0; 32];
            Content::new(&spec, entropy).fill_initial(&mut buffer);
            buffer
        };
        assert_ne!(fill([1; 24]), fill([2; 24]));
    }

    proptest! {
        #[test]
        fn a_short_fill_ends_in_the_first_lane(draw: u64, len in 0usize..200) {
            let mut buffer = vec![0; len];
            fill_random(&mut buffer, draw);
            let groups = len / 32;
            for (i, word) in buffer.chunks(8).enumerate() {
                let (factor, steps) = if i < groups * 4 { ([1, 2, 3, 5][i % 4], i / 4) } else { (1, i - groups * 3) };
                let lane = draw.wrapping_mul(factor).wrapping_mul(HASH.wrapping_pow(steps as u32));
                prop_assert_eq!(word, &lane.to_le_bytes()[..word.len()]);
            }
        }
    }
}
