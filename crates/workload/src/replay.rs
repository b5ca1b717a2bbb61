//! Steps without choices: those of a log (`read_iolog`), one after the other, and those of an engine that does no I/O.

use std::sync::Arc;

use ferrio_job::{Direction, Replay, ReplayAction, ReplayStep, ReplaySteps};

use crate::step::{Io, Step, SyncKind};
use crate::step_feed::{Fed, StepFeed};

/// A log, and how far it is replayed.
#[derive(Debug)]
pub(crate) struct ReplayPath {
    source: Source,
    /// The next one among those at hand.
    next: usize,
    /// Time of the last wait, µs.
    waited_us: u64,
    /// The step that is due now; here, so that the call need not return it.
    pub(crate) step: Step,
}

/// Where the steps come from.
#[derive(Debug)]
enum Source {
    /// The same step forever.
    Work,
    /// All of them are at hand.
    Loaded(Arc<Replay>),
    /// They come in batches.
    Fed {
        /// Those at hand.
        batch: Vec<ReplayStep>,
        /// The others; none before [`ReplayPath::feed`].
        feed: Option<StepFeed>,
    },
}

impl ReplayPath {
    pub(crate) fn new(log: Arc<Replay>) -> Self {
        let source = match &log.steps {
            ReplaySteps::Loaded(_) => Source::Loaded(log),
            ReplaySteps::Chunked(_) => Source::Fed { batch: Vec::new(), feed: None },
        };
        ReplayPath { source, next: 0, waited_us: 0, step: Step::PassEnd }
    }

    /// I/Os that move nothing, without end.
    pub(crate) fn of_work() -> Self {
        let work = Io { direction: Direction::Read, file: 0, offset: 0, len: 0 };
        ReplayPath { source: Source::Work, next: 0, waited_us: 0, step: Step::Io(work) }
    }

    /// Where the steps of a log that is not in memory come from.
    pub(crate) fn feed(&mut self, from: StepFeed) {
        if let Source::Fed { feed, .. } = &mut self.source {
            *feed = Some(from);
        }
    }

    /// Finds the next step. `pace` is asked before each I/O; its answer changes nothing.
    #[inline(never)]
    pub(crate) fn advance(&mut self, mut pace: impl FnMut(Direction) -> Direction) {
        let steps = match &self.source {
            Source::Loaded(log) => match &log.steps {
                ReplaySteps::Loaded(steps) => steps,
                ReplaySteps::Chunked(_) => return,
            },
            Source::Fed { batch, .. } => batch,
            Source::Work => return,
        };
        let Some(next) = steps.get(self.next) else {
            if !self.next_batch() {
                return;
            }
            return self.advance(pace);
        };
        if next.due_us > self.waited_us {
            self.waited_us = next.due_us;
            self.step = Step::AwaitReplayTime { us: next.due_us };
            return;
        }
        self.next += 1;
        self.step = step(next);
        if let Step::Io(io) = self.step {
            pace(io.direction);
        }
    }

    /// Takes the next batch of steps. False when there is none, and the step says what comes instead.
    #[cold]
    #[inline(never)]
    fn next_batch(&mut self) -> bool {
        let fed = match &mut self.source {
            Source::Fed { batch, feed: Some(feed) } => feed.exchange(batch),
            _ => Fed::End,
        };
        match fed {
            Fed::Steps => self.next = 0,
            Fed::NothingYet => self.step = Step::AwaitLog,
            Fed::End => self.step = Step::PassEnd,
        }
        fed == Fed::Steps
    }

    /// Starts again. Steps that are read while the job runs come once only, as a log is replayed once.
    pub(crate) fn begin_pass(&mut self) {
        if let Source::Loaded(_) = self.source {
            (self.next, self.waited_us) = (0, 0);
        }
    }
}

fn step(step: &ReplayStep) -> Step {
    let file = step.file();
    let io = |direction| Step::Io(Io { direction, file, offset: step.offset, len: step.len });
    match step.action() {
        ReplayAction::Open => Step::Open { file },
        ReplayAction::Close => Step::Close { file },
        ReplayAction::Read => io(Direction::Read),
        ReplayAction::Write => io(Direction::Write),
        ReplayAction::Trim => io(Direction::Trim),
        ReplayAction::Sync => Step::Sync { file, kind: SyncKind::Fsync },
        ReplayAction::Datasync => Step::Sync { file, kind: SyncKind::Fdatasync },
        ReplayAction::Wait => Step::AwaitProgramTime { ms: step.offset },
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
            path.advance(|direction| {
                paced.push(direction);
                direction
            });
            if path.step == Step::PassEnd {
                break;
            }
            all.push(path.step);
        }
        let io = Io { direction: Direction::Write, file: 1, offset: 7, len: 512 };
        let want = [
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
        path.advance(|direction| direction);
        assert_eq!(path.step, Step::Open { file: 1 });
    }
}
