//! How fast a job goes: limits of its rate, pauses, latencies that it must keep, and flow groups.

use std::time::Duration;

use crate::choice::choices;
use crate::{Direction, PerDirection};

/// Rate limits of one job in bytes per second or in I/Os per second, never both; 0 is none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rates {
    /// `rate`, bytes/s.
    pub bytes: PerDirection<u64>,
    /// `rate_iops`.
    pub iops: PerDirection<u64>,
    /// `rate_process=poisson`: I/Os arrive at random times around the ones the rate asks for.
    pub poisson: bool,
    /// `rate_min`, bytes/s.
    pub min_bytes: PerDirection<u64>,
    /// `rate_iops_min`.
    pub min_iops: PerDirection<u64>,
    /// `rate_cycle`: time between two checks of the minimums.
    pub cycle: Duration,
    /// `rate_ignore_thinktime`: the job does not catch up on time spent in pauses.
    pub ignore_thinktime: bool,
}

impl Rates {
    /// True when any direction is limited.
    #[must_use]
    pub fn any(&self) -> bool {
        self.bytes.0.iter().chain(&self.iops.0).any(|&r| r > 0)
    }

    /// True when this direction is limited.
    #[must_use]
    pub fn limits(&self, direction: Direction) -> bool {
        self.bytes[direction] > 0 || self.iops[direction] > 0
    }
}

choices! {
    /// `rate_process`: when the I/Os of a limited job are due.
    pub enum RateProcess default Linear {
        Linear: "linear", "At equal intervals";
        Poisson: "poisson", "At random intervals, a Poisson process";
    }
}

/// `thinktime` and the options below it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Think {
    /// Length of a pause; zero for none.
    pub time: Duration,
    /// Part of a pause that keeps the CPU busy, at most `time`.
    pub spin: Duration,
    /// A pause follows this many I/Os; `None` when only `iotime` decides.
    pub blocks: Option<u32>,
    /// `blocks` counts issued I/Os, not completed ones.
    pub at_issue: bool,
    /// A pause follows this much time without one; zero when only `blocks` decides.
    pub iotime: Duration,
    /// `thinkcycles`: turns of an empty loop after each I/O.
    pub cycles: u32,
}

choices! {
    /// `thinktime_blocks_type`: which I/Os `thinktime_blocks` counts.
    pub enum ThinktimeBlocksType default Complete {
        Complete: "complete", "Count completed blocks";
        Issue: "issue", "Count issued blocks";
    }
}

/// `latency_target` and the options below it: the search for the largest depth that keeps a latency.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
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

/// `max_latency`: the total latency of an I/O that ends the job, by direction; zero for none.
pub type MaxLatency = PerDirection<Duration>;

/// `flow` and the options below it: the group of jobs that do I/Os in fixed proportions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flow {
    /// `flow_id`: jobs with one id are a group.
    pub id: u32,
    /// `flow`: I/Os of this job in proportion to the weights of the others, 1..=1000.
    pub weight: u32,
    /// `flow_sleep`: how long to sleep while other jobs are due; zero to poll.
    pub sleep: Duration,
}
