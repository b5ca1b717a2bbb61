//! Messages about a run: in the report, or on standard error above the live line.

use ferrio_job::{AsFio, Compat, Diagnostic, codes};
use ferrio_jobfile::Sources;
use ferrio_report::Format;

use super::Output;
use crate::messages::Messages;
use crate::settings::ProgramSettings;

/// Where lines go that fio prints in its report, if that is no text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ReportLines {
    /// In front of the report, as in fio.
    Report,
    /// Nowhere else: the document has them among its notes.
    Document,
    /// Called `ferrio`, and if programs read the messages.
    StandardError,
}

impl ReportLines {
    pub(super) fn of(settings: &ProgramSettings, messages: Messages) -> Self {
        match settings.compat {
            Compat::Fio if !messages.are_text() => ReportLines::StandardError,
            Compat::Fio if settings.formats.has(Format::Json) => ReportLines::Document,
            Compat::Fio => ReportLines::Report,
            Compat::Ferrio => ReportLines::StandardError,
        }
    }
}

impl Output {
    /// Prints a warning or note that comes before the run, now or after the report.
    pub fn preface(&mut self, diagnostic: &Diagnostic, sources: &Sources) {
        if !self.screen.defer_message(diagnostic, sources) {
            self.message_at(diagnostic, sources);
        }
    }

    /// Prints a diagnostic about the run where it belongs, above the live line.
    pub fn message(&mut self, diagnostic: &Diagnostic) {
        self.message_at(diagnostic, &Sources::default());
    }

    /// Prints a diagnostic about the jobs, which points into `sources`.
    fn message_at(&mut self, diagnostic: &Diagnostic, sources: &Sources) {
        let messages = self.screen.messages;
        let means_lost_file = codes::find(diagnostic.code).is_some_and(|code| code.means_lost_file);
        self.has_lost_file |= means_lost_file && !messages.are_of_fio();
        let shown = self.names.in_one_line(diagnostic);
        let diagnostic = shown.as_ref().unwrap_or(diagnostic);
        match messages.place(diagnostic) {
            AsFio::Hidden => {}
            AsFio::Report if self.takes_messages => self.write_message(diagnostic),
            AsFio::Report if self.report_lines == ReportLines::Document => {}
            AsFio::Report if self.report_lines == ReportLines::Report => self.write_message(diagnostic),
            AsFio::Report | AsFio::Stderr => {
                self.screen.print_message(&messages.text_of(diagnostic, sources));
                if self.takes_messages && !self.writes_to_stdout() {
                    self.write_message(diagnostic);
                }
            }
        }
    }

    /// Prints a diagnostic that reports have among their notes.
    pub fn note(&mut self, diagnostic: &Diagnostic) {
        self.options.add_run_note(diagnostic);
        self.message(diagnostic);
    }

    /// Writes a diagnostic as a line of the text report.
    fn write_message(&mut self, diagnostic: &Diagnostic) {
        self.write(&format!("{}\n", diagnostic.line(Compat::Fio)));
    }

    /// Prints that a worker ended early, where such lines go.
    pub(super) fn failure(&mut self, diagnostic: &Diagnostic) {
        if self.takes_messages {
            self.write_message(diagnostic);
        } else {
            self.message(diagnostic);
        }
    }

    /// Prints that a signal ends the run.
    pub(super) fn terminating(&mut self, message: &Diagnostic) {
        // The live line stays, and the message begins on a new line.
        if self.writes_to_stdout() {
            self.screen.leave_live_line();
        }
        if self.report_lines == ReportLines::Document {
            self.options.add_run_note(message);
        } else if self.takes_messages {
            self.write("\n");
        } else if !self.screen.has_view() {
            self.screen.messages.text("\n");
        }
        self.message(message);
    }
}
