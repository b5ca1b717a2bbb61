//! When the CPUs were throttled: a part of the `ferrio` object of documents in the format json+.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A time in which the CPUs were throttled, again and again or throughout.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(extend("if" = { "properties": { "cause": { "const": "cgroup" } } }, "then" = { "required": ["throttled_ms"] }))]
pub struct ThrottlingPeriod {
    /// When the kernel's counters were last read before it, ms since the start of the run; they are read twice a second.
    pub from_ms: u64,
    /// When they were first read after it, ms since the start of the run.
    pub to_ms: u64,
    /// What throttled the CPUs: `cgroup` is the CPU limit of the control group or of one above it, `heat` is the protection of the CPU.
    pub cause: ThrottlingCause,
    /// For how long within this time, ms, rounded up. With `cgroup`, the times that threads were stopped, added over CPUs: this may be more
    /// than the length of the period. With `heat`, the time of the core or socket that was slowed down longest; absent if the kernel does
    /// not say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub throttled_ms: Option<u64>,
}

/// Why CPUs were throttled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
#[expect(missing_docs, reason = "comments on variants would split the list of words in the schema")]
pub enum ThrottlingCause {
    #[default]
    Cgroup,
    Heat,
}
