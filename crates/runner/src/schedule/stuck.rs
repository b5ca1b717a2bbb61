//! Jobs that do not end when a signal tells them to: the kernel keeps them in a call, as with a disk that does not answer.
//!
//! The first signal waits for them, because their I/O may only be slow. After the second one, the run ends without them. Time in which a
//! thread of the run or a command waits for a CPU is not counted: jobs that do not get to run are not stuck.

use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use ferrio_job::Diagnostic;
use ferrio_machine::CpuWaits;
use ferrio_results::{Event, JobError};

use super::state::Run;

/// Time after the first signal until the user is told which jobs go on.
const HINT: Duration = Duration::from_secs(3);

/// Time that jobs have to end after the second signal, waits for a CPU left out.
const LAST: Duration = Duration::from_secs(2);
/// The same with all waits.
const LONGEST: Duration = Duration::from_secs(60);
/// Time between two looks at these waits.
const LOOK: Duration = Duration::from_millis(100);

/// How long main waits for jobs that a signal has told to end.
#[derive(Debug, Default)]
pub(super) enum Patience {
    /// There was no signal.
    #[default]
    Unlimited,
    /// After one signal. Then, the user is told which jobs go on.
    UntilHint(Instant),
    /// After one signal, and the user was told.
    UntilSignal,
    /// After another signal. Then, the run ends without them.
    UntilEnd(LastTime),
    /// The run ends without them.
    Over,
}

/// Time that jobs have to end.
#[derive(Debug)]
pub(super) struct LastTime {
    /// What is left of [`LAST`].
    left: Duration,
    /// What is left of [`LONGEST`].
    longest: Duration,
    waits: CpuWaits,
    /// The time was over at the last look. Main may have waited for a CPU as well, and have not seen yet that jobs have ended.
    was_over: bool,
}

impl LastTime {
    fn new() -> Self {
        LastTime { left: LAST, longest: LONGEST, waits: CpuWaits::new(), was_over: false }
    }

    /// Returns how long main may sleep, `None` when the time is over.
    fn look(&mut self) -> Option<Duration> {
        let (passed, waited) = self.waits.look();
        self.pass(passed, waited)
    }

    /// The same after time that has `passed`, during some of which a thread `waited` for a CPU.
    fn pass(&mut self, passed: Duration, waited: Duration) -> Option<Duration> {
        self.left = self.left.saturating_sub(passed.saturating_sub(waited));
        self.longest = self.longest.saturating_sub(passed);
        let left = self.left.min(self.longest).min(LOOK);
        let was_over = std::mem::replace(&mut self.was_over, left.is_zero());
        (!(was_over && left.is_zero())).then_some(left)
    }
}

impl Patience {
    /// A signal told all jobs to end.
    pub(super) fn signal(&mut self, now: Instant) {
        match *self {
            Patience::Unlimited => *self = Patience::UntilHint(now + HINT),
            Patience::UntilHint(_) | Patience::UntilSignal => *self = Patience::UntilEnd(LastTime::new()),
            Patience::UntilEnd(_) | Patience::Over => {}
        }
    }

    /// True if the run ends without the jobs that have not ended.
    pub(super) const fn is_over(&self) -> bool {
        matches!(self, Patience::Over)
    }
}

impl Run<'_, '_> {
    /// Tells which jobs go on after a signal, and later ends the run without them. Returns how long main may sleep.
    pub(super) fn watch_stuck_jobs(&mut self) -> Duration {
        let now = Instant::now();
        match &mut self.patience {
            Patience::UntilHint(hint) if now >= *hint => {
                self.patience = Patience::UntilSignal;
                self.tell_stuck();
            }
            Patience::UntilHint(hint) => return *hint - now,
            Patience::UntilEnd(time) => match time.look() {
                Some(wake) => return wake,
                None => {
                    self.patience = Patience::Over;
                    self.stuck().into_iter().for_each(|index| self.abandon(index));
                }
            },
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
        if !spec.compat.reports_hanging_jobs {
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

#[cfg(test)]
mod tests {
    use super::*;

    const MS: fn(u64) -> Duration = Duration::from_millis;

    #[test]
    fn jobs_have_their_time_without_the_waits_for_a_cpu_and_main_looks_once_more() {
        let mut time = LastTime::new();
        assert_eq!(time.pass(MS(1950), MS(0)), Some(MS(50)));
        assert_eq!(time.pass(MS(900), MS(880)), Some(MS(30)));
        assert_eq!(time.pass(MS(100), MS(100)), Some(MS(30)));
        // Main slept too long: what came meanwhile is handled first.
        assert_eq!(time.pass(MS(5000), MS(0)), Some(MS(0)));
        assert_eq!(time.pass(MS(1), MS(0)), None);
    }

    #[test]
    fn jobs_that_never_get_a_cpu_do_not_hold_the_run_for_ever() {
        let mut time = LastTime::new();
        let looks = (0..10_000).take_while(|_| time.pass(MS(100), MS(100)).is_some()).count();
        assert_eq!(looks, 600);
    }
}
