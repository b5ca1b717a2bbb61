//! The steady state of an entry.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::rules;

/// What came of a steady state.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct SteadyReport {
    /// The criterion and its limit, such as `iops:20.000000%`: `iops`, `bw` or `lat`, with `_slope` for the slope, a colon, the limit,
    /// and `%` if it is relative.
    #[schemars(regex(pattern = r"^(iops|bw|lat)(_slope)?:-?[0-9]+\.[0-9]{6}%?$"))]
    pub ss: String,
    /// Length of the window, seconds.
    pub duration: u64,
    /// 1 if the steady state was attained, 0 if not.
    #[schemars(range(max = 1))]
    pub attained: u8,
    /// The value that was compared with the limit, written like the limit.
    #[schemars(regex(pattern = r"^-?[0-9]+\.[0-9]{6}%?$"))]
    pub criterion: String,
    /// Largest deviation from the mean; 0 if the slope was checked.
    #[schemars(range(min = 0))]
    pub max_deviation: f64,
    /// Slope per check; 0 if the deviation was checked.
    pub slope: f64,
    /// The window, all directions together. Checks that were not made are 0 and count in the means.
    pub data: SteadyData,
}

/// Figures of a steady state window, all directions together.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(transform = rules::together::<SteadyLatency>)]
pub struct SteadyData {
    /// Mean bandwidth, bytes per second.
    pub bw_mean: u64,
    /// Mean IOPS.
    pub iops_mean: u64,
    /// Completion latencies, if they were checked.
    #[serde(flatten)]
    pub latency: Option<SteadyLatency>,
    /// IOPS of each check, oldest first.
    pub iops: Vec<u64>,
    /// Bandwidth of each check, bytes per second.
    pub bw: Vec<u64>,
}

/// Completion latencies in a steady state window.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SteadyLatency {
    /// Mean completion latency, ns.
    pub lat_mean: u64,
    /// Mean completion latency of each check, ns, oldest first.
    pub lat_ns: Vec<u64>,
}
