//! Jobs that do not end when a signal tells them to: the kernel keeps them in a call, as with a disk that does not answer.
//!
//! The first signal waits for them, because their I/O may only be slow. After the second one, the run ends without them.

use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use ferrio_job::{Character, Diagnostic};

use super::state::Run;
use crate::failure::JobError;
use crate::result::Event;

/// Time after the first signal until the user is told which jobs go on.
const HINT: Duration = Duration::from_secs(3);

/// Time that jobs have to end after the second signal.
const LAST: Duration = Duration::from_secs(2);

/// How long main waits for jobs that a signal has told to end.
#[derive(Clone, Copy, Debug, Default)]
pub(super) enum Patience {
    /// There was no signal.
    #[default]
    Unlimited,
    /// After one signal. Then, the user is told which jobs go on.
    UntilHint(Instant),
    /// After one signal, and the user was told.
    UntilSignal,
    /// After another signal. Then, the run ends without them.
    UntilEnd(Instant),
    /// The run ends without them.
    Over,
}

impl Patience {
    /// A signal told all jobs to end.
    pub(super) fn signal(&mut self, now: Instant) {
        *self = match *self {
            Patience::Unlimited => Patience::UntilHint(now + HINT),
            Patience::UntilHint(_) | Patience::UntilSignal => Patience::UntilEnd(now + LAST),
            ending @ (Patience::UntilEnd(_) | Patience::Over) => ending,
        };
    }

    /// True if the run ends without the jobs that have not ended.
    pub(super) const fn is_over(self) -> bool {
        matches!(self, Patience::Over)
    }
}

impl Run<'_, '_> {
    /// Tells which jobs go on after a signal, and later ends the run without them. Returns how long main may sleep.
    pub(super) fn watch_stuck_jobs(&mut self) -> Duration {
        let now = Instant::now();
        match self.patience {
            Patience::UntilHint(hint) if now >= hint => {
                self.patience = Patience::UntilSignal;
                self.tell_stuck();
            }
            Patience::UntilEnd(end) if now >= end => {
                self.patience = Patience::Over;
                self.stuck().into_iter().for_each(|index| self.abandon(index));
            }
            Patience::UntilHint(next) | Patience::UntilEnd(next) => return next - now,
            Patience::Unlimited | Patience::UntilSignal | Patience::Over => {}
        }
        Duration::MAX
    }

    fn stuck(&self) -> Vec<usize> {
        let is_stuck = |&index: &usize| self.jobs[index].started && self.jobs[index].result.is_none();
        (0..self.jobs.len()).filter(is_stuck).collect()
    }

    fn tell_stuck(&mut self) {
        let stuck = self.stuck();
        let Some(&first) = stuck.first() else { return };
        let spec = &self.plan.jobs[first].spec;
        if spec.character == Character::Fio {
            return;
        }
        let others = match stuck.len() - 1 {
            0 => "has".to_owned(),
            1 => "and 1 other job have".to_owned(),
            count => format!("and {count} other jobs have"),
        };
        let message = format!(
            "{} {others} not ended: an I/O, a sync or a command takes long. Another signal ends the run without waiting for it",
            spec.name
        );
        (self.observer)(Event::Diagnostic(Diagnostic::note(message).code("job-goes-on")));
    }

    /// Ends a job for the report. Its thread goes on, if it ever can.
    fn abandon(&mut self, index: usize) {
        let mut result = self.figures_so_far(index, self.clock.now()).unwrap_or_default();
        result.pid = self.controls[index].pid.load(Relaxed);
        result.error = Some(JobError::new(libc::ETIMEDOUT, "waiting for the end of the job"));
        self.jobs[index].abandoned = true;
        self.ended(index, result);
    }
}
