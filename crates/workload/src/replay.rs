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

/// The current step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DueStep {
    /// The offset of an I/O, or the time of a wait.
    offset: u64,
    len: u64,
    /// The number of the file, with the kind above it.
    target: u32,
}

// The kinds of steps: those of a log, and these.
const AWAIT_REPLAY_TIME: u32 = 8;
const AWAIT_LOG: u32 = 9;
const PASS_END: u32 = 10;

impl DueStep {
    fn new(kind: u32, offset: u64) -> Self {
        DueStep { offset, len: 0, target: kind << ReplayStep::FILE_BITS }
    }

    #[inline(always)]
    pub(crate) fn step(self) -> Step {
        const OPEN: u32 = ReplayAction::Open as u32;
        const CLOSE: u32 = ReplayAction::Close as u32;
        const READ: u32 = ReplayAction::Read as u32;
        const WRITE: u32 = ReplayAction::Write as u32;
        const TRIM: u32 = ReplayAction::Trim as u32;
        const SYNC: u32 = ReplayAction::Sync as u32;
        const DATASYNC: u32 = ReplayAction::Datasync as u32;
        const WAIT: u32 = ReplayAction::Wait as u32;
        let file = self.target & (ReplayStep::MAX_FILES - 1);
        let io = |direction| Step::Io(Io { direction, file, offset: self.offset, len: self.len });
        match self.target >> ReplayStep::FILE_BITS {
            READ => io(Direction::Read),
            WRITE => io(Direction::Write),
            TRIM => io(Direction::Trim),
            OPEN => Step::Open { file },
            CLOSE => Step::Close { file },
            SYNC => Step::Sync { file, kind: SyncKind::Fsync },
            DATASYNC => Step::Sync { file, kind: SyncKind::Fdatasync },
            WAIT => Step::AwaitProgramTime { ms: self.offset },
            AWAIT_REPLAY_TIME => Step::AwaitReplayTime { us: self.offset },
            AWAIT_LOG => Step::AwaitLog,
            _ => Step::PassEnd,
        }
    }
}

/// The source of the steps.
#[derive(Debug)]
enum ReplaySource {
    /// The same step forever.
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
        self.step = self.next(pace).step();
    }

    fn next(&mut self, mut pace: impl FnMut(Direction) -> Direction) -> DueStep {
        let steps = match &self.source {
            ReplaySource::Loaded(log) => match &log.steps {
                ReplaySteps::Loaded(steps) => steps,
                ReplaySteps::Chunked(_) => return DueStep::new(PASS_END, 0),
            },
            ReplaySource::Feed { batch, .. } => batch,
            ReplaySource::Work => return DueStep::new(ReplayAction::Read as u32, 0),
        };
        let Some(next) = steps.get(self.next) else {
            return match self.next_batch() {
                NextBatch::Steps => self.next(pace),
                NextBatch::NothingYet => DueStep::new(AWAIT_LOG, 0),
                NextBatch::End => DueStep::new(PASS_END, 0),
            };
        };
        // The first wait begins the replay, even if its time is 0.
        if self.waited_us.is_none_or(|waited| next.due_us() > waited) {
            self.waited_us = Some(next.due_us());
            return DueStep::new(AWAIT_REPLAY_TIME, next.due_us());
        }
        self.next += 1;
        let due = DueStep { offset: next.offset, len: next.bytes(), target: next.target() };
        if let Step::Io(io) = due.step() {
            pace(io.direction);
        }
        due
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
            if due.step() == Step::PassEnd {
                break;
            }
            all.push(due.step());
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
        assert_eq!(path.next(|direction| direction).step(), Step::AwaitReplayTime { us: 0 });
        assert_eq!(path.next(|direction| direction).step(), Step::Open { file: 1 });
    }
}
