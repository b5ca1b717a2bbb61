//! Jobs of a database model: how they wait for each other, and their measurements.
//!
//! [`ferrio_workload::SharedDatabase`] decides which job must wait and which is woken.

use std::sync::OnceLock;
use std::thread::Thread;

use ferrio_job::{Database, DatabaseFile, DatabaseRole, Direction, TransactionStep};
use ferrio_results::{DatabaseFigures, DatabaseIo};
use ferrio_stats::{Clock, Recorder};
use ferrio_workload::DatabaseCounts;

/// The threads of the jobs of a model, by their number in the load.
#[derive(Debug)]
pub(crate) struct Threads(Vec<OnceLock<Thread>>);

impl Threads {
    /// Creates room for `jobs` jobs, none of which has a thread yet.
    pub(crate) fn new(jobs: usize) -> Self {
        Threads((0..jobs).map(|_| OnceLock::new()).collect())
    }

    /// Registers the calling thread as that of a job. Call it before it waits.
    pub(crate) fn join(&self, thread: u32) {
        if let Some(place) = self.0.get(thread as usize) {
            place.get_or_init(std::thread::current);
        }
    }

    /// Ends the wait of a job, or the next one if it does not wait.
    pub(crate) fn wake(&self, thread: u32) {
        if let Some(thread) = self.0.get(thread as usize).and_then(OnceLock::get) {
            thread.unpark();
        }
    }

    /// Ends the waits of all jobs.
    pub(crate) fn wake_all(&self) {
        self.0.iter().filter_map(OnceLock::get).for_each(Thread::unpark);
    }
}

/// The counters and measurements of a job of a model.
#[derive(Debug)]
pub(crate) struct DatabaseJob {
    /// Number of the job in the load.
    pub(crate) thread: u32,
    /// Index of the first log file; files before it have the data.
    log_file: u32,
    /// I/Os by kind of file.
    files: [DatabaseIo; DatabaseFile::ALL.len()],
    /// CPU time of a background job that has been counted, ns.
    cpu_ns: u64,
    /// Present for a session.
    pub(crate) times: Option<StepTimes>,
}

impl DatabaseJob {
    pub(crate) fn new(database: &Database, role: DatabaseRole, thread: u32) -> Box<Self> {
        Box::new(DatabaseJob {
            thread,
            log_file: database.log_file(),
            files: Default::default(),
            cpu_ns: 0,
            times: (role == DatabaseRole::Session).then(StepTimes::new),
        })
    }

    /// The counters of a file.
    fn io_of(&mut self, file: u32) -> &mut DatabaseIo {
        let after_data = file.saturating_add(1).saturating_sub(self.log_file) as usize;
        &mut self.files[after_data.min(DatabaseFile::ALL.len() - 1)]
    }

    /// Counts a completed data I/O.
    pub(crate) fn completed(&mut self, direction: Direction, file: u32, len: u64) {
        let io = self.io_of(file);
        match direction {
            Direction::Read => {
                io.reads += 1;
                io.read_bytes += len;
            }
            Direction::Write => {
                io.writes += 1;
                io.written_bytes += len;
            }
            Direction::Trim => {}
        }
    }

    /// CPU time since the last call, ns, of a job whose thread has used `cpu_ns`.
    pub(crate) fn cpu_since(&mut self, cpu_ns: u64) -> u64 {
        cpu_ns.saturating_sub(std::mem::replace(&mut self.cpu_ns, cpu_ns))
    }

    /// Counts a completed sync.
    pub(crate) fn synced(&mut self, file: u32) {
        self.io_of(file).syncs += 1;
    }

    /// Restarts the figures. The transaction in progress keeps its times.
    pub(crate) fn restart(&mut self) {
        self.files = Default::default();
        if let Some(times) = &mut self.times {
            times.recorders.iter_mut().for_each(Recorder::clear);
        }
    }

    /// The figures so far, including the workload's counts.
    pub(crate) fn figures(&self, counts: DatabaseCounts) -> DatabaseFigures {
        let DatabaseCounts { pool_hits, full_pages, written_back, checkpoints } = counts;
        let steps = self.times.as_ref().map(|times| times.recorders.each_ref().map(Recorder::finish));
        DatabaseFigures {
            steps: steps.unwrap_or_default(),
            files: self.files,
            pool_hits,
            full_pages,
            written_back,
            checkpoints,
        }
    }
}

/// The times of the steps of a transaction, in clock ticks.
#[derive(Debug)]
pub(crate) struct StepTimes {
    recorders: [Recorder; TransactionStep::ALL.len()],
    /// Time of each step of the transaction in progress.
    ticks: [u64; TransactionStep::ALL.len()],
    present: TransactionStep,
    /// Start of the current step.
    began: u64,
}

impl StepTimes {
    fn new() -> Self {
        StepTimes {
            recorders: std::array::from_fn(|_| Recorder::new()),
            ticks: [0; TransactionStep::ALL.len()],
            present: TransactionStep::Read,
            began: 0,
        }
    }

    /// Begins a transaction.
    pub(crate) fn begin(&mut self, now: u64) {
        self.ticks = [0; TransactionStep::ALL.len()];
        (self.present, self.began) = (TransactionStep::Read, now);
    }

    /// The current step.
    pub(crate) fn present(&self) -> TransactionStep {
        self.present
    }

    /// Enters another step.
    pub(crate) fn enter(&mut self, step: TransactionStep, now: u64) {
        self.ticks[self.present as usize] += now.saturating_sub(self.began);
        (self.present, self.began) = (step, now);
    }

    /// Completes the transaction.
    pub(crate) fn finish(&mut self, clock: &Clock, now: u64) {
        self.enter(TransactionStep::Read, now);
        for (recorder, &ticks) in self.recorders.iter_mut().zip(&self.ticks) {
            recorder.record(clock.ns(ticks));
        }
    }
}
