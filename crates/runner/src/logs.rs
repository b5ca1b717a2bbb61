//! What a run hands to whoever writes log files: batches through a bounded queue, so that memory stays bounded too.

use std::sync::mpsc::SyncSender;

use ferrio_plan::Logs;

use crate::worker::clock_ms;

/// One completed I/O.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IoSample {
    /// ns since the job began to be measured.
    pub time_ns: u64,
    /// Submission latency, asynchronous engines only.
    pub slat_ns: Option<u64>,
    /// Completion latency.
    pub clat_ns: u64,
    /// Total latency.
    pub lat_ns: u64,
    /// File offset.
    pub offset: u64,
    /// Bytes.
    pub len: u32,
    /// I/O priority as the kernel packs it, 0 for none.
    pub priority: u16,
    /// 0 read, 1 write, 2 trim.
    pub direction: u8,
}

/// What one interval of a job moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateSample {
    /// ms since the job began to be measured, at the end of the interval.
    pub time_ms: u64,
    /// Bandwidth in KiB/s, or I/Os per second.
    pub per_second: [u64; 3],
}

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
    /// A bandwidth sample.
    Bandwidth {
        /// Index of the job.
        job: usize,
        /// The sample.
        sample: RateSample,
    },
    /// An IOPS sample.
    Iops {
        /// Index of the job.
        job: usize,
        /// The sample.
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

/// Way to the log writer.
pub type LogSender = SyncSender<LogBatch>;

/// Tells the writer what time it is now by the clock that a job's logs follow, if they follow one.
pub(crate) fn tell_epoch(sender: Option<&LogSender>, job: usize, logs: &Logs) {
    let (Some(sender), Some(clock)) = (sender, logs.epoch_clock) else { return };
    let epoch_ms = clock_ms(clock);
    // A writer that is gone has told why; the job goes on.
    let _ = sender.send(LogBatch::Began { job, epoch_ms });
}

/// I/Os that one message carries.
const BATCH: usize = 4096;

/// Collects the I/Os of one worker.
#[derive(Debug)]
pub(crate) struct IoLog {
    sender: LogSender,
    job: usize,
    samples: Vec<IoSample>,
}

impl IoLog {
    pub(crate) fn new(sender: LogSender, job: usize) -> Self {
        IoLog { sender, job, samples: Vec::with_capacity(BATCH) }
    }

    /// Adds one I/O. Every [`BATCH`]th waits for room in the queue when the disk under the logs is slower than the job.
    #[inline]
    pub(crate) fn record(&mut self, sample: IoSample) {
        self.samples.push(sample);
        if self.samples.len() == BATCH {
            self.flush();
        }
    }

    /// Sends what is collected.
    pub(crate) fn flush(&mut self) {
        let samples = std::mem::replace(&mut self.samples, Vec::with_capacity(BATCH));
        if !samples.is_empty() {
            // A writer that is gone has told why; the job goes on.
            let _ = self.sender.send(LogBatch::Ios { job: self.job, samples });
        }
    }
}
