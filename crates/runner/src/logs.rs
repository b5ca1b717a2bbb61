//! The batches that a run sends to the writer of log files, through a bounded queue, so that memory stays bounded too.
//!
//! A worker waits for room in the queue, main never does. When the run must end and the writer is stuck, because the disk below it
//! does not answer, neither waits longer than the patience of the queue.

pub mod sums;

use std::collections::VecDeque;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use ferrio_job::{JobSpec, LogKind, Logs};
use ferrio_kernel::sleep;
use sums::{Histogram, IoAtEnd, LogSums, NextRows, Window, WindowSummary};

use crate::control::JobControl;
use crate::timing::clock_ms;

/// Time between two looks whether the writer is done.
const IDLE_CHECK: Duration = Duration::from_millis(1);

/// One completed I/O.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IoSample {
    /// ns since the job began to be measured.
    pub time_ns: u64,
    /// Submission latency, asynchronous engines only.
    pub slat_ns: Option<u64>,
    /// Completion latency.
    pub clat_ns: u64,
    /// File offset.
    pub offset: u64,
    /// Bytes.
    pub len: u64,
    /// I/O priority as the kernel packs it, 0 for none.
    pub priority: u16,
    /// 0 read, 1 write, 2 trim.
    pub direction: u8,
}

impl IoSample {
    /// Total latency.
    #[inline]
    #[must_use]
    pub fn lat_ns(&self) -> u64 {
        self.slat_ns.unwrap_or(0) + self.clat_ns
    }
}

// Every I/O that is logged copies one, and thousands of them wait for the writer.
const _: () = assert!(size_of::<IoSample>() == 56);

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
        /// Its row.
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
    /// What is in no row when the last I/O of a job has completed.
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

/// Time between two attempts to send.
const LOOK: Duration = Duration::from_millis(1);
/// The same in a long wait. The queue is not empty by then however fast its writer is.
const LATER_LOOK: Duration = Duration::from_millis(16);
/// Batches that may wait in a [`Backlog`]: some 4 MB.
const BACKLOG: usize = 1 << 16;
/// Stands for no number of batches.
const NONE: u64 = u64::MAX;

/// The number of batches done once the writer is gone.
const GONE: u64 = u64::MAX - 1;

/// Way to the log writer.
#[derive(Clone, Debug)]
pub struct LogSender {
    batches: SyncSender<LogBatch>,
    shared: Arc<Shared>,
}

/// The writer's end of the queue: an iterator over the batches, which ends when all senders are gone.
#[derive(Debug)]
pub struct LogReceiver {
    batches: Receiver<LogBatch>,
    shared: Arc<Shared>,
    /// A batch was handed out, and is done when the next one is asked for.
    busy: bool,
}

/// What both ends know.
#[derive(Debug)]
struct Shared {
    patience: Duration,
    /// Batches that went into the queue.
    sent: AtomicU64,
    /// Batches that the writer is done with.
    done: AtomicU64,
    /// The same when a sender gave up waiting, or [`NONE`].
    stuck_at: AtomicU64,
    /// A batch was dropped then.
    lost: AtomicBool,
    /// Memory of batches that were written, for others.
    recycled: Mutex<Vec<Vec<IoSample>>>,
}

/// A queue with room for `room` batches. Once a run must end, a writer that finishes no batch for `patience` counts as stuck.
#[must_use]
pub fn log_queue(room: usize, patience: Duration) -> (LogSender, LogReceiver) {
    let (sender, receiver) = sync_channel(room);
    let [sent, done, stuck_at] = [0, 0, NONE].map(AtomicU64::new);
    let shared = Arc::new(Shared {
        patience,
        sent,
        done,
        stuck_at,
        lost: AtomicBool::new(false),
        recycled: Mutex::default(),
    });
    let receiver = LogReceiver { batches: receiver, shared: Arc::clone(&shared), busy: false };
    (LogSender { batches: sender, shared }, receiver)
}

/// Since when a sender that is to end waits for the writer.
#[derive(Debug, Default)]
struct Wait(Option<(Instant, u64)>);

impl LogSender {
    /// Sends a batch, as soon as there is room for it. Once `ends` says that the run must end, it is dropped if the writer is stuck.
    pub fn send(&self, mut batch: LogBatch, ends: impl Fn() -> bool) {
        let mut wait = Wait::default();
        let mut pause = LOOK;
        loop {
            match self.try_send(batch) {
                None => return,
                Some(back) => batch = back,
            }
            if ends() && wait.is_in_vain(&self.shared) {
                return self.lose();
            }
            sleep(pause);
            pause = (pause * 2).min(LATER_LOOK);
        }
    }

