//! Events that are work without I/O.

use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use ferrio_engine::EngineError;
use ferrio_job::{EventKind, EventPart, EventWork, MemoryOperation};

use crate::JobHandle;
use crate::division::least_divisor;
use crate::load_resources::{LoadResources, resources_of};
use crate::memory::MemoryBlock;

/// Numbers or words processed between two checks whether a signal ends the job.
const STEPS_PER_CHECK: u32 = 1024;
/// Words of memory processed between two checks, so that checks do not add measurably to an event.
const WORDS_PER_CHECK: usize = 1 << 20;

/// Performs the events of one job.
pub(crate) struct LoadEvent {
    part: EventPart,
    work: EventWork,
    /// Huge page size in bytes.
    huge_page: u64,
    /// Present after `prepare`.
    resources: Arc<LoadResources>,
    random: FastRandom,
}

impl LoadEvent {
    /// `None` if the events of this part of a load do I/O.
    pub(crate) fn new(part: &EventPart, huge_page: u64) -> Option<Self> {
        let EventKind::Work(work) = part.load.kind else { return None };
        let random = FastRandom::new(part.load.seed.unwrap_or_else(any_seed), part.thread);
        Some(LoadEvent { part: part.clone(), work, huge_page, resources: Arc::default(), random })
    }

    /// Creates or finds the resources that the events need.
    pub(crate) fn prepare(&mut self) -> Result<(), EngineError> {
        let make = || match self.work {
            EventWork::Primes { .. } => Ok(LoadResources::default()),
            EventWork::Memory { block, in_huge_pages, .. } => {
                LoadResources::with_memory(block, in_huge_pages.then_some(self.huge_page))
            }
            EventWork::Yields { locks, .. } => LoadResources::with_locks(locks),
            EventWork::Mutexes { mutexes, .. } => LoadResources::with_locks(mutexes),
        };
        self.resources = match self.work {
            EventWork::Primes { .. } | EventWork::Memory { is_shared: false, .. } => Arc::new(make()?),
            _ => resources_of(&self.part.load, make)?,
        };
        Ok(())
    }

    /// Performs one event. A time limit does not shorten it; a signal does.
    pub(crate) fn perform(&mut self, job: &dyn JobHandle) {
        let is_over = || job.signals() > 0;
        let locks = &self.resources.locks;
        let words = self.resources.memory.as_ref().map_or(&[][..], MemoryBlock::as_slice);
        match self.work {
            EventWork::Primes { below } => {
                black_box(primes(black_box(below), is_over));
            }
            EventWork::Yields { yields, .. } => {
                let Some(lock) = self.resources.next_lock() else { return };
                for turn in 0..yields {
                    if turn.is_multiple_of(STEPS_PER_CHECK.into()) && is_over() {
                        break;
                    }
                    lock.hold(std::thread::yield_now);
                }
            }
            EventWork::Mutexes { locks: times, loops, .. } => {
                for _ in 0..times {
                    if is_over() {
                        break;
                    }
                    let chosen = self.random.below(locks.len());
                    for turn in 0..loops {
                        black_box(turn);
                    }
                    locks[chosen].hold(|| ());
                }
            }
            EventWork::Memory { operation, is_random, .. } => {
                for part in words.chunks(WORDS_PER_CHECK) {
                    if is_over() {
                        break;
                    }
                    match is_random {
                        false => go_through(operation, part),
                        true => touch(operation, part.iter().map(|_| &words[self.random.below(words.len())])),
                    }
                }
            }
        }
    }
}

/// Reads or writes words in sequence. They are atomic because other threads may access them too; relaxed accesses cost nothing.
fn go_through(operation: MemoryOperation, words: &[AtomicU64]) {
    if operation != MemoryOperation::Read {
        return touch(operation, words.iter());
    }
    // A single sum could be updated only once per cycle, but the cache delivers more words than that.
    let (groups, rest) = words.as_chunks::<8>();
    let mut sums = [0_u64; 8];
    for group in groups {
        for (sum, word) in sums.iter_mut().zip(group) {
            *sum = sum.wrapping_add(word.load(Relaxed));
        }
    }
    black_box(sums);
    touch(operation, rest.iter());
}

/// Reads or writes the words of an iterator.
fn touch<'a>(operation: MemoryOperation, words: impl Iterator<Item = &'a AtomicU64>) {
    match operation {
        MemoryOperation::Read => {
            black_box(words.fold(0, |all: u64, word| all.wrapping_add(word.load(Relaxed))));
        }
        MemoryOperation::Write => {
            for (value, word) in (1..).zip(words) {
                word.store(value, Relaxed);
            }
        }
        MemoryOperation::None => {}
    }
}

