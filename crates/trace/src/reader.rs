//! Reads I/O logs of versions 2 and 3, line by line, out of a buffer of its own: a log may have many millions of lines.

mod line;

use std::io::{self, Read};
use std::ops::Range;

use ferrio_job::IologVersion;
use ferrio_machine::Interrupted;
use memchr::memchr;

use crate::TraceError;

pub use line::{BadLine, IoAction, LogAction, LogLine};

use line::{LINE, header, parse};

/// Bytes that are read at a time.
const BUFFER: usize = 256 << 10;

/// Why there is no log to read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// It is empty.
    #[error("unable to read iolog: it is empty")]
    Empty,
    /// The first line is another one.
    #[error(
        "iolog version 1 is no longer supported: the first line must be `fio version 2 iolog` or `fio version 3 iolog`"
    )]
    Version,
    /// It is a block trace, but its records cannot be read.
    #[error(transparent)]
    Trace(TraceError),
    /// It is a block trace of devices that this host does not have; their numbers.
    #[error("did not find replay device(s): {0}; name a device or file with `replay_redirect`")]
    NoDevice(String),
    /// The kernel refuses to read it.
    #[error("unable to read iolog: {}", ferrio_job::reason(.0))]
    Io(#[from] io::Error),
}

/// A log being read.
#[derive(Debug)]
pub struct Reader<R> {
    source: R,
    version: IologVersion,
    number: u64,
    buffer: Box<[u8]>,
    /// What is read and not yet taken, in `buffer`.
    unread: Range<usize>,
    /// The rest of the last line, which was too long, is still to be passed over.
    in_long_line: bool,
}

/// A line in the buffer.
enum Line {
    /// Its bytes, without its end.
    Whole(Range<usize>),
    /// It is longer than a line may be.
    TooLong,
}

impl<R: Read> Reader<R> {
    /// Reads the first line, which names the version.
    ///
    /// # Errors
    /// It is the first line of no log.
    pub fn new(source: R) -> Result<Self, ReadError> {
        let buffer = vec![0; BUFFER].into_boxed_slice();
        let (version, number) = (IologVersion::Three, 0);
        let mut reader = Reader { source, version, number, buffer, unread: 0..0, in_long_line: false };
        let first = match reader.next_line()? {
            None => return Err(ReadError::Empty),
            Some(Line::TooLong) => return Err(ReadError::Version),
            Some(Line::Whole(first)) => first,
        };
        reader.version = header(&reader.buffer[first]).ok_or(ReadError::Version)?;
        Ok(reader)
    }

    /// The number of the line that [`next_entry`](Self::next_entry) returned last, from 1.
    #[must_use]
    pub fn line_number(&self) -> u64 {
        self.number
    }

    /// The next line that is not empty; `None` at the end.
    ///
    /// # Errors
    /// The kernel refuses to read it.
    pub fn next_entry(&mut self) -> Result<Option<Result<LogLine<'_>, BadLine>>, ReadError> {
        let line = loop {
            match self.next_line()? {
                None => return Ok(None),
                Some(Line::TooLong) => return Ok(Some(Err(BadLine::TooLong))),
                Some(Line::Whole(line)) => {
                    if !self.buffer[line.clone()].trim_ascii_start().is_empty() {
                        break line;
                    }
                }
            }
        };
        let line = &self.buffer[line];
        if let Some(version) = header(line) {
            self.version = version;
            return Ok(Some(Err(BadLine::Header(version.header()))));
        }
        Ok(Some(parse(line, self.version)))
    }

    /// Takes the next line out of the buffer. `None` at the end of the log.
    fn next_line(&mut self) -> Result<Option<Line>, ReadError> {
        if self.in_long_line {
            self.skip_line()?;
        }
        let mut searched = 0;
        loop {
            let Range { start, end } = self.unread;
            let most = (end - start).min(LINE);
            if let Some(at) = memchr(b'\n', &self.buffer[start + searched..start + most]) {
                let line_end = start + searched + at;
                self.unread.start = line_end + 1;
                self.number += 1;
                return Ok(Some(Line::Whole(start..line_end)));
            }
            if most == LINE {
                self.in_long_line = true;
                self.number += 1;
                return Ok(Some(Line::TooLong));
            }
            searched = most;
            if self.fill()? == 0 {
                let rest = self.unread.clone();
                self.unread.start = rest.end;
                self.number += u64::from(!rest.is_empty());
                return Ok((!rest.is_empty()).then_some(Line::Whole(rest)));
            }
        }
    }

    /// Passes over the rest of a line.
    #[cold]
    fn skip_line(&mut self) -> Result<(), ReadError> {
        self.in_long_line = false;
        loop {
            let Range { start, end } = self.unread;
            if let Some(at) = memchr(b'\n', &self.buffer[start..end]) {
                self.unread.start = start + at + 1;
                return Ok(());
            }
            self.unread.start = end;
            if self.fill()? == 0 {
                return Ok(());
            }
        }
    }

    /// Reads more behind what is unread, which moves to the front of the buffer. 0 at the end of the log.
    fn fill(&mut self) -> io::Result<usize> {
        self.buffer.copy_within(self.unread.clone(), 0);
        self.unread = 0..self.unread.len();
        let mut interrupted = Interrupted::default();
        let read = loop {
            match self.source.read(&mut self.buffer[self.unread.end..]) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted && interrupted.should_retry() => {}
                read => break read?,
            }
        };
        self.unread.end += read;
        Ok(read)
    }
}

#[cfg(test)]
mod tests;
