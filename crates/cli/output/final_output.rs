//! The output after the run: the final reports, and what follows them.

use ferrio_job::{Diagnostic, Origin, Plan};
use ferrio_report::{Format, RunReport};
use ferrio_results::RunResult;
use ferrio_thresholds::{Judgement, Threshold, judge};

use super::watchers::Findings;
use super::{MAIN, Output};
use crate::error::Error;

/// The output of a run that has ended.
pub struct FinalOutput {
    pub(super) output: Output,
    pub(super) findings: Findings,
}

/// The end of a run.
pub struct FinalReport {
    /// The main report.
    pub report: RunReport,
    /// One for each threshold.
    pub judgements: Vec<Judgement>,
    /// A threshold has ended the run.
    pub was_aborted: bool,
    /// A file that the run was to write beside its report is missing or incomplete, and the exit status says so. As in fio, that of a program
    /// called `fio` does not for logs and verify states.
    pub has_lost_file: bool,
    /// Whether all reports could be written.
    pub closed: Result<(), Error>,
}

impl FinalOutput {
    /// Prints a message.
    pub fn message(&mut self, diagnostic: &Diagnostic) {
        self.output.message(diagnostic);
    }

    /// Writes the verdict of the profile, if it has one: before the text report as fio does, to standard error if there is none. True if the
    /// devices failed.
    pub fn write_verdict(&mut self) -> bool {
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

    /// Writes the final report to all streams, and then warnings about its figures and exceeded thresholds to standard error. The threshold
    /// that has ended the run stays as it was found then.
    pub fn report(self, plan: &Plan, result: &RunResult, thresholds: &[Threshold]) -> FinalReport {
        let FinalOutput { mut output, findings } = self;
        let Findings { series, mut aborted, .. } = findings;
        let was_aborted = aborted.is_some();
        output.options.series = series;
        let options = output.options_now();
        let mut report = output.report_at(MAIN, plan, result, &options);
        let mut judgements = judge(thresholds, &report);
        // Those of --abort-if come last.
        for judgement in judgements.iter_mut().rev() {
            if let Some(then) = aborted.take_if(|then| then.report.expression == judgement.report.expression)
            {
                *judgement = then;
            }
        }
        let set_thresholds = |report: &mut RunReport| {
            if let Some(ferrio) = &mut report.ferrio {
                ferrio.thresholds = judgements.iter().map(|judgement| judgement.report.clone()).collect();
            }
        };
        set_thresholds(&mut report);
        output.write_report(MAIN, &report);
        for at in MAIN + 1..output.files.len() {
            let mut report = output.report_at(at, plan, result, &options);
            set_thresholds(&mut report);
            output.write_report(at, &report);
        }
        output.screen.clear_live_line();
        output.screen.show_kept(report.warnings());
        output.screen.messages.figure_warnings(report.warnings());
        for judgement in &judgements {
            let Some(message) = &judgement.message else { continue };
            let code = if judgement.is_exceeded() { "threshold-exceeded" } else { "threshold-not-judged" };
            output.screen.messages.note(&Diagnostic::error(message, Origin::Builtin).code(code));
        }
        let has_lost_file = output.has_lost_file;
        FinalReport { report, judgements, was_aborted, has_lost_file, closed: output.close() }
    }
}
