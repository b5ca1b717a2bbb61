//! Messages from a run to the writer of its log files.

use ferrio_job::LogKind;

use crate::histogram::Histogram;
use crate::latency::{Window, WindowSummary};
use crate::sample::{IoSample, RateSample};

/// A message to the log writer. `job` is the index in the plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LogBatch {
    /// The job begins to be measured; sent before anything else of it, if its times count from another epoch than that.
    Began {
        /// Index of the job.
        job: usize,
        /// Time of the chosen clock, ms.
        epoch_ms: u64,
    },
    /// Completed I/Os in order of completion.
    Ios {
        /// Index of the job.
        job: usize,
        /// The I/Os.
        samples: Vec<IoSample>,
    },
    /// A window of latencies that ended.
    Window {
        /// Index of the job.
        job: usize,
        /// The log.
        kind: LogKind,
        /// 0 read, 1 write, 2 trim.
        direction: u8,
        /// ms since the job began to be measured.
        time_ms: u64,
        /// The values of the window.
        summary: WindowSummary,
    },
    /// The completion latencies of a direction since its last histogram.
    Histogram {
        /// Index of the job.
        job: usize,
        /// 0 read, 1 write, 2 trim.
        direction: u8,
        /// ms since the job began to be measured.
        time_ms: u64,
        /// Bytes of the last I/O.
        len: u64,
        /// Counts by bucket.
        counts: Box<[u64]>,
    },
    /// The sums that are in no row when the last I/O of a job has completed.
    Rest {
        /// Index of the job.
        job: usize,
        /// Time of the last I/O.
        last_ms: u64,
        /// Running windows by log and direction.
        windows: Vec<(LogKind, [Window; 3])>,
        /// Counts since the last histograms.
        histograms: Option<Box<[Histogram; 3]>>,
    },
    /// The rates of an interval.
    Rates {
        /// Index of the job.
        job: usize,
        /// The log.
        kind: LogKind,
        /// The rates.
        sample: RateSample,
    },
    /// The bandwidth of all jobs together; its times count from the beginning of the run.
    Total {
        /// The sample.
        sample: RateSample,
    },
    /// The job is over: nothing more of it follows.
    Ended {
        /// Index of the job.
        job: usize,
        /// ms it was measured.
        time_ms: u64,
    },
}
