//! Events that are work without I/O.

use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use ferrio_engine::EngineError;
use ferrio_job::{EventKind, EventPart, EventWork, MemoryOperation};

use crate::JobHandle;
use crate::division::least_divisor;
use crate::memory::Words;
use crate::shared::{self, Shared};

/// Numbers or words between two looks whether a signal ends the job.
const BETWEEN_LOOKS: u32 = 1024;
/// Words of memory between two looks: a look must not cost a part of the event that shows.
const WORDS_BETWEEN_LOOKS: usize = 1 << 20;

/// The events of one job.
pub(crate) struct Event {
    part: EventPart,
    work: EventWork,
    /// Bytes of a huge page.
    huge_page: u64,
    /// Locks and memory, there once the job is prepared.
    shared: Arc<Shared>,
    random: Random,
}

impl Event {
    /// The events of this part of a load, if they are work without I/O.
    pub(crate) fn new(part: &EventPart, huge_page: u64) -> Option<Self> {
        let EventKind::Work(work) = part.load.kind else { return None };
        let random = Random::new(part.load.seed.unwrap_or_else(any_seed), part.thread);
        Some(Event { part: part.clone(), work, huge_page, shared: Arc::default(), random })
    }

    /// Makes or finds what the events need.
    pub(crate) fn prepare(&mut self) -> Result<(), EngineError> {
        let make = || match self.work {
            EventWork::Primes { .. } => Ok(Shared::default()),
            EventWork::Memory { block, in_huge_pages, .. } => {
                Shared::memory(block, in_huge_pages.then_some(self.huge_page))
            }
            EventWork::Yields { locks, .. } => Shared::locks(locks),
            EventWork::Mutexes { mutexes, .. } => Shared::locks(mutexes),
        };
        self.shared = match self.work {
            EventWork::Primes { .. } | EventWork::Memory { is_shared: false, .. } => Arc::new(make()?),
            _ => shared::of(&self.part.load, make)?,
        };
        Ok(())
    }

    /// Does one event. Its time limit does not shorten it, a signal does.
    pub(crate) fn perform(&mut self, duty: &dyn JobHandle) {
        let is_over = || duty.signals() > 0;
        let locks = &self.shared.locks;
        let words = self.shared.words.as_ref().map_or(&[][..], Words::all);
        match self.work {
            EventWork::Primes { below } => {
                black_box(primes(black_box(below), is_over));
            }
            EventWork::Yields { yields, .. } => {
                let Some(lock) = self.shared.next_lock() else { return };
                for turn in 0..yields {
                    if turn.is_multiple_of(BETWEEN_LOOKS.into()) && is_over() {
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
                for part in words.chunks(WORDS_BETWEEN_LOOKS) {
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

/// Reads or writes words one after the other. They are atomic because other threads may do the same; without order that costs nothing.
fn go_through(operation: MemoryOperation, words: &[AtomicU64]) {
    if operation != MemoryOperation::Read {
        return touch(operation, words.iter());
    }
    // One sum would be added to once a cycle; memory that is near gives more words than that.
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

/// Reads or writes words.
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

/// Another one each time.
fn any_seed() -> u64 {
    RandomState::new().build_hasher().finish()
}

/// Quick choices (xorshift64): drawing one must cost less than the memory access it chooses.
struct Random(u64);

impl Random {
    fn new(seed: u64, thread: u32) -> Self {
        // Any odd number is a seed that never gets stuck at zero.
        Random((seed ^ (u64::from(thread) << 32)).wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    /// Less than `count`, which is not 0 and below 2^32 or a power of two.
    fn below(&mut self, count: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        ((u128::from(self.0) * count as u128) >> 64) as usize
    }
}

/// How many primes there are from 3 to below a number. Divides by 2, 3, 4 and so on up to the root, as sysbench does: what counts is the work.
fn primes(below: u32, is_over: impl Fn() -> bool) -> u64 {
    let mut found = 0;
    for number in 3..below {
        if number.is_multiple_of(BETWEEN_LOOKS) && is_over() {
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

    fn parts(work: EventWork) -> [Event; 2] {
        let load = EventLoad { id: 0, limit: None, rate: None, seed: Some(1), kind: EventKind::Work(work) };
        let load = Arc::new(load);
        [0, 1].map(|thread| {
            let mut event = Event::new(&EventPart { load: Arc::clone(&load), thread }, 2 << 20).unwrap();
            event.prepare().unwrap();
            event
        })
    }

    fn counts(event: &Event) -> Vec<u64> {
        event.shared.locks.iter().map(Mutex::taken).collect()
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
                part.shared
                    .words
                    .as_ref()
                    .unwrap()
                    .all()
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
