//! Results of jobs whose work is counted in events, as in sysbench, and of database models.

use std::sync::Arc;

use ferrio_job::{DatabaseFile, TransactionStep};
use ferrio_stats::Latency;
use serde::{Deserialize, Serialize};

/// The events that a job has done.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct EventFigures {
    /// Number of events. It exceeds the number of latencies if the job stopped responding.
    pub done: u64,
    /// Latency from the beginning of an event, or from its scheduled arrival if events arrive at a rate, to its end. Copies share it.
    pub latency: Arc<Latency>,
    /// Present for a job of a database model.
    pub database: Option<DatabaseFigures>,
}

/// Results of one job of a database model. Those of all jobs of the model add up.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct DatabaseFigures {
    /// Time of each step of [`TransactionStep::ALL`], with one sample for each transaction: 0 where it did not take the step. The sums of
    /// all steps are at most that of the transactions.
    pub steps: [Latency; TransactionStep::ALL.len()],
    /// I/Os to files of each kind of [`DatabaseFile::ALL`].
    pub files: [DatabaseIo; DatabaseFile::ALL.len()],
    /// Pages that transactions used and found in the buffer pool.
    pub pool_hits: u64,
    /// Whole pages that were put into the log.
    pub full_pages: u64,
    /// Pages or tables that were written back.
    pub written_back: u64,
    /// Completed checkpoints.
    pub checkpoints: u64,
}

/// I/Os to one kind of files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DatabaseIo {
    /// Completed reads.
    pub reads: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Completed writes.
    pub writes: u64,
    /// Bytes written.
    pub written_bytes: u64,
    /// Completed syncs.
    pub syncs: u64,
}
