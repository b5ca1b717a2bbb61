//! One stream of reports, and its fallback: if a file cannot be written, its report goes to standard output.

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
use crate::visible::{Controls, MultilineNames};

/// A stream of reports with its first error.
pub(super) struct ReportFile {
    name: String,
    pub(super) formats: Formats,
    stream: ReportStream,
    /// Control characters that are escaped.
    pub(super) escaped_controls: Option<Controls>,
    error: Option<io::Error>,
    /// True once the rest of the report goes to standard output.
    pub(super) fell_back_to_stdout: bool,
}

/// The rest of a report whose file cannot be written, for standard output.
pub(super) type UnwrittenText = Option<String>;

impl ReportFile {
    /// Opens `--output`, or standard output.
    pub(super) fn open_output(settings: &ProgramSettings) -> Result<Self, Error> {
        let stream = match &settings.output {
            ReportDestination::Stdout if settings.compat == Compat::Ferrio && stdout::was_closed() => {
                return Err(Error::stdout(Errno::EBADF.into()));
            }
            ReportDestination::Stdout | ReportDestination::Coordinator => {
                ReportStream::Stdout(escaped_stream::stdout())
            }
            ReportDestination::File(name) if settings.compat == Compat::Ferrio || settings.shares_output => {
                create_atomically(name)?
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
            escaped_controls: None,
            error: None,
            fell_back_to_stdout: false,
        })
    }

    /// Opens the file of `--output-FORMAT=FILE`.
    pub(super) fn open_format(format: Format, name: &str) -> Result<Self, Error> {
        let formats = Formats::only(format);
        Ok(ReportFile {
            name: name.to_owned(),
            formats,
            stream: create_atomically(name)?,
            escaped_controls: Some(controls_in(formats)),
            error: None,
            fell_back_to_stdout: false,
        })
    }

    pub(super) const fn is_stdout(&self) -> bool {
        matches!(self.stream, ReportStream::Stdout(_))
    }

    pub(super) fn write(&mut self, text: &str, names: &MultilineNames) -> UnwrittenText {
        let shown = self.escaped_controls.map(|controls| names.visible(text, controls));
        self.attempt(|stream| stream.write(shown.as_deref().unwrap_or(text)))
    }

    /// A report that could not be written does not replace an older one.
    pub(super) fn close(&mut self) -> UnwrittenText {
        if self.error.is_some() { None } else { self.attempt(ReportStream::close) }
    }

    pub(super) fn into_error(self) -> Option<Error> {
        let (name, error) = (self.name, self.error?);
        Some(match self.fell_back_to_stdout {
            true => Error::ReportElsewhere { name, error },
            false => Error::WriteOutput { name, error },
        })
    }

    /// Runs `act` on the stream. After its first error, switches to standard output and returns the text that is not written yet.
    pub(super) fn attempt(&mut self, act: impl FnOnce(&mut ReportStream) -> io::Result<()>) -> UnwrittenText {
        let error = act(&mut self.stream).err()?;
        if self.error.is_some() {
            // Standard output has failed, too.
            self.fell_back_to_stdout = false;
            return None;
        }
        self.error = Some(error);
        let unwritten = self.stream.take_unwritten().filter(|_| !stdout::was_closed())?;
        self.stream = ReportStream::Stdout(escaped_stream::stdout());
        self.fell_back_to_stdout = true;
        Some(unwritten)
    }
}

fn create_atomically(name: &str) -> Result<ReportStream, Error> {
    ReportStream::whole(Path::new(name)).map_err(|error| Error::OpenOutput { name: name.to_owned(), error })
}

/// The control characters to escape in these formats. JSON and other structured formats escape most of them themselves.
pub(super) fn controls_in(formats: Formats) -> Controls {
    if formats.have_escapes() { Controls::C0 } else { Controls::All }
}
