//! Database models in the `ferrio` object and in the interval report.

use ferrio_job::{Choice, DatabaseModel};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

use super::direction::LatencyReport;

/// Percentiles that database latencies always have.
pub(crate) const DATABASE_PERCENTILES: [f64; 4] = [50.0, 95.0, 99.0, 99.9];

/// Figures of a database model: totals over its sessions and background jobs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct DatabaseReport {
    /// `jobname` of the entry of its sessions.
    pub jobname: String,
    /// `groupid` of the entry of its sessions.
    pub groupid: u32,
    /// Name of the database that is modelled.
    #[schemars(schema_with = "models")]
    pub model: String,
    /// Number of sessions.
    #[schemars(range(min = 1))]
    pub sessions: u32,
    /// Longest time of a session, in ms, from which the transaction rate is computed.
    pub runtime: u64,
    /// Transactions that arrive per second; absent if each session begins a transaction when it has ended the previous one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub transaction_rate: Option<f64>,
    /// Transactions and I/Os.
    #[serde(flatten)]
    pub figures: TransactionReport,
    /// Time for which changes were written back after the last transaction, in ms: work that the transaction rate does not include; absent
    /// if less than 1 ms.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub written_back_after: Option<u64>,
    /// The figure for which the documentation of etcd gives a limit; only for that model, once a commit was synced.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub etcd: Option<EtcdReport>,
}

/// Transactions, their steps, and I/Os.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct TransactionReport {
    /// Transactions that ended.
    pub transactions: u64,
    /// Transactions per second.
    #[schemars(range(min = 0))]
    pub tps: f64,
    /// Durations of transactions: from the beginning, or from the arrival if they arrive at a rate.
    pub lat_ns: LatencyReport,
    /// Steps of a transaction. If their shares add up to less than 100, the rest is time between them, and time before a session begins a
    /// transaction that has arrived.
    pub steps: StepReports,
    /// I/Os by purpose.
    pub io: DatabaseIoReports,
    /// Reads as a percentage of reads and writes. Absent without either, as is `read_bytes_share`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 100))]
    pub read_ios_share: Option<f64>,
    /// Bytes read as a percentage of bytes read and written.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 100))]
    pub read_bytes_share: Option<f64>,
    /// Number of pages used by transactions that were in the buffer pool.
    pub pool_hits: u64,
    /// `pool_hits` as a percentage of the pages used; absent without `buffer_pool`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 100))]
    pub pool_hit_share: Option<f64>,
    /// Number of transactions per log sync by a session; absent without such syncs.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub commits_per_sync: Option<f64>,
    /// Number of whole pages written to the log.
    pub full_pages: u64,
    /// Number of pages, or tables, that were written back.
    pub written_back: u64,
    /// Number of checkpoints.
    pub checkpoints: u64,
}

/// The steps of transactions.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct StepReports {
    /// Reading pages.
    pub read: StepReport,
    /// Appending to the log.
    pub log_write: StepReport,
    /// From the end of the last append until its part of the log is durable.
    pub sync: StepReport,
    /// Waiting because too many changes are not written back.
    pub write_back_wait: StepReport,
    /// Using the CPU; absent without `transaction_cpu`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compute: Option<StepReport>,
}

/// One step, with a sample for each transaction: 0 if it skipped the step.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct StepReport {
    /// Time of the step as a percentage of the time of transactions.
    #[schemars(range(min = 0, max = 100))]
    pub share: f64,
    /// Durations of the step.
    pub lat_ns: LatencyReport,
}

/// I/Os by purpose.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct DatabaseIoReports {
    /// Reads of pages by transactions.
    pub data_reads: DatabaseIoReport,
    /// Reads of tables during merges (`rocksdb`).
    pub merge_reads: DatabaseIoReport,
    /// Writes to the log.
    pub log_writes: DatabaseIoReport,
    /// Syncs of the log.
    pub log_syncs: DatabaseIoReport,
    /// Writes to the double-write area.
    pub double_writes: DatabaseIoReport,
    /// Syncs of the double-write area.
    pub double_write_syncs: DatabaseIoReport,
    /// Writes of pages in place, or of tables.
    pub data_writes: DatabaseIoReport,
    /// Syncs of data files.
    pub data_syncs: DatabaseIoReport,
}

/// I/Os for one purpose.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct DatabaseIoReport {
    /// Number of I/Os.
    pub total_ios: u64,
    /// Bytes transferred; 0 for syncs.
    pub io_bytes: u64,
    /// Number of I/Os per transaction.
    #[schemars(range(min = 0))]
    pub per_transaction: f64,
    /// I/Os per second: those of the sessions divided by the longest time of a session, plus those of the background jobs divided by their
    /// time.
    #[schemars(range(min = 0))]
    pub iops: f64,
    /// Bytes per second for the same times, rounded down.
    pub bw_bytes: u64,
}

/// 99th percentile of log sync calls, for which the documentation of etcd gives a limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct EtcdReport {
    /// Percentile, in ns.
    pub sync_p99_ns: u64,
    /// Limit, in ns.
    pub limit_ns: u64,
    /// True if the percentile is below the limit.
    pub is_below: bool,
}

/// The words of all models.
fn models(_: &mut SchemaGenerator) -> Schema {
    let words: Vec<&str> = DatabaseModel::WORDS.iter().map(|word| word.word).collect();
    json_schema!({ "type": "string", "enum": words })
}

impl DatabaseReport {
    /// The kinds of I/O that occurred, with their names in texts.
    pub(crate) fn shown_ios(&self) -> Vec<(String, &DatabaseIoReport)> {
        let has_tables = self.has_tables();
        let name = |key: &str| match key {
            "data_writes" if has_tables => "table writes".to_owned(),
            "data_syncs" if has_tables => "table syncs".to_owned(),
            "data_writes" => "page writes".to_owned(),
            "double_write_syncs" => "double-write syncs".to_owned(),
            key => key.replace('_', " "),
        };
        let shown = self.figures.io.all().into_iter().filter(|(_, io)| io.total_ios > 0);
        shown.map(|(key, io)| (name(key), io)).collect()
    }

    /// True if the database writes tables instead of pages.
    pub(crate) fn has_tables(&self) -> bool {
        self.model == DatabaseModel::Rocksdb.word()
    }
}

impl StepReports {
    /// All steps in order, with their names in texts.
    pub(crate) fn all(&self) -> impl Iterator<Item = (&'static str, &StepReport)> {
        let steps = [
            ("read", &self.read),
            ("log write", &self.log_write),
            ("sync", &self.sync),
            ("write-back wait", &self.write_back_wait),
        ];
        self.compute.iter().map(|compute| ("compute", compute)).chain(steps)
    }
}

impl DatabaseIoReports {
    /// All purposes in order, with the names of their keys.
    pub(crate) fn all(&self) -> [(&'static str, &DatabaseIoReport); 8] {
        [
            ("data_reads", &self.data_reads),
            ("merge_reads", &self.merge_reads),
            ("log_writes", &self.log_writes),
            ("log_syncs", &self.log_syncs),
            ("double_writes", &self.double_writes),
            ("double_write_syncs", &self.double_write_syncs),
            ("data_writes", &self.data_writes),
            ("data_syncs", &self.data_syncs),
        ]
    }
}
