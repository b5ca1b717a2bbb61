//! Steps without choices: those of a log (`read_iolog`), one after the other, and those of an engine that does no I/O.

use std::sync::Arc;

use ferrio_job::{Direction, Replay, ReplayAction, ReplayStep};

use crate::step::{Io, Step, SyncKind};

/// A log, and how far it is replayed.
#[derive(Clone, Debug)]
pub(crate) struct ReplayPath {
    /// `None` for the same step forever.
    log: Option<Arc<Replay>>,
    next: usize,
    /// Time of the last wait, µs.
    waited_us: u64,
    /// The step that is due now; here, so that the call need not return it.
    pub(crate) step: Step,
}

impl ReplayPath {
    pub(crate) fn new(log: Arc<Replay>) -> Self {
        ReplayPath { log: Some(log), next: 0, waited_us: 0, step: Step::PassEnd }
    }

    /// I/Os that move nothing, without end.
    pub(crate) fn of_work() -> Self {
        let work = Io { direction: Direction::Read, file: 0, offset: 0, len: 0 };
        ReplayPath { log: None, next: 0, waited_us: 0, step: Step::Io(work) }
    }

    /// Finds the next step. `pace` is asked before each I/O; its answer changes nothing.
    #[inline(never)]
    pub(crate) fn advance(&mut self, mut pace: impl FnMut(Direction) -> Direction) {
        let Some(log) = &self.log else { return };
        let Some(&next) = log.steps.get(self.next) else {
            self.step = Step::PassEnd;
            return;
        };
        if next.due_us > self.waited_us {
            self.waited_us = next.due_us;
            self.step = Step::AwaitReplayTime { us: next.due_us };
            return;
        }
        self.next += 1;
        self.step = step(&next);
        if let Step::Io(io) = self.step {
            pace(io.direction);
        }
    }

    /// Starts again.
    pub(crate) fn begin_pass(&mut self) {
        (self.next, self.waited_us) = (0, 0);
    }
}

fn step(step: &ReplayStep) -> Step {
    let file = step.file;
    let io = |direction| Step::Io(Io { direction, file, offset: step.offset, len: step.len });
    match step.action {
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
        let at = |due_us, action| ReplayStep { due_us, action, file: 1, len: 512, offset: 7 };
        let steps = vec![
            at(0, ReplayAction::Open),
            at(5, ReplayAction::Write),
            at(5, ReplayAction::Sync),
            at(9, ReplayAction::Wait),
        ];
        let mut path = ReplayPath::new(Arc::new(Replay { files: Vec::new(), steps }));
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
