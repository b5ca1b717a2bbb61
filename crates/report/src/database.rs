//! The database models of a run: their jobs, and totals over these.
//!
//! The final report, the interval report and the warnings all take their figures from here.

use std::time::Duration;

use ferrio_job::{
    Database, DatabaseFile, DatabaseRole, EventKind, EventLoad, JobSpec, Plan, TransactionStep,
};
use ferrio_results::{DatabaseIo, JobResult, RunResult};
use ferrio_stats::{Latency, saturating_add_to};
use serde::{Deserialize, Serialize};

/// A database model with its jobs.
pub(crate) struct DatabaseModelRun<'a> {
    pub(crate) load: &'a EventLoad,
    pub(crate) database: &'a Database,
    /// Sessions come first; there is at least one.
    pub(crate) jobs: Vec<DatabaseModelJob<'a>>,
}

/// A job of a database model.
#[derive(Clone, Copy)]
pub(crate) struct DatabaseModelJob<'a> {
    /// Index in the plan.
    pub(crate) index: usize,
    pub(crate) role: DatabaseRole,
    pub(crate) spec: &'a JobSpec,
    pub(crate) result: &'a JobResult,
}

/// A kind of I/O with its own row in reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DatabaseIoKind {
    /// Reads of data by transactions.
    DataRead,
    /// Reads of tables that are being merged.
    MergeRead,
    LogWrite,
    LogSync,
    DoubleWrite,
    DoubleWriteSync,
    /// Writes of pages in place, or of tables.
    DataWrite,
    DataSync,
}

impl DatabaseIoKind {
    const COUNT: usize = DatabaseIoKind::DataSync as usize + 1;

    const fn of_reads(role: DatabaseRole) -> Self {
        match role {
            DatabaseRole::Session => DatabaseIoKind::DataRead,
            DatabaseRole::Cleaner | DatabaseRole::Flusher | DatabaseRole::Compactor => {
                DatabaseIoKind::MergeRead
            }
        }
    }

    const fn of_writes(file: DatabaseFile) -> Self {
        match file {
            DatabaseFile::Data => DatabaseIoKind::DataWrite,
            DatabaseFile::Log => DatabaseIoKind::LogWrite,
            DatabaseFile::DoubleWrite => DatabaseIoKind::DoubleWrite,
        }
    }

    const fn of_syncs(file: DatabaseFile) -> Self {
        match file {
            DatabaseFile::Data => DatabaseIoKind::DataSync,
            DatabaseFile::Log => DatabaseIoKind::LogSync,
            DatabaseFile::DoubleWrite => DatabaseIoKind::DoubleWriteSync,
        }
    }
}

/// Totals of one kind of I/O.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct IoTotal {
    /// I/Os of the sessions.
    sessions: ConcurrentIo,
    /// I/Os of the background jobs.
    background: ConcurrentIo,
}

/// I/Os of jobs that run at the same time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct ConcurrentIo {
    count: u64,
    /// 0 for syncs.
    bytes: u64,
    /// The longest run time of a job with such I/Os.
    runtime_ms: u64,
}

impl ConcurrentIo {
    fn add(&mut self, count: u64, bytes: u64, runtime_ms: u64) {
        if count > 0 {
            saturating_add_to(&mut self.count, count);
            saturating_add_to(&mut self.bytes, bytes);
            self.runtime_ms = self.runtime_ms.max(runtime_ms);
        }
    }

    fn since(&self, earlier: &ConcurrentIo) -> Option<ConcurrentIo> {
        Some(ConcurrentIo {
            count: self.count.checked_sub(earlier.count)?,
            bytes: self.bytes.checked_sub(earlier.bytes)?,
            runtime_ms: self.runtime_ms.saturating_sub(earlier.runtime_ms),
        })
    }

    fn per_second(&self, count: u64) -> f64 {
        if self.runtime_ms == 0 { 0.0 } else { count as f64 * 1e3 / self.runtime_ms as f64 }
    }
}

impl IoTotal {
    pub(crate) const fn count(&self) -> u64 {
        self.sessions.count.saturating_add(self.background.count)
    }

    pub(crate) const fn bytes(&self) -> u64 {
        self.sessions.bytes.saturating_add(self.background.bytes)
    }

    /// I/Os per second. Background jobs may run longer than sessions, so each part has its own run time.
    pub(crate) fn iops(&self) -> f64 {
        [self.sessions, self.background].iter().map(|part| part.per_second(part.count)).sum()
    }

