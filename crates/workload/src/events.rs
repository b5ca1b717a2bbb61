//! Events that several jobs share: how many, when they arrive, and the steps of each.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};

use ferrio_job::{Direction, EventKind, EventLoad, EventPart};

use crate::database::{DatabaseCounts, DatabasePath, SharedDatabase, Work};
use crate::fileio::{FileioPath, SharedFileio};
use crate::random::T258;
use crate::step::{Io, Step};

/// Most events that have arrived and that no job has taken, as in sysbench.
const MAX_WAITING: usize = 131_072;

/// What the jobs of one load share.
#[derive(Debug)]
pub struct SharedEvents {
    limit: u64,
    taken: AtomicU64,
    /// No more events begin.
    ended: AtomicBool,
    arrivals: Option<Mutex<Arrivals>>,
    choices: Choices,
}

/// Where the steps of events come from.
#[derive(Debug)]
enum Choices {
    /// Each event is one call of the engine.
    Work,
    Fileio(Box<SharedFileio>),
    Database(Box<SharedDatabase>),
}

/// Whether a job may begin another event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admission {
    /// At once.
    Now,
    /// When the load has run for so many nanoseconds, the moment the event arrives.
    At(u64),
    /// All events are taken.
    End,
    /// The job has done its share of them.
    Done,
    /// More events have arrived than the jobs can ever do.
    Overrun,
}

impl SharedEvents {
    /// The state of a load before its first event. `entropy` seeds its choices if the load has no seed of its own.
    #[must_use]
    pub fn new(load: &EventLoad, entropy: u64) -> Self {
        let seed = load.seed.unwrap_or(entropy);
        SharedEvents {
            limit: load.limit.unwrap_or(u64::MAX),
            taken: AtomicU64::new(0),
            ended: AtomicBool::new(false),
            arrivals: load.rate.map(|rate| Mutex::new(Arrivals::new(rate, seed))),
            choices: match &load.kind {
                EventKind::Work(_) => Choices::Work,
                EventKind::Fileio(fileio) => Choices::Fileio(Box::new(SharedFileio::new(fileio, seed))),
                EventKind::Database(database) => {
                    Choices::Database(Box::new(SharedDatabase::new(database, seed)))
                }
            },
        }
    }

    /// Takes the next event for a job that asks when the load has run for `now_ns`.
    pub fn admit(&self, now_ns: u64) -> Admission {
        if self.ended.load(Relaxed) {
            return Admission::End;
        }
        if self.limit != u64::MAX && self.taken.fetch_add(1, Relaxed) >= self.limit {
            return Admission::End;
        }
        match &self.arrivals {
            None => Admission::Now,
            Some(arrivals) => arrivals.lock().unwrap_or_else(PoisonError::into_inner).take(now_ns),
        }
    }

    /// No job begins another event.
    pub fn end(&self) {
        self.ended.store(true, Relaxed);
    }

    /// True once no more events begin.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        self.ended.load(Relaxed)
    }

    /// The database whose transactions the events are.
    #[must_use]
    pub fn database(&self) -> Option<&SharedDatabase> {
        match &self.choices {
            Choices::Database(database) => Some(database),
            Choices::Work | Choices::Fileio(_) => None,
        }
    }

    /// True if [`completed`](Self::completed) must be called.
    #[must_use]
    pub fn sees_completions(&self) -> bool {
        match &self.choices {
            Choices::Work => false,
            Choices::Fileio(fileio) => fileio.sees_completions(),
            // Which kind of file it was is counted.
            Choices::Database(_) => true,
        }
    }

    /// A data I/O of an event is complete.
    pub fn completed(&self, direction: Direction, file: u32, offset: u64) {
        match &self.choices {
            Choices::Work | Choices::Database(_) => {}
            Choices::Fileio(fileio) => fileio.completed(direction, file, offset),
        }
    }
}

/// Arrivals at exponentially distributed distances.
#[derive(Debug)]
struct Arrivals {
    random: T258,
    mean_ns: f64,
    /// The last one that was drawn, ns.
    last: f64,
    /// Those that no job has taken.
    waiting: VecDeque<u64>,
}

impl Arrivals {
    fn new(rate: f64, seed: u64) -> Self {
        Arrivals { random: T258::new(seed), mean_ns: 1e9 / rate, last: 0.0, waiting: VecDeque::new() }
    }

    fn take(&mut self, now_ns: u64) -> Admission {
        while self.waiting.back().is_none_or(|&last| last <= now_ns) {
            if self.waiting.len() > MAX_WAITING {
                return Admission::Overrun;
            }
            // In (0, 1], so that the logarithm is finite.
            let uniform = ((self.random.draw() >> 11) + 1) as f64 / (1u64 << 53) as f64;
            self.last -= uniform.ln() * self.mean_ns;
            self.waiting.push_back(self.last as u64);
        }
        self.waiting.pop_front().map_or(Admission::Overrun, Admission::At)
    }
}

