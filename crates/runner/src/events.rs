//! Loads whose work is counted in events: what their jobs share, and what each has measured.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use ferrio_engine::{Op, Request, SharedFiles};
use ferrio_job::{
    DatabaseRole, Diagnostic, Direction, EventKind, EventLoad, EventPart, Fileio, JobSpec, Plan, SESSION,
    debug_class,
};
use ferrio_results::{EventFailure, EventFigures, JobError};
use ferrio_stats::{Clock, Recorder};
use ferrio_verify::{add_checksum, check_checksum};
use ferrio_workload::{Admission, DatabaseCounts, SharedEvents, SyncKind};
use log::{Level, debug, log_enabled};

use crate::database::{DatabaseJob, StepTimes, Threads};
use crate::failure::Failure;
use crate::open;
use crate::waiting::Waiter;

/// The groups of jobs that do the events of a load, for main.
#[derive(Debug, Default)]
pub(crate) struct EventGroups {
    /// Per job.
    jobs: Vec<Option<Arc<EventGroup>>>,
}

/// The jobs of one load.
#[derive(Debug)]
pub(crate) struct EventGroup {
    pub(crate) events: Arc<SharedEvents>,
    /// The files of all its jobs, opened once, or why they cannot be; of a load whose jobs share files.
    files: OnceLock<Result<Arc<SharedFiles>, JobError>>,
    /// Clock ticks when the first of its jobs began.
    began: OnceLock<u64>,
    /// The threads of its jobs, if they wait for each other.
    pub(crate) threads: Threads,
}

impl EventGroups {
    /// The loads of a plan. `entropy` seeds the choices of those without a seed.
    pub(crate) fn new(plan: &Plan, entropy: u64) -> Self {
        let mut groups: HashMap<u32, Arc<EventGroup>> = HashMap::new();
        let new_group = |load: &Arc<EventLoad>| {
            let events = Arc::new(SharedEvents::new(load, entropy));
            let jobs = events.database().map_or(0, |database| database.parameters().roles().count());
            let threads = Threads::new(jobs);
            Arc::new(EventGroup { events, files: OnceLock::new(), began: OnceLock::new(), threads })
        };
        let mut group_of = |part: &EventPart| {
            Arc::clone(groups.entry(part.load.id).or_insert_with(|| new_group(&part.load)))
        };
        EventGroups {
            jobs: plan.jobs.iter().map(|job| job.spec.events.as_ref().map(&mut group_of)).collect(),
        }
    }

    /// The group of a job, if it is in one.
    pub(crate) fn of(&self, job: usize) -> Option<Arc<EventGroup>> {
        self.jobs.get(job).cloned().flatten()
    }

    /// Opens the files that a job shares with the others of its load, unless one of them has done so. To be called by main: a worker has a
    /// table of descriptors of its own, which begins with those of main. Those of `fileio` are opened before files are laid out, as it
    /// makes its own; those of a database after that.
    ///
    /// # Errors
    /// One of them cannot be opened or made, or is too short; each job of the load gets the same error, the first one with advice.
    pub(crate) fn open_files(
        &self,
        job: usize,
        spec: &JobSpec,
        note: &mut dyn FnMut(Diagnostic),
    ) -> Result<(), Failure> {
        let Some(group) = self.jobs.get(job).and_then(Option::as_ref) else { return Ok(()) };
        let has_none =
            |part: &EventPart| matches!(part.load.kind, EventKind::Work(_) | EventKind::Sessions(_));
        if spec.events.as_ref().is_none_or(has_none) {
            return Ok(());
        }
        let mut notes = Vec::new();
        let mut open = || match spec.events.as_ref().map(|part| &part.load.kind) {
            Some(EventKind::Fileio(fileio)) => open::open_shared(spec, fileio),
            _ => open::open_files(spec, note).map(|set| set.files),
        };
        let opened = group.files.get_or_init(|| match open() {
            Ok(files) => Ok(Arc::new(SharedFiles { files, engines: Mutex::default() })),
            Err(failure) => {
                notes = failure.notes;
                Err(failure.error)
            }
        });
        let failed = |error: &JobError| Failure { error: error.clone(), notes, excusable: false };
        opened.as_ref().map(drop).map_err(failed)
    }

    /// A job has ended, or will never start; with an error if it `failed`.
    pub(crate) fn ended(&self, job: usize, spec: &JobSpec, failed: bool) {
        let (Some(Some(group)), Some(part)) = (self.jobs.get(job), &spec.events) else { return };
        if failed && group.events.database().is_some() {
            group.end();
        }
        group.job_ended(part.thread);
    }
}

