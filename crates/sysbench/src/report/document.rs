//! The report of a test of sysbench as a JSON document (`--output-format=json`).

use ferrio_oltp::SqlCounts;
use ferrio_stats::Latency;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::figures::{SysbenchFigures, ThreadFigures};
use super::histogram::LatencyHistogram;
use super::merged_document::MergedDocument;
use super::text::SysbenchTest;

/// Version of the document. Keys may be added to a version; their meaning stays.
pub const FORMAT_VERSION: u32 = 1;

/// The percentiles of latencies, beside the one that is asked for.
const PERCENTILES: [f64; 9] = [1.0, 10.0, 50.0, 75.0, 90.0, 95.0, 99.0, 99.9, 99.99];

/// The figures of a test of sysbench (`ferrio sysbench TEST --output-format=json run`).
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "ferrio's document of a test of sysbench", extend("$id" = "urn:ferrio:sysbench:1"))]
pub struct SysbenchDocument {
    /// Version of the format. A version may gain keys; the meaning of its keys stays.
    #[schemars(extend("const" = FORMAT_VERSION))]
    pub version: u32,
    /// Version of ferrio.
    pub ferrio: String,
    /// The test: fileio, cpu, threads, mutex, memory, or one of a database.
    pub test: String,
    /// What the run was asked for.
    pub settings: SysbenchSettings,
    /// The signal that ended the run early.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signal: Option<i32>,
    /// Events that a forced shutdown stopped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unfinished: Option<usize>,
    /// A part for each --report-interval, in order.
    pub intervals: Vec<SysbenchDocumentPart>,
    /// A part for each of --report-checkpoints that was reached: from the checkpoint before it, or the start, to this one.
    pub checkpoints: Vec<SysbenchDocumentPart>,
    /// The figures of the run, or of what follows its last checkpoint. Rates of several runs together are sums.
    pub report: SysbenchDocumentPart,
    /// The documents of runs on several machines that this one has together (`ferrio report`).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub merged: Vec<MergedDocument>,
}

/// What a run was asked for.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct SysbenchSettings {
    /// Threads.
    #[schemars(range(min = 1))]
    pub threads: u32,
    /// Limit of events in all; without a limit there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub events: Option<u64>,
    /// Limit of time, s; without a limit there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time: Option<u64>,
    /// Events that arrive in a second, on average; none if each thread begins an event when it has ended the one before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<u32>,
    /// The seed of random numbers, if one was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<i32>,
    /// The options of the test as they were given, without those that all tests have.
    pub options: std::collections::BTreeMap<String, String>,
}

/// The figures of a part of a run.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct SysbenchDocumentPart {
    /// From the start of the run to the end of the part, s.
    #[schemars(range(min = 0))]
    pub(super) total_time: f64,
    /// How long the part is, s: what rates are computed with.
    #[schemars(range(min = 0))]
    pub(super) measured: f64,
    /// Events.
    pub(super) events: u64,
    /// Events per second.
    #[schemars(range(min = 0))]
    pub(super) events_per_second: f64,
    /// Reads, writes and syncs of fileio.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) files: Option<FileFigures>,
    /// What the test memory transferred.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) memory: Option<MemoryFigures>,
    /// Statements of a test of a database.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) sql: Option<SqlFigures>,
    /// How long events took; from their arrival if they arrive at a rate.
    pub(super) latency_ms: LatencyFigures,
    /// The events of each thread.
    pub(super) threads: Vec<ThreadPart>,
}

/// Reads, writes and syncs.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(super) struct FileFigures {
    /// Reads.
    pub(super) reads: u64,
    /// Writes.
    pub(super) writes: u64,
    /// Syncs, those at the end of the run too.
    pub(super) fsyncs: u64,
    /// Bytes read.
    pub(super) read_bytes: u64,
    /// Bytes written.
    pub(super) written_bytes: u64,
    /// Reads per second.
    #[schemars(range(min = 0))]
    pub(super) reads_per_second: f64,
    /// Writes per second.
    #[schemars(range(min = 0))]
    pub(super) writes_per_second: f64,
    /// Syncs per second.
    #[schemars(range(min = 0))]
    pub(super) fsyncs_per_second: f64,
    /// MiB read per second.
    #[schemars(range(min = 0))]
    pub(super) read_mib_per_second: f64,
    /// MiB written per second.
    #[schemars(range(min = 0))]
    pub(super) written_mib_per_second: f64,
    /// How long reads took, each from its call to its completion. Without reads the key is absent, as are the next two without writes and
    /// syncs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) read_latency_ms: Option<LatencyFigures>,
    /// How long writes took.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) write_latency_ms: Option<LatencyFigures>,
    /// How long syncs took, those at the end of the run too.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) fsync_latency_ms: Option<LatencyFigures>,
}

