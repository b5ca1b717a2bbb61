//! What a run leaves behind: figures and errors of every job, disk statistics.

use std::time::{Duration, SystemTime};

use ferrio_stats::{JobStats, TickSource};

use crate::failure::JobError;
use crate::idle::Idleness;
use crate::progress::Progress;

/// Everything measured in a run.
#[derive(Debug)]
pub struct RunResult {
    /// One entry per job of the plan, in order.
    pub jobs: Vec<JobResult>,
    /// Disks under the files of the run, in order of first use; slaves of a stacked device follow it.
    pub disks: Vec<DiskUsage>,
    /// When the first job started.
    pub started: SystemTime,
    /// From then to the end.
    pub elapsed: Duration,
    /// The signal that ended the run early.
    pub signal: Option<i32>,
    /// How idle the CPUs were while jobs ran; `None` unless asked for.
    pub idleness: Option<Idleness>,
    /// What the times were measured with.
    pub clock: TickSource,
    /// The state of each job while the run goes on; `None` when it is over.
    pub progress: Option<Progress>,
}

impl Default for RunResult {
    /// No jobs, and no time.
    fn default() -> Self {
        RunResult {
            jobs: Vec::new(),
            disks: Vec::new(),
            started: SystemTime::UNIX_EPOCH,
            elapsed: Duration::ZERO,
            signal: None,
            clock: TickSource::default(),
            idleness: None,
            progress: None,
        }
    }
}

/// One job's outcome.
#[derive(Clone, Debug, Default)]
pub struct JobResult {
    /// When its I/O (or the part after its ramp) began, ms since 1970; 0 if it never did.
    pub start_ms: u64,
    /// Thread id of the worker, 0 if none was started.
    pub pid: u32,
    /// What ended it early.
    pub error: Option<JobError>,
    /// Figures.
    pub stats: JobStats,
    /// How long the figures cover: from the start of its I/O, or of the part after its ramp, to the moment they were taken.
    pub measured: Duration,
    /// The figures are those of its ramp, which lasts or in which the job ended.
    pub in_ramp: bool,
    /// It runs and did not answer: I/Os, bytes and times are what can be seen from outside, all else is what it reported last.
    pub stale: bool,
    /// I/Os issued and not completed when a running job reported its figures; none where each I/O is one call that waits.
    pub in_flight: Option<u64>,
    /// The depth that the search for `latency_target` came to.
    pub latency_depth: Option<u32>,
    /// How steady it was; for a group that reports as one, with its last job.
    pub steadystate: Option<SteadyResult>,
}

/// What came out of the checks of a steady state.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SteadyResult {
    /// The state was steady, and the job ended for that.
    pub attained: bool,
    /// What the limit is compared with, in percent of the mean if the limit is; 0 until the window was full.
    pub criterion: f64,
    /// Largest deviation from the mean, if that is judged.
    pub max_deviation: f64,
    /// Slope per check, if that is judged.
    pub slope: f64,
    /// The window, oldest first.
    pub checks: Vec<SteadyCheck>,
}

/// The figures of one check, all directions together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SteadyCheck {
    /// I/Os per second.
    pub iops: u64,
    /// Bytes per second.
    pub bw: u64,
    /// Mean completion latency, ns; 0 unless latencies are judged.
    pub lat_ns: u64,
}

/// Activity of one disk while files on it were open.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DiskUsage {
    /// Name below /sys/block.
    pub name: String,
    /// Completed reads, writes.
    pub ios: [u64; 2],
    /// 512-byte sectors read, written.
    pub sectors: [u64; 2],
    /// Merged reads, writes.
    pub merges: [u64; 2],
    /// ms spent reading, writing.
    pub ticks: [u64; 2],
    /// ms weighted by requests in the queue.
    pub in_queue: u64,
    /// Busy time in percent of the observed time, at most 100.
    pub util: f64,
    /// Places, among all entries, of the devices that this one is stacked on.
    pub slaves: Vec<usize>,
}
