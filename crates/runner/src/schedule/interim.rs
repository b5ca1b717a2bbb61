//! Reports of the run so far (`--status-interval`, SIGUSR1, the status file, `--interval-report`).
//!
//! Main asks each running job for its figures and goes on with its work; the jobs answer between two I/Os. Once all have answered, or
//! when it has waited long enough, the report is told. A job that did not answer, because the kernel keeps it in a call, is shown with
//! what it told last and its live counters.

use std::path::PathBuf;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use ferrio_stats::JobStats;

use super::{Run, RunOptions};
use crate::control::JobControl;
use crate::event::Event;
use crate::message::Snapshot;
use crate::progress::JobState;
use crate::result::{JobResult, RunResult};

/// Main waits this long for figures at most, and no longer than half of the time between two reports,
const PATIENCE: Duration = Duration::from_millis(100);
/// but at least this long: a job that sleeps looks every 20 ms, and on a busy machine it needs some time to get a CPU.
const LEAST_PATIENCE: Duration = Duration::from_millis(50);
/// Time between two looks for the status file.
const FILE_LOOK: Duration = Duration::from_millis(250);

/// What kinds of reports are due.
#[derive(Clone, Copy, Debug, Default)]
struct Due {
    status: bool,
    interval: bool,
}

impl Due {
    fn any(self) -> bool {
        self.status || self.interval
    }
}

/// Figures are being collected.
#[derive(Debug)]
struct Round {
    /// For these reports.
    due: Due,
    /// Jobs that have not answered.
    missing: usize,
    until: Instant,
}

/// When reports are due.
#[derive(Debug, Default)]
pub(super) struct Interim {
    status: Option<Beat>,
    interval: Option<Beat>,
    file: Option<PathBuf>,
    /// When the next look for the file is due, since the start of the run.
    next_look: Duration,
    patience: Duration,
    /// Reports that no round was begun for.
    due: Due,
    round: Option<Round>,
}

impl Interim {
    pub(super) fn new(options: &RunOptions) -> Self {
        let beats = [options.status_interval, options.interval];
        let [status, interval] = beats.map(|every| every.map(Beat::new));
        let shortest = beats.into_iter().flatten().min();
        Interim {
            status,
            interval,
            file: options.status_file.clone(),
            patience: shortest.map_or(PATIENCE, |every| (every / 2).clamp(LEAST_PATIENCE, PATIENCE)),
            ..Interim::default()
        }
    }

    /// A report is wanted as soon as possible.
    pub(super) fn want_status(&mut self) {
        self.due.status = true;
    }

    /// Finds out what is due.
    fn look(&mut self, elapsed: Duration) {
        self.due.status |= self.status.as_mut().is_some_and(|beat| beat.passed(elapsed));
        self.due.interval |= self.interval.as_mut().is_some_and(|beat| beat.passed(elapsed));
        if let Some(file) = &self.file
            && elapsed >= self.next_look
        {
            self.next_look = elapsed + FILE_LOOK;
            // One call tells whether it was there. A file that cannot be removed would ask for a report again and again.
            self.due.status |= std::fs::remove_file(file).is_ok();
        }
    }

    /// How long main may sleep.
    fn due_in(&self, elapsed: Duration) -> Duration {
        if let Some(round) = &self.round {
            return round.until.saturating_duration_since(Instant::now());
        }
        if self.due.any() {
            return Duration::ZERO;
        }
        let beats = [&self.status, &self.interval].into_iter().flatten().map(|beat| beat.next);
        let file = self.file.is_some().then_some(self.next_look);
        let next = beats.chain(file).min();
        next.map_or(Duration::MAX, |next| next.saturating_sub(elapsed))
    }
}

/// Something that happens at whole multiples of a time.
#[derive(Debug)]
struct Beat {
    every: Duration,
    next: Duration,
}

impl Beat {
    fn new(every: Duration) -> Self {
        let every = every.max(Duration::from_millis(1));
        Beat { every, next: every }
    }

