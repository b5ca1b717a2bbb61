//! Formats of the report in files of their own.

use std::io;
use std::path::Path;

use ferrio_report::{Format, Formats, RunReport};
use ferrio_runner::stdout;

use super::{Output, controls_in};
use crate::error::Error;
use crate::escaped_stream;
use crate::report_stream::ReportStream;

/// A format of the report in a file of its own.
pub(super) struct FormatFile {
    pub(super) name: String,
    pub(super) formats: Formats,
    pub(super) stream: ReportStream,
    pub(super) error: Option<io::Error>,
    /// Standard output has what the file lacks.
    pub(super) is_rescued: bool,
}

impl FormatFile {
    pub(super) fn open(format: Format, name: &str) -> Result<Self, Error> {
        let cannot_open = |error| Error::OpenOutput { name: name.to_owned(), error };
        let stream = ReportStream::whole(Path::new(name)).map_err(cannot_open)?;
        let formats = Formats::only(format);
        Ok(FormatFile { name: name.to_owned(), formats, stream, error: None, is_rescued: false })
    }
}

impl Output {
    /// Writes text to the files of this format.
    pub fn write_to_files(&mut self, format: Format, text: &str) {
        for at in 0..self.files.len() {
            if self.files[at].formats.has(format) {
                self.write_to_file(at, text);
            }
        }
    }

    /// Writes a report to the file of a format.
    pub(super) fn write_report_to_file(&mut self, at: usize, report: &RunReport) {
        let text = report.in_formats(self.files[at].formats, self.options.terse_layout());
        self.write_to_file(at, &text);
        let flushed = self.files[at].stream.flush();
        self.keep_error_of_file(at, flushed);
    }

    /// Writes text to the file of a format, with its control characters as text.
    pub(super) fn write_to_file(&mut self, at: usize, text: &str) {
        if self.files[at].is_rescued {
            self.clear_live_line();
        }
        let file = &mut self.files[at];
        let text = self.names.visible(text, controls_in(file.formats));
        let written = file.stream.write(&text);
        self.keep_error_of_file(at, written);
    }

    /// Keeps the first error of the file of a format, and goes on with standard output, which gets first what the file lacks.
    pub(super) fn keep_error_of_file(&mut self, at: usize, written: io::Result<()>) {
        let Err(error) = written else { return };
        let file = &mut self.files[at];
        if file.error.is_some() {
            file.is_rescued = false;
            return;
        }
        file.error = Some(error);
        let Some(unwritten) = file.stream.take_unwritten().filter(|_| !stdout::was_closed()) else { return };
        file.stream = ReportStream::Stdout(escaped_stream::stdout());
        file.is_rescued = true;
        self.clear_live_line();
        // It would stand between documents.
        self.live = self.live.take().filter(|_| self.files[at].formats.has(Format::Normal));
        self.begin_watch();
        let file = &mut self.files[at];
        let written = file.stream.write(&unwritten).and_then(|()| file.stream.flush());
        self.keep_error_of_file(at, written);
    }
}
