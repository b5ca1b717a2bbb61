//! A database (`workload`) in the report: what a transaction does, by the formulas of the model.

use serde::Serialize;

/// A database whose sessions are the instances of a job.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CheckedDatabase {
    /// `innodb`, `postgres`, `rocksdb` or `etcd`.
    pub model: &'static str,
    /// Sessions.
    pub sessions: u32,
    /// Transactions to do in all (`transactions`).
    pub transactions: Option<u64>,
    /// Mean arrivals per second (`transaction_rate`).
    pub transactions_per_second: Option<f64>,
    /// Bytes of a page.
    pub page_bytes: u32,
    /// Pages of the data.
    pub pages: u64,
    /// The files by what they are for.
    pub files: Vec<CheckedDatabaseFiles>,
    /// Mean I/Os of a transaction by kind, those in the background included.
    pub per_transaction: Vec<TransactionIo>,
    /// Share of reads among reads and writes.
    pub read_share: ReadShare,
    /// Transactions after which the log begins again; `null` if they append nothing.
    pub transactions_per_log_lap: Option<f64>,
    /// What transactions wait for; `null` if they change nothing.
    pub back_pressure: Option<BackPressure>,
    /// Checkpoints, if there are any.
    pub checkpoints: Option<CheckedCheckpoints>,
    /// What a number of transactions read and write.
    pub volume: DatabaseVolume,
}

/// Files of a database that are for the same thing.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CheckedDatabaseFiles {
    /// `data`, `log` or `double-write`.
    pub kind: &'static str,
    /// How many.
    pub files: u32,
    /// Bytes of all of them that are used.
    pub bytes: u64,
    /// They are open with `O_DIRECT`.
    pub direct: bool,
    /// They are open with `O_DSYNC`.
    pub dsync: bool,
}

/// I/Os of one kind.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TransactionIo {
    /// `page reads`, `log writes`, `log syncs`, `double writes`, `page writes` and so on.
    pub what: &'static str,
    /// Mean number for each transaction.
    pub ios: f64,
    /// Mean bytes; 0 for syncs.
    pub bytes: f64,
    /// How exact the number is: `exact`, `about`, `at-least` or `at-most`.
    pub bound: IoBound,
    /// The same of the bytes.
    pub bytes_bound: IoBound,
    /// Where the number comes from: `r` page reads, `l` log appends, `g` transactions of a sync, `T` sessions, `p` changed pages, `b` pages
    /// of a batch, and so on.
    pub formula: &'static str,
    /// They read.
    #[serde(skip)]
    pub reads: bool,
    /// A session does them; the others are done in the background.
    #[serde(skip)]
    pub in_session: bool,
}

/// How exact a mean is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum IoBound {
    /// Exact.
    Exact,
    /// Depends on chance.
    About,
    /// More is possible.
    AtLeast,
    /// Less is possible.
    AtMost,
}

/// Shares of reads, 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ReadShare {
    /// Of I/Os.
    pub ios: f64,
    /// Of bytes.
    pub bytes: f64,
    /// How exact both are.
    pub bound: IoBound,
}

/// When transactions wait for the write-back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct BackPressure {
    /// They wait while more pages than this are changed and not written back; `null` with tables.
    pub dirty_pages: Option<u32>,
    /// They wait while more tables than this wait; `null` with pages.
    pub waiting_tables: Option<u32>,
    /// Bytes of these.
    pub bytes: u64,
}

/// When there is a checkpoint.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct CheckedCheckpoints {
    /// After so many bytes of the log, or when these fill it.
    pub log_bytes: Option<u64>,
    /// So many transactions append these.
    pub transactions: Option<f64>,
    /// So long after the last one.
    pub seconds: Option<f64>,
}

/// What transactions read and write, syncs and checkpoints aside.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct DatabaseVolume {
    /// How many transactions: `transactions`, else what arrives in `runtime`, else 1000.
    pub transactions: u64,
    /// The job does so many; false for a number to compare with.
    pub is_expected: bool,
    /// Bytes read.
    pub read: u64,
    /// How exact they are.
    pub read_bound: IoBound,
    /// Bytes written.
    pub write: u64,
    /// How exact they are: `at-least` with whole pages in the log.
    pub write_bound: IoBound,
}
