//! Limits of the rate of a job, and the minimums it must reach.

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
        Linear: "linear", "At equal distances";
        Poisson: "poisson", "At random distances";
    }
}
