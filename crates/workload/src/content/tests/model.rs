//! A slow model of contents that compress or repeat: one byte after the other, from whole lists of draws.

use std::sync::Arc;

use ferrio_job::{ContentSeed, Dedupe, Direction, Generator, JobSpec, ReadWrite, WorkingSet};
use ferrio_random::{DEFAULT_SEED, Stream, job_seeds};
use proptest::prelude::*;

use crate::tests::support::job;
use crate::{BufferContents, LayoutContent};

/// The product of draws number `2n` and `2n+1` of the stream of contents.
fn draw(generator: Generator, seed: u64, n: usize) -> u64 {
    let mut stream = Stream::new(generator, seed);
    let draws: Vec<u64> = (0..2 * n + 2).map(|_| stream.draw()).collect();
    draws[2 * n].wrapping_mul(draws[2 * n + 1])
}

/// Byte `at` of a random fill of `len` bytes.
fn byte(draw: u64, at: usize, len: usize) -> u8 {
    let (word, whole) = (at / 8, len / 32 * 4);
    let (factor, steps) =
        if word < whole { ([1, 2, 3, 5][word % 4], word / 4) } else { (1, word - whole + whole / 4) };
    let lane = draw.wrapping_mul(factor).wrapping_mul(0x61C8_8646_80B5_83EB_u64.wrapping_pow(steps as u32));
    lane.to_le_bytes()[at % 8]
}

/// A place in the streams of a job.
struct Model<'a> {
    spec: &'a JobSpec,
    /// Seed draws taken by unique buffers so far.
    taken: usize,
    decisions: Stream,
    picks: Stream,
}

impl<'a> Model<'a> {
    fn new(spec: &'a JobSpec) -> Self {
        let seeds = job_seeds(DEFAULT_SEED, spec.number);
        Model {
            spec,
            taken: 0,
            decisions: Stream::new(Generator::Tausworthe32, seeds[14]),
            picks: Stream::new(spec.generator, seeds[20]),
        }
    }

    fn chunk(&self, unit: u64) -> usize {
        let chunk = self.spec.buffer.chunk;
        if chunk == 0 { unit as usize } else { chunk.min(unit) as usize }
    }

    /// The generator, its seed and the draws before block `index` of the working set.
    fn member(&self, set: &WorkingSet, index: usize) -> (Generator, u64, usize) {
        let block = self.spec.block[Direction::Write].min;
        let draws = block as usize / self.chunk(block);
        let seed = |number| job_seeds(DEFAULT_SEED, number)[9];
        let Some(pool) = &set.pool else {
            return (self.spec.generator, seed(self.spec.number), index * draws);
        };
        let turn = (self.spec.working_set_blocks() as usize / pool.len()).max(1);
        let job = (self.spec.number as usize - 1 + index / turn) % pool.len();
        (pool[job].generator, pool[job].seed, index % turn * draws)
    }

    fn buffer(&mut self, len: usize, unit: u64) -> Vec<u8> {
        let buffer = &self.spec.buffer;
        let chunk = self.chunk(unit);
        let own = (self.spec.generator, job_seeds(DEFAULT_SEED, self.spec.number)[9], self.taken);
        let mut origin = own;
        let mut unique = true;
        if let Some(dedupe) = buffer.dedupe.as_ref().filter(|dedupe| dedupe.percent < 100) {
            let v = 1 + (self.decisions.draw() as f64 / 2f64.powi(32) * 100.0) as u32;
            unique = v > dedupe.percent;
            if let (false, Some(set)) = (unique, &dedupe.working_set) {
                let width = if self.picks.largest() > u64::from(u32::MAX) { 64 } else { 32 };
                let share = self.picks.draw() as f64 / 2f64.powi(width);
                origin = self.member(set, (self.spec.working_set_blocks() as f64 * share) as usize);
            }
        }
        let constant = buffer.dedupe.as_ref().is_some_and(|dedupe| dedupe.percent == 100);
        let mut out = Vec::new();
        for (number, start) in (0..len).step_by(chunk).enumerate() {
            let piece = chunk.min(len - start);
            let random = piece * (100 - buffer.compress as usize) / 100;
            let draw = draw(origin.0, origin.1, origin.2 + if constant { 0 } else { number });
            for at in 0..piece {
                out.push(match at.checked_sub(random) {
                    None => byte(draw, at, random),
                    Some(_) if buffer.pattern.is_empty() => 0,
                    Some(at) => buffer.pattern[at % buffer.pattern.len()],
                });
            }
        }
        if unique && !constant {
            self.taken += len.div_ceil(chunk);
        }
        out
    }
}

