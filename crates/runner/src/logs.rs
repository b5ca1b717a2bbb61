//! The I/Os of a worker on their way to the log writer.

use ferrio_job::{JobSpec, Logs};
use ferrio_logs::{IOS_PER_BATCH, IoAtEnd, IoSample, LogBatch, LogSender, LogSums, NextRows};

use crate::control::JobControl;
use crate::timing::clock_ms;

/// Sends the writer the time by the clock that a job's logs follow, if they follow one. Those of several jobs follow one clock in any case.
pub(crate) fn send_epoch(sender: Option<&LogSender>, job: usize, logs: &Logs, control: &JobControl) {
    let clock = logs.epoch_clock.or_else(|| logs.summed.then_some(libc::CLOCK_MONOTONIC));
    let (Some(sender), Some(clock)) = (sender, clock) else { return };
    sender.send(LogBatch::Began { job, epoch_ms: clock_ms(clock) }, || control.stop_requested());
}

/// Logs the I/Os of one worker.
#[derive(Debug)]
pub(crate) struct IoLog<'a> {
    sender: LogSender,
    control: &'a JobControl,
    job: usize,
    unsent: UnsentIos,
}

/// I/Os of a worker that the writer does not have yet.
#[derive(Debug)]
enum UnsentIos {
    Sums(LogSums),
    Samples(Vec<IoSample>),
}

impl<'a> IoLog<'a> {
    pub(crate) fn new(sender: LogSender, control: &'a JobControl, job: usize, spec: &JobSpec) -> Self {
        let unsent = match LogSums::of(job, spec) {
            Some(sums) => UnsentIos::Sums(sums),
            None => UnsentIos::Samples(sender.batch_memory()),
        };
        IoLog { sender, control, job, unsent }
    }

    /// Adds one I/O. A row of sums, or every [`IOS_PER_BATCH`]th I/O, waits for room in the queue when the disk under the logs is slower than the
    /// job.
    #[inline]
    pub(crate) fn record(&mut self, sample: IoSample) {
        match &mut self.unsent {
            UnsentIos::Sums(sums) => {
                sums.add(&sample, |batch| self.sender.send(batch, || self.control.stop_requested()));
            }
            UnsentIos::Samples(samples) => {
                samples.push(sample);
                if samples.len() == IOS_PER_BATCH {
                    self.flush();
                }
            }
        }
    }

    /// The sums, if the logs need no more.
    pub(crate) fn sums(&mut self) -> Option<&mut LogSums> {
        match &mut self.unsent {
            UnsentIos::Sums(sums) => Some(sums),
            UnsentIos::Samples(_) => None,
        }
    }

    /// Sends the rows of sums that the last I/O of a direction ends: see [`LogSums::end_rows`].
    pub(crate) fn end_rows(&mut self, direction: usize, end: IoAtEnd) -> Option<NextRows> {
        let IoLog { sender, control, .. } = self;
        let UnsentIos::Sums(sums) = &mut self.unsent else { return None };
        Some(sums.end_rows(direction, end, |batch| sender.send(batch, || control.stop_requested())))
    }

    /// Sends what is left at the end of the job.
    pub(crate) fn flush(&mut self) {
        let batch = match &mut self.unsent {
            UnsentIos::Sums(sums) => sums.rest(),
            UnsentIos::Samples(samples) if samples.is_empty() => return,
            UnsentIos::Samples(samples) => {
                let samples = std::mem::replace(samples, self.sender.batch_memory());
                LogBatch::Ios { job: self.job, samples }
            }
        };
        self.sender.send(batch, || self.control.stop_requested());
    }
}
