//! CPU time, context switches and page faults of one thread, from getrusage(2).

use nix::sys::resource::{UsageWho, getrusage};
use serde::{Deserialize, Serialize};

/// The kernel's counters of a thread, or the difference between two readings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThreadUsage {
    /// User time, µs.
    pub user_us: u64,
    /// System time, µs.
    pub system_us: u64,
    /// Voluntary and involuntary context switches.
    pub context_switches: u64,
    /// Page faults that needed I/O.
    pub major_faults: u64,
    /// Page faults that needed no I/O.
    pub minor_faults: u64,
}

impl ThreadUsage {
    /// Reads the counters of the calling thread; zeros where the kernel refuses.
    #[must_use]
    pub fn of_this_thread() -> Self {
        let Ok(usage) = getrusage(UsageWho::RUSAGE_THREAD) else {
            return ThreadUsage::default();
        };
        let us = |t: nix::sys::time::TimeVal| t.tv_sec() as u64 * 1_000_000 + t.tv_usec() as u64;
        ThreadUsage {
            user_us: us(usage.user_time()),
            system_us: us(usage.system_time()),
            context_switches: (usage.voluntary_context_switches() + usage.involuntary_context_switches())
                as u64,
            major_faults: usage.major_page_faults() as u64,
            minor_faults: usage.minor_page_faults() as u64,
        }
    }

    /// Growth since an earlier reading of the same thread.
    #[must_use]
    pub fn since(&self, earlier: &ThreadUsage) -> ThreadUsage {
        self.zip(earlier, u64::saturating_sub)
    }

    /// Adds another thread's counters.
    pub fn merge(&mut self, other: &ThreadUsage) {
        *self = self.zip(other, u64::saturating_add);
    }

    fn zip(&self, other: &ThreadUsage, combine: impl Fn(u64, u64) -> u64) -> ThreadUsage {
        ThreadUsage {
            user_us: combine(self.user_us, other.user_us),
            system_us: combine(self.system_us, other.system_us),
            context_switches: combine(self.context_switches, other.context_switches),
            major_faults: combine(self.major_faults, other.major_faults),
            minor_faults: combine(self.minor_faults, other.minor_faults),
        }
    }
}
#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_shows_up_in_the_difference() {
        let before = ThreadUsage::of_this_thread();
        let pages = vec![1u8; 4 << 20];
        let after = ThreadUsage::of_this_thread().since(&before);
        assert!(after.minor_faults >= 1, "{after:?} after touching {} bytes", pages.len());
    }
}
