//! Passes the steps of a log from the thread that reads it to the job that replays it (`read_iolog_chunked`).
//!
//! A fixed number of batches circulate: the reader fills one, the job takes its steps and returns it. So memory is bounded, the reader is
//! never far ahead, and the job neither allocates nor waits while there are steps.

use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TryRecvError, sync_channel};
use std::time::Duration;

use ferrio_job::ReplayStep;

/// Interval at which a job that waits for its first steps checks whether it must stop.
const STOP_CHECK_INTERVAL: Duration = Duration::from_millis(20);

/// The job's end.
#[derive(Debug)]
pub struct StepReceiver {
    full: Receiver<Vec<ReplayStep>>,
    used: SyncSender<Vec<ReplayStep>>,
    /// The batch that [`wait`](Self::wait) has waited for.
    first: Option<Vec<ReplayStep>>,
}

/// The reader's end.
#[derive(Debug)]
pub struct StepSender {
    used: Receiver<Vec<ReplayStep>>,
    full: SyncSender<Vec<ReplayStep>>,
}

/// Both ends, with `batches` batches between them that have room for `steps` steps each.
#[must_use]
pub fn step_channel(batches: usize, steps: usize) -> (StepReceiver, StepSender) {
    let (to_job, full) = sync_channel(batches);
    let (to_reader, used) = sync_channel(batches);
    for _ in 0..batches {
        // There is room for all of them.
        let _ = to_reader.try_send(Vec::with_capacity(steps));
    }
    (StepReceiver { full, used: to_reader, first: None }, StepSender { used, full: to_job })
}

/// The answer of the feed to a job that has used up a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NextBatch {
    /// Further steps.
    Steps,
    /// Nothing yet.
    NothingYet,
    /// The log has ended, or its reader has failed.
    End,
}

impl StepReceiver {
    /// Waits for the first steps, until `stopped` returns true at the latest: the log may be on a file system that does not answer. A job
    /// that begins with steps does not wait while it is measured.
    pub fn wait(&mut self, stopped: impl Fn() -> bool) {
        loop {
            match self.full.recv_timeout(STOP_CHECK_INTERVAL) {
                Ok(first) => return self.first = Some(first),
                Err(RecvTimeoutError::Timeout) if !stopped() => {}
                Err(_) => return,
            }
        }
    }

    /// Returns a batch, and replaces it by the next one.
    pub(crate) fn exchange(&mut self, batch: &mut Vec<ReplayStep>) -> NextBatch {
        let next = match self.first.take().map_or_else(|| self.full.try_recv(), Ok) {
            Ok(next) => next,
            Err(TryRecvError::Empty) => return NextBatch::NothingYet,
            Err(TryRecvError::Disconnected) => return NextBatch::End,
        };
        let mut done = std::mem::replace(batch, next);
        done.clear();
        // The first batch is not one of those that circulate, and has no room.
        if done.capacity() > 0 {
            // A reader at the end of its log needs no more of them.
            let _ = self.used.try_send(done);
        }
        NextBatch::Steps
    }
}

impl StepSender {
    /// Waits for an empty batch. `None` when the job is over.
    #[must_use]
    pub fn batch(&self) -> Option<Vec<ReplayStep>> {
        self.used.recv().ok()
    }

    /// Passes a batch to the job. Returns false when the job is over.
    #[must_use]
    pub fn send(&self, batch: Vec<ReplayStep>) -> bool {
        self.full.send(batch).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use ferrio_job::ReplayAction;

    use super::*;

    fn step(offset: u64) -> ReplayStep {
        ReplayStep::new(0, ReplayAction::Read, 0, offset, 1)
    }

    #[test]
    fn batches_go_round_in_order_and_none_is_made_later() {
        let (mut feed, sender) = step_channel(2, 8);
        let mut batch = Vec::new();
        assert_eq!(feed.exchange(&mut batch), NextBatch::NothingYet);
        let mut places = std::collections::HashSet::new();
        for number in 0..10 {
            let mut empty = sender.batch().unwrap();
            assert_eq!((empty.len(), empty.capacity()), (0, 8));
            places.insert(empty.as_ptr());
            empty.push(step(number));
            assert!(sender.send(empty));
            assert_eq!(feed.exchange(&mut batch), NextBatch::Steps);
            assert_eq!(batch, [step(number)]);
        }
        assert_eq!(places.len(), 2);
        drop(sender);
        assert_eq!((feed.exchange(&mut batch), batch.len()), (NextBatch::End, 1));
    }

    #[test]
    fn a_reader_learns_that_the_job_is_over() {
        let (feed, sender) = step_channel(1, 1);
        let batch = sender.batch().unwrap();
        drop(feed);
        assert!(!sender.send(batch));
        assert_eq!(sender.batch(), None);
    }

    #[test]
    fn a_job_that_is_stopped_does_not_wait_for_its_first_steps() {
        let (mut feed, sender) = step_channel(1, 1);
        feed.wait(|| true);
        assert_eq!(feed.exchange(&mut Vec::new()), NextBatch::NothingYet);
        drop(sender);
    }

    #[test]
    fn what_was_sent_before_the_end_is_not_lost() {
        let (mut feed, sender) = step_channel(2, 1);
        for number in 0..2 {
            let mut batch = sender.batch().unwrap();
            batch.push(step(number));
            assert!(sender.send(batch));
        }
        drop(sender);
        feed.wait(|| false);
        let mut batch = Vec::new();
        for number in 0..2 {
            assert_eq!((feed.exchange(&mut batch), batch[0]), (NextBatch::Steps, step(number)));
        }
        assert_eq!(feed.exchange(&mut batch), NextBatch::End);
    }
}
