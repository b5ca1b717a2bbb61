//! How many I/Os of a job are in flight at once.

use crate::choice::choices;

/// Queue depth and batching, already made consistent with each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Depth {
    /// I/Os kept in flight, at least 1.
    pub iodepth: u32,
    /// Queue this many before one submission, 1..=iodepth.
    pub batch: u32,
    /// Wait for at least this many completions; 0 polls.
    pub complete_min: u32,
    /// Take at most this many completions, at least `complete_min`.
    pub complete_max: u32,
    /// Once full, the queue is refilled when only this many are left, 1..=iodepth.
    pub low: u32,
}

choices! {
    /// `io_submit_mode`: who submits the I/Os of a job.
    pub enum SubmitMode default Inline {
        Inline: "inline", "The job itself submits and completes";
        Offload: "offload", "A pool of threads submits";
    }
}
