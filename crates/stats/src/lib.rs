//! The figures of a run: the clock, latency histograms and their quantiles, counters, bandwidth samples, CPU usage, trimmed blocks.
//!
//! Workers own one [`JobStats`] each and record into it without locks; everything merges associatively, so groups, passes and
//! repeated runs use the same call. `since` returns the difference between two snapshots of a job. Nothing here
//! knows a text format.
//!
//! Unsafe code is denied, except for the one instruction that reads the time stamp counter.
#![deny(unsafe_code)]

mod block_errors;
mod clock;
mod direction;
mod distribution;
mod job;
mod latency;
mod priority;
mod quantile;
mod recorder;
mod samples;
mod saturating;
mod thread_usage;

pub use block_errors::{BlockErrors, BlockState};
pub use clock::{Clock, ClockReading, LongClock, TickSource, counter_is_invariant};
pub use direction::{DirectionRecorder, DirectionStats};
pub use distribution::{BatchSizes, DepthLevels, LatencyBuckets};
pub use job::{JobStats, SyncStats};
pub use latency::{
    FIO_BUCKETS, ImpossibleLatency, Latency, LatencyParts, NewSamples, cell_middle_ns, cell_of, fio_bucket,
    fio_bucket_value,
};
pub use priority::{PriorityLatency, PriorityStats};
pub use quantile::{Buckets, quantile_error};
pub use recorder::Recorder;
pub use samples::{LiveCounters, SampleStats, Sampler};
pub use saturating::{saturating_add_to, saturating_total};
pub use thread_usage::ThreadUsage;
