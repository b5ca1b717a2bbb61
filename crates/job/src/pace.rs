//! How fast a job goes: limits and minimums of its rate, pauses between its I/Os.

use std::time::Duration;

use crate::{Direction, PerDirection};

/// Rate limits of one job, 0 is none; bytes per second or I/Os per second, exclusive.
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
    /// `rate_cycle`: time between two looks at the minimums.
    pub cycle: Duration,
    /// `rate_ignore_thinktime`: what pauses cost is not caught up with.
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

/// `thinktime` and the options below it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Think {
    /// Length of a pause; zero for none.
    pub time: Duration,
    /// Part of a pause that keeps the CPU busy, at most `time`.
    pub spin: Duration,
    /// A pause follows this many I/Os; `None` when only `iotime` decides.
    pub blocks: Option<u32>,
    /// Issued I/Os count, not completed ones.
    pub at_issue: bool,
    /// A pause follows this much time without one; zero when only `blocks` decides.
    pub iotime: Duration,
    /// `thinkcycles`: turns of an empty loop after each I/O.
    pub cycles: u32,
}
