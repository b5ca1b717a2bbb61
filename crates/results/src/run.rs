//! The result of a run.

use std::time::{Duration, SystemTime};

use ferrio_stats::TickSource;
use serde::{Deserialize, Serialize};

use crate::{Idleness, JobResult, JobState, Progress};

/// Everything measured in a run.
#[derive(Debug, Serialize, Deserialize)]
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
    /// Jobs that did not end after a second signal. Their threads go on until the process exits, and some of their rows may be missing in
    /// logs.
    pub abandoned: usize,
    /// How idle the CPUs were while jobs ran; `None` unless asked for.
    pub idleness: Option<Idleness>,
    /// The longest time, over all jobs that were to begin together, between the first and the last of them to begin their I/O; `None`
    /// without such jobs.
    pub start_spread: Option<Duration>,
    /// The clock that the times were measured with.
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
            abandoned: 0,
            start_spread: None,
            clock: TickSource::default(),
            idleness: None,
            progress: None,
        }
    }
}

/// Activity of one disk while files on it were open.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
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
    /// ms in which it had requests.
    pub busy_ms: u64,
    /// Busy time in percent of the observed time, at most 100.
    pub util: f64,
    /// Indices, among all entries, of the devices that this one is stacked on.
    pub slaves: Vec<usize>,
}

/// How long a job must have been measured before its figures so far are judged. Its first I/Os are not like the rest.
const MIN_MEASURED: Duration = Duration::from_secs(3);

impl RunResult {
    /// True if a job of a run that goes on has ended, or was measured for long enough to be judged.
    #[must_use]
    pub fn has_enough_data(&self, job: usize) -> bool {
        let progress = self.progress.as_ref().and_then(|progress| progress.jobs.get(job));
        let (Some(progress), Some(job)) = (progress, self.jobs.get(job)) else { return false };
        match progress.state {
            JobState::Reaped | JobState::Failed => job.error.is_some() || !job.measured.is_zero(),
            _ => !job.in_ramp && job.measured >= MIN_MEASURED,
        }
    }
}
