//! What others may read of a worker while it runs: relaxed atomics on cache lines of their own.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Counters that one worker stores and the monitoring thread loads. Values may be a few I/Os apart from each other.
#[derive(Debug, Default)]
#[repr(align(128))]
pub struct LiveCounters {
    /// I/Os completed per direction.
    ios: [AtomicU64; 3],
    /// Bytes completed per direction.
    bytes: [AtomicU64; 3],
    /// Sum of completion latencies, ns, if the job publishes them.
    latency_ns: AtomicU64,
    /// How many the sum is of.
    latencies: AtomicU64,
}

impl LiveCounters {
    /// Stores the worker's counters of one direction. Only the owning worker calls it.
    #[inline]
    pub fn store(&self, direction: usize, ios: u64, bytes: u64) {
        self.ios[direction].store(ios, Relaxed);
        self.bytes[direction].store(bytes, Relaxed);
    }

    /// Stores the sum of all completion latencies in ns and their number. Only the owning worker calls it, if at all.
    pub fn store_latency(&self, sum_ns: u64, count: u64) {
        self.latency_ns.store(sum_ns, Relaxed);
        self.latencies.store(count, Relaxed);
    }

    /// Sum of the completion latencies published last, ns, and their number.
    #[must_use]
    pub fn latency(&self) -> (u64, u64) {
        (self.latency_ns.load(Relaxed), self.latencies.load(Relaxed))
    }

    /// I/Os completed so far.
    #[must_use]
    pub fn ios(&self) -> [u64; 3] {
        self.ios.each_ref().map(|c| c.load(Relaxed))
    }

    /// Bytes completed so far.
    #[must_use]
    pub fn bytes(&self) -> [u64; 3] {
        self.bytes.each_ref().map(|c| c.load(Relaxed))
    }
}
