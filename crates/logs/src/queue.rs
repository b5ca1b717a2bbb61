//! The bounded queue from a run to the writer of its log files.
//!
//! A worker waits for room in the queue, main never does. When the run must end and the writer is stuck, because the disk below it
//! does not answer, neither waits longer than the timeout of the queue.

use std::collections::VecDeque;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use ferrio_kernel::sleep;

use crate::batch::LogBatch;
use crate::sample::IoSample;

/// Time between two checks whether the writer is done.
const IDLE_CHECK_INTERVAL: Duration = Duration::from_millis(1);

/// Time between two attempts to send.
const RETRY_INTERVAL: Duration = Duration::from_millis(1);
/// Longest time between two attempts, in a long wait: the queue is not empty by then however fast its writer is.
const MAX_RETRY_INTERVAL: Duration = Duration::from_millis(16);
/// I/Os that one message carries.
pub const IOS_PER_BATCH: usize = 4096;
/// Batches whose memory is kept at most, 3.5 MB. A job that waits for the writer has one by then, and others need two each.
const MAX_RECYCLED: usize = 16;
/// Batches that may wait in a [`LogBacklog`]: some 4 MB.
const MAX_BACKLOG: usize = 1 << 16;
/// No number of batches.
const NONE: u64 = u64::MAX;

/// The number of batches done once the writer is gone.
const GONE: u64 = u64::MAX - 1;

/// Way to the log writer.
#[derive(Clone, Debug)]
pub struct LogSender {
    batches: SyncSender<LogBatch>,
    shared: Arc<QueueState>,
}

/// The writer's end of the queue: an iterator over the batches, which ends when all senders are gone.
#[derive(Debug)]
pub struct LogReceiver {
    batches: Receiver<LogBatch>,
    shared: Arc<QueueState>,
    /// A batch was handed out, and is done when the next one is asked for.
    busy: bool,
}

/// The state that both ends share.
#[derive(Debug)]
struct QueueState {
    timeout: Duration,
    /// Batches that went into the queue.
    sent: AtomicU64,
    /// Batches that the writer is done with.
    done: AtomicU64,
    /// `done` when a sender gave up waiting, or [`NONE`].
    stuck_at: AtomicU64,
    /// A batch was dropped then.
    lost: AtomicBool,
    /// Memory of batches that were written, for others.
    recycled: Mutex<Vec<Vec<IoSample>>>,
}

/// A queue with room for `room` batches. Once a run must end, a writer that finishes no batch for `timeout` counts as stuck.
#[must_use]
pub fn log_queue(room: usize, timeout: Duration) -> (LogSender, LogReceiver) {
    let (sender, receiver) = sync_channel(room);
    let [sent, done, stuck_at] = [0, 0, NONE].map(AtomicU64::new);
    let shared = Arc::new(QueueState {
        timeout,
        sent,
        done,
        stuck_at,
        lost: AtomicBool::new(false),
        recycled: Mutex::default(),
    });
    let receiver = LogReceiver { batches: receiver, shared: Arc::clone(&shared), busy: false };
    (LogSender { batches: sender, shared }, receiver)
}

/// When a sender whose run must end began to wait for the writer, and the number of batches done at that time.
#[derive(Debug, Default)]
struct WriterWait(Option<(Instant, u64)>);

impl LogSender {
    /// Sends a batch, as soon as there is room for it. Once `ends` says that the run must end, it is dropped if the writer is stuck.
    pub fn send(&self, mut batch: LogBatch, ends: impl Fn() -> bool) {
        let mut wait = WriterWait::default();
        let mut pause = RETRY_INTERVAL;
        loop {
            match self.try_send(batch) {
                None => return,
                Some(back) => batch = back,
            }
            if ends() && wait.is_in_vain(&self.shared) {
                return self.lose();
            }
            sleep(pause);
            pause = (pause * 2).min(MAX_RETRY_INTERVAL);
        }
    }

