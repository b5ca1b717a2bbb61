//! The counts of a run of a test of sysbench, or of a part of it.

use std::time::Duration;

use ferrio_oltp::SqlCounts;
use ferrio_results::{JobResult, RunResult};
use ferrio_stats::Latency;

/// The figures of all threads.
#[derive(Clone, Debug, Default)]
pub struct SysbenchFigures {
    /// Reads.
    pub reads: u64,
    /// Writes.
    pub writes: u64,
    /// Syncs, those at the end of the run too.
    pub syncs: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Bytes written.
    pub written_bytes: u64,
    /// How long the part is.
    pub measured: Duration,
    /// From the start of the run to the end of the part.
    pub total: Duration,
    /// How long reads, writes and syncs took, each without the time that its event waited.
    pub requests: [Latency; 3],
    /// Statements and errors of a test of a database.
    pub sql: SqlCounts,
    /// The events of each thread.
    pub threads: Vec<ThreadFigures>,
}

/// The events of one thread.
#[derive(Clone, Debug, Default)]
pub struct ThreadFigures {
    /// How long each took.
    pub latency: Latency,
    /// The run was stopped while it did one more.
    pub is_unfinished: bool,
}

impl SysbenchFigures {
    /// The figures from the start of a run.
    #[must_use]
    pub fn of(result: &RunResult) -> Self {
        let mut figures = SysbenchFigures::default();
        for job in &result.jobs {
            let [reads, writes, _] = &job.stats.directions;
            let syncs = job.stats.sync.latency.as_deref();
            let latencies = [reads.clat.as_deref(), writes.clat.as_deref(), syncs];
            for (all, latency) in figures.requests.iter_mut().zip(latencies) {
                latency.into_iter().for_each(|latency| all.merge(latency));
            }
            figures.reads += reads.ios;
            figures.writes += writes.ios;
            figures.syncs += job.stats.sync.ios;
            figures.read_bytes += reads.bytes;
            figures.written_bytes += writes.bytes;
            figures.measured = figures.measured.max(job.measured);
            figures.threads.push(ThreadFigures { latency: latency(job), is_unfinished: false });
        }
        figures.total = figures.measured;
        figures
    }

    /// The figures since those of an earlier part that began when this one did.
    #[must_use]
    pub fn since(&self, earlier: &SysbenchFigures) -> Self {
        let no_events = ThreadFigures::default();
        let threads = self.threads.iter().enumerate().map(|(at, thread)| {
            let before = &earlier.threads.get(at).unwrap_or(&no_events).latency;
            ThreadFigures { latency: thread.latency.since(before).unwrap_or_default(), ..*thread }
        });
        let requests = self.requests.iter().zip(&earlier.requests);
        let mut requests = requests.map(|(all, before)| all.since(before).unwrap_or_default());
        SysbenchFigures {
            requests: std::array::from_fn(|_| requests.next().unwrap_or_default()),
            reads: self.reads.saturating_sub(earlier.reads),
            writes: self.writes.saturating_sub(earlier.writes),
            syncs: self.syncs.saturating_sub(earlier.syncs),
            read_bytes: self.read_bytes.saturating_sub(earlier.read_bytes),
            written_bytes: self.written_bytes.saturating_sub(earlier.written_bytes),
            measured: self.measured.saturating_sub(earlier.measured),
            total: self.total,
            sql: self.sql.since(&earlier.sql),
            threads: threads.collect(),
        }
    }

    /// The events of all threads.
    #[must_use]
    pub fn latency(&self) -> Latency {
        let mut all = Latency::new();
        self.threads.iter().for_each(|thread| all.merge(&thread.latency));
        all
    }

    /// How many of a count there were in a second.
    pub(super) fn per_second(&self, count: u64) -> f64 {
        let seconds = self.measured.as_secs_f64();
        if seconds > 0.0 { count as f64 / seconds } else { 0.0 }
    }

    /// How many MiB of a number of bytes there were in a second.
    pub(super) fn mib_per_second(&self, bytes: u64) -> f64 {
        self.per_second(bytes) / f64::from(1 << 20)
    }
}

fn latency(job: &JobResult) -> Latency {
    job.events.as_ref().map(|events| Latency::clone(&events.latency)).unwrap_or_default()
}
