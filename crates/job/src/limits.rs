//! How much a job does, and for how long.

use std::time::Duration;

/// How much a job does and for how long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of the job's region over all files (fio's "size").
    pub size: u64,
    /// Bytes to transfer when `io_size` was given.
    pub io_size: Option<u64>,
    /// I/Os to do, 0 unlimited.
    pub number_ios: u64,
    /// Passes, at least 1.
    pub loops: u32,
    /// Cap on the run time, zero for none.
    pub runtime: Duration,
    /// Run for `runtime` even after all I/O is done.
    pub time_based: bool,
    /// Time at the start that is not measured.
    pub ramp_time: Duration,
    /// Bytes at the start that are not measured, 0 for none; exclusive with `ramp_time`.
    pub ramp_size: u64,
    /// Delay of the start, counted from the end of set-up; for a range drawn in `low..=high`.
    pub startdelay: (Duration, Duration),
}

impl Limits {
    /// Size of a job that only a full device limits (`fill_device`), in bytes: more than any file system holds.
    pub const UNLIMITED: u64 = 1 << 62;

    /// True when only a full device limits the job.
    #[must_use]
    pub fn is_unlimited(&self) -> bool {
        // Shares of several files are rounded down.
        self.size > Self::UNLIMITED / 2
    }
}
