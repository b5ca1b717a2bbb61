//! What thresholds (`--fail-if`) found in the figures of a run.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A threshold and what it found.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ThresholdReport {
    /// The expression as given.
    pub expression: String,
    /// True if no entry of `jobs` exceeds the threshold and all that it applies to have the figure.
    pub passed: bool,
    /// `jobname` of the entry with the worst figure; absent, as is `value`, if no entry has the figure.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub jobname: Option<String>,
    /// `groupid` of that entry.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub groupid: Option<u32>,
    /// Its figure: ns for latencies, ms for run times, bytes and bytes per second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<f64>,
    /// The limit in the same unit.
    pub limit: f64,
    /// Number of entries that exceed the threshold.
    pub exceeded: u64,
    /// Why the threshold cannot be judged; it has not passed then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}