    /// Bytes per second.
    pub(crate) fn bandwidth(&self) -> f64 {
        [self.sessions, self.background].iter().map(|part| part.per_second(part.bytes)).sum()
    }

    fn since(&self, earlier: &IoTotal) -> Option<IoTotal> {
        Some(IoTotal {
            sessions: self.sessions.since(&earlier.sessions)?,
            background: self.background.since(&earlier.background)?,
        })
    }
}

/// Totals over the jobs of a database model.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct DatabaseTotals {
    /// The longest run time of a session.
    pub(crate) runtime_ms: u64,
    /// The longest run time of a session; `runtime_ms` is this in whole ms.
    pub(crate) session_time: Duration,
    /// The longest run time of a background job.
    background_time: Duration,
    pub(crate) transactions: u64,
    /// Latencies of transactions that jobs have reported so far.
    pub(crate) latency: Latency,
    /// Indexed in the order of [`TransactionStep::ALL`].
    pub(crate) steps: [Latency; TransactionStep::ALL.len()],
    /// Indexed by [`DatabaseIoKind`].
    pub(crate) io: [IoTotal; DatabaseIoKind::COUNT],
    /// Durations of the log syncs by sessions.
    pub(crate) commit_sync_calls: Latency,
    pub(crate) pool_hits: u64,
    pub(crate) full_pages: u64,
    pub(crate) written_back: u64,
    pub(crate) checkpoints: u64,
}

/// The database models of a run, in the order of their first jobs.
pub(crate) fn databases<'a>(plan: &'a Plan, result: &'a RunResult) -> Vec<DatabaseModelRun<'a>> {
    let mut loads: Vec<DatabaseModelRun<'a>> = Vec::new();
    for (index, (planned, result)) in plan.jobs.iter().zip(&result.jobs).enumerate() {
        let spec = &planned.spec;
        let Some((part, (database, role))) =
            spec.events.as_ref().and_then(|part| Some((part, part.database()?)))
        else {
            continue;
        };
        let job = DatabaseModelJob { index, role, spec, result };
        match loads.iter_mut().find(|known| known.load.id == part.load.id) {
            Some(known) => known.jobs.push(job),
            None => loads.push(DatabaseModelRun { load: &part.load, database, jobs: vec![job] }),
        }
    }
    loads
}

/// True for a job of a database model.
pub(crate) fn is_database_job(spec: &JobSpec) -> bool {
    spec.events.as_ref().is_some_and(|part| matches!(part.load.kind, EventKind::Database(_)))
}

/// True for a session of a database model.
pub(crate) fn is_session(spec: &JobSpec) -> bool {
    spec.database().is_some_and(|(_, role)| role == DatabaseRole::Session)
}

impl<'a> DatabaseModelRun<'a> {
    /// The first session.
    pub(crate) fn first(&self) -> DatabaseModelJob<'a> {
        self.jobs[0]
    }

    /// The jobs that do transactions.
    pub(crate) fn sessions(&self) -> impl Iterator<Item = &DatabaseModelJob<'a>> {
        self.jobs.iter().filter(|job| job.role == DatabaseRole::Session)
    }

    /// The plan indices of its sessions.
    pub(crate) fn session_indices(&self) -> Vec<usize> {
        self.sessions().map(|job| job.index).collect()
    }

    /// True if the sessions have an entry in the report.
    pub(crate) fn is_reported(&self) -> bool {
        self.first().spec.measure.reported
    }

    /// Totals over the jobs for which `counts` returns true.
    pub(crate) fn totals(&self, counts: impl Fn(&JobResult) -> bool) -> DatabaseTotals {
        let mut totals = DatabaseTotals::default();
        self.jobs.iter().filter(|job| counts(job.result)).for_each(|job| totals.add(job));
        totals
    }

    /// Totals over the jobs, without their ramps.
    pub(crate) fn measured(&self) -> DatabaseTotals {
        self.totals(|job| !job.in_ramp)
    }
}

