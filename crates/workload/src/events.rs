//! Events that several jobs share: their number, their arrival times, and the steps of each.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};

use ferrio_job::{Direction, EventKind, EventLoad, EventPart};

use crate::database::{BackgroundWork, DatabaseCounts, DatabasePath, SharedDatabase};
use crate::fileio::{FileioPath, SharedFileio};
use crate::lock::lock;
use crate::random::Tausworthe64;
use crate::step::{Io, Step};

/// Most events that have arrived and that no job has taken, as in sysbench.
const MAX_WAITING: usize = 131_072;

/// The state that the jobs of one load share.
#[derive(Debug)]
pub struct SharedEvents {
    limit: u64,
    taken: AtomicU64,
    /// Whether no more events begin.
    ended: AtomicBool,
    arrivals: Option<Mutex<PoissonEvents>>,
    choices: EventSource,
}

/// The source of the steps of events.
#[derive(Debug)]
enum EventSource {
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
    /// When the load has run for this many nanoseconds, which is when the event arrives.
    At(u64),
    /// Never: all events are taken.
    End,
    /// Never: the job has done its share of them.
    Done,
    /// Never: more events have arrived than the jobs can ever do.
    Overrun,
}

impl SharedEvents {
    /// The state of a load before its first event. `entropy` seeds the choices if the load has no seed of its own.
    #[must_use]
    pub fn new(load: &EventLoad, entropy: u64) -> Self {
        let seed = load.seed.unwrap_or(entropy);
        SharedEvents {
            limit: load.limit.unwrap_or(u64::MAX),
            taken: AtomicU64::new(0),
            ended: AtomicBool::new(false),
            arrivals: load.rate.map(|rate| Mutex::new(PoissonEvents::new(rate, seed))),
            choices: match &load.kind {
                EventKind::Work(_) | EventKind::Sessions(_) => EventSource::Work,
                EventKind::Fileio(fileio) => EventSource::Fileio(Box::new(SharedFileio::new(fileio, seed))),
                EventKind::Database(database) => {
                    EventSource::Database(Box::new(SharedDatabase::new(database, seed)))
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
            Some(arrivals) => lock(arrivals).take(now_ns),
        }
    }

    /// Ends the load: no job begins another event.
    pub fn end(&self) {
        self.ended.store(true, Relaxed);
    }

    /// Whether no more events begin.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        self.ended.load(Relaxed)
    }

    /// The database whose transactions are the events.
    #[must_use]
    pub fn database(&self) -> Option<&SharedDatabase> {
        match &self.choices {
            EventSource::Database(database) => Some(database),
            EventSource::Work | EventSource::Fileio(_) => None,
        }
    }

    /// Whether [`completed`](Self::completed) must be called.
    #[must_use]
    pub fn sees_completions(&self) -> bool {
        match &self.choices {
            EventSource::Work => false,
            EventSource::Fileio(fileio) => fileio.sees_completions(),
            // The kind of each file is counted.
            EventSource::Database(_) => true,
        }
    }

    /// Handles the completion of a data I/O of an event.
    pub fn completed(&self, direction: Direction, file: u32, offset: u64) {
        match &self.choices {
            EventSource::Work | EventSource::Database(_) => {}
            EventSource::Fileio(fileio) => fileio.completed(direction, file, offset),
        }
    }
}

/// Arrivals at exponentially distributed intervals.
#[derive(Debug)]
struct PoissonEvents {
    random: Tausworthe64,
    mean_ns: f64,
    /// The latest arrival that was drawn, ns.
    last: f64,
    /// Arrivals that no job has taken.
    waiting: VecDeque<u64>,
}

impl PoissonEvents {
    fn new(rate: f64, seed: u64) -> Self {
        PoissonEvents {
            random: Tausworthe64::new(seed),
            mean_ns: 1e9 / rate,
            last: 0.0,
            waiting: VecDeque::new(),
        }
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
    steps: EventSteps,
    /// The last step. If it were returned by the call, the steps of all jobs would be in memory.
    pub(crate) step: Step,
}

/// The position of the job in its event.
#[derive(Debug)]
enum EventSteps {
    /// None: the job has not joined its load.
    None,
    Work {
        /// Whether the next call begins an event.
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
    /// The path of a job that has not joined its load.
    pub(crate) fn new(part: &EventPart) -> Self {
        EventPath { thread: part.thread, steps: EventSteps::None, step: Step::PassEnd }
    }

    pub(crate) fn join(&mut self, shared: Arc<SharedEvents>) {
        self.steps = match &shared.choices {
            EventSource::Work => EventSteps::Work { begins: true },
            EventSource::Fileio(fileio) => {
                let path = FileioPath::new(fileio, self.thread);
                EventSteps::Fileio { shared, path }
            }
            EventSource::Database(database) => {
                let path = Box::new(DatabasePath::new(database, self.thread));
                EventSteps::Database { shared, path }
            }
        };
    }

    #[inline(never)]
    pub(crate) fn advance(&mut self) {
        self.step = match &mut self.steps {
            EventSteps::None => Step::PassEnd,
            EventSteps::Work { begins } => {
                *begins = !*begins;
                let work = Io { direction: Direction::Read, file: 0, offset: 0, len: 0 };
                if *begins { Step::EventEnd } else { Step::Io(work) }
            }
            EventSteps::Fileio { shared, path } => match &shared.choices {
                EventSource::Fileio(fileio) => path.next(fileio, || shared.ended.load(Relaxed)),
                EventSource::Work | EventSource::Database(_) => Step::PassEnd,
            },
            EventSteps::Database { shared, path } => {
                shared.database().map_or(Step::PassEnd, |database| path.next(database))
            }
        };
    }

    /// The next work of a background job of a database when the load has run for `now_ns`.
    pub(crate) fn work(&mut self, now_ns: u64) -> BackgroundWork {
        match &mut self.steps {
            EventSteps::Database { shared, path } if !shared.has_ended() => {
                shared.database().map_or(BackgroundWork::End, |database| path.work(database, now_ns))
            }
            _ => BackgroundWork::End,
        }
    }

    /// The counts of the job for a database beside its I/Os.
    pub(crate) fn counts(&self) -> DatabaseCounts {
        match &self.steps {
            EventSteps::Database { path, .. } => path.counts,
            EventSteps::None | EventSteps::Work { .. } | EventSteps::Fileio { .. } => {
                DatabaseCounts::default()
            }
        }
    }

    /// Resets the counts.
    pub(crate) fn end_ramp(&mut self) {
        if let EventSteps::Database { path, .. } = &mut self.steps {
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
