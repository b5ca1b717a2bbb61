//! Consumers of interval snapshots of a run. Each is an object that says how often it looks.

mod abort;
mod interval_report;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use ferrio_job::Plan;
use ferrio_metrics::MetricsServer;
use ferrio_report::{RunSeries, SeriesRecorder};
use ferrio_results::RunResult;
use ferrio_thresholds::Judgement;
use ferrio_tui::LiveView;

use super::Output;
use crate::hosts::Voice;
use crate::profiles::{Verdict, VerdictJudgement};
use crate::settings::ProgramSettings;
use abort::AbortWatcher;
pub use abort::reason_to_abort;
pub use interval_report::IntervalStream;

/// A consumer of interval snapshots.
pub trait Watcher {
    /// Time between two snapshots.
    fn interval(&self) -> Duration;

    /// Looks at the figures at the end of an interval.
    fn observe(&mut self, plan: &Plan, result: &RunResult, output: &mut Output);

    /// Looks at the figures of the whole run.
    fn finish(self: Box<Self>, _: &Plan, _: &RunResult, _: &mut Output, _: &mut WatcherFindings) {}
}

/// The results of the watchers.
#[derive(Default)]
pub struct WatcherFindings {
    /// The verdict of the profile.
    pub verdict: Option<VerdictJudgement>,
    /// The activity of jobs and devices over time.
    pub series: RunSeries,
    /// The threshold that has ended the run.
    pub aborted: Option<Judgement>,
}

/// The watchers of a run, by their number in [`RunEvent::Interval`](ferrio_results::RunEvent::Interval).
#[derive(Default)]
pub struct Watchers {
    all: Vec<Box<dyn Watcher>>,
    /// Set once the run must end.
    pub(super) early_end: Arc<AtomicBool>,
}

impl Watchers {
    /// The watchers that the settings ask for.
    pub fn new(
        plan: &Plan,
        settings: &ProgramSettings,
        intervals: Option<IntervalStream>,
        metrics: Option<MetricsServer>,
        voice: Option<&Voice>,
    ) -> Self {
        fn part<W: Watcher + 'static>(watcher: Option<W>) -> Option<Box<dyn Watcher>> {
            watcher.map(|watcher| Box::new(watcher) as Box<dyn Watcher>)
        }
        // A coordinator may end the run, too.
        let early_end = voice.map(Voice::early_end).unwrap_or_default();
        let all = [
            part(intervals),
            part(AbortWatcher::new(&settings.aborting, plan, Arc::clone(&early_end))),
            part(settings.profile.and_then(|profile| profile.verdict(plan))),
            part(settings.has_series().then(|| SeriesRecorder::new(plan))),
            part(metrics),
            part(voice.and_then(|voice| voice.snapshots).map(SnapshotWatcher)),
        ];
        Watchers { all: all.into_iter().flatten().collect(), early_end }
    }

    /// Adds the live view, which is part of the output.
    pub fn add_view(&mut self, plan: &Plan) {
        self.all.push(Box::new(ViewWatcher(LiveView::every(plan))));
    }

    /// The interval of each watcher.
    pub fn intervals(&self) -> Vec<Duration> {
        self.all.iter().map(|watcher| watcher.interval()).collect()
    }

    /// Shows the figures to the watcher of this number.
    pub fn observe(&mut self, number: usize, plan: &Plan, result: &RunResult, output: &mut Output) {
        self.all[number].observe(plan, result, output);
    }

    /// Shows the figures of the whole run to all watchers.
    pub fn finish(self, plan: &Plan, result: &RunResult, output: &mut Output) -> WatcherFindings {
        let mut findings = WatcherFindings::default();
        self.all.into_iter().for_each(|watcher| watcher.finish(plan, result, output, &mut findings));
        findings
    }
}

impl Watcher for Verdict {
    fn interval(&self) -> Duration {
        Verdict::SLICE
    }

    fn observe(&mut self, _: &Plan, result: &RunResult, _: &mut Output) {
        self.observe(result);
    }

    fn finish(self: Box<Self>, _: &Plan, result: &RunResult, _: &mut Output, findings: &mut WatcherFindings) {
        findings.verdict = Some((*self).finish(result));
    }
}

impl Watcher for SeriesRecorder {
    fn interval(&self) -> Duration {
        SeriesRecorder::SAMPLE_INTERVAL
    }

    fn observe(&mut self, _: &Plan, result: &RunResult, output: &mut Output) {
        self.observe(result);
        self.observe_cpus(result.elapsed, &output.environment().throttling_so_far());
    }

    fn finish(
        mut self: Box<Self>,
        plan: &Plan,
        result: &RunResult,
        output: &mut Output,
        findings: &mut WatcherFindings,
    ) {
        Watcher::observe(&mut *self, plan, result, output);
        findings.series = (*self).finish();
    }
}

impl Watcher for MetricsServer {
    /// A request waits for half of this on average.
    fn interval(&self) -> Duration {
        Duration::from_millis(500)
    }

    fn observe(&mut self, plan: &Plan, result: &RunResult, output: &mut Output) {
        if self.is_wanted() {
            self.publish(output.metrics(plan, result));
        }
    }
}

/// The coordinator of a run on many hosts, with the time between the snapshots that it wants.
struct SnapshotWatcher(Duration);

impl Watcher for SnapshotWatcher {
    fn interval(&self) -> Duration {
        self.0
    }

    fn observe(&mut self, plan: &Plan, result: &RunResult, output: &mut Output) {
        output.send_snapshot(plan, result);
    }
}

/// The live view, with the time between its updates.
struct ViewWatcher(Duration);

impl Watcher for ViewWatcher {
    fn interval(&self) -> Duration {
        self.0
    }

    fn observe(&mut self, _: &Plan, result: &RunResult, output: &mut Output) {
        output.show_snapshot(result);
    }
}
