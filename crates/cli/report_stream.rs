//! Where the report goes. Called `ferrio`, a report in a file appears whole: until the run ends, or asks for a report of the run so far,
//! what was there stays. If the file cannot be written, its caller gets what it lacks, for standard output.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, Write as _};
use std::path::{Path, PathBuf};

use ferrio_machine::{RetryInterrupted, close_file, open_file, set_length};
use nix::fcntl::OFlag;

use crate::error::Error;
use crate::escaped_stream::EscapedStream;
use crate::messages::print_text;
use crate::output_file::OutputFile;

/// Standard output or a file.
#[derive(Debug)]
pub enum ReportStream {
    /// Standard output.
    Stdout(EscapedStream<io::Stdout>),
    /// A file that has what was written so far, or a device.
    File(EscapedStream<File>),
    /// A report that becomes a file when it is whole.
    Pending(Box<PendingFile>),
    /// A file that has appeared, with the reports so far.
    Published(File),
    /// Nowhere.
    Nowhere,
    /// A file that could not be written, and what it lacks; `None` if that is unknown.
    Lost(Option<Unwritten>),
}

/// A file that gets its name when its report is whole.
#[derive(Debug)]
pub struct PendingFile {
    file: OutputFile,
    path: PathBuf,
    /// Bytes written so far.
    held: u64,
}

/// The part of a report that its file lacks.
#[derive(Debug, Default)]
pub struct Unwritten {
    /// A file without a name, and its length.
    start: Option<(File, u64)>,
    /// The text that follows.
    rest: String,
}

impl ReportStream {
    /// A file that appears with its first report.
    ///
    /// # Errors
    /// It could not be written, or its directory has no room for it.
    pub fn whole(path: &Path) -> io::Result<Self> {
        let whole = PendingFile { file: OutputFile::begin(path)?, path: path.to_owned(), held: 0 };
        Ok(ReportStream::Pending(Box::new(whole)))
    }

    /// Writes a part of the report.
    ///
    /// # Errors
    /// A file lacks it: see [`take_unwritten`](ReportStream::take_unwritten).
    pub fn write(&mut self, text: &str) -> io::Result<()> {
        let data = text.as_bytes();
        let rest = || text.to_owned();
        let (written, unwritten) = match self {
            ReportStream::Stdout(stdout) => return stdout.write_all(data),
            ReportStream::File(file) => return file.write_all(data),
            ReportStream::Nowhere => return Ok(()),
            ReportStream::Lost(_) => return Err(lost()),
            ReportStream::Pending(whole) => {
                let written = RetryInterrupted(&mut whole.file).write_all(data);
                if written.is_ok() || !whole.file.is_file() {
                    whole.held += data.len() as u64;
                    return written;
                }
                (written, whole.content().map(|start| Unwritten { start: Some(start), rest: rest() }))
            }
            ReportStream::Published(file) => {
                let before = file.metadata().map(|about| about.len());
                let written = RetryInterrupted(&mut *file).write_all(data);
                if written.is_ok() {
                    return written;
                }
                // The reports before it stay, without a piece of this one.
                let _ = before.and_then(|before| set_length(file, before));
                (written, Some(Unwritten { start: None, rest: rest() }))
            }
        };
        *self = ReportStream::Lost(unwritten);
        written
    }

    /// Writes a part of the report that the program has coloured, to standard output.
    ///
    /// # Errors
    /// Those of [`write`](ReportStream::write).
    pub fn write_coloured(&mut self, text: &str) -> io::Result<()> {
        match self {
            ReportStream::Stdout(stdout) => stdout.write_coloured(text),
            _ => self.write(text),
        }
    }

    /// Lets the file appear with what was written so far; the rest follows as it comes.
    ///
    /// # Errors
    /// The file cannot get its name: see [`take_unwritten`](ReportStream::take_unwritten).
    pub fn publish(&mut self) -> io::Result<()> {
        if !matches!(self, ReportStream::Pending(whole) if whole.file.is_file()) {
            return self.flush();
        }
        if let ReportStream::Pending(whole) = std::mem::replace(self, ReportStream::Lost(None)) {
            let path = self.keep(*whole)?;
            // It has all so far, and what follows may have to go elsewhere.
            *self = ReportStream::Lost(Some(Unwritten::default()));
            *self = ReportStream::Published(open_file(path, OFlag::O_WRONLY | OFlag::O_APPEND, 0)?);
        }
        Ok(())
    }

