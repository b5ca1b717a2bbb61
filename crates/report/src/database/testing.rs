//! A run of a model of InnoDB, put together by hand: two sessions and a cleaner.

use std::sync::Arc;
use std::time::Duration;

use ferrio_job::{
    Checkpoint, Commit, CommitSync, Database, DatabaseFile, DatabaseLog, DatabaseModel, EventKind, EventLoad,
    EventPart, PageReads, PageWriteBack, Plan, ReadWrite, TransactionStep, WriteBack, WriteBackSync,
};
use ferrio_plan::testing::{default_job, plan};
use ferrio_results::{DatabaseFigures, DatabaseIo, EventFigures, JobResult, RunResult};
use ferrio_stats::{DirectionRecorder, JobStats, Latency};

/// Pages of data, log blocks and batches of the model, bytes.
const PAGE: u64 = 16 << 10;
const LOG_BLOCK: u64 = 4 << 10;

/// Nine reads, one append with a sync of its own, one changed page.
pub(crate) fn innodb() -> Database {
    Database {
        model: DatabaseModel::Innodb,
        sessions: 2,
        page: PAGE as u32,
        data_files: 1,
        pages_per_file: 65_536,
        direct: true,
        reads: PageReads::Count(9.0),
        cpu: Duration::ZERO,
        skew: None,
        log: DatabaseLog {
            block: LOG_BLOCK as u32,
            appends: 1,
            size: 256 << 20,
            full_pages: false,
            direct: false,
        },
        commit: Commit { sync: CommitSync::Fsync, group: 1 },
        write_back: WriteBack::Pages(PageWriteBack {
            changed: 1.0,
            most_dirty: 256,
            batch: 1,
            double_write: Some(2 << 20),
            sync: WriteBackSync::Fsync,
            interval: Duration::ZERO,
            checkpoint: Checkpoint { log: Some(128 << 20), interval: None },
        }),
    }
}

/// The jobs of a model, which report as the planner lets them: the sessions together, each job in the background alone.
pub(crate) fn database_plan(name: &str, database: &Database) -> Plan {
    let load = Arc::new(EventLoad {
        id: 1,
        limit: None,
        rate: None,
        seed: None,
        kind: EventKind::Database(Box::new(database.clone())),
    });
    let roles: Vec<_> = database.roles().collect();
    plan((0..).zip(roles).map(|(thread, role)| {
        let is_session = thread < database.sessions;
        let mut spec = default_job(name);
        if !is_session {
            spec.name = format!("{name}.{}", format!("{role:?}").to_lowercase());
        }
        (spec.number, spec.group_reporting) = (thread + 1, is_session);
        spec.clone = if is_session { thread } else { 0 };
        (spec.rw, spec.opening.direct) = (ReadWrite::RandMixed, database.direct);
        spec.events = Some(EventPart { load: Arc::clone(&load), thread });
        spec
    }))
}

/// Changes the load that all jobs of a plan share.
pub(crate) fn change_load(plan: &mut Plan, change: impl Fn(&mut EventLoad)) {
    let Some(part) = &plan.jobs[0].spec.events else { panic!("a job of a model") };
    let mut load = EventLoad::clone(&part.load);
    change(&mut load);
    let load = Arc::new(load);
    for job in &mut plan.jobs {
        job.spec.events.as_mut().unwrap().load = Arc::clone(&load);
    }
}

/// Transactions as a session does them: each step takes `us` microseconds in turn, and what follows it 10.
#[derive(Clone, Default)]
pub(crate) struct Session {
    transactions: Latency,
    steps: [Latency; TransactionStep::ALL.len()],
}

impl Session {
    pub(crate) fn does(mut self, transactions: u64, us: [u64; 4]) -> Self {
        for at in 0..transactions {
            // No two are alike.
            let us = us.map(|us| us + if us > 0 { at } else { 0 });
            self.steps
                .iter_mut()
                .zip(us.into_iter().chain([0]))
                .for_each(|(step, us)| step.record(us * 1000));
            self.transactions.record((us.iter().sum::<u64>() + 10) * 1000);
        }
        self
    }

