//! Results of thresholds (`--fail-if`).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A threshold and its result.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ThresholdReport {
    /// The expression as given.
    pub expression: String,
    /// True if no entry of `jobs` exceeds the threshold and all entries that it applies to have the figure.
    pub passed: bool,
    /// `jobname` of the entry with the worst figure; absent, as is `value`, if no entry has the figure.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub jobname: Option<String>,
    /// `groupid` of that entry.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub groupid: Option<u32>,
    /// Worst figure: in ns for latencies, ms for run times, bytes, and bytes per second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<f64>,
    /// Limit in the same unit.
    pub limit: f64,
    /// Number of entries that exceed the threshold.
    pub exceeded: u64,
    /// Reason why the threshold could not be evaluated; it has not passed in this case.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}
