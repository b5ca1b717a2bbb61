//! Models of databases in the `ferrio` object and in the interval report.

use ferrio_job::{Choice, DatabaseModel};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

use super::direction::LatencyReport;

/// Percentiles that latencies of databases always have, in percent.
pub(crate) const DATABASE_PERCENTILES: [f64; 4] = [50.0, 95.0, 99.0, 99.9];

/// What a model of a database did: its sessions and its jobs in the background together.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct DatabaseReport {
    /// `jobname` of the entry of its sessions.
    pub jobname: String,
    /// `groupid` of the entry of its sessions.
    pub groupid: u32,
    /// The database that is modelled.
    #[schemars(schema_with = "models")]
    pub model: String,
    /// Number of sessions.
    #[schemars(range(min = 1))]
    pub sessions: u32,
    /// The longest time of a session, ms: what the rate of transactions is computed with.
    pub runtime: u64,
    /// Transactions that arrive per second; absent if each session begins one when it has ended the one before.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub transaction_rate: Option<f64>,
    /// Transactions and I/Os.
    #[serde(flatten)]
    pub figures: TransactionReport,
    /// How long changes were written back after the last transaction, ms: a part of the work that the rate of transactions leaves out; absent
    /// where that took less than 1 ms.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub written_back_after: Option<u64>,
    /// The figure that the documentation of etcd gives a limit for; only for that model, once a commit was synced.
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
    /// How long transactions took: from the beginning, or from the arrival if they arrive at a rate.
    pub lat_ns: LatencyReport,
    /// The parts of a transaction that take time. What their shares lack to 100 is time between them, and the time before a session
    /// begins a transaction that has arrived.
    pub steps: StepReports,
    /// I/Os by what they are for.
    pub io: DatabaseIoReports,
    /// Reads in percent of reads and writes. Absent without either, as is `read_bytes_share`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 100))]
    pub read_ios_share: Option<f64>,
    /// Bytes read in percent of bytes read and written.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 100))]
    pub read_bytes_share: Option<f64>,
    /// Pages that transactions used and found in the buffer pool.
    pub pool_hits: u64,
    /// The same in percent of the pages that they used; absent without `buffer_pool`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 100))]
    pub pool_hit_share: Option<f64>,
    /// Transactions for each sync of the log by a session; absent without such syncs.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub commits_per_sync: Option<f64>,
    /// Whole pages that were put into the log.
    pub full_pages: u64,
    /// Pages, or tables, that were written back.
    pub written_back: u64,
    /// Checkpoints.
    pub checkpoints: u64,
}

/// The steps of transactions.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct StepReports {
    /// All page reads.
    pub read: StepReport,
    /// All appends to the log.
    pub log_write: StepReport,
    /// From the end of the last append until its part of the log is durable.
    pub sync: StepReport,
    /// Waiting because too much is not written back.
    pub write_back_wait: StepReport,
}

/// One step, with a sample for each transaction: 0 for one that did not take it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct StepReport {
    /// Time of the step in percent of the time of transactions.
    #[schemars(range(min = 0, max = 100))]
    pub share: f64,
    /// How long the step took.
    pub lat_ns: LatencyReport,
}

/// I/Os by what they are for.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct DatabaseIoReports {
    /// Reads of pages by transactions.
    pub data_reads: DatabaseIoReport,
    /// Reads of tables to merge them (`rocksdb`).
    pub merge_reads: DatabaseIoReport,
    /// Writes to the log.
    pub log_writes: DatabaseIoReport,
    /// Syncs of the log.
    pub log_syncs: DatabaseIoReport,
    /// Writes to the double-write area.
    pub double_writes: DatabaseIoReport,
    /// Syncs of the double-write area.
    pub double_write_syncs: DatabaseIoReport,
    /// Writes of pages to their places, or of tables.
    pub data_writes: DatabaseIoReport,
    /// Syncs of data files.
    pub data_syncs: DatabaseIoReport,
}

/// I/Os for one purpose.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct DatabaseIoReport {
    /// I/Os.
    pub total_ios: u64,
    /// Bytes transferred; 0 for syncs.
    pub io_bytes: u64,
    /// I/Os for each transaction.
    #[schemars(range(min = 0))]
    pub per_transaction: f64,
    /// I/Os per second: those of the sessions over the longest time of a session, and those in the background over that of their jobs.
    #[schemars(range(min = 0))]
    pub iops: f64,
    /// Bytes per second over the same times, rounded down.
    pub bw_bytes: u64,
}

/// The 99th percentile of the calls that sync the log, for which the documentation of etcd gives a limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct EtcdReport {
    /// The percentile, ns.
    pub sync_p99_ns: u64,
    /// The limit, ns.
    pub limit_ns: u64,
    /// The percentile is below the limit.
    pub is_below: bool,
}

/// The words of all models.
fn models(_: &mut SchemaGenerator) -> Schema {
    let words: Vec<&str> = DatabaseModel::WORDS.iter().map(|word| word.word).collect();
    json_schema!({ "type": "string", "enum": words })
}

impl DatabaseReport {
    /// The I/Os that there were, with their names in texts.
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
    /// All steps in their order, with their names in texts.
    pub(crate) fn all(&self) -> [(&'static str, &StepReport); 4] {
        [
            ("read", &self.read),
            ("log write", &self.log_write),
            ("sync", &self.sync),
            ("write-back wait", &self.write_back_wait),
        ]
    }
}

impl DatabaseIoReports {
    /// All of them in their order, with the names of their keys.
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
