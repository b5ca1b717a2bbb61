//! `--abort-if`: thresholds that are judged while the jobs run, and end the run.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

use ferrio_job::{Diagnostic, Origin, Plan};
use ferrio_report::entry_jobs;
use ferrio_report::model::RunReport;
use ferrio_results::RunResult;
use ferrio_thresholds::{Judgement, Threshold, judge};

use super::{Watcher, WatcherFindings};
use crate::output::Output;

/// Judges the figures of a run at intervals, and ends it once a threshold is exceeded.
#[derive(Debug)]
pub struct AbortWatcher {
    thresholds: Vec<Threshold>,
    /// For each report entry: the indices of its jobs in the plan.
    entries: Vec<Vec<usize>>,
    exceeded: Option<Judgement>,
    /// Set to end the run early.
    early_end: Arc<AtomicBool>,
}

impl AbortWatcher {
    /// `None` without thresholds. The run ends early when `early_end` is set.
    pub fn new(thresholds: &[Threshold], plan: &Plan, early_end: Arc<AtomicBool>) -> Option<Self> {
        let (thresholds, entries) = (thresholds.to_vec(), entry_jobs(plan));
        let watcher = AbortWatcher { thresholds, entries, exceeded: None, early_end };
        (!watcher.thresholds.is_empty()).then_some(watcher)
    }

    /// Returns the reason to end the run, the first time a threshold is exceeded.
    fn judge(&mut self, result: &RunResult, report: impl FnOnce() -> RunReport) -> Option<Diagnostic> {
        let judged: Vec<bool> =
            self.entries.iter().map(|jobs| jobs.iter().all(|&job| result.has_enough_data(job))).collect();
        if self.exceeded.is_some() || !judged.contains(&true) {
            return None;
        }
        let mut report = report();
        let mut judged = judged.into_iter();
        report.jobs.retain(|_| judged.next().unwrap_or(false));
        let exceeded = judge(&self.thresholds, &report).into_iter().find(Judgement::is_exceeded)?;
        let reason = reason_to_abort(&exceeded, result.elapsed);
        self.exceeded = Some(exceeded);
        Some(reason)
    }
}

/// The message that a threshold ends the run.
pub fn reason_to_abort(exceeded: &Judgement, elapsed: Duration) -> Diagnostic {
    let Judgement { report, worst, .. } = exceeded;
    let message = format!(
        "--abort-if='{}' ends all jobs {:.1} s after the start of the run: {}",
        report.expression,
        elapsed.as_secs_f64(),
        worst.as_deref().unwrap_or_default()
    );
    Diagnostic::warning(message, Origin::Builtin).code("run-aborted")
}

impl Watcher for AbortWatcher {
    fn interval(&self) -> Duration {
        Duration::from_secs(1)
    }

    fn observe(&mut self, plan: &Plan, result: &RunResult, output: &mut Output) {
        if let Some(why) = self.judge(result, || output.figures_so_far(plan, result)) {
            self.early_end.store(true, Relaxed);
            output.note(&why);
        }
    }

    fn finish(self: Box<Self>, _: &Plan, _: &RunResult, _: &mut Output, findings: &mut WatcherFindings) {
        findings.aborted = self.exceeded;
    }
}

#[cfg(test)]
mod tests {
    use ferrio_plan::testing::plan_of;
    use ferrio_report::model::{DirectionReport, JobReport, TextFigures};
    use ferrio_results::{JobProgress, JobResult, JobState, Progress};

    use super::*;

    /// Two jobs in these states, measured for so many seconds.
    fn result(jobs: [(JobState, u64, bool); 2]) -> RunResult {
        let progress = jobs.map(|(state, ..)| JobProgress {
            state,
            elapsed: Duration::ZERO,
            measured: Duration::ZERO,
            bytes: [0; 3],
            ios: [0; 3],
            transactions: 0,
            open_files: 0,
        });
        let figures = jobs.map(|(_, seconds, in_ramp)| JobResult {
            measured: Duration::from_secs(seconds),
            in_ramp,
            ..JobResult::default()
        });
        RunResult {
            jobs: figures.into(),
            progress: Some(Progress { elapsed: Duration::ZERO, jobs: progress.into() }),
            elapsed: Duration::from_secs(7),
            ..RunResult::default()
        }
    }

    fn report(iops: [f64; 2]) -> RunReport {
        let job = |(name, iops): (&str, f64)| JobReport {
            jobname: name.to_owned(),
            read: Some(DirectionReport { iops, ..DirectionReport::default() }),
            text: TextFigures { does: [true, false, false], ..TextFigures::default() },
            ..JobReport::default()
        };
        RunReport { jobs: ["a", "b"].into_iter().zip(iops).map(job).collect(), ..RunReport::default() }
    }

    #[test]
    fn only_jobs_that_were_measured_for_long_enough_end_the_run_and_they_do_so_once() {
        let plan = plan_of("[global]\nioengine=null\nsize=4k\n[a]\n[b]\n").unwrap();
        let thresholds = [Threshold::parse("read.iops < 50").unwrap()];
        assert!(AbortWatcher::new(&[], &plan, Arc::default()).is_none());
        let mut watch = AbortWatcher::new(&thresholds, &plan, Arc::default()).unwrap();
        let mut ends = |jobs, iops| watch.judge(&result(jobs), || report(iops)).map(|found| found.message);
        let (running, ramp, ended) = (JobState::Running, JobState::Ramp, JobState::Reaped);
        let slow = [1.0, 1.0];
        assert_eq!(ends([(running, 2, false), (JobState::NotCreated, 0, false)], slow), None);
        assert_eq!(ends([(ramp, 9, true), (ended, 0, false)], slow), None, "cancelled before its start");
        assert_eq!(ends([(running, 3, false), (running, 2, false)], [100.0, 1.0]), None);
        let why = "--abort-if='read.iops < 50' ends all jobs 7.0 s after the start of the run: job b has 1, the limit is 50";
        assert_eq!(ends([(running, 3, false), (ended, 1, false)], [100.0, 1.0]).as_deref(), Some(why));
        assert_eq!(ends([(running, 4, false), (running, 4, false)], slow), None, "once");
        let exceeded = watch.exceeded.unwrap();
        assert_eq!((exceeded.report.jobname.as_deref(), exceeded.report.value), (Some("b"), Some(1.0)));
    }
}
