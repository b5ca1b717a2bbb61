//! Latencies that a job must keep: `latency_target` and `max_latency`.

use std::time::Duration;

use crate::PerDirection;

/// `latency_target` and the options below it: the search for the largest depth that keeps a latency.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LatencyTarget {
    /// Longest total latency of an I/O within the target; zero when no depth is searched for.
    pub target: Duration,
    /// Time at one depth before it is judged; zero to judge after every I/O.
    pub window: Duration,
    /// Share of I/Os that must be within the target, percent.
    pub percentile: f64,
    /// `latency_run`: the search goes on until the job ends.
    pub goes_on: bool,
}

impl LatencyTarget {
    /// True when a depth is searched for.
    #[must_use]
    pub fn is_sought(&self) -> bool {
        !self.target.is_zero()
    }
}

impl Default for LatencyTarget {
    fn default() -> Self {
        LatencyTarget { target: Duration::ZERO, window: Duration::ZERO, percentile: 100.0, goes_on: false }
    }
}

/// `max_latency`: the total latency of an I/O that ends the job, by direction; zero for none.
pub type MaxLatency = PerDirection<Duration>;
