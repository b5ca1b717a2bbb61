//! Where the report goes. Called `ferrio`, a report in a file appears whole: until the run ends, or asks for a report of the run so far,
//! what was there stays.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use ferrio_machine::{RetryInterrupted, close_file, open_file};
use nix::fcntl::OFlag;

use crate::output_file::OutputFile;

/// Standard output or a file.
#[derive(Debug)]
pub enum ReportStream {
    /// Standard output.
    Stdout(io::Stdout),
    /// A file that has what was written so far.
    File(File),
    /// What becomes a file, and its path.
    Whole(Box<OutputFile>, PathBuf),
    /// The file could not get its name.
    Lost,
}

impl ReportStream {
    /// A file that appears with its first report.
    ///
    /// # Errors
    /// It could not be written, or its directory has no room for it.
    pub fn whole(path: &Path) -> io::Result<Self> {
        Ok(ReportStream::Whole(Box::new(OutputFile::begin(path)?), path.to_owned()))
    }

    /// Lets the file appear with what was written so far; the rest follows as it comes.
    ///
    /// # Errors
    /// The file cannot get its name.
    pub fn publish(&mut self) -> io::Result<()> {
        if !matches!(self, ReportStream::Whole(file, _) if file.is_file()) {
            return self.flush();
        }
        if let ReportStream::Whole(file, path) = std::mem::replace(self, ReportStream::Lost) {
            file.keep()?;
            *self = ReportStream::File(open_file(path, OFlag::O_WRONLY | OFlag::O_APPEND, 0)?);
        }
        Ok(())
    }

    /// Writes the end. A network file system may tell only now that it has no room.
    ///
    /// # Errors
    /// The report is not stored.
    pub fn close(self) -> io::Result<()> {
        match self {
            ReportStream::Stdout(mut stdout) => stdout.flush(),
            ReportStream::File(file) => close_file(file),
            ReportStream::Whole(file, _) => file.keep().map(drop),
            ReportStream::Lost => Err(lost()),
        }
    }
}

impl Write for ReportStream {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        match self {
            ReportStream::Stdout(stdout) => RetryInterrupted(stdout).write(data),
            ReportStream::File(file) => RetryInterrupted(file).write(data),
            ReportStream::Whole(file, _) => RetryInterrupted(file).write(data),
            ReportStream::Lost => Err(lost()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            ReportStream::Stdout(stdout) => stdout.flush(),
            ReportStream::File(file) => file.flush(),
            ReportStream::Whole(file, _) => file.flush(),
            ReportStream::Lost => Err(lost()),
        }
    }
}

/// Why nothing more is written after a file did not get its name.
fn lost() -> io::Error {
    io::Error::other("the file of the report could not get its name")
}
