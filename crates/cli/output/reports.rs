//! Reports of the run so far and at its end, in all formats, and what follows the last one.

use ferrio_job::{Diagnostic, Origin, Plan};
use ferrio_report::{Format, Formats, ReportOptions, RunReport};
use ferrio_results::RunResult;
use ferrio_thresholds::{Judgement, judge};

use super::Output;
use crate::intervals::IntervalStream;

impl Output {
    /// Writes the final report, and then warnings about its figures and exceeded thresholds to standard error. Returns what the
    /// thresholds found. That which has `aborted` the run stays as it was found then.
    pub fn report(
        &mut self,
        plan: &Plan,
        result: &RunResult,
        mut aborted: Option<Judgement>,
    ) -> Vec<Judgement> {
        if let Some(error) = self.intervals.as_mut().and_then(IntervalStream::close) {
            self.message(&error);
        }
        let options = self.options.clone().now().within(&self.environment);
        let mut report = self.report_in(plan, result, &options, options.formats);
        let mut judgements = judge(&self.thresholds, &report);
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
        self.write_report(&report);
        for at in 0..self.files.len() {
            let mut report = self.report_in(plan, result, &options, self.files[at].formats);
            set_thresholds(&mut report);
            self.write_report_to_file(at, &report);
        }
        self.clear_live_line();
        self.show_kept(report.warnings());
        self.messages.figure_warnings(report.warnings());
        for judgement in &judgements {
            let Some(message) = &judgement.message else { continue };
            let code = if judgement.is_exceeded() { "threshold-exceeded" } else { "threshold-not-judged" };
            self.messages.note(&Diagnostic::error(message, Origin::Builtin).code(code));
        }
        judgements
    }

    /// The report of a run for an output in these formats.
    pub(super) fn report_in(
        &self,
        plan: &Plan,
        result: &RunResult,
        options: &ReportOptions,
        formats: Formats,
    ) -> RunReport {
        RunReport::new(plan, result, &options.in_formats(formats))
    }

    /// The figures so far, for thresholds.
    pub fn figures_so_far(&self, plan: &Plan, result: &RunResult) -> RunReport {
        self.report_in(plan, result, &self.options, self.options.formats)
    }

    /// Writes the report of the run so far to all outputs that can hold several. False if there are none.
    pub(super) fn report_so_far(&mut self, plan: &Plan, result: &RunResult) -> bool {
        let options = self.options.clone().now().within(&self.environment);
        let mut has_any = false;
        if options.formats.may_repeat() && !options.formats.are_none() {
            self.write_report(&self.report_in(plan, result, &options, options.formats));
            let published = self.stream.publish();
            self.keep_first_error(published);
            has_any = true;
        }
        for at in 0..self.files.len() {
            let formats = self.files[at].formats;
            if formats.may_repeat() {
                self.write_report_to_file(at, &self.report_in(plan, result, &options, formats));
                let published = self.files[at].stream.publish();
                self.keep_error_of_file(at, published);
                has_any = true;
            }
        }
        has_any
    }

    /// Writes and flushes a report in all formats.
    pub(super) fn write_report(&mut self, report: &RunReport) {
        self.write(&report.in_formats(self.options.formats, self.options.terse_layout()));
        let flushed = self.stream.flush();
        self.keep_first_error(flushed);
    }

    /// The metrics of the run so far, with histograms.
    pub fn metrics(&self, plan: &Plan, result: &RunResult) -> String {
        let options = ReportOptions { formats: Formats::only(Format::JsonPlus), ..self.options.clone() };
        let report = RunReport::new(plan, result, &options.now().within(&self.environment));
        report.in_formats(Formats::only(Format::OpenMetrics), self.options.terse_layout())
    }
}