    /// Sends a batch, or returns it if there is no room for it now.
    pub(crate) fn try_send(&self, batch: LogBatch) -> Option<LogBatch> {
        match self.batches.try_send(batch) {
            Ok(()) => {
                self.shared.sent.fetch_add(1, Relaxed);
                None
            }
            Err(TrySendError::Full(batch)) => Some(batch),
            // A writer that is gone has reported why; the run goes on.
            Err(TrySendError::Disconnected(_)) => None,
        }
    }

    /// Empty memory for a batch of I/Os.
    fn memory(&self) -> Vec<IoSample> {
        let recycled = self.shared.recycled.lock().unwrap_or_else(PoisonError::into_inner).pop();
        recycled.unwrap_or_else(|| Vec::with_capacity(BATCH))
    }

    /// A batch was dropped.
    fn lose(&self) {
        self.shared.lost.store(true, Relaxed);
    }

    /// True when the writer has nothing left to do, as far as this thread can know.
    fn is_idle(&self) -> bool {
        self.shared.done.load(Relaxed) >= self.shared.sent.load(Relaxed)
    }

    /// Waits until the writer has written what was sent, at most for `limit`.
    pub fn wait_until_idle(&self, limit: Duration) {
        let until = Instant::now() + limit;
        while !self.is_idle() && Instant::now() < until {
            sleep(IDLE_CHECK);
        }
    }

    /// True once a sender has given up waiting for the writer, and it has finished nothing since.
    #[must_use]
    pub fn is_stuck(&self) -> bool {
        self.shared.stuck_at.load(Relaxed) == self.shared.done.load(Relaxed)
    }

    /// True if a batch was dropped because the writer was stuck.
    #[must_use]
    pub fn has_lost(&self) -> bool {
        self.shared.lost.load(Relaxed)
    }
}

impl Wait {
    /// True when the writer is stuck. Polled while the run must end.
    fn is_in_vain(&mut self, shared: &Shared) -> bool {
        let done = shared.done.load(Relaxed);
        if shared.stuck_at.load(Relaxed) == done {
            return true;
        }
        match self.0 {
            Some((since, before)) if before == done => {
                let in_vain = since.elapsed() >= shared.patience;
                if in_vain {
                    shared.stuck_at.store(done, Relaxed);
                }
                in_vain
            }
            _ => {
                self.0 = Some((Instant::now(), done));
                false
            }
        }
    }
}

impl Iterator for LogReceiver {
    type Item = LogBatch;

    fn next(&mut self) -> Option<LogBatch> {
        if std::mem::take(&mut self.busy) {
            self.shared.done.fetch_add(1, Relaxed);
        }
        let batch = self.batches.recv().ok();
        self.busy = batch.is_some();
        batch
    }
}

impl LogReceiver {
    /// Keeps the memory of a batch that was written for another one: fresh memory costs a page fault for each 4 KiB.
    pub fn recycle(&self, batch: LogBatch) {
        if let LogBatch::Ios { mut samples, .. } = batch {
            samples.clear();
            let mut recycled = self.shared.recycled.lock().unwrap_or_else(PoisonError::into_inner);
            if recycled.len() < RECYCLED {
                recycled.push(samples);
            }
        }
    }
}

impl Drop for LogReceiver {
    /// Senders stop waiting for what is left.
    fn drop(&mut self) {
        self.shared.done.store(GONE, Relaxed);
    }
}

/// Sends the writer the time by the clock that a job's logs follow, if they follow one. Those of several jobs follow one clock in any case.
pub(crate) fn send_epoch(sender: Option<&LogSender>, job: usize, logs: &Logs, control: &JobControl) {
    let clock = logs.epoch_clock.or_else(|| logs.summed.then_some(libc::CLOCK_MONOTONIC));
    let (Some(sender), Some(clock)) = (sender, clock) else { return };
    sender.send(LogBatch::Began { job, epoch_ms: clock_ms(clock) }, || control.stop_requested());
}

/// I/Os that one message carries.
const BATCH: usize = 4096;
/// Batches whose memory is kept at most, 3.5 MB. A job that waits for the writer has one by then, and others need two each.
const RECYCLED: usize = 16;

/// Logs the I/Os of one worker.
#[derive(Debug)]
pub(crate) struct IoLog<'a> {
    sender: LogSender,
    control: &'a JobControl,
    job: usize,
    kept: Kept,
}

