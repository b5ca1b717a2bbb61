//! Jobs that do not end when a signal tells them to: the kernel keeps them in a call, as with a disk that does not answer.
//!
//! The first signal waits for them, because their I/O may only be slow. After the second one, the run ends without them. Time in which a
//! thread of the run or a command waits for a CPU is not counted: jobs that do not get to run are not stuck.

use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use ferrio_job::Diagnostic;
use ferrio_results::{JobError, RunEvent};

use super::end_deadline::EndDeadline;
use super::state::Run;

impl Run<'_, '_> {
    /// Reports which jobs go on after a signal, and later ends the run without them. Returns how long main may sleep.
    pub(super) fn watch_stuck_jobs(&mut self) -> Duration {
        let now = Instant::now();
        match &mut self.deadline {
            EndDeadline::UntilHint(hint) if now >= *hint => {
                self.deadline = EndDeadline::UntilSignal;
                self.report_stuck();
            }
            EndDeadline::UntilHint(hint) => return *hint - now,
            EndDeadline::UntilEnd(time) => match time.poll() {
                Some(wake) => return wake,
                None => {
                    self.deadline = EndDeadline::Over;
                    self.stuck().into_iter().for_each(|index| self.abandon(index));
                }
            },
            EndDeadline::Unlimited | EndDeadline::UntilSignal | EndDeadline::Over => {}
        }
        Duration::MAX
    }

    fn stuck(&self) -> Vec<usize> {
        let is_stuck = |&index: &usize| self.jobs[index].started && self.jobs[index].result.is_none();
        (0..self.jobs.len()).filter(is_stuck).collect()
    }

    fn report_stuck(&mut self) {
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
        (self.observer)(RunEvent::Diagnostic(Diagnostic::note(message).code("job-goes-on")));
    }

    /// Ends a job for the report. Its thread goes on, if it ever can.
    fn abandon(&mut self, index: usize) {
        let mut result = self.figures_so_far(index, self.clock.now()).unwrap_or_default();
        result.pid = self.controls[index].pid.load(Relaxed);
        result.error = Some(JobError::new(libc::ETIMEDOUT, "waiting for the end of the job"));
        self.jobs[index].abandoned = true;
        self.handle_job_end(index, result);
    }
}