fn pools() -> impl Strategy<Value = Option<Arc<[ContentSeed]>>> {
    prop_oneof![
        Just(None),
        (1u32..6, any::<bool>()).prop_map(|(jobs, mixed)| {
            let generator = |number| match number % 2 {
                0 if mixed => Generator::Tausworthe64,
                _ => Generator::Tausworthe32,
            };
            let seed = |number| ContentSeed {
                generator: generator(number),
                seed: job_seeds(DEFAULT_SEED, number)[9],
            };
            Some((1..=jobs).map(seed).collect())
        })
    ]
}

prop_compose! {
    fn dedupes()(
        percent in 1u32..=100,
        set in proptest::option::of((0u32..100, 0u64..100_000, pools())),
    ) -> Dedupe {
        let working_set = set.map(|(share, size, pool)| WorkingSet { percent: share, size: Some(size), pool });
        Dedupe { percent, working_set }
    }
}

prop_compose! {
    fn jobs()(
        dedupe in proptest::option::of(dedupes()),
        compress in 0u32..100,
        chunk in prop_oneof![Just(0u64), Just(512), 1u64..3000],
        pattern in proptest::collection::vec(any::<u8>(), 0..5),
        min in 64u64..2000,
        more in 0u64..2000,
        wide: bool,
    ) -> JobSpec {
        let mut spec = job();
        spec.rw = ReadWrite::Write;
        spec.generator = if wide { Generator::Tausworthe64 } else { Generator::Tausworthe32 };
        spec.block[Direction::Write].min = min;
        spec.block[Direction::Write].max = min + more;
        let number = dedupe
            .as_ref()
            .and_then(|dedupe| dedupe.working_set.as_ref()?.pool.as_ref().map(|pool| pool.len()))
            .unwrap_or(1);
        spec.number = number as u32;
        if let Some(pool) = dedupe.as_ref().and_then(|dedupe| dedupe.working_set.as_ref()?.pool.clone()) {
            spec.generator = pool[number - 1].generator;
        }
        let buffer = &mut spec.buffer;
        // Without either the contents are not made of pieces.
        buffer.compress = if dedupe.is_none() { compress.max(1) } else { compress };
        (buffer.dedupe, buffer.chunk, buffer.pattern, buffer.refill) = (dedupe, chunk, pattern, true);
        spec
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn files_and_buffers_are_those_of_the_model(spec in jobs(), lengths in proptest::collection::vec(0u64..2000, 1..6)) {
        let (min, max) = (spec.block[Direction::Write].min, spec.block[Direction::Write].max);
        let mut model = Model::new(&spec);
        let mut layout = LayoutContent::new(&spec, [0; 24]).unwrap();
        let mut block = vec![0; max as usize];
        layout.layout_fill(&mut block);
        prop_assert_eq!(&block, &model.buffer(block.len(), max));
        let mut content = BufferContents::after_layout(&spec, layout);
        content.fill_initial(&mut block);
        prop_assert_eq!(&block, &model.buffer(block.len(), min));
        for more in lengths {
            let len = (min + more).min(max) as usize;
            content.before_write(&mut block[..len], 0, 1);
            prop_assert_eq!(&block[..len], &model.buffer(len, min));
        }
    }
}
