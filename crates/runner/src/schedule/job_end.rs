//! The reasons why jobs end: the job itself, another one (`exitall`), a signal, or the trigger.

use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use ferrio_job::{Diagnostic, ExitWhat, LifeCycle, Prefix, debug_class};
use ferrio_results::{JobResult, JobState, RunEvent};
use log::debug;

use super::state::Run;
use crate::verify_state;

impl Run<'_, '_> {
    /// Ends the run if the trigger goes off. Returns how long the main thread may sleep before the next check.
    pub(super) fn watch_trigger(&mut self) -> Duration {
        let Some(trigger) = self.trigger else { return Duration::MAX };
        let elapsed = self.start_instant.elapsed();
        let Some(reason) = trigger.poll(elapsed) else { return trigger.due_in(elapsed) };
        (self.observer)(RunEvent::Diagnostic(reason));
        (0..self.jobs.len()).for_each(|index| self.save_state(index, trigger.saves_all_states));
        (0..self.jobs.len()).for_each(|index| self.end(index));
        self.fired_trigger = self.trigger.take();
        Duration::MAX
    }

    /// Saves the verify state of a job when the trigger goes off, before the job is told to end.
    fn save_state(&mut self, index: usize, every_job: bool) {
        let (spec, job, control) = (&self.plan.jobs[index].spec, &self.jobs[index], &self.controls[index]);
        let notes = if every_job || spec.saves_state() {
            if !control.save_state_once() {
                return;
            }
            let [_, writes, _] = control.live.ios();
            verify_state::save_at_trigger(self.state_dir, spec, job.progress.as_deref(), writes, job.entropy)
        } else if job.started && job.result.is_none() && spec.verify.is_some() && spec.writes_data() {
            let message = "no verify state is saved, so a later run cannot know how much the job has written: set \
                           verify_state_save=1";
            vec![
                Diagnostic::note(message).code("verify-state-not-wanted").prefix(Prefix::Job).job(&spec.name),
            ]
        } else {
            Vec::new()
        };
        notes.into_iter().for_each(|note| (self.observer)(RunEvent::Diagnostic(note)));
    }

    /// Records the result of a job that has ended, and reports its error.
    pub(super) fn handle_job_end(&mut self, index: usize, mut result: JobResult) {
        self.answered(index);
        self.jobs[index].latest = None;
        self.monitor.ended(index, &mut result.stats);
        self.flows.ended(index, Instant::now());
        let state = if result.error.is_some() { JobState::Failed } else { JobState::Reaped };
        self.controls[index].set_state(state);
        if let Some(error) = &result.error {
            let job = &self.plan.jobs[index].spec.name;
            (self.observer)(RunEvent::JobFailed { job, pid: result.pid, error });
        }
        self.finish(index, result);
    }

    /// Ends other jobs after the end of a job with `exitall` or `exitall_on_error`.
    pub(super) fn end_others(&mut self, index: usize) {
        let LifeCycle { exitall_on_error, exit_what, .. } = self.plan.jobs[index].spec.life;
        let failed = self.jobs[index].result.as_ref().is_some_and(|result| result.error.is_some());
        let ends_others = self.exitall || (exitall_on_error && failed);
        if !ends_others {
            return;
        }
        let group = self.plan.jobs[index].spec.group;
        for other in 0..self.jobs.len() {
            match exit_what {
                ExitWhat::Group if self.plan.jobs[other].spec.group != group => {}
                ExitWhat::Stonewall if !self.jobs[other].started => {}
                _ => self.end(other),
            }
        }
    }

    /// Called when a job ended. Ends the load-only jobs once no other job is left.
    pub(super) fn end_load_only_jobs(&mut self, index: usize) {
        // A cheap early exit for runs with many jobs.
        if self.load_only_jobs == 0 || self.unfinished > self.load_only_jobs {
            return;
        }
        let is_load = |index: usize| self.plan.jobs[index].spec.engine.is_background_load();
        let is_left = |other: usize| self.jobs[other].result.is_none() && !is_load(other);
        if is_load(index) || (0..self.jobs.len()).any(is_left) {
            return;
        }
        for other in 0..self.jobs.len() {
            if self.plan.jobs[other].spec.life.ends_with_others {
                self.end(other);
            }
        }
    }

    /// Ends all jobs on a signal. The thread that waits for signals has already stopped those that run.
    pub(super) fn terminate(&mut self, signal: i32) {
        debug!(target: debug_class::PROCESS, "signal {signal}: all jobs end");
        (self.observer)(RunEvent::Terminating { signal });
        self.signal.get_or_insert(signal);
        self.deadline.signal(Instant::now());
        (0..self.jobs.len()).for_each(|index| self.end(index));
    }

    /// Ends all jobs if the observer has asked for it.
    pub(super) fn end_early(&mut self) {
        if self.options.early_end.swap(false, Relaxed) {
            (0..self.jobs.len()).for_each(|index| self.end(index));
        }
    }

    /// Handles SIGCONT: adds a note that the program was stopped and continued. There is no note if a signal ends the run: supervisors send
    /// SIGCONT together with the terminating signal.
    pub(super) fn handle_sigcont(&mut self) {
        if !self.compat.reports_stops || self.signal.is_some() || self.has_reported_stop {
            return;
        }
        self.has_reported_stop = true;
        let message =
            "the program was stopped and has been continued: latencies, rates and runtimes include that time";
        (self.observer)(RunEvent::Diagnostic(Diagnostic::note(message).code("process-continued")));
    }

    /// Asks a running job to end, or cancels one that did not start.
    pub(super) fn end(&mut self, index: usize) {
        self.controls[index].request_stop();
        let job = &self.jobs[index];
        if !job.started && job.result.is_none() {
            self.controls[index].set_state(JobState::Reaped);
            self.finish(index, JobResult::default());
        }
    }
}
