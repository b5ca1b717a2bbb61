//! A database (`workload`) in the report: its I/O per transaction, by the formulas of the model.

use serde::Serialize;

use super::Certainty;

/// A database whose sessions are the instances of a job.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CheckedDatabase {
    /// `innodb`, `postgres`, `rocksdb` or `etcd`.
    pub model: &'static str,
    /// Number of sessions: jobs that do transactions.
    pub sessions: u32,
    /// Number of transactions (`transactions`), if it is limited.
    pub transactions: Option<u64>,
    /// Mean arrivals per second (`transaction_rate`).
    pub transactions_per_second: Option<f64>,
    /// Bytes per page.
    pub page_bytes: u32,
    /// Number of pages of the data.
    pub pages: u64,
    /// The files by purpose.
    pub files: Vec<CheckedDatabaseFiles>,
    /// Mean I/Os per transaction by kind, including those in the background.
    pub per_transaction: Vec<TransactionIo>,
    /// Share of reads among reads and writes.
    pub read_share: ReadShare,
    /// Number of transactions after which the log wraps around to its start; `null` if they append nothing.
    pub transactions_per_log_lap: Option<f64>,
    /// The limits at which transactions wait; `null` if transactions change nothing.
    pub back_pressure: Option<BackPressure>,
    /// The conditions of checkpoints, if the model has checkpoints.
    pub checkpoints: Option<CheckedCheckpoints>,
    /// Bytes that all transactions together read and write.
    pub volume: DatabaseVolume,
}

/// The files of a database with the same purpose.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CheckedDatabaseFiles {
    /// `data`, `log` or `double-write`.
    pub kind: &'static str,
    /// Number of files.
    pub files: u32,
    /// Used bytes of all these files.
    pub bytes: u64,
    /// Whether they are opened with `O_DIRECT`.
    pub direct: bool,
    /// Whether they are opened with `O_DSYNC`.
    pub dsync: bool,
}

/// I/Os of one kind.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TransactionIo {
    /// `page reads`, `log writes`, `log syncs`, `double writes`, `page writes` and so on.
    pub what: &'static str,
    /// Mean number per transaction.
    pub ios: f64,
    /// Mean bytes per transaction; 0 for syncs.
    pub bytes: f64,
    /// The certainty of the number: `exact`, `about`, `at-least` or `at-most`.
    pub bound: Certainty,
    /// The certainty of the bytes.
    pub bytes_bound: Certainty,
    /// The formula of the number: `r` page reads, `l` log appends and `p` changed pages per transaction, `g` transactions per sync,
    /// `b` pages per batch, `T` sessions, and so on.
    pub formula: &'static str,
    /// Whether they are reads.
    #[serde(skip)]
    pub reads: bool,
    /// Whether a session does them; otherwise they are done in the background.
    #[serde(skip)]
    pub in_session: bool,
}

/// Shares of reads, 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ReadShare {
    /// Share of I/Os.
    pub ios: f64,
    /// Share of bytes.
    pub bytes: f64,
    /// The certainty of both.
    pub bound: Certainty,
}

/// The limits at which transactions wait for the write-back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct BackPressure {
    /// Maximum number of dirty pages; `null` for a model that writes tables (`rocksdb`).
    pub dirty_pages: Option<u32>,
    /// Maximum number of tables that wait to be flushed; `null` for a model that writes pages.
    pub waiting_tables: Option<u32>,
    /// Bytes of these pages or tables.
    pub bytes: u64,
}

/// The conditions of a checkpoint.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct CheckedCheckpoints {
    /// Bytes appended to the log that start a checkpoint: the limit of the model or a full log, whichever is less; `null` without either.
    pub log_bytes: Option<u64>,
    /// Number of transactions that append these bytes.
    pub transactions: Option<f64>,
    /// Seconds after the previous checkpoint.
    pub seconds: Option<f64>,
}

/// Reads and writes of transactions, without syncs and checkpoints.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct DatabaseVolume {
    /// Number of transactions: `transactions`, otherwise the arrivals in `runtime`, otherwise 1000.
    pub transactions: u64,
    /// Whether the job performs this many transactions; false if the number only serves comparison.
    pub is_expected: bool,
    /// Bytes read.
    pub read: u64,
    /// The certainty of the bytes read.
    pub read_bound: Certainty,
    /// Bytes written.
    pub write: u64,
    /// The certainty of the bytes written: `at-least` with whole pages in the log.
    pub write_bound: Certainty,
}