impl DatabaseTotals {
    fn add(&mut self, job: &DatabaseModelJob<'_>) {
        let stats = &job.result.stats;
        let [reads_ms, writes_ms, _] = stats.directions.each_ref().map(|direction| direction.runtime_ms);
        let runtime_ms = match reads_ms.max(writes_ms) {
            0 => stats.job_runtime_ms,
            ms => ms,
        };
        if job.role == DatabaseRole::Session {
            self.runtime_ms = self.runtime_ms.max(runtime_ms);
            self.session_time = self.session_time.max(job.result.measured);
            if let Some(calls) = &stats.sync.latency {
                self.commit_sync_calls.merge(calls);
            }
        } else {
            self.background_time = self.background_time.max(job.result.measured);
        }
        let Some(events) = &job.result.events else { return };
        self.transactions += events.done;
        self.latency.merge(&events.latency);
        let Some(figures) = &events.database else { return };
        self.steps.iter_mut().zip(&figures.steps).for_each(|(sum, step)| sum.merge(step));
        for (file, io) in DatabaseFile::ALL.into_iter().zip(&figures.files) {
            let &DatabaseIo { reads, read_bytes, writes, written_bytes, syncs } = io;
            self.part_mut(DatabaseIoKind::of_reads(job.role), job.role).add(reads, read_bytes, reads_ms);
            self.part_mut(DatabaseIoKind::of_writes(file), job.role).add(writes, written_bytes, writes_ms);
            self.part_mut(DatabaseIoKind::of_syncs(file), job.role).add(syncs, 0, runtime_ms);
        }
        self.pool_hits += figures.pool_hits;
        self.full_pages += figures.full_pages;
        self.written_back += figures.written_back;
        self.checkpoints += figures.checkpoints;
    }

    /// Adds the jobs of the same model on another host.
    pub(crate) fn merge(&mut self, other: &DatabaseTotals) {
        self.runtime_ms = self.runtime_ms.max(other.runtime_ms);
        self.session_time = self.session_time.max(other.session_time);
        self.background_time = self.background_time.max(other.background_time);
        self.latency.merge(&other.latency);
        self.steps.iter_mut().zip(&other.steps).for_each(|(sum, step)| sum.merge(step));
        self.commit_sync_calls.merge(&other.commit_sync_calls);
        for (sum, io) in self.io.iter_mut().zip(&other.io) {
            let &IoTotal { sessions, background } = io;
            sum.sessions.add(sessions.count, sessions.bytes, sessions.runtime_ms);
            sum.background.add(background.count, background.bytes, background.runtime_ms);
        }
        for (sum, count) in [
            (&mut self.transactions, other.transactions),
            (&mut self.pool_hits, other.pool_hits),
            (&mut self.full_pages, other.full_pages),
            (&mut self.written_back, other.written_back),
            (&mut self.checkpoints, other.checkpoints),
        ] {
            saturating_add_to(sum, count);
        }
    }

    /// How long background jobs continued after the sessions.
    pub(crate) fn background_tail(&self) -> Duration {
        self.background_time.saturating_sub(self.session_time)
    }

    fn part_mut(&mut self, kind: DatabaseIoKind, role: DatabaseRole) -> &mut ConcurrentIo {
        let IoTotal { sessions, background } = &mut self.io[kind as usize];
        if role == DatabaseRole::Session { sessions } else { background }
    }

    /// Log syncs by sessions.
    pub(crate) const fn commit_syncs(&self) -> u64 {
        self.io(DatabaseIoKind::LogSync).sessions.count
    }

    pub(crate) const fn io(&self, kind: DatabaseIoKind) -> &IoTotal {
        &self.io[kind as usize]
    }

    /// The difference from `earlier` totals of the same jobs; `None` if they restarted in between. Run times become the time in between.
    pub(crate) fn since(&self, earlier: &DatabaseTotals) -> Option<DatabaseTotals> {
        let mut steps: [Latency; TransactionStep::ALL.len()] = Default::default();
        for ((new, now), before) in steps.iter_mut().zip(&self.steps).zip(&earlier.steps) {
            *new = now.since(before)?;
        }
        let mut io = self.io;
        for (new, before) in io.iter_mut().zip(&earlier.io) {
            *new = new.since(before)?;
        }
        Some(DatabaseTotals {
            runtime_ms: self.runtime_ms.saturating_sub(earlier.runtime_ms),
            session_time: self.session_time.saturating_sub(earlier.session_time),
            background_time: self.background_time.saturating_sub(earlier.background_time),
            transactions: self.transactions.checked_sub(earlier.transactions)?,
            latency: self.latency.since(&earlier.latency)?,
            steps,
            io,
            commit_sync_calls: self.commit_sync_calls.since(&earlier.commit_sync_calls)?,
            pool_hits: self.pool_hits.checked_sub(earlier.pool_hits)?,
            full_pages: self.full_pages.checked_sub(earlier.full_pages)?,
            written_back: self.written_back.checked_sub(earlier.written_back)?,
            checkpoints: self.checkpoints.checked_sub(earlier.checkpoints)?,
        })
    }
}

#[cfg(test)]
pub(crate) mod testing;