/// What was transferred.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(super) struct MemoryFigures {
    /// Bytes transferred.
    pub(super) bytes: u64,
    /// MiB transferred per second.
    #[schemars(range(min = 0))]
    pub(super) mib_per_second: f64,
}

/// Statements and errors.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(super) struct SqlFigures {
    /// Events that were completed.
    pub(super) transactions: u64,
    /// Statements that returned rows.
    pub(super) reads: u64,
    /// Statements that changed rows.
    pub(super) writes: u64,
    /// Statements that did neither, such as BEGIN.
    pub(super) others: u64,
    /// All statements.
    pub(super) queries: u64,
    /// Errors after which an event began again.
    pub(super) ignored_errors: u64,
    /// Connections that were lost and made again.
    pub(super) reconnects: u64,
    /// Transactions per second.
    #[schemars(range(min = 0))]
    pub(super) transactions_per_second: f64,
    /// Reads per second.
    #[schemars(range(min = 0))]
    pub(super) reads_per_second: f64,
    /// Writes per second.
    #[schemars(range(min = 0))]
    pub(super) writes_per_second: f64,
    /// Other statements per second.
    #[schemars(range(min = 0))]
    pub(super) others_per_second: f64,
    /// Statements per second.
    #[schemars(range(min = 0))]
    pub(super) queries_per_second: f64,
    /// Ignored errors per second.
    #[schemars(range(min = 0))]
    pub(super) ignored_errors_per_second: f64,
    /// Reconnects per second.
    #[schemars(range(min = 0))]
    pub(super) reconnects_per_second: f64,
}

/// Latencies, ms.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(super) struct LatencyFigures {
    /// The shortest.
    #[schemars(range(min = 0))]
    pub(super) min: f64,
    /// The mean.
    #[schemars(range(min = 0))]
    pub(super) avg: f64,
    /// The longest.
    #[schemars(range(min = 0))]
    pub(super) max: f64,
    /// All together.
    #[schemars(range(min = 0))]
    pub(super) sum: f64,
    /// Sample standard deviation.
    #[schemars(range(min = 0))]
    pub(super) stddev: f64,
    /// By percentage the latency that this share does not exceed, within 0.4 %. Without samples there are none.
    pub(super) percentiles: std::collections::BTreeMap<String, f64>,
    /// The samples, from which documents are merged. Only the figures of the run have them, not its parts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) histogram: Option<LatencyHistogram>,
}

/// The events of one thread.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(super) struct ThreadPart {
    /// Events.
    pub(super) events: u64,
    /// How long they took together, s.
    #[schemars(range(min = 0))]
    pub(super) execution_time: f64,
}

impl SysbenchDocument {
    /// The text of the document.
    #[must_use]
    pub fn to_json(&self) -> String {
        // Maps have text as keys, and floats are finite: nothing here can fail.
        let mut text = serde_json::to_string_pretty(self).unwrap_or_default();
        text.push('\n');
        text
    }
}