impl EventGroup {
    /// The files that its jobs share.
    pub(crate) fn files(&self) -> Option<&Arc<SharedFiles>> {
        self.files.get()?.as_ref().ok()
    }

    /// No job of the load begins another event, and none waits for another one.
    pub(crate) fn end(&self) {
        self.events.end();
        self.threads.wake_all();
    }

    /// Job number `thread` of the load has done its last event.
    fn job_ended(&self, thread: u32) {
        if let Some(database) = self.events.database() {
            database.session_ended(thread, &|thread| self.threads.wake(thread));
        }
    }
}

/// The events of one job.
#[derive(Debug)]
pub(crate) struct JobEvents {
    pub(crate) group: Arc<EventGroup>,
    recorder: Recorder,
    /// Events that the job may still begin.
    left: u64,
    /// Requests of `fileio`.
    fileio: Option<FileioRules>,
    /// Each event is a call of a session.
    has_session: bool,
    /// Transactions of a database, or what is done for them in the background.
    database: Option<Box<DatabaseJob>>,
    /// True for a job that has no events and works for those of others.
    pub(crate) is_in_background: bool,
    /// Each request is a message (`--debug`).
    is_traced: bool,
    /// Waits for arrivals.
    pub(crate) waiter: Waiter,
}

impl JobEvents {
    pub(crate) fn new(group: Arc<EventGroup>, spec: &JobSpec, clock: Clock) -> Box<Self> {
        let (fileio, left) = match spec.events.as_ref().map(|part| &part.load.kind) {
            Some(EventKind::Fileio(fileio)) => (Some(FileioRules::new(fileio)), u64::MAX),
            Some(EventKind::Work(work)) => (None, work.events_of_a_job().unwrap_or(u64::MAX)),
            Some(EventKind::Sessions(_) | EventKind::Database(_)) | None => (None, u64::MAX),
        };
        let database = spec.events.as_ref().and_then(|part| {
            let (database, role) = part.database()?;
            group.threads.join(part.thread);
            Some((DatabaseJob::new(database, role, part.thread), role))
        });
        let is_traced = fileio.is_some() && log_enabled!(target: debug_class::EVENTS, Level::Debug);
        Box::new(JobEvents {
            group,
            recorder: Recorder::new(),
            left,
            fileio,
            is_in_background: database.as_ref().is_some_and(|&(_, role)| role != DatabaseRole::Session),
            database: database.map(|(job, _)| job),
            has_session: spec
                .events
                .as_ref()
                .is_some_and(|part| matches!(part.load.kind, EventKind::Sessions(_))),
            is_traced,
            waiter: Waiter::new(clock),
        })
    }

    /// True if writes get checksums and reads are compared with theirs.
    pub(crate) fn validates(&self) -> bool {
        self.validated().is_some()
    }

    /// Takes the next event, at `now` (clock ticks). An arrival is in clock ticks too.
    pub(crate) fn admit(&mut self, clock: &Clock, now: u64) -> Admission {
        if self.left == 0 {
            return Admission::Done;
        }
        self.left -= 1;
        let began = self.load_began(now);
        match self.group.events.admit(clock.between(began, now)) {
            Admission::At(ns) => Admission::At(began.saturating_add(clock.ticks(Duration::from_nanos(ns)))),
            admission => admission,
        }
    }

    /// Clock ticks when the load began: now, if it has not.
    pub(crate) fn load_began(&self, now: u64) -> u64 {
        *self.group.began.get_or_init(|| now)
    }

    /// The job has done its last event.
    pub(crate) fn job_ended(&self) {
        if let Some(database) = &self.database {
            self.group.job_ended(database.thread);
        }
    }

    /// True for a job of a database.
    pub(crate) fn is_in_database(&self) -> bool {
        self.database.is_some()
    }

    /// The times of the transaction that is under way.
    pub(crate) fn times(&mut self) -> Option<&mut StepTimes> {
        self.database.as_mut()?.times.as_mut()
    }

    /// The part of the job in a model of a database.
    pub(crate) fn database_job(&mut self) -> Option<&mut DatabaseJob> {
        self.database.as_deref_mut()
    }

    /// Changes are written back: so many pages or tables.
    pub(crate) fn written_back(&self, count: u32) {
        if let (Some(shared), Some(job)) = (self.group.events.database(), &self.database) {
            shared.written_back(job.thread, count, &|thread| self.group.threads.wake(thread));
        }
    }

