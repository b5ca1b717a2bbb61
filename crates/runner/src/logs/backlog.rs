//! Main's way to the log writer: it never waits for room in the queue, so that signals, the live line and reports of the run so far do not
//! wait for a disk.

use std::collections::VecDeque;
use std::time::Duration;

use super::{LOOK, LogBatch, LogSender, RateSample, Wait};

/// Samples that may wait here: some 4 MB.
const ROOM: usize = 1 << 16;

/// A queue before the queue.
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

    /// Sends a batch now or later. One that there is no room for even here is lost.
    pub(crate) fn send(&mut self, batch: LogBatch) {
        self.forward();
        // The end of a job is always queued: there are no more ends than jobs.
        if self.waiting.len() >= ROOM && !matches!(batch, LogBatch::Ended { .. }) {
            self.sender.lose();
            return;
        }
        self.waiting.push_back(batch);
        self.forward();
    }

    /// A bandwidth sample of a job.
    pub(crate) fn bandwidth(&mut self, job: usize, sample: RateSample) {
        self.send(LogBatch::Bandwidth { job, sample });
    }

    /// An IOPS sample of a job.
    pub(crate) fn iops(&mut self, job: usize, sample: RateSample) {
        self.send(LogBatch::Iops { job, sample });
    }

    /// Moves on what there is room for. Returns how long main may sleep.
    pub(crate) fn forward(&mut self) -> Duration {
        while let Some(batch) = self.waiting.pop_front() {
            if let Some(back) = self.sender.try_send(batch) {
                self.waiting.push_front(back);
                return LOOK;
            }
        }
        Duration::MAX
    }

    /// Called again and again once all jobs have ended: true when nothing is left to wait for, or nobody may wait for it because the
    /// run `ends` early and the writer is stuck.
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
    use super::super::log_queue;
    use super::*;

    fn ended(job: usize) -> LogBatch {
        LogBatch::Ended { job, time_ms: 0 }
    }

    #[test]
    fn main_never_waits_and_order_is_kept() {
        let (sender, mut batches) = log_queue(1, Duration::from_secs(3600));
        let mut backlog = Backlog::new(sender);
        (0..4).for_each(|job| backlog.send(ended(job)));
        assert_eq!(backlog.forward(), LOOK);
        for job in 0..4 {
            assert!(!backlog.is_over(true));
            assert_eq!(batches.next(), Some(ended(job)));
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
        (0..3).for_each(|job| backlog.send(ended(job)));
        assert!(!backlog.is_over(false) && !backlog.is_over(false) && !sender.has_lost());
        assert!(!backlog.is_over(true), "patience begins now");
        assert!(backlog.is_over(true) && sender.is_stuck() && sender.has_lost());
    }

    #[test]
    fn memory_is_bounded_and_ends_of_jobs_are_kept() {
        let (sender, batches) = log_queue(1, Duration::ZERO);
        let mut backlog = Backlog::new(sender.clone());
        let sample = RateSample { time_ms: 1, per_second: [1; 3] };
        (0..ROOM + 1).for_each(|_| backlog.bandwidth(0, sample));
        assert!(!sender.has_lost());
        backlog.iops(0, sample);
        backlog.send(ended(0));
        assert!(sender.has_lost());
        assert_eq!(backlog.waiting.len(), ROOM + 1);
        assert_eq!(backlog.waiting.back(), Some(&ended(0)));
        drop(batches);
        assert!(backlog.is_over(false), "a writer that is gone needs nothing");
    }
}
