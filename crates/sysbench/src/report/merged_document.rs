//! The row of one machine in a document of several.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One of the documents that a document has together.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct MergedDocument {
    /// The name of its file.
    pub name: String,
    /// Threads.
    pub threads: u32,
    /// How long the run was, s.
    #[schemars(range(min = 0))]
    pub measured: f64,
    /// Events.
    pub events: u64,
    /// Events per second.
    #[schemars(range(min = 0))]
    pub events_per_second: f64,
    /// The mean latency of its events, ms.
    #[schemars(range(min = 0))]
    pub latency_avg_ms: f64,
    /// The latency that 95 % of its events do not exceed, ms.
    #[schemars(range(min = 0))]
    pub latency_p95_ms: f64,
    /// The latency that 99 % of its events do not exceed, ms.
    #[schemars(range(min = 0))]
    pub latency_p99_ms: f64,
    /// The longest, ms.
    #[schemars(range(min = 0))]
    pub latency_max_ms: f64,
}
