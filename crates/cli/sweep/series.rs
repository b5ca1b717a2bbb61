//! The runs of a series, one after the other: their progress, their failures, and how precisely the means are known.

use std::path::PathBuf;

use ferrio_compare::{MeasuredRun, Side, SideError, read_run, read_side, summarize};
use ferrio_job::{Diagnostic, Origin, counted, reason};
use ferrio_report::model::Warning;
use ferrio_sweep::{
    CONFIDENCE, MIN_REPETITIONS, PlannedRun, PointResults, Precision, Repetitions, Rounds, SweepPoint,
};

use super::children::{ChildExit, Children};
use super::results::{Results, set_aside};
use super::{SIGNALLED, arguments};
use crate::arguments::Item;
use crate::error::Error;
use crate::escaped_stream;
use crate::messages::Messages;
use crate::outcome::THRESHOLD_EXCEEDED_STATUS;
use crate::settings::SweepSettings;

/// The runs of a series.
pub(super) struct Runs<'a> {
    pub(super) items: &'a [Item],
    pub(super) points: &'a [SweepPoint],
    pub(super) results: &'a Results,
    pub(super) messages: Messages,
}

/// How far a series came.
#[derive(Default)]
pub(super) struct SeriesOutcome {
    /// Runs whose reports count.
    pub(super) completed: Vec<PlannedRun>,
    /// How many of them exceeded a threshold.
    pub(super) exceeded: usize,
    /// The status of the run that failed and ended the series.
    pub(super) failed: Option<u8>,
    /// A signal ended the series.
    pub(super) interrupted: bool,
    /// Warnings, each with the number of runs that have it.
    pub(super) warnings: Vec<(Warning, usize)>,
    /// How precisely the means are known, and whether that is what was wanted.
    pub(super) precision: Option<Diagnostic>,
}

