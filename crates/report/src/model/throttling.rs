//! Periods of CPU throttling: a part of the `ferrio` object of documents in the format json+.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A period in which the CPUs were throttled repeatedly or throughout.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(extend("if" = { "properties": { "cause": { "const": "cgroup" } } }, "then" = { "required": ["throttled_ms"] }))]
pub struct ThrottlingPeriod {
    /// Last time at which the kernel's counters were read before the period, in ms since the start of the run; they are read twice a
    /// second.
    pub from_ms: u64,
    /// First time at which the counters were read after the period, in ms since the start of the run.
    pub to_ms: u64,
    /// Cause: `cgroup` is the CPU limit of the control group or of one above it, `heat` is the thermal protection of the CPU.
    pub cause: ThrottlingCause,
    /// Throttled time within this period, in ms, rounded up. With `cgroup`, the time for which threads were stopped, summed over CPUs: it
    /// may exceed the length of the period. With `heat`, the time of the core or socket that was slowed down longest; absent if the kernel
    /// does not report it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub throttled_ms: Option<u64>,
}

/// Cause of CPU throttling.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
#[expect(missing_docs, reason = "comments on variants would split the list of words in the schema")]
pub enum ThrottlingCause {
    #[default]
    Cgroup,
    Heat,
}
