//! The result of one job.

use std::time::Duration;

use ferrio_job::Optimisations;
use ferrio_stats::JobStats;
use serde::{Deserialize, Serialize};

use crate::{DamageTally, EventFigures, JobError};

/// One job's outcome.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct JobResult {
    /// When the job's I/O (or the part after its ramp) began, ms since 1970; 0 if it never did.
    pub start_ms: u64,
    /// Thread id of the worker, 0 if none was started.
    pub pid: u32,
    /// The error that ended the job early.
    pub error: Option<JobError>,
    /// Figures.
    pub stats: JobStats,
    /// How long the figures cover: from the start of its I/O, or of the part after its ramp, to the moment they were taken.
    pub measured: Duration,
    /// The figures are those of its ramp, which lasts or in which the job ended.
    pub in_ramp: bool,
    /// It runs and did not answer: I/Os, bytes and times are those that main can see, all else is what it reported last.
    pub stale: bool,
    /// I/Os issued and not completed when a running job reported its figures; none where each I/O is one call that waits.
    pub in_flight: Option<u64>,
    /// The depth that the search for `latency_target` came to.
    pub latency_depth: Option<u32>,
    /// How steady it was; for a group that reports as one, with its last job.
    pub steadystate: Option<SteadyResult>,
    /// The optimisations in use because of `tuning=lean`.
    pub optimisations: Optimisations,
    /// The blocks that failed their check.
    pub damage: DamageTally,
    /// The events that it has done, in a load that is counted in events.
    pub events: Option<Box<EventFigures>>,
}

/// The result of the checks of a steady state.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SteadyResult {
    /// The state was steady, and the job ended for that.
    pub attained: bool,
    /// The figure that the limit is compared with, in percent of the mean if the limit is; 0 until the window was full.
    pub criterion: f64,
    /// Largest deviation from the mean, if that is judged.
    pub max_deviation: f64,
    /// Slope per check, if that is judged.
    pub slope: f64,
    /// The window, oldest first.
    pub checks: Vec<SteadyCheck>,
}

/// The figures of one check, all directions together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SteadyCheck {
    /// I/Os per second.
    pub iops: u64,
    /// Bytes per second.
    pub bw: u64,
    /// Mean completion latency, ns; 0 unless latencies are judged.
    pub lat_ns: u64,
}