/// What a worker keeps of its I/Os until it sends it.
#[derive(Debug)]
enum Kept {
    Sums(LogSums),
    Samples(Vec<IoSample>),
}

impl<'a> IoLog<'a> {
    pub(crate) fn new(sender: LogSender, control: &'a JobControl, job: usize, spec: &JobSpec) -> Self {
        let kept = match LogSums::of(job, spec) {
            Some(sums) => Kept::Sums(sums),
            None => Kept::Samples(sender.memory()),
        };
        IoLog { sender, control, job, kept }
    }

    /// Adds one I/O. A row of sums, or every [`BATCH`]th I/O, waits for room in the queue when the disk under the logs is slower than the
    /// job.
    #[inline]
    pub(crate) fn record(&mut self, sample: IoSample) {
        match &mut self.kept {
            Kept::Sums(sums) => {
                sums.add(&sample, |batch| self.sender.send(batch, || self.control.stop_requested()));
            }
            Kept::Samples(samples) => {
                samples.push(sample);
                if samples.len() == BATCH {
                    self.flush();
                }
            }
        }
    }

    /// The sums, if the logs need no more.
    pub(crate) fn sums(&mut self) -> Option<&mut LogSums> {
        match &mut self.kept {
            Kept::Sums(sums) => Some(sums),
            Kept::Samples(_) => None,
        }
    }

    /// Sends the rows of sums that the last I/O of a direction ends: see [`LogSums::end_rows`].
    pub(crate) fn end_rows(&mut self, direction: usize, end: IoAtEnd) -> Option<NextRows> {
        let IoLog { sender, control, .. } = self;
        let Kept::Sums(sums) = &mut self.kept else { return None };
        Some(sums.end_rows(direction, end, |batch| sender.send(batch, || control.stop_requested())))
    }

    /// Sends what is left at the end of the job.
    pub(crate) fn flush(&mut self) {
        let batch = match &mut self.kept {
            Kept::Sums(sums) => sums.rest(),
            Kept::Samples(samples) if samples.is_empty() => return,
            Kept::Samples(samples) => {
                let samples = std::mem::replace(samples, self.sender.memory());
                LogBatch::Ios { job: self.job, samples }
            }
        };
        self.sender.send(batch, || self.control.stop_requested());
    }
}

/// Main's way to the log writer, a queue before the queue: main never waits for room, so that signals, the live line and reports of the
/// run so far do not wait for a disk.
#[derive(Debug)]
pub(crate) struct Backlog {
    sender: LogSender,
    waiting: VecDeque<LogBatch>,
    wait: Wait,
}

impl Backlog {
    pub(crate) fn new(sender: LogSender) -> Self {
        Backlog { sender, waiting: VecDeque::new(), wait: Wait::default() }
    }

    /// Sends a batch now or later. It is lost if there is no room for it here either.
    pub(crate) fn send(&mut self, batch: LogBatch) {
        self.forward();
        // The end of a job is always queued: there are no more ends than jobs.
        if self.waiting.len() >= BACKLOG && !matches!(batch, LogBatch::Ended { .. }) {
            self.sender.lose();
            return;
        }
        self.waiting.push_back(batch);
        self.forward();
    }

    /// Forwards what there is room for. Returns how long main may sleep.
    pub(crate) fn forward(&mut self) -> Duration {
        while let Some(batch) = self.waiting.pop_front() {
            if let Some(back) = self.sender.try_send(batch) {
                self.waiting.push_front(back);
                return LOOK;
            }
        }
        Duration::MAX
    }