    /// A sync of a file of the database is complete.
    pub(crate) fn synced(&mut self, file: u32) {
        if let Some(database) = &mut self.database {
            database.synced(file);
        }
    }

    /// The figures start again.
    pub(crate) fn restart(&mut self) {
        self.recorder.clear();
        if let Some(database) = &mut self.database {
            database.restart();
        }
    }

    /// How all files are synced after the last event, if they are.
    pub(crate) fn end_sync(&self) -> Option<SyncKind> {
        self.fileio.as_ref()?.end_sync
    }

    /// Shows a request in the words of sysbench: kind (1 read, 2 write, 3 sync), file, offset, length.
    #[inline]
    pub(crate) fn trace(&self, kind: u32, file: u32, offset: u64, len: u64) {
        if self.is_traced {
            debug!(
                target: debug_class::EVENTS,
                "Executing request, operation: {kind}, file_id: {file}, pos: {offset}, size: {len}"
            );
        }
    }

    /// Adds checksums to blocks that are about to be written.
    pub(crate) fn before_write(&self, data: &mut [u8], offset: u64) {
        let Some(size) = self.validated() else { return };
        for (block, at) in data.chunks_mut(size).zip((offset..).step_by(size)) {
            add_checksum(block, at);
        }
    }

    /// Bytes of a block with a checksum, if blocks have one.
    fn validated(&self) -> Option<usize> {
        self.fileio.as_ref()?.validated.map(|block| usize::try_from(block).unwrap_or(usize::MAX).max(1))
    }

    /// A data I/O is complete; `read` is what it read, if it did.
    ///
    /// # Errors
    /// A block is not what was written.
    pub(crate) fn completed(
        &mut self,
        direction: Direction,
        file: u32,
        offset: u64,
        len: u64,
        read: Option<&[u8]>,
    ) -> Result<(), Failure> {
        if let Some(database) = &mut self.database {
            database.completed(direction, file, len);
        }
        self.group.events.completed(direction, file, offset);
        let (Some(size), Some(read)) = (self.validated(), read) else { return Ok(()) };
        // The end of a block that a request is too short for is not there.
        let mut blocks = read.chunks_exact(size).zip((offset..).step_by(size));
        blocks.try_for_each(|(block, offset)| {
            check_checksum(block, offset).map_err(|problem| {
                let event = EventFailure::Block { file, offset, problem };
                Failure::of_event(libc::EILSEQ, "validation", event)
            })
        })
    }

    /// The failure of the test by a request that failed with `errno` or, if that is 0, moved only a part of its bytes. `None` in a job that
    /// continues after such requests.
    pub(crate) fn failure(&self, request: &Request, errno: i32) -> Option<Failure> {
        if self.has_session {
            return Some(Failure::new(errno, SESSION));
        }
        self.fileio.as_ref()?;
        let (file, offset) = (request.file, request.offset);
        let event = match request.op {
            Op::Read => EventFailure::Transfer { direction: Direction::Read, file, offset, errno },
            Op::Write => EventFailure::Transfer { direction: Direction::Write, file, offset, errno },
            _ => EventFailure::Sync { file, errno },
        };
        let reported = if errno == 0 { libc::EIO } else { errno };
        Some(Failure::of_event(reported, request.op.name(), event))
    }

    /// An event took so long.
    pub(crate) fn record(&mut self, ns: u64) {
        self.recorder.record(ns);
    }

    /// How many were recorded.
    pub(crate) fn done(&self) -> u64 {
        self.recorder.total().1
    }

    /// The figures so far, with what the job's choices have counted.
    pub(crate) fn figures(&self, counts: DatabaseCounts) -> EventFigures {
        let database = self.database.as_ref().map(|database| database.figures(counts));
        EventFigures { done: self.done(), latency: Arc::new(self.recorder.finish()), database }
    }
}

/// Work of a job of `fileio` besides its requests.
#[derive(Debug)]
struct FileioRules {
    /// Size of blocks with checksums, in bytes.
    validated: Option<u64>,
    end_sync: Option<SyncKind>,
}

impl FileioRules {
    fn new(fileio: &Fileio) -> Self {
        let kind = if fileio.sync_data_only { SyncKind::Fdatasync } else { SyncKind::Fsync };
        FileioRules {
            validated: fileio.validate.then_some(fileio.block),
            end_sync: fileio.sync_at_end.then_some(kind),
        }
    }
}
