//! The seeds of the blocks that a verifying job writes, the bytes for a seed, and the marks of blocks to be trimmed.

use ferrio_job::JobSpec;

use crate::pass_stream::PassStream;
use crate::seeds::{self, SEEDS, thread_seeds};

use crate::content::{compressed, fill_part, fill_random};

/// The bytes of blocks that are verified.
#[derive(Clone, Debug)]
pub struct BlockBody {
    /// `buffer_compress_percentage`, 0 for none.
    compress: u32,
    /// The bytes that fill the rest; zeros if empty.
    padding: Vec<u8>,
}

impl BlockBody {
    /// The bodies of a job's blocks: random, and constant in their last part if they must compress.
    #[must_use]
    pub fn new(spec: &JobSpec) -> Self {
        BlockBody { compress: spec.buffer.compress, padding: spec.buffer.pattern.clone() }
    }

    /// Fills a block from its seed.
    pub fn fill(&self, block: &mut [u8], seed: u64) {
        if self.compress == 0 {
            fill_random(block, seed);
        } else {
            let random = compressed(block.len(), self.compress);
            fill_part(block, seed, random, &self.padding);
        }
    }
}

/// The seeds in the order in which blocks are issued.
#[derive(Clone, Debug)]
pub struct BlockSeeds(PassStream);

impl BlockSeeds {
    /// The seeds of a job. `entropy` is that of [`BufferContents::new`](crate::BufferContents::new).
    #[must_use]
    pub fn new(spec: &JobSpec, entropy: [u64; SEEDS]) -> Self {
        let seed = thread_seeds(spec, entropy)[seeds::BLOCK];
        BlockSeeds(PassStream::new(spec, spec.generator, seed))
    }

    /// The seed of the next block.
    pub fn draw(&mut self) -> u64 {
        self.0.stream.seed_draw()
    }

    /// Begins another pass: the seeds restart if the job repeats.
    pub fn begin_pass(&mut self) {
        self.0.begin_pass();
    }
}

/// The marks of written blocks to be trimmed (`trim_percentage`): one draw per block, in the order of issue.
#[derive(Clone, Debug)]
pub struct TrimMarks {
    draws: PassStream,
    /// Largest draw that marks a block.
    most: u64,
}

impl TrimMarks {
    /// The marks of a job; `None` for one that trims nothing that it has written. `entropy` is that of
    /// [`BufferContents::new`](crate::BufferContents::new).
    #[must_use]
    pub fn new(spec: &JobSpec, entropy: [u64; SEEDS]) -> Option<Self> {
        let percentage = spec.verify.as_ref()?.trims.percentage;
        let draws = PassStream::new(spec, spec.generator, thread_seeds(spec, entropy)[seeds::BLOCK_TRIM]);
        let most = draws.stream.largest() / 100 * u64::from(percentage);
        (percentage > 0).then_some(TrimMarks { draws, most })
    }

    /// Draws whether the next block is marked.
    pub fn draw(&mut self) -> bool {
        self.draws.stream.draw() <= self.most
    }

    /// Begins another pass: the draws restart if the job repeats.
    pub fn begin_pass(&mut self) {
        self.draws.begin_pass();
    }
}

#[cfg(test)]
mod tests {
    use ferrio_job::Generator;

    use super::*;
    use crate::tests::support::job;

    #[test]
    fn the_first_blocks_have_fios_seeds() {
        let mut seeds = BlockSeeds::new(&job(), [0; SEEDS]);
        let first = [seeds.draw(), seeds.draw(), seeds.draw()];
        assert_eq!(first, [46_386_204_153_304_124, 9_852_480_210_356_360_750, 4_726_550_845_720_924_880]);
        seeds.begin_pass();
        assert_eq!(seeds.draw(), first[0]);
    }

    fn marks(percentage: u32) -> TrimMarks {
        let mut spec = job();
        let mut verify = ferrio_plan::testing::verify_of("verify=md5\n");
        verify.trims.percentage = percentage;
        spec.verify = Some(verify);
        TrimMarks::new(&spec, [0; SEEDS]).unwrap()
    }

    #[test]
    fn half_of_the_first_blocks_are_those_that_fio_trims() {
        let mut half = marks(50);
        let mut marked = || (0..8).filter(|_| half.draw()).collect::<Vec<_>>();
        assert_eq!(marked(), [0, 1, 3, 4, 7]);
        half.begin_pass();
        assert_eq!((0..8).filter(|_| half.draw()).count(), 5);
        let mut all = marks(100);
        assert!((0..1000).filter(|_| all.draw()).count() > 995);
        assert!(TrimMarks::new(&job(), [0; SEEDS]).is_none());
    }

    #[test]
    fn the_wide_generator_gives_fios_seeds() {
        let mut spec = job();
        spec.generator = Generator::Tausworthe64;
        let mut seeds = BlockSeeds::new(&spec, [0; SEEDS]);
        assert_eq!([seeds.draw(), seeds.draw()], [1_376_551_349_165_771_642, 17_629_557_187_480_396_817]);
    }

    #[test]
    fn a_block_has_the_bytes_of_its_seed() {
        let mut block = [0; 32];
        BlockBody::new(&job()).fill(&mut block, 46_386_204_153_304_124);
        assert_eq!(block[..10], [0x3c, 0x54, 0x09, 0xc5, 0x01, 0xcc, 0xa4, 0x00, 0x78, 0xa8]);
        let mut spec = job();
        spec.buffer.compress = 50;
        let mut half = [9; 65];
        BlockBody::new(&spec).fill(&mut half, 46_386_204_153_304_124);
        assert_eq!((&half[..32], &half[32..]), (&block[..], &[0; 33][..]));
        spec.buffer.pattern = vec![1, 2];
        BlockBody::new(&spec).fill(&mut half, 46_386_204_153_304_124);
        assert_eq!(half[32..36], [1, 2, 1, 2]);
    }
}
