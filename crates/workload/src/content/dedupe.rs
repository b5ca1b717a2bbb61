//! Chooses which buffers are duplicates, and of which others.
//!
//! A duplicate costs one draw and a copy of a generator's state (12 or 40 bytes). The working set keeps such a state for each of
//! its blocks, made once at the start.

use ferrio_job::{ContentSeed, Direction, JobSpec, WorkingSet};

use crate::WorkloadError;
use crate::random::{Generator, Scale, Stream, Tausworthe32, Tausworthe64};
use crate::seeds::{self, SEEDS};

/// The source of the bytes of a buffer.
pub(super) enum BufferOrigin {
    /// The stream itself.
    Unique,
    /// The stream in this state.
    CopyOf(Stream),
    /// One draw that never changes.
    Constant,
}

/// The choice between unique buffers and duplicates.
#[derive(Clone, Debug)]
pub(super) struct Duplicates {
    /// Percent of duplicates, 1..=100.
    percent: u64,
    decisions: Stream,
    hundred: Scale,
    copies: DuplicateSource,
}

/// The source of duplicates.
#[derive(Clone, Debug)]
enum DuplicateSource {
    /// The state after the last unique buffer: duplicates equal the next one.
    Next(Stream),
    /// A state out of a set.
    Set { picks: Stream, size: Scale, states: GeneratorStates },
}

/// States of generators, packed.
#[derive(Clone, Debug)]
enum GeneratorStates {
    Narrow(Vec<Tausworthe32>),
    Wide(Vec<Tausworthe64>),
    /// The states of jobs with different generators.
    Mixed(Vec<Stream>),
}

impl Duplicates {
    /// The choices of a job whose contents begin with `stream`.
    pub(super) fn new(
        spec: &JobSpec,
        dedupe: &ferrio_job::Dedupe,
        stream: &Stream,
        seeds: &[u64; SEEDS],
    ) -> Result<Self, WorkloadError> {
        let decisions = Stream::Tausworthe32(Tausworthe32::new(seeds[seeds::DEDUPE]));
        let copies = match &dedupe.working_set {
            // If there are only duplicates, there is no set to choose from.
            Some(set) if dedupe.percent < 100 => {
                let states = working_set(spec, set, stream)?;
                let picks = Stream::new(spec.generator, seeds[seeds::DEDUPE_PICK]);
                DuplicateSource::Set { size: picks.scale(states.len() as u64), picks, states }
            }
            _ => DuplicateSource::Next(stream.clone()),
        };
        Ok(Duplicates {
            percent: u64::from(dedupe.percent),
            hundred: decisions.scale(100),
            decisions,
            copies,
        })
    }

    /// Decides on the next buffer.
    pub(super) fn choose(&mut self) -> BufferOrigin {
        if self.percent >= 100 {
            return BufferOrigin::Constant;
        }
        if self.decisions.below(self.hundred) >= self.percent {
            return BufferOrigin::Unique;
        }
        BufferOrigin::CopyOf(match &mut self.copies {
            DuplicateSource::Next(state) => state.clone(),
            DuplicateSource::Set { picks, size, states } => states.get(picks.below(*size)),
        })
    }

    /// Notes the state in which a unique buffer left `stream`.
    pub(super) fn unique_ended(&mut self, stream: &Stream) {
        if let DuplicateSource::Next(state) = &mut self.copies {
            state.clone_from(stream);
        }
    }

    /// Begins another pass.
    pub(super) fn restart(&mut self, stream: &Stream, seeds: &[u64; SEEDS]) {
        self.decisions.reseed(seeds[seeds::DEDUPE]);
        match &mut self.copies {
            DuplicateSource::Next(state) => state.clone_from(stream),
            DuplicateSource::Set { picks, .. } => picks.reseed(seeds[seeds::DEDUPE_PICK]),
        }
    }
}

impl GeneratorStates {
    /// Allocates room for `blocks` states of this width, or of any.
    fn with_room(width: Option<Generator>, blocks: u64) -> Option<Self> {
        fn room<T>(blocks: u64) -> Option<Vec<T>> {
            let mut states = Vec::new();
            states.try_reserve_exact(usize::try_from(blocks).ok()?).ok()?;
            Some(states)
        }
        match width {
            Some(Generator::Tausworthe32) => room(blocks).map(GeneratorStates::Narrow),
            Some(Generator::Tausworthe64) => room(blocks).map(GeneratorStates::Wide),
            None => room(blocks).map(GeneratorStates::Mixed),
        }
    }

    fn len(&self) -> usize {
        match self {
            GeneratorStates::Narrow(states) => states.len(),
            GeneratorStates::Wide(states) => states.len(),
            GeneratorStates::Mixed(states) => states.len(),
        }
    }

    fn push(&mut self, state: &Stream) {
        match (self, state) {
            (GeneratorStates::Narrow(states), Stream::Tausworthe32(state)) => states.push(state.clone()),
            (GeneratorStates::Wide(states), Stream::Tausworthe64(state)) => states.push(state.clone()),
            (GeneratorStates::Mixed(states), state) => states.push(state.clone()),
            _ => unreachable!("states of one width come from jobs with one generator"),
        }
    }

    fn get(&self, index: u64) -> Stream {
        match self {
            GeneratorStates::Narrow(states) => Stream::Tausworthe32(states[index as usize].clone()),
            GeneratorStates::Wide(states) => Stream::Tausworthe64(states[index as usize].clone()),
            GeneratorStates::Mixed(states) => states[index as usize].clone(),
        }
    }
}

/// The states from which the blocks of the set are made: those of the first blocks that the job would write if all were unique, or of the
/// jobs of the run in turn.
fn working_set(spec: &JobSpec, set: &WorkingSet, stream: &Stream) -> Result<GeneratorStates, WorkloadError> {
    let blocks = spec.working_set_blocks();
    let block = spec.block[Direction::Write].min.max(1);
    let chunk = if spec.buffer.chunk == 0 { block } else { spec.buffer.chunk.min(block) };
    let draws = block / chunk;
    let pool: &[ContentSeed] = set.pool.as_deref().unwrap_or_default();
    let turn = (blocks / pool.len().max(1) as u64).max(1);
    let mut others = pool.iter().cycle().skip(spec.number as usize % pool.len().max(1));
    let one_width = pool.iter().all(|other| other.generator == spec.generator);
    let mut states = GeneratorStates::with_room(one_width.then_some(spec.generator), blocks)
        .ok_or(WorkloadError::WorkingSetTooLarge { blocks })?;
    let mut state = stream.clone();
    for index in 0..blocks {
        if index > 0
            && index % turn == 0
            && let Some(other) = others.next()
        {
            state = Stream::new(other.generator, other.seed);
        }
        states.push(&state);
        for _ in 0..draws {
            state.seed_draw();
        }
    }
    Ok(states)
}