    /// Its figures after `ms`.
    pub(crate) fn result(&self, ms: u64) -> JobResult {
        let done = self.transactions.count();
        let mut figures = DatabaseFigures { steps: self.steps.clone(), ..DatabaseFigures::default() };
        let (reads, read_bytes) = (9 * done, 9 * PAGE * done);
        figures.files[DatabaseFile::Data as usize] =
            DatabaseIo { reads, read_bytes, ..DatabaseIo::default() };
        figures.files[DatabaseFile::Log as usize] = DatabaseIo {
            writes: done,
            written_bytes: LOG_BLOCK * done,
            syncs: done,
            ..DatabaseIo::default()
        };
        let directions =
            [moved(reads, read_bytes, ms), moved(done, LOG_BLOCK * done, ms), Default::default()];
        let mut stats = JobStats { directions, ..JobStats::default() };
        stats.sync.ios = done;
        stats.sync.latency = Some(Box::new(self.steps[TransactionStep::Sync as usize].clone()));
        job_result(stats, ms, Some(self.transactions.clone()), figures)
    }
}

/// A cleaner that wrote back so many pages one by one, and made so many checkpoints, in `ms`.
pub(crate) fn cleaner(pages: u64, checkpoints: u64, ms: u64) -> JobResult {
    let mut figures = DatabaseFigures { written_back: pages, checkpoints, ..DatabaseFigures::default() };
    let written =
        DatabaseIo { writes: pages, written_bytes: PAGE * pages, syncs: pages, ..DatabaseIo::default() };
    figures.files[DatabaseFile::Data as usize] = DatabaseIo { syncs: pages + checkpoints, ..written };
    figures.files[DatabaseFile::Log as usize] = DatabaseIo {
        writes: checkpoints,
        written_bytes: LOG_BLOCK * checkpoints,
        syncs: checkpoints,
        ..DatabaseIo::default()
    };
    figures.files[DatabaseFile::DoubleWrite as usize] = written;
    let mut stats = JobStats::default();
    let bytes = 2 * PAGE * pages + LOG_BLOCK * checkpoints;
    stats.directions[1] = moved(2 * pages + checkpoints, bytes, ms);
    stats.sync.ios = 2 * (pages + checkpoints);
    job_result(stats, ms, None, figures)
}

fn moved(ios: u64, bytes: u64, ms: u64) -> ferrio_stats::DirectionStats {
    let mut recorder = DirectionRecorder::new(true, true, true, true);
    (recorder.ios, recorder.bytes) = (ios, bytes);
    (0..ios).for_each(|_| recorder.record_synchronous(100_000));
    recorder.finish(ms)
}

fn job_result(
    stats: JobStats,
    ms: u64,
    transactions: Option<Latency>,
    figures: DatabaseFigures,
) -> JobResult {
    let stats = JobStats { job_runtime_ms: ms, ..stats };
    let latency = transactions.unwrap_or_default();
    let events = EventFigures { done: latency.count(), latency: Arc::new(latency), database: Some(figures) };
    JobResult {
        start_ms: 1_795_227_007_944,
        pid: 100,
        stats,
        measured: Duration::from_millis(ms),
        events: Some(Box::new(events)),
        ..JobResult::default()
    }
}

/// A run of two seconds: 300 transactions of the first session, 100 slower ones of the second, all pages written back.
pub(crate) fn database_run() -> (Plan, RunResult) {
    let first = Session::default().does(300, [900, 20, 400, 0]);
    let second = Session::default().does(100, [1800, 40, 800, 5000]);
    let jobs = vec![first.result(2000), second.result(1990), cleaner(400, 2, 2500)];
    let result = RunResult { jobs, elapsed: Duration::from_millis(2500), ..RunResult::default() };
    (database_plan("bank", &innodb()), result)
}
