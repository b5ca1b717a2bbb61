//! One stream of reports, and its rescue: if a file cannot be written, its report goes to standard output.

use std::io;
use std::path::Path;

use ferrio_job::Compat;
use ferrio_report::{Format, Formats};
use ferrio_runner::stdout;
use nix::errno::Errno;

use super::opening::open_output;
use crate::error::Error;
use crate::escaped_stream::{self, EscapedStream};
use crate::report_stream::ReportStream;
use crate::settings::{ProgramSettings, ReportDestination};
use crate::visible::{Controls, NamesOfLines};

/// A stream of reports with its first error.
pub(super) struct ReportFile {
    name: String,
    pub(super) formats: Formats,
    stream: ReportStream,
    /// Control characters that are shown as text.
    pub(super) shown_controls: Option<Controls>,
    error: Option<io::Error>,
    /// Standard output has what the file lacks.
    pub(super) is_rescued: bool,
}

/// The rest of a report whose file cannot be written, for standard output.
pub(super) type RescuedText = Option<String>;

impl ReportFile {
    /// Opens `--output`, or standard output.
    pub(super) fn open_output(settings: &ProgramSettings) -> Result<Self, Error> {
        let stream = match &settings.output {
            ReportDestination::Stdout if settings.compat == Compat::Ferrio && stdout::was_closed() => {
                return Err(Error::stdout(Errno::EBADF.into()));
            }
            ReportDestination::Stdout => ReportStream::Stdout(escaped_stream::stdout()),
            ReportDestination::File(name) if settings.compat == Compat::Ferrio || settings.shares_output => {
                whole(name)?
            }
            ReportDestination::File(name) => {
                ReportStream::File(EscapedStream::new(open_output(name, false)?))
            }
            ReportDestination::Caller => ReportStream::Nowhere,
        };
        let name = settings.output.file().unwrap_or("standard output").to_owned();
        Ok(ReportFile {
            name,
            formats: settings.formats,
            stream,
            shown_controls: None,
            error: None,
            is_rescued: false,
        })
    }

    /// Opens the file that a format has for itself.
    pub(super) fn open_format(format: Format, name: &str) -> Result<Self, Error> {
        let formats = Formats::only(format);
        Ok(ReportFile {
            name: name.to_owned(),
            formats,
            stream: whole(name)?,
            shown_controls: Some(controls_in(formats)),
            error: None,
            is_rescued: false,
        })
    }

    pub(super) const fn is_stdout(&self) -> bool {
        matches!(self.stream, ReportStream::Stdout(_))
    }

    pub(super) fn write(&mut self, text: &str, names: &NamesOfLines) -> RescuedText {
        let shown = self.shown_controls.map(|controls| names.visible(text, controls));
        self.attempt(|stream| stream.write(shown.as_deref().unwrap_or(text)))
    }

    /// A report that could not be written does not replace an older one.
    pub(super) fn close(&mut self) -> RescuedText {
        if self.error.is_some() { None } else { self.attempt(ReportStream::close) }
    }

    pub(super) fn into_error(self) -> Option<Error> {
        let (name, error) = (self.name, self.error?);
        Some(match self.is_rescued {
            true => Error::ReportElsewhere { name, error },
            false => Error::WriteOutput { name, error },
        })
    }

    /// Does something to the stream. Goes on with standard output after the first error.
    pub(super) fn attempt(&mut self, act: impl FnOnce(&mut ReportStream) -> io::Result<()>) -> RescuedText {
        let error = act(&mut self.stream).err()?;
        if self.error.is_some() {
            // Standard output has failed, too.
            self.is_rescued = false;
            return None;
        }
        self.error = Some(error);
        let unwritten = self.stream.take_unwritten().filter(|_| !stdout::was_closed())?;
        self.stream = ReportStream::Stdout(escaped_stream::stdout());
        self.is_rescued = true;
        Some(unwritten)
    }
}

fn whole(name: &str) -> Result<ReportStream, Error> {
    ReportStream::whole(Path::new(name)).map_err(|error| Error::OpenOutput { name: name.to_owned(), error })
}

/// The control characters that an output in these formats shows as text. Documents have escapes of their own for the others.
pub(super) fn controls_in(formats: Formats) -> Controls {
    if formats.have_escapes() { Controls::C0 } else { Controls::All }
}
