//! Where the report goes. Called `ferrio`, a report in a file appears whole: until the run ends, or asks for a report of the run so far,
//! what was there stays. If the file cannot be written, standard output gets the report.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, Write as _};
use std::path::{Path, PathBuf};

use ferrio_machine::{RetryInterrupted, close_file, open_file, set_length};
use ferrio_runner::{OutputWatch, stdout};
use nix::fcntl::OFlag;

use crate::output_file::OutputFile;

/// Standard output or a file.
#[derive(Debug)]
pub enum ReportStream {
    /// Standard output.
    Stdout(io::Stdout),
    /// A file that has what was written so far.
    File(File),
    /// What becomes a file.
    Whole(Box<Whole>),
    /// A file that has appeared, with the reports so far.
    Published(File),
    /// Standard output, since a file could not be written.
    Rescued(io::Stdout),
    /// Nothing more is written: neither the file nor standard output takes it.
    Lost,
}

/// What becomes a file.
#[derive(Debug)]
pub struct Whole {
    file: OutputFile,
    path: PathBuf,
    /// Bytes written so far.
    held: u64,
}

impl ReportStream {
    /// A file that appears with its first report.
    ///
    /// # Errors
    /// It could not be written, or its directory has no room for it.
    pub fn whole(path: &Path) -> io::Result<Self> {
        let whole = Whole { file: OutputFile::begin(path)?, path: path.to_owned(), held: 0 };
        Ok(ReportStream::Whole(Box::new(whole)))
    }

    /// True if a file could not be written, and standard output has what it lacks.
    pub fn is_rescued(&self) -> bool {
        matches!(self, ReportStream::Rescued(_))
    }

    /// Writes a part of the report.
    ///
    /// # Errors
    /// The file lacks it; it may be [rescued](ReportStream::is_rescued).
    pub fn write(&mut self, text: &str) -> io::Result<()> {
        let data = text.as_bytes();
        match self {
            ReportStream::Stdout(stdout) | ReportStream::Rescued(stdout) => {
                RetryInterrupted(stdout).write_all(data)
            }
            ReportStream::File(file) => RetryInterrupted(file).write_all(data),
            ReportStream::Whole(whole) => {
                let written = RetryInterrupted(&mut whole.file).write_all(data);
                match &written {
                    Ok(()) => whole.held += data.len() as u64,
                    Err(_) if whole.file.is_file() => {
                        let content = whole.content();
                        self.rescue(content, data);
                    }
                    Err(_) => {}
                }
                written
            }
            ReportStream::Published(file) => {
                let before = file.metadata().map(|about| about.len());
                let written = RetryInterrupted(&mut *file).write_all(data);
                if written.is_err() {
                    // The reports before it stay, without a piece of this one.
                    let _ = before.and_then(|before| set_length(file, before));
                    self.rescue(Ok(None), data);
                }
                written
            }
            ReportStream::Lost => Err(lost()),
        }
    }

    /// Lets the file appear with what was written so far; the rest follows as it comes.
    ///
    /// # Errors
    /// The file cannot get its name; what it has may be [rescued](ReportStream::is_rescued).
    pub fn publish(&mut self) -> io::Result<()> {
        if !matches!(self, ReportStream::Whole(whole) if whole.file.is_file()) {
            return self.flush();
        }
        if let ReportStream::Whole(whole) = std::mem::replace(self, ReportStream::Lost) {
            let path = self.keep(*whole)?;
            match open_file(path, OFlag::O_WRONLY | OFlag::O_APPEND, 0) {
                Ok(file) => *self = ReportStream::Published(file),
                Err(error) => {
                    self.rescue(Ok(None), b"");
                    return Err(error);
                }
            }
        }
        Ok(())
    }

    /// Writes what is still in memory.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn flush(&mut self) -> io::Result<()> {
        match self {
            ReportStream::Stdout(stdout) | ReportStream::Rescued(stdout) => stdout.flush(),
            ReportStream::File(_) | ReportStream::Whole(_) | ReportStream::Published(_) => Ok(()),
            ReportStream::Lost => Err(lost()),
        }
    }

    /// Writes the end. A network file system may tell only now that it has no room.
    ///
    /// # Errors
    /// The report is not stored; it may be [rescued](ReportStream::is_rescued).
    pub fn close(&mut self) -> io::Result<()> {
        match std::mem::replace(self, ReportStream::Lost) {
            ReportStream::Stdout(mut stdout) | ReportStream::Rescued(mut stdout) => stdout.flush(),
            ReportStream::File(file) | ReportStream::Published(file) => close_file(file),
            ReportStream::Whole(whole) => self.keep(*whole).map(drop),
            ReportStream::Lost => Err(lost()),
        }
    }

    /// Gives a file its name, which it returns. What cannot have it is rescued.
    fn keep(&mut self, whole: Whole) -> io::Result<PathBuf> {
        let content = if whole.file.is_file() { whole.content() } else { Err(lost()) };
        match whole.file.keep() {
            Ok(_) => Ok(whole.path),
            Err(error) => {
                self.rescue(content, b"");
                Err(error)
            }
        }
    }

    /// Writes to standard output what a file has that does not appear, and the data that follows it.
    fn rescue(&mut self, content: io::Result<Option<io::Take<File>>>, data: &[u8]) {
        *self = ReportStream::Lost;
        if stdout::was_closed() {
            return;
        }
        // Nobody may read it.
        let _watch = OutputWatch::begin();
        let mut stdout = io::stdout();
        let copied = content.and_then(|content| {
            let Some(content) = content else { return Ok(()) };
            let held = content.limit();
            match io::copy(&mut RetryInterrupted(content), &mut RetryInterrupted(&mut stdout))? {
                copied if copied == held => Ok(()),
                _ => Err(io::ErrorKind::UnexpectedEof.into()),
            }
        });
        let written = copied.and_then(|()| RetryInterrupted(&mut stdout).write_all(data));
        if written.and_then(|()| stdout.flush()).is_ok() {
            *self = ReportStream::Rescued(stdout);
        }
    }
}

impl Whole {
    /// What was written so far, to be read from the start.
    fn content(&self) -> io::Result<Option<io::Take<File>>> {
        let mut file = self.file.writer()?;
        file.rewind()?;
        Ok(Some(file.take(self.held)))
    }
}

/// Why nothing more is written.
fn lost() -> io::Error {
    io::Error::other("an earlier part of the report could not be written")
}