    /// Sends a batch, or returns it if there is no room for it now.
    pub fn try_send(&self, batch: LogBatch) -> Option<LogBatch> {
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
    #[must_use]
    pub fn batch_memory(&self) -> Vec<IoSample> {
        let recycled = self.shared.recycled.lock().unwrap_or_else(PoisonError::into_inner).pop();
        recycled.unwrap_or_else(|| Vec::with_capacity(IOS_PER_BATCH))
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
            sleep(IDLE_CHECK_INTERVAL);
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

impl WriterWait {
    /// True when the writer is stuck. Polled while the run must end.
    fn is_in_vain(&mut self, shared: &QueueState) -> bool {
        let done = shared.done.load(Relaxed);
        if shared.stuck_at.load(Relaxed) == done {
            return true;
        }
        match self.0 {
            Some((since, before)) if before == done => {
                let in_vain = since.elapsed() >= shared.timeout;
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
            if recycled.len() < MAX_RECYCLED {
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

/// A queue before the queue, for main: main never waits for room, so that signals, the live line and reports of the run so far do not wait
/// for a disk.
#[derive(Debug)]
pub struct LogBacklog {
    sender: LogSender,
    waiting: VecDeque<LogBatch>,
    wait: WriterWait,
}

impl LogBacklog {
    /// An empty backlog.
    #[must_use]
    pub fn new(sender: LogSender) -> Self {
        LogBacklog { sender, waiting: VecDeque::new(), wait: WriterWait::default() }
    }

    /// Sends a batch now or later. It is lost if there is no room for it here either.
    pub fn send(&mut self, batch: LogBatch) {
        self.forward();
        // The end of a job is always queued: there are no more ends than jobs.
        if self.waiting.len() >= MAX_BACKLOG && !matches!(batch, LogBatch::Ended { .. }) {
            self.sender.lose();
            return;
        }
        self.waiting.push_back(batch);
        self.forward();
    }

    /// Forwards what there is room for. Returns how long main may sleep.
    pub fn forward(&mut self) -> Duration {
        while let Some(batch) = self.waiting.pop_front() {
            if let Some(back) = self.sender.try_send(batch) {
                self.waiting.push_front(back);
                return RETRY_INTERVAL;
            }
        }
        Duration::MAX
    }

    /// Polled once all jobs have ended: true when nothing is left to wait for, or when the run `ends` early and the writer is stuck.
    pub fn is_over(&mut self, ends: bool) -> bool {
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
    use ferrio_job::LogKind;

    use super::*;
    use crate::RateSample;

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
        let mut backlog = LogBacklog::new(sender);
        (0..4).for_each(|job| backlog.send(batch(job)));
        assert_eq!(backlog.forward(), RETRY_INTERVAL);
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
        let mut backlog = LogBacklog::new(sender.clone());
        (0..3).for_each(|job| backlog.send(batch(job)));
        assert!(!backlog.is_over(false) && !backlog.is_over(false) && !sender.has_lost());
        assert!(!backlog.is_over(true), "timeout begins now");
        assert!(backlog.is_over(true) && sender.is_stuck() && sender.has_lost());
    }

    #[test]
    fn the_memory_of_a_written_batch_carries_another_one() {
        let (sender, mut batches) = log_queue(1, Duration::from_secs(3600));
        let first = sender.batch_memory();
        let address = first.as_ptr();
        sender.send(LogBatch::Ios { job: 0, samples: first }, || false);
        let second = sender.batch_memory();
        assert_ne!(second.as_ptr(), address, "the writer has it");
        let written = batches.next().unwrap();
        batches.recycle(written);
        let third = sender.batch_memory();
        assert_eq!(third.as_ptr(), address);
        (0..2 * MAX_RECYCLED).for_each(|_| batches.recycle(LogBatch::Ios { job: 0, samples: vec![] }));
        assert_eq!(sender.shared.recycled.lock().unwrap().len(), MAX_RECYCLED);
    }

    #[test]
    fn memory_is_bounded_and_ends_of_jobs_are_kept() {
        let (sender, batches) = log_queue(1, Duration::ZERO);
        let mut backlog = LogBacklog::new(sender.clone());
        let sample = RateSample { time_ms: 1, per_second: [1; 3] };
        (0..MAX_BACKLOG + 1)
            .for_each(|_| backlog.send(LogBatch::Rates { job: 0, kind: LogKind::Bandwidth, sample }));
        assert!(!sender.has_lost());
        backlog.send(LogBatch::Rates { job: 0, kind: LogKind::Iops, sample });
        backlog.send(batch(0));
        assert!(sender.has_lost());
        assert_eq!(backlog.waiting.len(), MAX_BACKLOG + 1);
        assert_eq!(backlog.waiting.back(), Some(&batch(0)));
        drop(batches);
        assert!(backlog.is_over(false), "a writer that is gone needs nothing");
    }
}
