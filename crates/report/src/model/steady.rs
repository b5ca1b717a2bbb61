//! The steady state of an entry.

/// What came out of a steady state, as fio's document has it.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct SteadyReport {
    /// What was judged and the limit: `iops:20.000000%`.
    pub ss: String,
    /// Length of the window in s.
    pub duration: u64,
    /// 1 if the state was steady.
    pub attained: u8,
    /// What the limit was compared with: `0.125188%`.
    pub criterion: String,
    /// Largest deviation from the mean; 0 if the slope was judged.
    pub max_deviation: f64,
    /// Slope per check; 0 if the deviation was judged.
    pub slope: f64,
    /// The window.
    pub data: SteadyData,
    /// The criterion as the text shows it.
    #[serde(skip)]
    pub text: String,
}

/// Figures of a steady state window, all directions together. Checks that were never made are 0 and count in the means.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct SteadyData {
    /// Bytes per second.
    pub bw_mean: u64,
    /// I/Os per second.
    pub iops_mean: u64,
    /// Completion latencies, if they were judged.
    #[serde(flatten)]
    pub latency: Option<SteadyLatency>,
    /// I/Os per second of each check, oldest first.
    pub iops: Vec<u64>,
    /// Bytes per second of each check.
    pub bw: Vec<u64>,
}

/// Completion latencies in a steady state window.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct SteadyLatency {
    /// Their mean, ns.
    pub lat_mean: u64,
    /// Mean of each check, ns.
    pub lat_ns: Vec<u64>,
}
