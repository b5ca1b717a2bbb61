//! What holds a job back or ends it while it runs: latencies that it must keep, jobs that it shares a flow with.

use std::time::Duration;

use crate::PerDirection;

/// `latency_target` and the options below it: the search for the largest depth that keeps a latency.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LatencyTarget {
    /// Longest total latency of an I/O within the target; zero when nothing is searched for.
    pub target: Duration,
    /// Time at one depth until it is judged; zero when every I/O is.
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

/// `flow` and the options below it: the group of jobs that do I/Os in fixed proportions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flow {
    /// `flow_id`: jobs with one id are a group.
    pub id: u32,
    /// `flow`: I/Os of this job in proportion to the weights of the others, 1..=1000.
    pub weight: u32,
    /// `flow_sleep`: how long to sleep when it is the turn of others; zero to keep looking.
    pub sleep: Duration,
}