    /// True when it is time. What was missed does not come later.
    fn passed(&mut self, elapsed: Duration) -> bool {
        if elapsed < self.next {
            return false;
        }
        let past = elapsed.as_nanos() % self.every.as_nanos();
        let left = self.every.as_nanos() - past;
        self.next = elapsed + Duration::from_nanos(u64::try_from(left).unwrap_or(u64::MAX));
        true
    }
}

impl Run<'_, '_> {
    /// Begins and ends the collection of figures. Returns how long main may sleep.
    pub(super) fn see_to_reports(&mut self) -> Duration {
        let elapsed = self.began.elapsed();
        self.interim.look(elapsed);
        if self.interim.round.is_none() && self.interim.due.any() {
            self.ask();
        }
        self.report_if_complete();
        self.interim.due_in(self.began.elapsed())
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
        let due = std::mem::take(&mut self.interim.due);
        self.interim.round = Some(Round { due, missing, until: Instant::now() + self.interim.patience });
    }

    /// A job told its figures.
    pub(super) fn told(&mut self, index: usize, snapshot: Box<Snapshot>) {
        let job = &mut self.jobs[index];
        // Taken for an earlier report, which could not wait for it and has shown the counters of a later moment: no figure may go back
        // in time. The answer that is waited for follows.
        if job.latest.as_ref().is_some_and(|shown| snapshot.is_older_than(shown)) {
            return;
        }
        self.answered(index);
        let job = &mut self.jobs[index];
        if job.result.is_none() {
            job.latest = Some(snapshot);
        }
    }

    /// Nothing more is expected of a job.
    pub(super) fn answered(&mut self, index: usize) {
        if std::mem::take(&mut self.jobs[index].asked)
            && let Some(round) = &mut self.interim.round
        {
            round.missing -= 1;
        }
    }

    /// Tells the reports whose figures are there, or were waited for long enough.
    pub(super) fn report_if_complete(&mut self) {
        let complete = |round: &mut Round| round.missing == 0 || Instant::now() >= round.until;
        if let Some(round) = self.interim.round.take_if(complete) {
            self.report(round.due);
            self.jobs.iter_mut().for_each(|job| job.asked = false);
        }
    }

    fn report(&mut self, due: Due) {
        let elapsed = self.began.elapsed();
        let now = self.clock.now();
        let mut ended = Vec::with_capacity(self.jobs.len());
        let mut jobs = Vec::with_capacity(self.jobs.len());
        // Figures are large: they are lent to the report, not copied.
        for index in 0..self.jobs.len() {
            let result = self.jobs[index].result.take();
            ended.push(result.is_some());
            jobs.push(result.unwrap_or_else(|| self.so_far(index, now)));
        }
        for (index, steady) in self.monitor.steady_states() {
            jobs[index].steadystate = Some(steady);
        }
        let result = RunResult {
            jobs,
            disks: self.disks.usage(elapsed.as_millis() as u64),
            started: self.started,
            elapsed,
            signal: self.signal,
            clock: self.clock.source(),
            idleness: None,
            progress: Some(self.monitor.progress(elapsed)),
        };
        if due.interval {
            (self.observer)(Event::Interval(&result));
        }
        if due.status {
            (self.observer)(Event::Interim(&result));
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
        let control = &self.controls[index];
        let job = &mut self.jobs[index];
        let since = control.running_since.load(Relaxed);
        if since == 0 {
            return JobResult::default();
        }
        // Counted from the start of the ramp while that lasts.
        let since = since.max(control.measuring_since());
        let latest = job.latest.get_or_insert_default();
        // What was told last belongs to the ramp, or nothing was told yet.
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
        self.monitor.put_samples(index, &mut result.stats);
        result
    }
}

/// Whether a job in this state has figures.
const fn is_measured(state: JobState) -> bool {
    matches!(
        state,
        JobState::Ramp | JobState::Running | JobState::Verifying | JobState::Fsyncing | JobState::Finishing
    )
}

/// Adds what can be seen from outside of a job that did not answer, `ms` after it did.
fn bring_up_to_date(result: &mut JobResult, control: &JobControl, ms: u64) {
    result.pid = control.pid.load(Relaxed);
    result.start_ms = control.start_ms.load(Relaxed);
    // When its I/O is over, its time is not counted any more.
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
