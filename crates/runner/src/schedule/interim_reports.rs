//! Reports of the run so far (`--status-interval`, SIGUSR1, the status file, `--interval-report`).
//!
//! Main asks each running job for its figures and goes on with its work; the jobs answer between two I/Os. Once all have answered, or
//! when it has waited long enough, the report is sent. A job that did not answer, because the kernel keeps it in a call, is shown with
//! its last answer and its live counters.

use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use ferrio_results::{JobResult, JobState, RunEvent, RunResult};
use ferrio_stats::JobStats;

use super::due_reports::{DueKinds, FigureRound};
use super::state::Run;
use crate::context::Snapshot;
use crate::control::JobControl;

impl Run<'_, '_> {
    /// Begins and ends the collection of figures. Returns how long main may sleep.
    pub(super) fn collect_reports(&mut self) -> Duration {
        let elapsed = self.start_instant.elapsed();
        if let Some(note) = self.due_reports.poll(elapsed) {
            (self.observer)(RunEvent::Diagnostic(note));
        }
        if self.due_reports.round.is_none() && self.due_reports.due.any() {
            self.ask();
        }
        self.report_if_complete();
        self.due_reports.due_in(self.start_instant.elapsed())
    }

    /// Asks all running jobs for their figures.
    fn ask(&mut self) {
        let mut missing = 0;
        for (job, control) in self.jobs.iter_mut().zip(self.controls) {
            if job.result.is_none() && is_measured(control.state()) {
                job.asked = true;
                control.request_figures();
                missing += 1;
            }
        }
        let due = std::mem::take(&mut self.due_reports.due);
        self.due_reports.round =
            Some(FigureRound { due, missing, until: Instant::now() + self.due_reports.reply_timeout });
    }

    /// Stores the figures that a job sent.
    pub(super) fn take_figures(&mut self, index: usize, snapshot: Box<Snapshot>) {
        let job = &mut self.jobs[index];
        // Taken for an earlier report, which could not wait for it and has shown later counters: no figure may go back in time. The
        // answer to this request follows.
        if job.latest.as_ref().is_some_and(|shown| snapshot.is_older_than(shown)) {
            return;
        }
        self.answered(index);
        let job = &mut self.jobs[index];
        if job.result.is_none() {
            job.latest = Some(snapshot);
        }
    }

    /// Stops waiting for a job.
    pub(super) fn answered(&mut self, index: usize) {
        if std::mem::take(&mut self.jobs[index].asked)
            && let Some(round) = &mut self.due_reports.round
        {
            round.missing -= 1;
        }
    }

    /// Sends the reports whose figures are complete, or were waited for long enough.
    pub(super) fn report_if_complete(&mut self) {
        let complete = |round: &mut FigureRound| round.missing == 0 || Instant::now() >= round.until;
        if let Some(round) = self.due_reports.round.take_if(complete) {
            self.report(&round.due);
            self.jobs.iter_mut().for_each(|job| job.asked = false);
            self.end_early();
        }
    }

    fn report(&mut self, due: &DueKinds) {
        let elapsed = self.start_instant.elapsed();
        let now = self.clock.now();
        let mut ended = Vec::with_capacity(self.jobs.len());
        let mut jobs = Vec::with_capacity(self.jobs.len());
        // Figures are large: they are moved into the report and back, not copied.
        for index in 0..self.jobs.len() {
            let result = self.jobs[index].result.take();
            ended.push(result.is_some());
            jobs.push(result.unwrap_or_else(|| self.so_far(index, now)));
        }
        let progress = Some(self.monitor.progress(elapsed));
        let result = RunResult { progress, ..self.result(jobs, elapsed) };
        for &which in &due.intervals {
            (self.observer)(RunEvent::Interval { which, result: &result });
        }
        if due.status {
            (self.observer)(RunEvent::Interim(&result));
        }
        for ((job, lent), ended) in self.jobs.iter_mut().zip(result.jobs).zip(ended) {
            if ended {
                job.result = Some(lent);
            } else if let Some(latest) = &mut job.latest {
                latest.result = lent;
            }
        }
    }

    /// The figures of a job that has not ended.
    fn so_far(&mut self, index: usize, now: u64) -> JobResult {
        let Some(mut result) = self.figures_so_far(index, now) else { return JobResult::default() };
        self.monitor.put_samples(index, &mut result.stats);
        result
    }

    /// The figures without the samples of rates. `None` before the job runs.
    pub(super) fn figures_so_far(&mut self, index: usize, now: u64) -> Option<JobResult> {
        let control = &self.controls[index];
        let job = &mut self.jobs[index];
        let since = control.running_since.load(Relaxed);
        if since == 0 {
            return None;
        }
        // Counted from the start of the ramp while that lasts.
        let since = since.max(control.measuring_since());
        let latest = job.latest.get_or_insert_default();
        // The last figures belong to the ramp, or there are none yet.
        let stale = latest.since != since;
        if stale {
            **latest = Snapshot { since, taken: since, result: JobResult::default() };
        }
        let mut result = std::mem::take(&mut latest.result);
        result.stale = job.asked || stale;
        if result.stale {
            result.in_ramp = control.state() == JobState::Ramp;
            if control.state() != JobState::Finishing {
                result.measured = Duration::from_nanos(self.clock.between(since, now));
            }
            let ms = self.clock.between(latest.taken, now) / 1_000_000;
            latest.taken += self.clock.ticks(Duration::from_millis(ms));
            bring_up_to_date(&mut result, control, ms);
        }
        Some(result)
    }
}

/// Whether a job in this state has figures.
const fn is_measured(state: JobState) -> bool {
    matches!(
        state,
        JobState::Ramp | JobState::Running | JobState::Verifying | JobState::Fsyncing | JobState::Finishing
    )
}

/// Adds what main can see of a job that did not answer, `ms` after its last answer.
fn bring_up_to_date(result: &mut JobResult, control: &JobControl, ms: u64) {
    result.pid = control.pid.load(Relaxed);
    result.start_ms = control.start_ms.load(Relaxed);
    if control.live.events() > 0 {
        let events = result.events.get_or_insert_default();
        events.done = events.done.max(control.live.events());
    }
    // After its I/O no more time counts.
    let ms = if control.state() == JobState::Finishing { 0 } else { ms };
    let JobStats { directions, job_runtime_ms, .. } = &mut result.stats;
    *job_runtime_ms += ms;
    let verifies = control.state() == JobState::Verifying;
    let seen = control.live.ios().into_iter().zip(control.live.bytes());
    for (direction, (figures, (ios, bytes))) in directions.iter_mut().zip(seen).enumerate() {
        figures.ios = figures.ios.max(ios);
        figures.bytes = figures.bytes.max(bytes);
        if figures.bytes == 0 {
            continue;
        }
        if figures.runtime_ms == 0 {
            figures.runtime_ms = *job_runtime_ms;
        } else if !verifies || direction == 0 {
            figures.runtime_ms += ms;
        }
    }
}

#[cfg(test)]
mod tests;