    /// Polled once all jobs have ended: true when nothing is left to wait for, or when the run `ends` early and the writer is stuck.
    pub(crate) fn is_over(&mut self, ends: bool) -> bool {
        self.forward();
        if self.waiting.is_empty() && self.sender.is_idle() {
            return true;
        }
        let in_vain = ends && self.wait.is_in_vain(&self.sender.shared);
        if in_vain && !self.waiting.is_empty() {
            self.waiting.clear();
            self.sender.lose();
        }
        in_vain
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn batch(job: usize) -> LogBatch {
        LogBatch::Ended { job, time_ms: 0 }
    }

    #[test]
    fn a_batch_waits_for_room_as_long_as_the_run_goes_on() {
        let (sender, batches) = log_queue(1, Duration::ZERO);
        sender.send(batch(0), || false);
        std::thread::scope(|scope| {
            scope.spawn(|| sender.clone().send(batch(1), || false));
            while !sender.is_idle() || sender.shared.sent.load(Relaxed) < 2 {
                if let Ok(taken) = batches.batches.try_recv() {
                    sender.shared.done.fetch_add(1, Relaxed);
                    drop(taken);
                }
            }
        });
        assert!(!sender.is_stuck() && !sender.has_lost());
    }

    #[test]
    fn nobody_waits_for_a_stuck_writer_once_the_run_shall_end_and_what_is_lost_is_known() {
        let (sender, batches) = log_queue(1, Duration::from_millis(2));
        sender.send(batch(0), || true);
        assert!(!sender.is_idle() && !sender.is_stuck() && !sender.has_lost());
        sender.send(batch(1), || true);
        assert!(sender.is_stuck() && sender.has_lost());
        let other = sender.clone();
        drop(sender);
        other.send(batch(2), || true);
        let mut batches = batches;
        assert_eq!(batches.next(), Some(batch(0)));
        assert!(!other.is_idle(), "it is not written yet");
        other.send(batch(3), || true);
        assert_eq!(batches.next(), Some(batch(3)));
        assert!(!other.is_stuck(), "it moves again");
        drop(other);
        assert_eq!(batches.next(), None);
    }

    #[test]
    fn what_is_sent_to_a_writer_that_is_gone_is_nobody_s_concern() {
        let (sender, batches) = log_queue(1, Duration::from_secs(3600));
        drop(batches);
        (0..3).for_each(|job| sender.send(batch(job), || false));
        assert!(sender.is_idle() && !sender.has_lost());
    }

    #[test]
    fn main_never_waits_and_order_is_kept() {
        let (sender, mut batches) = log_queue(1, Duration::from_secs(3600));
        let mut backlog = Backlog::new(sender);
        (0..4).for_each(|job| backlog.send(batch(job)));
        assert_eq!(backlog.forward(), LOOK);
        for job in 0..4 {
            assert!(!backlog.is_over(true));
            assert_eq!(batches.next(), Some(batch(job)));
        }
        assert_eq!(backlog.forward(), Duration::MAX);
        assert!(!backlog.is_over(false), "the last one is being written");
        drop(backlog);
        assert_eq!(batches.next(), None);
    }

    #[test]
    fn a_writer_that_is_stuck_is_waited_for_until_the_run_is_ended_early() {
        let (sender, _batches) = log_queue(1, Duration::ZERO);
        let mut backlog = Backlog::new(sender.clone());
        (0..3).for_each(|job| backlog.send(batch(job)));
        assert!(!backlog.is_over(false) && !backlog.is_over(false) && !sender.has_lost());
        assert!(!backlog.is_over(true), "patience begins now");
        assert!(backlog.is_over(true) && sender.is_stuck() && sender.has_lost());
    }

    #[test]
    fn the_memory_of_a_written_batch_carries_another_one() {
        let (sender, mut batches) = log_queue(1, Duration::from_secs(3600));
        let first = sender.memory();
        let address = first.as_ptr();
        sender.send(LogBatch::Ios { job: 0, samples: first }, || false);
        let second = sender.memory();
        assert_ne!(second.as_ptr(), address, "the writer has it");
        let written = batches.next().unwrap();
        batches.recycle(written);
        let third = sender.memory();
        assert_eq!(third.as_ptr(), address);
        (0..2 * RECYCLED).for_each(|_| batches.recycle(LogBatch::Ios { job: 0, samples: vec![] }));
        assert_eq!(sender.shared.recycled.lock().unwrap().len(), RECYCLED);
    }

    #[test]
    fn memory_is_bounded_and_ends_of_jobs_are_kept() {
        let (sender, batches) = log_queue(1, Duration::ZERO);
        let mut backlog = Backlog::new(sender.clone());
        let sample = RateSample { time_ms: 1, per_second: [1; 3] };
        (0..BACKLOG + 1).for_each(|_| backlog.send(LogBatch::Bandwidth { job: 0, sample }));
        assert!(!sender.has_lost());
        backlog.send(LogBatch::Iops { job: 0, sample });
        backlog.send(batch(0));
        assert!(sender.has_lost());
        assert_eq!(backlog.waiting.len(), BACKLOG + 1);
        assert_eq!(backlog.waiting.back(), Some(&batch(0)));
        drop(batches);
        assert!(backlog.is_over(false), "a writer that is gone needs nothing");
    }
}
