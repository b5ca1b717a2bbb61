//! Steps without choices: those of a log (`read_iolog`), and those of an engine that does no I/O.

use std::sync::Arc;

use ferrio_job::{Direction, Replay, ReplayAction, ReplayStep, ReplaySteps};

use crate::step::{Io, Step, SyncKind};
use crate::step_channel::{NextBatch, StepReceiver};

/// A log, and the progress of its replay.
#[derive(Debug)]
pub(crate) struct ReplayPath {
    source: ReplaySource,
    /// The index of the next loaded step.
    next: usize,
    /// Time of the last wait, µs.
    waited_us: Option<u64>,
    /// The step that is due now; it is kept here, so that loops that do not replay have no code for the kinds of steps.
    pub(crate) step: Step,
}

/// The source of the steps.
#[derive(Debug)]
enum ReplaySource {
    /// One step, forever.
    Work,
    /// All steps are loaded.
    Loaded(Arc<Replay>),
    /// The steps come in batches.
    Feed {
        /// The current batch.
        batch: Vec<ReplayStep>,
        /// The source of the others; `None` before [`ReplayPath::feed`].
        feed: Option<StepReceiver>,
    },
}

impl ReplayPath {
    pub(crate) fn new(log: Arc<Replay>) -> Self {
        let source = match &log.steps {
            ReplaySteps::Loaded(_) => ReplaySource::Loaded(log),
            ReplaySteps::Chunked(_) => ReplaySource::Feed { batch: Vec::new(), feed: None },
        };
        ReplayPath { source, next: 0, waited_us: None, step: Step::PassEnd }
    }

    /// I/Os that transfer nothing, without end.
    pub(crate) fn of_work() -> Self {
        ReplayPath { source: ReplaySource::Work, next: 0, waited_us: None, step: Step::PassEnd }
    }

    /// Sets the source of the steps of a log that is not in memory.
    pub(crate) fn feed(&mut self, from: StepReceiver) {
        if let ReplaySource::Feed { feed, .. } = &mut self.source {
            *feed = Some(from);
        }
    }

    /// Finds the next step. `pace` is called before each I/O; its answer has no effect.
    #[inline(never)]
    pub(crate) fn advance(&mut self, pace: impl FnMut(Direction) -> Direction) {
        self.step = self.next(pace);
    }

    fn next(&mut self, mut pace: impl FnMut(Direction) -> Direction) -> Step {
        let steps = match &self.source {
            ReplaySource::Loaded(log) => match &log.steps {
                ReplaySteps::Loaded(steps) => steps,
                ReplaySteps::Chunked(_) => return Step::PassEnd,
            },
            ReplaySource::Feed { batch, .. } => batch,
            ReplaySource::Work => {
                return Step::Io(Io { direction: Direction::Read, file: 0, offset: 0, len: 0 });
            }
        };
        let Some(&next) = steps.get(self.next) else {
            return match self.next_batch() {
                NextBatch::Steps => self.next(pace),
                NextBatch::NothingYet => Step::AwaitLog,
                NextBatch::End => Step::PassEnd,
            };
        };
        // The first wait begins the replay, even if its time is 0.
        if self.waited_us.is_none_or(|waited| next.due_us() > waited) {
            self.waited_us = Some(next.due_us());
            return Step::AwaitReplayTime { us: next.due_us() };
        }
        self.next += 1;
        let (file, offset) = (next.file(), next.offset);
        let mut io = |direction| {
            pace(direction);
            Step::Io(Io { direction, file, offset, len: next.bytes() })
        };
        match next.action() {
            ReplayAction::Read => io(Direction::Read),
            ReplayAction::Write => io(Direction::Write),
            ReplayAction::Trim => io(Direction::Trim),
            ReplayAction::Open => Step::Open { file },
            ReplayAction::Close => Step::Close { file },
            ReplayAction::Sync => Step::Sync { file, kind: SyncKind::Fsync },
            ReplayAction::Datasync => Step::Sync { file, kind: SyncKind::Fdatasync },
            ReplayAction::Wait => Step::AwaitProgramTime { ms: offset },
        }
    }

    /// Takes the next batch of steps.
    #[cold]
    #[inline(never)]
    fn next_batch(&mut self) -> NextBatch {
        let fed = match &mut self.source {
            ReplaySource::Feed { batch, feed: Some(feed) } => feed.exchange(batch),
            _ => NextBatch::End,
        };
        if fed == NextBatch::Steps {
            self.next = 0;
        }
        fed
    }

    /// Starts again. Steps that are read while the job runs come once only, as a log is replayed once.
    pub(crate) fn begin_pass(&mut self) {
        if let ReplaySource::Loaded(_) = self.source {
            (self.next, self.waited_us) = (0, None);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_come_in_order_and_wait_for_their_time_once() {
        let at = |due_us, action| ReplayStep::new(due_us, action, 1, 7, 512);
        let steps = vec![
            at(0, ReplayAction::Open),
            at(5, ReplayAction::Write),
            at(5, ReplayAction::Sync),
            at(9, ReplayAction::Wait),
        ];
        let log = Replay { steps: ReplaySteps::Loaded(steps), ..Replay::default() };
        let mut path = ReplayPath::new(Arc::new(log));
        let mut paced = Vec::new();
        let mut all = Vec::new();
        loop {
            let due = path.next(|direction| {
                paced.push(direction);
                direction
            });
            if due == Step::PassEnd {
                break;
            }
            all.push(due);
        }
        let io = Io { direction: Direction::Write, file: 1, offset: 7, len: 512 };
        let want = [
            Step::AwaitReplayTime { us: 0 },
            Step::Open { file: 1 },
            Step::AwaitReplayTime { us: 5 },
            Step::Io(io),
            Step::Sync { file: 1, kind: SyncKind::Fsync },
            Step::AwaitReplayTime { us: 9 },
            Step::AwaitProgramTime { ms: 7 },
        ];
        assert_eq!(all, want);
        assert_eq!(paced, [Direction::Write]);
        path.begin_pass();
        assert_eq!(path.next(|direction| direction), Step::AwaitReplayTime { us: 0 });
        assert_eq!(path.next(|direction| direction), Step::Open { file: 1 });
    }
}