impl SysbenchDocumentPart {
    /// The figures of a part of a run of this test.
    #[must_use]
    pub fn of(test: SysbenchTest, figures: &SysbenchFigures, percentile: u32) -> Self {
        let events = figures.latency();
        let of_requests =
            |latency: &Latency| (latency.count() > 0).then(|| LatencyFigures::of(latency, percentile));
        let [read_latency_ms, write_latency_ms, fsync_latency_ms] =
            figures.requests.each_ref().map(of_requests);
        let files = (test == SysbenchTest::Fileio).then(|| FileFigures {
            read_latency_ms,
            write_latency_ms,
            fsync_latency_ms,
            reads: figures.reads,
            writes: figures.writes,
            fsyncs: figures.syncs,
            read_bytes: figures.read_bytes,
            written_bytes: figures.written_bytes,
            reads_per_second: figures.per_second(figures.reads),
            writes_per_second: figures.per_second(figures.writes),
            fsyncs_per_second: figures.per_second(figures.syncs),
            read_mib_per_second: figures.mib_per_second(figures.read_bytes),
            written_mib_per_second: figures.mib_per_second(figures.written_bytes),
        });
        let memory = match test {
            SysbenchTest::Memory { block, transfers: true } => {
                let bytes = events.count().saturating_mul(block);
                Some(MemoryFigures { bytes, mib_per_second: figures.mib_per_second(bytes) })
            }
            _ => None,
        };
        SysbenchDocumentPart {
            total_time: figures.total.as_secs_f64(),
            measured: figures.measured.as_secs_f64(),
            events: events.count(),
            events_per_second: figures.per_second(events.count()),
            files,
            memory,
            sql: (test == SysbenchTest::Sql).then(|| SqlFigures::of(figures, events.count())),
            latency_ms: LatencyFigures::of(&events, percentile),
            threads: figures.threads.iter().map(ThreadPart::of).collect(),
        }
    }

    /// The same part with its histograms.
    #[must_use]
    pub fn with_histograms(mut self, figures: &SysbenchFigures) -> Self {
        self.latency_ms.histogram = Some(LatencyHistogram::of(&figures.latency()));
        if let Some(files) = &mut self.files {
            let latencies =
                [&mut files.read_latency_ms, &mut files.write_latency_ms, &mut files.fsync_latency_ms];
            for (latency, samples) in latencies.into_iter().zip(&figures.requests) {
                latency
                    .iter_mut()
                    .for_each(|latency| latency.histogram = Some(LatencyHistogram::of(samples)));
            }
        }
        self
    }
}

impl SqlFigures {
    fn of(figures: &SysbenchFigures, transactions: u64) -> Self {
        let SqlCounts { reads, writes, others, ignored_errors, reconnects } = figures.sql;
        let queries = figures.sql.queries();
        SqlFigures {
            transactions,
            reads,
            writes,
            others,
            queries,
            ignored_errors,
            reconnects,
            transactions_per_second: figures.per_second(transactions),
            reads_per_second: figures.per_second(reads),
            writes_per_second: figures.per_second(writes),
            others_per_second: figures.per_second(others),
            queries_per_second: figures.per_second(queries),
            ignored_errors_per_second: figures.per_second(ignored_errors),
            reconnects_per_second: figures.per_second(reconnects),
        }
    }
}

impl LatencyFigures {
    fn of(latency: &Latency, percentile: u32) -> Self {
        let mut wanted = PERCENTILES.to_vec();
        if percentile > 0 {
            wanted.push(f64::from(percentile));
        }
        LatencyFigures::with_percentiles(latency, &wanted)
    }

    /// The figures of these latencies, with these percentiles.
    pub(super) fn with_percentiles(latency: &Latency, wanted: &[f64]) -> Self {
        let ms = |ns: f64| ns / 1e6;
        let percentiles = latency.percentiles(ferrio_stats::Buckets::Hdr, wanted);
        LatencyFigures {
            min: ms(latency.min() as f64),
            avg: ms(latency.mean()),
            max: ms(latency.max() as f64),
            sum: ms(latency.sum() as f64),
            stddev: ms(latency.stddev()),
            percentiles: percentiles
                .into_iter()
                .map(|(percent, ns)| (format!("{percent}"), ms(ns as f64)))
                .collect(),
            histogram: None,
        }
    }
}

impl LatencyFigures {
    /// The same figures with their samples.
    pub(super) fn with_histogram(self, latency: &Latency) -> Self {
        LatencyFigures { histogram: Some(LatencyHistogram::of(latency)), ..self }
    }
}

impl ThreadPart {
    fn of(thread: &ThreadFigures) -> Self {
        ThreadPart { events: thread.latency.count(), execution_time: thread.latency.sum() as f64 / 1e9 }
    }
}
