//! Jobs of a model of a database: how they wait for each other, and what each has measured.
//!
//! Which job must wait, and who is woken, is decided in [`ferrio_workload::SharedDatabase`].

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
    /// Of so many jobs, none of which has a thread.
    pub(crate) fn new(jobs: usize) -> Self {
        Threads((0..jobs).map(|_| OnceLock::new()).collect())
    }

    /// The calling thread is that of a job. To be called before it waits.
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

/// What a job of a model counts and measures.
#[derive(Debug)]
pub(crate) struct DatabaseJob {
    /// Its number in the load.
    pub(crate) thread: u32,
    /// Files before this one have the data.
    log_file: u32,
    /// I/Os by kind of file.
    files: [DatabaseIo; DatabaseFile::ALL.len()],
    /// Of a session.
    pub(crate) times: Option<StepTimes>,
}

impl DatabaseJob {
    pub(crate) fn new(database: &Database, role: DatabaseRole, thread: u32) -> Box<Self> {
        Box::new(DatabaseJob {
            thread,
            log_file: database.log_file(),
            files: Default::default(),
            times: (role == DatabaseRole::Session).then(StepTimes::new),
        })
    }

    /// The counters of a file.
    fn io_of(&mut self, file: u32) -> &mut DatabaseIo {
        let after_data = file.saturating_add(1).saturating_sub(self.log_file) as usize;
        &mut self.files[after_data.min(DatabaseFile::ALL.len() - 1)]
    }

    /// A data I/O is complete.
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

    /// A sync is complete.
    pub(crate) fn synced(&mut self, file: u32) {
        self.io_of(file).syncs += 1;
    }

    /// The figures start again. The transaction that is under way keeps its times.
    pub(crate) fn restart(&mut self) {
        self.files = Default::default();
        if let Some(times) = &mut self.times {
            times.recorders.iter_mut().for_each(Recorder::clear);
        }
    }

    /// The figures so far, with those that the job's choices have counted.
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
    /// Time of each step of the transaction that is under way.
    ticks: [u64; TransactionStep::ALL.len()],
    present: TransactionStep,
    /// When the present step began.
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

    /// A transaction begins.
    pub(crate) fn begin(&mut self, now: u64) {
        self.ticks = [0; TransactionStep::ALL.len()];
        (self.present, self.began) = (TransactionStep::Read, now);
    }

    /// The step that is under way.
    pub(crate) fn present(&self) -> TransactionStep {
        self.present
    }

    /// Another step begins.
    pub(crate) fn enter(&mut self, step: TransactionStep, now: u64) {
        self.ticks[self.present as usize] += now.saturating_sub(self.began);
        (self.present, self.began) = (step, now);
    }

    /// The transaction is complete.
    pub(crate) fn finish(&mut self, clock: &Clock, now: u64) {
        self.enter(TransactionStep::Read, now);
        for (recorder, &ticks) in self.recorders.iter_mut().zip(&self.ticks) {
            recorder.record(clock.ns(ticks));
        }
    }
}