/// A different seed each time.
fn any_seed() -> u64 {
    RandomState::new().build_hasher().finish()
}

/// A fast random generator (xorshift64): drawing a number must cost less than the memory access that it selects.
struct FastRandom(u64);

impl FastRandom {
    fn new(seed: u64, thread: u32) -> Self {
        // Any odd seed keeps the generator from getting stuck at zero.
        FastRandom((seed ^ (u64::from(thread) << 32)).wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    /// A number below `count`, which must be below 2^32 or a power of two, and not 0.
    fn below(&mut self, count: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        ((u128::from(self.0) * count as u128) >> 64) as usize
    }
}

/// The number of primes from 3 up to, not including, `below`. Divides by 2, 3, 4 and so on up to the root, as sysbench does: the purpose is
/// the work.
fn primes(below: u32, is_over: impl Fn() -> bool) -> u64 {
    let mut found = 0;
    for number in 3..below {
        if number.is_multiple_of(STEPS_PER_CHECK) && is_over() {
            break;
        }
        found += u64::from(least_divisor(number).is_none());
    }
    found
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use ferrio_job::EventLoad;

    use super::*;
    use crate::UnlimitedJob;
    use crate::mutex::Mutex;

    fn parts(work: EventWork) -> [LoadEvent; 2] {
        let load = EventLoad { id: 0, limit: None, rate: None, seed: Some(1), kind: EventKind::Work(work) };
        let load = Arc::new(load);
        [0, 1].map(|thread| {
            let mut event = LoadEvent::new(&EventPart { load: Arc::clone(&load), thread }, 2 << 20).unwrap();
            event.prepare().unwrap();
            event
        })
    }

    fn counts(event: &LoadEvent) -> Vec<u64> {
        event.resources.locks.iter().map(Mutex::taken).collect()
    }

    #[test]
    fn each_event_yields_with_the_next_of_the_locks_that_jobs_share() {
        let mut parts = parts(EventWork::Yields { yields: 8, locks: 3 });
        parts[0].perform(&UnlimitedJob);
        parts[1].perform(&UnlimitedJob);
        assert_eq!(counts(&parts[0]), [8, 8, 0]);
        (0..3).for_each(|_| parts[0].perform(&UnlimitedJob));
        assert_eq!(counts(&parts[1]), [16, 16, 8]);
    }

    #[test]
    fn jobs_take_as_many_mutexes_as_they_should_each_by_chance() {
        let mut parts = parts(EventWork::Mutexes { mutexes: 5, locks: 1000, loops: 2 });
        parts[0].perform(&UnlimitedJob);
        parts[1].perform(&UnlimitedJob);
        let counts = counts(&parts[1]);
        assert_eq!(counts.iter().sum::<u64>(), 2000);
        assert!(counts.iter().all(|&count| count > 300), "{counts:?}");
    }

    #[test]
    fn memory_is_shared_or_of_each_job_and_each_word_is_written() {
        let memory = |is_shared, operation, is_random| {
            let mut parts = parts(EventWork::Memory {
                block: 1024,
                is_shared,
                operation,
                is_random,
                in_huge_pages: false,
                times: None,
            });
            parts[0].perform(&UnlimitedJob);
            parts.map(|part| {
                part.resources
                    .memory
                    .as_ref()
                    .unwrap()
                    .as_slice()
                    .iter()
                    .filter(|word| word.load(Relaxed) != 0)
                    .count()
            })
        };
        assert_eq!(memory(true, MemoryOperation::Write, false), [128, 128]);
        assert_eq!(memory(false, MemoryOperation::Write, false), [128, 0]);
        assert_eq!(memory(true, MemoryOperation::Read, false), [0, 0]);
        assert_eq!(memory(true, MemoryOperation::None, true), [0, 0]);
        let [some, _] = memory(false, MemoryOperation::Write, true);
        assert!((50..128).contains(&some), "{some}");
    }

    #[test]
    fn the_primes_are_those_below_the_limit() {
        for (below, count) in [(3, 0), (4, 1), (1000, 167), (2000, 302), (10_000, 1228)] {
            assert_eq!(primes(below, || false), count, "{below}");
        }
    }

    #[test]
    fn a_signal_ends_the_search() {
        let looks = Cell::new(0);
        let after_two = || {
            looks.set(looks.get() + 1);
            looks.get() == 2
        };
        assert_eq!(primes(u32::MAX, after_two), primes(2048, || false));
    }
}
