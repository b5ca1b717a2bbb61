//! The live line: it is overwritten by the next one, and gives way to all other text.

use std::io::Write as _;

use super::Output;
use crate::escaped_stream;

impl Output {
    /// Shows the line in place of the one before.
    pub(super) fn show_live_line(&mut self, line: &str) {
        let mut stdout = escaped_stream::stdout();
        // A closed terminal does not stop the run.
        let written = stdout.write_live_line(line).and_then(|()| stdout.flush());
        if written.is_ok() && stdout.is_terminal() {
            self.live_width = line.trim_start_matches('\n').trim_end_matches('\r').chars().count();
        }
    }

    /// Makes room for `text`. If it begins with an empty line, as a report does, the live line stays above it, as in fio.
    pub(super) fn end_live_line(&mut self, text: &str) {
        if text.starts_with('\n') && self.writes_to_stdout {
            self.live_width = 0;
        } else {
            self.clear_live_line();
        }
    }

    /// Removes the line from the terminal.
    pub(super) fn clear_live_line(&mut self) {
        if self.live_width > 0 {
            let mut stdout = escaped_stream::stdout();
            let blanks = format!("\r{:1$}\r", "", self.live_width);
            let _ = stdout.write_live_line(&blanks).and_then(|()| stdout.flush());
            self.live_width = 0;
        }
    }
}
