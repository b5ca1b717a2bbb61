//! Samples that logs are made from.

/// One completed I/O.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IoSample {
    /// ns since the job began to be measured.
    pub time_ns: u64,
    /// Submission latency, asynchronous engines only.
    pub slat_ns: Option<u64>,
    /// Completion latency.
    pub clat_ns: u64,
    /// File offset.
    pub offset: u64,
    /// Bytes.
    pub len: u64,
    /// I/O priority as the kernel packs it, 0 for none.
    pub priority: u16,
    /// 0 read, 1 write, 2 trim.
    pub direction: u8,
}

impl IoSample {
    /// Total latency.
    #[inline]
    #[must_use]
    pub fn lat_ns(&self) -> u64 {
        self.slat_ns.unwrap_or(0) + self.clat_ns
    }
}

// Every I/O that is logged copies one, and thousands of them wait for the writer.
const _: () = assert!(size_of::<IoSample>() == 56);

/// The rates of a job in one interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateSample {
    /// ms since the job began to be measured, at the end of the interval.
    pub time_ms: u64,
    /// Bandwidth in KiB/s, or I/Os per second.
    pub per_second: [u64; 3],
}

#[inline]
pub(crate) const fn milliseconds(ns: u64) -> u64 {
    ns / 1_000_000
}
