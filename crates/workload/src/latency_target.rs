//! `latency_target`: the search for the largest depth at which I/Os stay within a latency. The worker waits for I/Os in flight and resets
//! figures.
//!
//! Time is divided into windows of one depth each. After a good window the depth is doubled, until one is bad; from then on the largest
//! good and the smallest bad depth converge. A depth that stays the same is judged once more, by a final window whose figures are those of
//! the job. All times are ns of one clock, whichever it is.

use std::time::Duration;

use ferrio_job::{JobSpec, LatencyTarget};

/// Good windows just below a bad depth after which that depth is tried again.
const RETRY_AFTER: u32 = 3;

/// State of the search.
#[derive(Clone, Debug)]
pub struct DepthSearch {
    target_ns: u64,
    window_ns: u64,
    percentile: f64,
    /// Whether the search never ends by itself.
    goes_on: bool,
    /// Largest depth allowed.
    iodepth: u32,
    depth: u32,
    /// Largest depth that was good.
    low: u32,
    /// Smallest depth that was bad; the largest permitted one as long as none was.
    high: u32,
    any_was_bad: bool,
    /// Good windows at `high - 1` since `high` last changed.
    below_high: u32,
    /// Whether the window is the final one.
    last_window: bool,
    /// Whether not even depth 1 was good in the last window.
    unmet: bool,
    /// Whether I/Os count: the window was begun and is not judged.
    open: bool,
    began_ns: u64,
    within: u64,
    total: u64,
}

/// The reaction to the end of a window. Afterwards, [`DepthSearch::begin_window`] begins the next one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WindowVerdict {
    /// Continue at [`DepthSearch::depth`].
    GoOn,
    /// Wait for all I/Os in flight, then continue at [`DepthSearch::depth`].
    Retreat,
    /// The depth is found. Wait for all I/Os in flight, reset all figures, and run one more window.
    Found,
    /// The search is over, and so is the job.
    Done,
    /// An I/O was late although every one must be within the target and no other was in flight: the job has failed.
    Late,
}

impl DepthSearch {
    /// The search of `spec`; `None` without a target. It begins with a window of depth 1, once that is begun.
    #[must_use]
    pub fn new(spec: &JobSpec) -> Option<Self> {
        let LatencyTarget { target, window, percentile, goes_on } = spec.latency_target;
        let ns = |time: Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        spec.latency_target.is_sought().then(|| DepthSearch {
            target_ns: ns(target),
            window_ns: ns(window),
            percentile,
            goes_on,
            iodepth: spec.depth.iodepth,
            depth: 1,
            low: 1,
            high: spec.depth.iodepth,
            any_was_bad: false,
            below_high: 0,
            last_window: false,
            unmet: false,
            open: false,
            began_ns: 0,
            within: 0,
            total: 0,
        })
    }

    /// Number of I/Os to keep in flight now.
    #[must_use]
    pub fn depth(&self) -> u32 {
        self.depth
    }

    /// The longest latency within the target, ns.
    #[must_use]
    pub fn target_ns(&self) -> u64 {
        self.target_ns
    }

    /// Whether the window judged last had depth 1, and was bad.
    #[must_use]
    pub fn is_unmet(&self) -> bool {
        self.unmet
    }

    /// Begins a window: I/Os count from now on.
    pub fn begin_window(&mut self, now_ns: u64) {
        (self.began_ns, self.within, self.total, self.open) = (now_ns, 0, 0, true);
    }

    /// Counts a completed I/O with this latency. `None` while the window continues, and between two windows.
    pub fn completed(&mut self, latency_ns: u64, now_ns: u64) -> Option<WindowVerdict> {
        if !self.open {
            return None;
        }
        let late = latency_ns > self.target_ns;
        self.total += 1;
        self.within += u64::from(!late);
        let all_must_be_within = self.percentile >= 100.0;
        if late && all_must_be_within {
            self.open = false;
            return Some(if self.depth == 1 { WindowVerdict::Late } else { self.bad() });
        }
        if now_ns.saturating_sub(self.began_ns) < self.window_ns {
            return None;
        }
        self.open = false;
        let share = self.within as f64 * 100.0 / self.total as f64;
        Some(if all_must_be_within || share >= self.percentile { self.good() } else { self.bad() })
    }

    fn good(&mut self) -> WindowVerdict {
        let before = self.depth;
        self.unmet = false;
        self.low = before;
        if self.any_was_bad && before + 1 == self.high {
            self.below_high += 1;
            if self.below_high == RETRY_AFTER {
                self.high += 1;
                self.below_high = 0;
            }
        }
        let next = if self.any_was_bad { before.midpoint(self.high) } else { before.saturating_mul(2) };
        self.depth = next.min(self.iodepth);
        if self.depth != before || self.goes_on {
            self.last_window = false;
            return WindowVerdict::GoOn;
        }
        if self.last_window {
            return WindowVerdict::Done;
        }
        self.last_window = true;
        WindowVerdict::Found
    }

    fn bad(&mut self) -> WindowVerdict {
        self.last_window = false;
        if self.depth == 1 {
            self.unmet = true;
            return WindowVerdict::GoOn;
        }
        self.high = self.depth;
        self.any_was_bad = true;
        self.below_high = 0;
        if self.depth == self.low {
            self.low -= 1;
        }
        self.depth = self.depth.midpoint(self.low);
        WindowVerdict::Retreat
    }
}

#[cfg(test)]
mod tests;
