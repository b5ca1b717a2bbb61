//! Messages before and during a run: in the report, or on standard error above the live line.

use ferrio_job::{AsFio, Compat, Diagnostic, codes};
use ferrio_jobfile::Sources;
use ferrio_report::model::Warning;

use super::{Held, Output};
use crate::escaped_stream;

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

impl Output {
    /// Prints a warning or note that comes before the run, now or after the report.
    pub fn preface(&mut self, diagnostic: &Diagnostic, sources: &Sources) {
        match &mut self.kept {
            Some(kept) => kept.push((diagnostic.clone(), self.messages.text_of(diagnostic, sources))),
            None => self.message_at(diagnostic, sources),
        }
    }

    /// Prints the warnings that were kept, each once and without those that the figures confirm.
    pub(super) fn show_kept(&mut self, confirmed: &[Warning]) {
        let mut shown: Vec<String> = Vec::new();
        for (diagnostic, text) in self.kept.take().unwrap_or_default() {
            let is_confirmed = confirmed.iter().any(|warning| warning.confirms(&diagnostic));
            if !is_confirmed && !shown.contains(&text) {
                self.messages.write_coloured(&text);
                shown.push(text);
            }
        }
    }

    /// Prints a diagnostic about the jobs where it belongs, above the live line.
    pub fn message_at(&mut self, diagnostic: &Diagnostic, sources: &Sources) {
        let means_lost_file = codes::find(diagnostic.code).is_some_and(|code| code.means_lost_file);
        self.lost_file |= means_lost_file && !self.messages.are_of_fio();
        let shown = self.names.in_one_line(diagnostic);
        let diagnostic = shown.as_ref().unwrap_or(diagnostic);
        match self.messages.place(diagnostic) {
            AsFio::Hidden => {}
            AsFio::Report if self.takes_messages => self.write_message(diagnostic),
            AsFio::Report if self.report_lines == ReportLines::Document => {}
            AsFio::Report if self.report_lines == ReportLines::Report => self.write_message(diagnostic),
            AsFio::Report | AsFio::Stderr => {
                self.print_message(&self.messages.text_of(diagnostic, sources));
                if self.takes_messages && !self.writes_to_stdout {
                    self.write_message(diagnostic);
                }
            }
        }
    }

    /// Prints text to standard error, above the live line.
    pub(super) fn print_message(&mut self, text: &str) {
        match self.held.as_mut().filter(|_| escaped_stream::stderr().is_terminal()) {
            Some(held) => held.push(Held::Message(text.to_owned())),
            None => {
                self.clear_live_line();
                self.messages.write_coloured(text);
            }
        }
    }

    /// Writes a diagnostic as a line of the text report.
    pub(super) fn write_message(&mut self, diagnostic: &Diagnostic) {
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

    /// Prints a diagnostic about the run to standard error, above the live line.
    pub fn message(&mut self, diagnostic: &Diagnostic) {
        self.message_at(diagnostic, &Sources::default());
    }
}