/// The steps of one job's events.
#[derive(Debug)]
pub(crate) struct EventPath {
    thread: u32,
    steps: Steps,
    /// The last step. If the call returned it, the steps of all jobs would be in memory.
    pub(crate) step: Step,
}

/// Where the job is in its event.
#[derive(Debug)]
enum Steps {
    /// The job has not joined its load: it has none.
    None,
    Work {
        /// The next call begins an event.
        begins: bool,
    },
    Fileio {
        shared: Arc<SharedEvents>,
        path: FileioPath,
    },
    Database {
        shared: Arc<SharedEvents>,
        path: Box<DatabasePath>,
    },
}

impl EventPath {
    /// Of a job that has not joined its load.
    pub(crate) fn new(part: &EventPart) -> Self {
        EventPath { thread: part.thread, steps: Steps::None, step: Step::PassEnd }
    }

    pub(crate) fn join(&mut self, shared: Arc<SharedEvents>) {
        self.steps = match &shared.choices {
            Choices::Work => Steps::Work { begins: true },
            Choices::Fileio(fileio) => {
                let path = FileioPath::new(fileio, self.thread);
                Steps::Fileio { shared, path }
            }
            Choices::Database(database) => {
                let path = Box::new(DatabasePath::new(database, self.thread));
                Steps::Database { shared, path }
            }
        };
    }

    /// Makes the next step.
    #[inline(never)]
    pub(crate) fn advance(&mut self) {
        self.step = match &mut self.steps {
            Steps::None => Step::PassEnd,
            Steps::Work { begins } => {
                *begins = !*begins;
                let work = Io { direction: Direction::Read, file: 0, offset: 0, len: 0 };
                if *begins { Step::EventEnd } else { Step::Io(work) }
            }
            Steps::Fileio { shared, path } => match &shared.choices {
                Choices::Fileio(fileio) => path.next(fileio, || shared.ended.load(Relaxed)),
                Choices::Work | Choices::Database(_) => Step::PassEnd,
            },
            Steps::Database { shared, path } => {
                shared.database().map_or(Step::PassEnd, |database| path.next(database))
            }
        };
    }

    /// What a job in the background of a database does when the load has run for `now_ns`.
    pub(crate) fn work(&mut self, now_ns: u64) -> Work {
        match &mut self.steps {
            Steps::Database { shared, path } if !shared.has_ended() => {
                shared.database().map_or(Work::End, |database| path.work(database, now_ns))
            }
            _ => Work::End,
        }
    }

    /// What the job has done for a database beside its I/Os.
    pub(crate) fn counts(&self) -> DatabaseCounts {
        match &self.steps {
            Steps::Database { path, .. } => path.counts,
            Steps::None | Steps::Work { .. } | Steps::Fileio { .. } => DatabaseCounts::default(),
        }
    }

    /// The counts start again.
    pub(crate) fn end_ramp(&mut self) {
        if let Steps::Database { path, .. } = &mut self.steps {
            path.counts = DatabaseCounts::default();
        }
    }
}

#[cfg(test)]
mod tests {
    use ferrio_job::EventWork;

    use super::*;

    fn shared(limit: Option<u64>, rate: Option<f64>) -> SharedEvents {
        let load = EventLoad {
            id: 0,
            limit,
            rate,
            seed: Some(1),
            kind: EventKind::Work(EventWork::Primes { below: 3 }),
        };
        SharedEvents::new(&load, 0)
    }

    #[test]
    fn jobs_share_the_limit() {
        let shared = shared(Some(3), None);
        let all: Vec<_> = (0..5).map(|_| shared.admit(0)).collect();
        assert_eq!(all[..3], [Admission::Now; 3]);
        assert_eq!(all[3..], [Admission::End; 2]);
    }

    #[test]
    fn arrivals_are_a_poisson_process() {
        let shared = shared(None, Some(1000.0));
        let mut last = 0;
        let mut gaps = Vec::new();
        for _ in 0..100_000 {
            let Admission::At(at) = shared.admit(0) else { panic!("no arrival") };
            gaps.push((at - last) as f64);
            last = at;
        }
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        let variance = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / gaps.len() as f64;
        assert!((mean / 1e6 - 1.0).abs() < 0.02, "{mean}");
        assert!((variance.sqrt() / mean - 1.0).abs() < 0.02, "gaps are exponential");
    }

    #[test]
    fn a_job_that_is_late_gets_the_time_of_the_arrival_until_too_many_wait() {
        let shared = shared(None, Some(1000.0));
        let Admission::At(first) = shared.admit(0) else { panic!("no arrival") };
        let Admission::At(second) = shared.admit(1_000_000_000) else { panic!("no arrival") };
        assert!(first < second && second < 1_000_000_000);
        assert_eq!(shared.admit(200_000_000_000), Admission::Overrun);
    }
}
