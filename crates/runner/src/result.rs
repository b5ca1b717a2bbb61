//! What a run reports to its caller: events while it goes on, and at its end the figures and errors of every job.
//!
//! The observer of events is called on the main thread only.

use std::time::{Duration, SystemTime};

use ferrio_job::{Diagnostic, TuningUse};
use ferrio_stats::{JobStats, TickSource};

use crate::damage::DamageTally;
use crate::events::EventFigures;
use crate::failure::JobError;
use crate::idle::Idleness;

/// One thing that happened.
#[derive(Debug)]
pub enum Event<'a> {
    /// All jobs are known and about to start: how many count as threads and as processes.
    Starting {
        /// Jobs with `thread=1`.
        threads: usize,
        /// The others.
        processes: usize,
    },
    /// Files of a job are being created or extended.
    LayingOut {
        /// The job's name.
        job: &'a str,
        /// Files to lay out.
        files: usize,
        /// Bytes of the regions (offset + size) of those files.
        bytes: u64,
    },
    /// Jobs are set up and about to begin.
    Released,
    /// Something the user should know: a note, a failed I/O, a block that is not what was written.
    Diagnostic(Diagnostic),
    /// A job could not be set up or ended with an error.
    JobFailed {
        /// The job's name.
        job: &'a str,
        /// Thread id, 0 when no worker was started.
        pid: u32,
        /// The error.
        error: &'a JobError,
    },
    /// A signal ends the run.
    Terminating {
        /// Signal number.
        signal: i32,
    },
    /// The state of the running jobs, at least every 250 ms.
    Progress(&'a Progress),
    /// A report of the run so far is wanted now. Jobs that ended have their final figures, running ones those up to now, and all others
    /// the defaults. A job whose `start_ms` changed since an earlier report has started again: its ramp is over.
    Interim(&'a RunResult),
    /// The same each time that one of [`RunOptions::intervals`](crate::RunOptions::intervals) has passed.
    Interval {
        /// The place of the interval in that list.
        which: usize,
        /// The run so far.
        result: &'a RunResult,
    },
}

/// State of a job, for the live line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobState {
    /// Waiting for its turn.
    NotCreated,
    /// Started, waiting for release.
    Initialized,
    /// Setting up its files.
    SettingUp,
    /// Reading its files into the page cache.
    PreReading,
    /// Inside its ramp time.
    Ramp,
    /// Doing I/O.
    Running,
    /// Reading back what was written.
    Verifying,
    /// In a final fsync.
    Fsyncing,
    /// Doing what comes after the last I/O.
    Finishing,
    /// Ended.
    Reaped,
    /// Ended with an error.
    Failed,
}

impl JobState {
    /// The state in words, for people.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            JobState::NotCreated => "not started",
            JobState::Initialized => "ready",
            JobState::SettingUp => "setting up",
            JobState::PreReading => "reading ahead",
            JobState::Ramp => "ramp",
            JobState::Running => "running",
            JobState::Verifying => "verifying",
            JobState::Fsyncing => "fsync",
            JobState::Finishing => "finishing",
            JobState::Reaped => "ended",
            JobState::Failed => "failed",
        }
    }
}

/// The state of all jobs of a run.
#[derive(Clone, Debug)]
pub struct Progress {
    /// Since the run began.
    pub elapsed: Duration,
    /// One entry per job of the plan, in order.
    pub jobs: Vec<JobProgress>,
}

/// The state of one job.
#[derive(Clone, Copy, Debug)]
pub struct JobProgress {
    /// Its state.
    pub state: JobState,
    /// Since the job began to do I/O, zero before.
    pub elapsed: Duration,
    /// Since it began to be measured, at its start or the end of its ramp; zero before.
    pub measured: Duration,
    /// Bytes done per direction, ramp included.
    pub bytes: [u64; 3],
    /// I/Os done per direction, ramp included.
    pub ios: [u64; 3],
    /// Transactions done as a session of a model of a database, ramp included.
    pub transactions: u64,
    /// Files it has open.
    pub open_files: u32,
}

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
    /// Jobs that did not end after a second signal. Their threads go on until the process exits, and some of their rows may be missing in
    /// logs.
    pub abandoned: usize,
    /// How idle the CPUs were while jobs ran; `None` unless asked for.
    pub idleness: Option<Idleness>,
    /// The longest time, over all jobs that were to begin together, between the first and the last of them to begin their I/O; `None`
    /// without such jobs.
    pub start_spread: Option<Duration>,
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
            abandoned: 0,
            start_spread: None,
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
    /// It runs and did not answer: I/Os, bytes and times are those that main can see, all else is what it reported last.
    pub stale: bool,
    /// I/Os issued and not completed when a running job reported its figures; none where each I/O is one call that waits.
    pub in_flight: Option<u64>,
    /// The depth that the search for `latency_target` came to.
    pub latency_depth: Option<u32>,
    /// How steady it was; for a group that reports as one, with its last job.
    pub steadystate: Option<SteadyResult>,
    /// What it did because of `tuning=lean`.
    pub tuning_use: TuningUse,
    /// The blocks that failed their check.
    pub damage: DamageTally,
    /// The events that it has done, in a load that is counted in events.
    pub events: Option<Box<EventFigures>>,
}

/// The result of the checks of a steady state.
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
    /// ms in which it had requests.
    pub busy_ms: u64,
    /// Busy time in percent of the observed time, at most 100.
    pub util: f64,
    /// Places, among all entries, of the devices that this one is stacked on.
    pub slaves: Vec<usize>,
}