impl Runs<'_> {
    pub(super) fn run(&self, wanted: &SweepSettings, rounds: Rounds) -> Result<SeriesOutcome, Error> {
        let mut children =
            Children::new().map_err(|error| failure(format!("cannot wait for signals: {error}")))?;
        let mut outcome = SeriesOutcome::default();
        let mut precision = Precision::default();
        let max = wanted.repetitions.max();
        for (repetition, round) in (1..=max).zip(rounds) {
            for run in round {
                if !outcome.completed.is_empty() && !wanted.pause.is_zero() {
                    children.pause(wanted.pause);
                }
                if children.interrupted().is_some() {
                    break;
                }
                self.progress(outcome.completed.len(), run, wanted.repetitions);
                let Some(document) = self.run_one(run, &mut children, &mut outcome)? else { break };
                let side = Side { name: String::new(), runs: vec![document] };
                precision.add(run.point, &summarize(&side));
            }
            if outcome.failed.is_some() || outcome.interrupted || children.interrupted().is_some() {
                break;
            }
            let Repetitions::Until { margin, .. } = wanted.repetitions else { continue };
            if repetition < MIN_REPETITIONS {
                continue;
            }
            let (is_reached, diagnostic) = self.precision_after(repetition, &precision, margin);
            if is_reached || repetition == max {
                outcome.precision = Some(diagnostic);
                break;
            }
        }
        outcome.interrupted |= children.interrupted().is_some();
        Ok(outcome)
    }

    /// Makes one run. `None` if the series ends with it.
    fn run_one(
        &self,
        run: PlannedRun,
        children: &mut Children,
        outcome: &mut SeriesOutcome,
    ) -> Result<Option<MeasuredRun>, Error> {
        let point = &self.points[run.point];
        let report = self.results.file(point, run.repetition)?;
        let ended = children.run(&arguments(self.items, point, &report));
        let cannot_start = |error| failure(format!("cannot start {}: {}", self.name(run), reason(&error)));
        let ChildExit { status, killed } = ended.map_err(cannot_start)?;
        if children.interrupted().is_some() || (status >= SIGNALLED && !killed) {
            set_aside(&report, "interrupted").iter().for_each(|error| self.messages.note(error));
            outcome.interrupted = true;
            return Ok(None);
        }
        let document = read_run(report.clone());
        if !self.has_succeeded(status, &document) {
            set_aside(&report, "failed").iter().for_each(|error| self.messages.note(error));
            self.report_failure(run, status, outcome.completed.len());
            outcome.failed = Some(status.max(1));
            return Ok(None);
        }
        let document = document.map_err(|error| failure(error.to_string()))?;
        outcome.add(run, &document);
        if status == THRESHOLD_EXCEEDED_STATUS {
            outcome.exceeded += 1;
            let message = format!("{} exceeded a threshold", self.name(run));
            self.messages.note(&Diagnostic::error(message, Origin::Builtin).code("threshold-exceeded"));
        }
        Ok(Some(document))
    }

    /// Whether the means of all rows are known as precisely as wanted after so many repetitions, and what to say about it.
    fn precision_after(&self, repetition: u32, precision: &Precision, wanted: f64) -> (bool, Diagnostic) {
        let Some(widest) = precision.widest(repetition) else {
            let message =
                format!("after {repetition} repetitions, there are no IOPS to be known more precisely");
            return (true, Diagnostic::note(message).code("repeat-precision"));
        };
        let label = self.points[widest.point].label();
        let separator = if label.is_empty() { "" } else { ", " };
        let row = format!("job {} ({}){separator}{label}", widest.jobname, widest.direction);
        let found = shown_percent(widest.margin);
        if widest.margin <= wanted {
            let message = format!(
                "after {repetition} repetitions, all means of IOPS are known to ±{wanted} % with {CONFIDENCE} % confidence: \
                 the least precise is that of {row}, to ±{found} %"
            );
            return (true, Diagnostic::note(message).code("repeat-precision"));
        }
        let message = format!(
            "after {repetition} repetitions, the most that --repeat allows, the mean IOPS of {row} are known to \
             ±{found} % with {CONFIDENCE} % confidence, not to ±{wanted} %: run longer, or allow more repetitions \
             (--repeat=until:{wanted}%,max=COUNT)"
        );
        (false, Diagnostic::warning(message, Origin::Builtin).code("repeat-precision"))
    }

    /// True unless jobs failed. A run that exceeds a threshold ends with the status of one with three failed jobs.
    fn has_succeeded(&self, status: u8, document: &Result<MeasuredRun, SideError>) -> bool {
        let own = document.as_ref().ok().and_then(|run| run.report.ferrio.as_ref());
        let exceeds =
            own.is_some_and(|own| own.run.failed_jobs == 0 && own.thresholds.iter().any(|one| !one.passed));
        status == 0 || (status == THRESHOLD_EXCEEDED_STATUS && exceeds)
    }

    /// Shows which run begins, on a terminal.
    fn progress(&self, index: usize, run: PlannedRun, repetitions: Repetitions) {
        if escaped_stream::stderr().is_terminal() {
            let most = u64::from(repetitions.max()).saturating_mul(self.points.len() as u64);
            let of = if matches!(repetitions, Repetitions::Count(_)) { "of" } else { "of at most" };
            self.messages.text(&format!("Run {} {of} {most}: {}\n", index + 1, self.name(run)));
        }
    }

    /// `iodepth=4, repetition 2`
    fn name(&self, run: PlannedRun) -> String {
        let label = self.points[run.point].label();
        let separator = if label.is_empty() { "" } else { ", " };
        format!("{label}{separator}repetition {}", run.repetition)
    }

    fn report_failure(&self, run: PlannedRun, status: u8, before: usize) {
        let message = format!(
            "{} failed with status {status}; no further run begins. The reports of {} before it are in {}",
            self.name(run),
            counted(before as u64, "run"),
            self.results.path().display()
        );
        self.messages.note(&Diagnostic::error(message, Origin::Builtin).code("run-failed"));
    }

    /// The figures of all points that ran.
    pub(super) fn measured(&self, outcome: &SeriesOutcome) -> Result<Vec<PointResults>, Error> {
        let mut measured = Vec::new();
        for (index, point) in self.points.iter().enumerate() {
            let completed = outcome.completed.iter().filter(|run| run.point == index);
            let reports: Vec<PathBuf> =
                completed.map(|run| self.results.file(point, run.repetition)).collect::<Result<_, _>>()?;
            if !reports.is_empty() {
                let side = read_side(&self.results.of_point(point));
                let mut side = side.map_err(|error| failure(error.to_string()))?;
                // The report of a run that does not count may still be there.
                side.runs.retain(|run| reports.contains(&run.path));
                measured.push(PointResults {
                    point: point.clone(),
                    runs: reports.len(),
                    jobs: summarize(&side),
                });
            }
        }
        Ok(measured)
    }
}

impl SeriesOutcome {
    fn add(&mut self, run: PlannedRun, document: &MeasuredRun) {
        self.completed.push(run);
        for warning in document.report.warnings() {
            match self.warnings.iter_mut().find(|(other, _)| other.code == warning.code) {
                Some((_, count)) => *count += 1,
                None => self.warnings.push((warning.clone(), 1)),
            }
        }
    }

    /// Each kind once, in the words of the first run that has it.
    pub(super) fn warnings(&self) -> Vec<Warning> {
        let all = self.completed.len();
        let warning = |(warning, count): &(Warning, usize)| {
            let message = match all {
                1 => warning.message.clone(),
                _ => format!("in {count} of {}: {}", counted(all as u64, "run"), warning.message),
            };
            Warning { message, ..warning.clone() }
        };
        self.warnings.iter().map(warning).collect()
    }
}

/// A run cannot be started or leaves no report.
fn failure(message: String) -> Error {
    Error::refusal("run-failed", message, None)
}

/// Two significant digits; hundredths at least.
fn shown_percent(percent: f64) -> String {
    if percent >= 10.0 { format!("{percent:.0}") } else { format!("{percent:.2}") }
}
