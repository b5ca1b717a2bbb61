//! The view of a run on this host: its events and figures.

use std::time::Duration;

use ferrio_job::Plan;
use ferrio_report::{LiveRecorder, LiveTable, job_failed, laying_out_line, terminating};
use ferrio_results::{RunEvent, RunResult};

use crate::display::DisplayedBoard;
use crate::screen::{NoTerminal, Terminal};

/// The view of one run, from its start until it is dropped.
#[derive(Debug)]
pub struct LiveView {
    recorder: LiveRecorder,
    display: DisplayedBoard,
}

impl LiveView {
    /// The interval of calls of [`LiveView::look`].
    #[must_use]
    pub fn every(plan: &Plan) -> Duration {
        LiveRecorder::sample_interval(plan)
    }

    /// Takes the terminal. Must be called on the thread that starts all others: from now on it blocks signals that end the run, so that
    /// they cannot end the program before the terminal is given back, and the signal of a changed size, which would interrupt I/Os. Signals
    /// that stop or end the program at once are blocked until the view is dropped.
    ///
    /// # Errors
    /// The terminal cannot be set up, or no thread can be started.
    pub fn start(terminal: Terminal, plan: &Plan, has_colors: bool) -> Result<Self, NoTerminal> {
        let display = DisplayedBoard::start(terminal, LiveTable::new(plan), has_colors)?;
        Ok(LiveView { recorder: LiveRecorder::new(plan), display })
    }

    /// Handles an event of the run.
    pub fn event(&mut self, plan: &Plan, event: &RunEvent<'_>) {
        match event {
            // Drawn only if visible state changes: progress arrives several times a second.
            RunEvent::Progress(progress) => self.display.change_if(|board| {
                board.set_activity("");
                board.table.set_progress(plan, progress)
            }),
            RunEvent::LayingOut { job, files, bytes } => {
                let text = laying_out_line(job, *files, *bytes);
                self.display.change(|board| board.set_activity(&text));
            }
            RunEvent::Diagnostic(diagnostic) => self.display.message(&diagnostic.message),
            // Failures without an error number have already been shown as a diagnostic.
            RunEvent::JobFailed { error, .. } if error.errno == 0 => {}
            RunEvent::JobFailed { job, pid, error } => {
                self.display.message(&format!("{job}: {}", job_failed(job, *pid, error).message));
            }
            RunEvent::Terminating { signal } => {
                self.display.change(|board| board.is_ending = true);
                self.display.message(&terminating(*signal).message);
            }
            RunEvent::Interim(_) => self.display.message("a report of the run so far is made"),
            RunEvent::Starting { .. } | RunEvent::Released | RunEvent::Interval { .. } => {}
        }
    }

    /// Takes the current figures.
    pub fn look(&mut self, result: &RunResult) {
        let sample = self.recorder.sample(result);
        self.display.change(|board| board.table.add(sample));
    }
}
