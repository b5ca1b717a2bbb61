//! The output while jobs run: events on the screen and in the report, and figures for the watchers.

use std::sync::Arc;

use ferrio_job::{Diagnostic, Plan};
use ferrio_report::{RunEnvironment, job_failed, laying_out_line, starting_line, terminating};
use ferrio_results::{RunEvent, RunResult};
use ferrio_runner::RunOptions;
use ferrio_tui::LiveView;

use super::screen::ShownRun;
use super::watchers::Watchers;
use super::{FinalOutput, MAIN, Output};
use crate::report_stream::ReportStream;

/// The output of a run.
pub struct LiveOutput {
    pub(super) output: Output,
    watchers: Watchers,
}

impl Output {
    /// Goes on with a run in this environment.
    pub fn begin(self, environment: RunEnvironment, watchers: Watchers) -> LiveOutput {
        LiveOutput { output: Output { environment, ..self }, watchers }
    }
}

impl LiveOutput {
    /// Prints a message above the live line.
    pub fn message(&mut self, diagnostic: &Diagnostic) {
        self.output.message(diagnostic);
    }

    /// Gives the terminal to the live view: what would go there waits until the run ends.
    pub fn show_view(&mut self, view: LiveView, plan: &Plan) {
        self.output.screen.show_view(ShownRun::Here(view));
        self.watchers.add_view(plan);
    }

    /// The options of a run that sends its progress to the screen and its figures to the watchers, each of which may end it.
    pub fn run_options(&self) -> RunOptions {
        RunOptions {
            early_end: Arc::clone(&self.watchers.early_end),
            progress: self.output.screen.is_live(),
            has_live_view: self.output.screen.has_view(),
            intervals: self.watchers.intervals(),
            ..RunOptions::default()
        }
    }

    /// Does what may block before the run, such as opening logs: a signal ends the program then. The run itself looks at its outputs.
    pub fn watched<T>(&mut self, is_watched: bool, open: impl FnOnce(&mut Self) -> T) -> T {
        if is_watched {
            self.output.begin_watch();
        }
        let done = open(self);
        let fell_back_to_stdout = self.output.files.iter().any(|file| file.fell_back_to_stdout);
        self.output.watch = self.output.watch.take().filter(|_| fell_back_to_stdout);
        done
    }

    /// Prints an event of the run, or shows the figures of an interval to their watcher.
    pub fn event(&mut self, plan: &Plan, event: &RunEvent<'_>) {
        let output = &mut self.output;
        if let RunEvent::Interval { which, result } = event {
            return self.watchers.observe(*which, plan, result, output);
        }
        output.screen.show_event(plan, event);
        match event {
            RunEvent::Starting { threads, processes } => {
                output.announce(&starting_line(*threads, *processes))
            }
            RunEvent::LayingOut { job, files, bytes } => {
                output.announce(&laying_out_line(job, *files, *bytes))
            }
            RunEvent::Diagnostic(diagnostic) => output.note(diagnostic),
            // Without an error number there is only a message, which came as a diagnostic.
            RunEvent::JobFailed { error, .. } if error.errno == 0 => {}
            // A job that could not be set up has no worker.
            RunEvent::JobFailed { job, pid, error } if *pid == 0 => {
                output.message(&job_failed(job, 0, error))
            }
            RunEvent::JobFailed { job, pid, error } => output.failure(&job_failed(job, *pid, error)),
            RunEvent::Terminating { signal } => {
                output.signal = Some(*signal);
                output.watch.iter().for_each(|watch| watch.signalled(*signal));
                output.terminating(&terminating(*signal));
            }
            RunEvent::Interim(result) => output.report_so_far(plan, result),
            RunEvent::Interval { .. } => {}
            RunEvent::Released => output.environment.begin_jobs(),
            RunEvent::Progress(progress) => output.screen.show_progress(plan, progress),
        }
    }

    /// Takes the terminal back after the run, and asks the watchers what they have found. If the reports may block, a signal ends the program.
    pub fn end(mut self, plan: &Plan, result: &RunResult, may_block: bool) -> FinalOutput {
        let output = &mut self.output;
        output.end_view();
        if may_block {
            output.begin_watch();
        }
        let findings = self.watchers.finish(plan, result, output);
        FinalOutput { output: self.output, findings }
    }
}

impl Output {
    /// Writes the report of the run so far to all streams that can hold several.
    fn report_so_far(&mut self, plan: &Plan, result: &RunResult) {
        let options = self.options_now();
        let mut has_any = false;
        for at in 0..self.files.len() {
            let formats = self.files[at].formats;
            // Without formats, all have files of their own.
            if formats.may_repeat() && !formats.are_none() {
                let report = self.report_at(at, plan, result, &options);
                match self.host_report(at, plan, result, &options, &report) {
                    Some((voice, report)) => voice.interim(&report),
                    None => self.write_report(at, &report),
                }
                let unwritten = self.files[at].attempt(ReportStream::publish);
                self.rescue(at, unwritten);
                has_any = true;
            }
        }
        if !has_any {
            let all = self.files.iter().fold(self.files[MAIN].formats, |all, file| all.and(file.formats));
            let word = all.alone().map_or("", |(word, _)| word);
            let message =
                format!("no report of the run so far: the format {word} allows only one, at the end");
            self.message(&Diagnostic::note(message).code("no-interim-report"));
        }
    }
}
