//! The output after the run: the final reports, and what follows them.

use ferrio_job::{Compat, Diagnostic, Origin, Plan};
use ferrio_report::model::Warning;
use ferrio_report::{Format, RunReport};
use ferrio_results::RunResult;
use ferrio_thresholds::{Judgement, Threshold, judge};

use super::watchers::WatcherFindings;
use super::{MAIN, Output};
use crate::error::Error;
use crate::outcome::RunOutcome;

/// The output of a run that has ended.
pub struct FinalOutput {
    pub(super) output: Output,
    pub(super) findings: WatcherFindings,
}

impl FinalOutput {
    pub fn message(&mut self, diagnostic: &Diagnostic) {
        self.output.message(diagnostic);
    }

    /// Writes the verdict of the profile, if it has one: before the text report as fio does, or to standard error without a text report.
    /// Returns true if the devices failed.
    fn write_verdict(&mut self) -> bool {
        let Some(verdict) = self.findings.verdict.take() else { return false };
        let output = &mut self.output;
        if output.files[MAIN].formats.has(Format::Normal) {
            output.write(&verdict.text);
        } else {
            output.screen.clear_live_line();
            output.screen.messages.text(&verdict.text);
        }
        output.write_to_files(Format::Normal, &verdict.text);
        if !verdict.passed {
            let message =
                "the devices failed the test of the profile act: more reads than it allows were slow";
            output.note(&Diagnostic::note(message).code("profile-failed"));
        }
        !verdict.passed
    }

    /// Writes the verdict and the final report to all streams, and then warnings about its figures and exceeded thresholds to standard error.
    /// The threshold that aborted the run is reported as it was measured then. Also returns whether all reports could be written.
    pub fn report(
        mut self,
        plan: &Plan,
        result: RunResult,
        thresholds: &[Threshold],
    ) -> (RunOutcome, Result<(), Error>) {
        let verdict_failed = self.write_verdict();
        let FinalOutput { mut output, findings } = self;
        let WatcherFindings { series, aborted, .. } = findings;
        let was_aborted = aborted.is_some();
        output.options.series = series;
        let options = output.options_now();
        let mut report = output.report_at(MAIN, plan, &result, &options);
        let mut judgements = judge(thresholds, &report);
        keep_abort(&mut judgements, aborted);
        set_thresholds(&mut report, &judgements);
        match output.host_report(MAIN, plan, &result, &options, &report) {
            Some((voice, report)) => voice.result(&report),
            None => output.write_report(MAIN, &report),
        }
        for at in MAIN + 1..output.files.len() {
            let mut report = output.report_at(at, plan, &result, &options);
            set_thresholds(&mut report, &judgements);
            output.write_report(at, &report);
        }
        output.show_findings(report.warnings(), &judgements);
        let outcome = RunOutcome {
            result,
            report,
            lost_file: output.has_lost_file,
            verdict_failed: verdict_failed && output.options.compat == Compat::Ferrio,
            thresholds: judgements,
            was_aborted,
        };
        (outcome, output.close())
    }
}

/// Puts the judgement that has ended the run in the place of that on the whole run.
pub(super) fn keep_abort(judgements: &mut [Judgement], mut aborted: Option<Judgement>) {
    // Those of --abort-if come last.
    for judgement in judgements.iter_mut().rev() {
        if let Some(then) = aborted.take_if(|then| then.report.expression == judgement.report.expression) {
            *judgement = then;
        }
    }
}

/// Puts the judgements on thresholds into a report.
pub(super) fn set_thresholds(report: &mut RunReport, judgements: &[Judgement]) {
    if let Some(ferrio) = &mut report.ferrio {
        ferrio.thresholds = judgements.iter().map(|judgement| judgement.report.clone()).collect();
    }
}

impl Output {
    /// Prints messages that have waited for the report, warnings about its figures, and thresholds that are not kept. A coordinator that
    /// makes the report shows the warnings in it.
    pub(super) fn show_findings(&mut self, warnings: &[Warning], judgements: &[Judgement]) {
        self.screen.clear_live_line();
        self.screen.show_deferred(warnings);
        if self.coordinator.is_none() {
            self.screen.messages.figure_warnings(warnings);
        }
        for judgement in judgements {
            let Some(message) = &judgement.message else { continue };
            let code = if judgement.is_exceeded() { "threshold-exceeded" } else { "threshold-not-judged" };
            self.screen.messages.note(&Diagnostic::error(message, Origin::Builtin).code(code));
        }
    }
}