    /// Writes what is still in memory.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn flush(&mut self) -> io::Result<()> {
        match self {
            ReportStream::Stdout(stdout) => stdout.flush(),
            ReportStream::Lost(_) => Err(lost()),
            _ => Ok(()),
        }
    }

    /// Writes the end. A network file system may tell only now that it has no room.
    ///
    /// # Errors
    /// The report is not stored: see [`take_unwritten`](ReportStream::take_unwritten).
    pub fn close(&mut self) -> io::Result<()> {
        match std::mem::replace(self, ReportStream::Lost(None)) {
            ReportStream::Stdout(mut stdout) => stdout.flush(),
            ReportStream::File(file) => close_file(file.into_inner()),
            ReportStream::Published(file) => close_file(file),
            ReportStream::Pending(whole) => self.keep(*whole).map(drop),
            ReportStream::Nowhere => Ok(()),
            ReportStream::Lost(_) => Err(lost()),
        }
    }

    /// Gives a file its name, and returns it.
    fn keep(&mut self, whole: PendingFile) -> io::Result<PathBuf> {
        let start = whole.content();
        match whole.file.keep() {
            Ok(_) => Ok(whole.path),
            Err(error) => {
                *self = ReportStream::Lost(
                    start.map(|start| Unwritten { start: Some(start), rest: String::new() }),
                );
                Err(error)
            }
        }
    }

    /// After an error, what the file lacks, once. `None` if that is unknown, and if the report does not go to a regular file.
    pub fn take_unwritten(&mut self) -> Option<String> {
        let ReportStream::Lost(unwritten) = self else { return None };
        let Unwritten { start, rest } = unwritten.take()?;
        let Some((mut file, held)) = start else { return Some(rest) };
        // It shares its offset with the file that was to be kept.
        file.rewind().ok()?;
        let mut bytes = Vec::new();
        RetryInterrupted(file).take(held).read_to_end(&mut bytes).ok()?;
        let is_whole = bytes.len() as u64 == held;
        is_whole.then(|| String::from_utf8_lossy(&bytes).into_owned() + &rest)
    }

    /// Writes all of a file. Prints it, if it cannot be written.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn store(mut self, text: &str, name: &str) -> Result<(), Error> {
        let name = name.to_owned();
        let Err(error) = self.write(text).and_then(|()| self.close()) else { return Ok(()) };
        let unwritten = self.take_unwritten();
        match unwritten.as_deref().map(print_text) {
            Some(Ok(_)) => Err(Error::ReportElsewhere { name, error }),
            _ => Err(Error::WriteOutput { name, error }),
        }
    }
}

impl PendingFile {
    /// The bytes written so far, and their number; `None` if that cannot be read.
    fn content(&self) -> Option<(File, u64)> {
        if !self.file.is_file() {
            return None;
        }
        self.file.writer().ok().map(|file| (file, self.held))
    }
}

/// The error for everything after a part that is lost.
fn lost() -> io::Error {
    io::Error::other("an earlier part of the report could not be written")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn whole(text: &str) -> (tempfile::TempDir, ReportStream) {
        let place = tempfile::tempdir().unwrap();
        std::fs::create_dir(place.path().join("d")).unwrap();
        let mut stream = ReportStream::whole(&place.path().join("d/report")).unwrap();
        stream.write(text).unwrap();
        (place, stream)
    }

    #[test]
    fn what_a_file_lacks_is_given_back_whole_and_once() {
        let (place, mut stream) = whole("one ");
        stream.write("two").unwrap();
        std::fs::rename(place.path().join("d"), place.path().join("e")).unwrap();
        assert_eq!(stream.close().unwrap_err().kind(), io::ErrorKind::NotFound);
        assert_eq!(stream.take_unwritten().as_deref(), Some("one two"));
        assert_eq!(stream.take_unwritten(), None);
        assert!(stream.write("three").is_err() && stream.close().is_err());
    }

    #[test]
    fn a_copy_that_fails_does_not_cost_its_beginning() {
        let (place, mut stream) = whole("report");
        let ReportStream::Pending(whole) = &mut stream else { unreachable!() };
        // As a copy leaves it that runs out of room.
        whole.file.writer().unwrap().seek(io::SeekFrom::End(0)).unwrap();
        std::fs::rename(place.path().join("d"), place.path().join("e")).unwrap();
        stream.close().unwrap_err();
        assert_eq!(stream.take_unwritten().as_deref(), Some("report"));
    }

    #[test]
    fn reports_that_have_appeared_are_not_given_back() {
        let (place, mut stream) = whole("first\n");
        stream.publish().unwrap();
        stream.write("second\n").unwrap();
        stream.close().unwrap();
        assert_eq!(stream.take_unwritten(), None);
        assert_eq!(std::fs::read_to_string(place.path().join("d/report")).unwrap(), "first\nsecond\n");
    }
}
