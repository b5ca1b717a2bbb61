//! Reads I/O logs of versions 2 and 3 line by line, with a buffer of its own: a log may have many millions of lines.

mod line;

use std::io::{self, Read};
use std::ops::Range;

use ferrio_job::IologVersion;
use ferrio_machine::InterruptionLimit;
use memchr::memchr;

use crate::TraceError;

pub use line::{BadLine, IoAction, LogAction, LogLine};

use line::{MAX_LINE_BYTES, header, parse};

/// Bytes that are read at a time.
const BUFFER_BYTES: usize = 256 << 10;

/// A reason why a log cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum IologReadError {
    /// It is empty.
    #[error("unable to read iolog: it is empty")]
    Empty,
    /// The first line is not that of a log.
    #[error(
        "iolog version 1 is no longer supported: the first line must be `fio version 2 iolog` or `fio version 3 iolog`"
    )]
    Version,
    /// It is a block trace whose records cannot be read.
    #[error(transparent)]
    Trace(TraceError),
    /// It is a block trace of devices that this host does not have; contains their numbers.
    #[error("did not find replay device(s): {0}; name a device or file with `replay_redirect`")]
    NoDevice(String),
    /// The kernel returned an error.
    #[error("unable to read iolog: {}", ferrio_job::reason(.0))]
    Io(#[from] io::Error),
}

/// Reads a log.
#[derive(Debug)]
pub struct IologReader<R> {
    source: R,
    version: IologVersion,
    number: u64,
    buffer: Box<[u8]>,
    /// The range of `buffer` that is not yet taken.
    unread: Range<usize>,
    /// Whether the rest of a line that was too long must be skipped.
    in_long_line: bool,
}

/// A line in the buffer.
enum BufferedLine {
    /// The range without the line end.
    Whole(Range<usize>),
    /// It exceeds the length limit.
    TooLong,
}

impl<R: Read> IologReader<R> {
    /// Reads the first line, which names the version.
    ///
    /// # Errors
    /// The first line is not that of a log.
    pub fn new(source: R) -> Result<Self, IologReadError> {
        let buffer = vec![0; BUFFER_BYTES].into_boxed_slice();
        let (version, number) = (IologVersion::Three, 0);
        let mut reader = IologReader { source, version, number, buffer, unread: 0..0, in_long_line: false };
        let first = match reader.next_line()? {
            None => return Err(IologReadError::Empty),
            Some(BufferedLine::TooLong) => return Err(IologReadError::Version),
            Some(BufferedLine::Whole(first)) => first,
        };
        reader.version = header(&reader.buffer[first]).ok_or(IologReadError::Version)?;
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
    /// The kernel returned an error.
    pub fn next_entry(&mut self) -> Result<Option<Result<LogLine<'_>, BadLine>>, IologReadError> {
        let line = loop {
            match self.next_line()? {
                None => return Ok(None),
                Some(BufferedLine::TooLong) => return Ok(Some(Err(BadLine::TooLong))),
                Some(BufferedLine::Whole(line)) => {
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
    fn next_line(&mut self) -> Result<Option<BufferedLine>, IologReadError> {
        if self.in_long_line {
            self.skip_line()?;
        }
        let mut searched = 0;
        loop {
            let Range { start, end } = self.unread;
            let most = (end - start).min(MAX_LINE_BYTES);
            if let Some(at) = memchr(b'\n', &self.buffer[start + searched..start + most]) {
                let line_end = start + searched + at;
                self.unread.start = line_end + 1;
                self.number += 1;
                return Ok(Some(BufferedLine::Whole(start..line_end)));
            }
            if most == MAX_LINE_BYTES {
                self.in_long_line = true;
                self.number += 1;
                return Ok(Some(BufferedLine::TooLong));
            }
            searched = most;
            if self.fill()? == 0 {
                let rest = self.unread.clone();
                self.unread.start = rest.end;
                self.number += u64::from(!rest.is_empty());
                return Ok((!rest.is_empty()).then_some(BufferedLine::Whole(rest)));
            }
        }
    }

    /// Skips the rest of a line.
    #[cold]
    fn skip_line(&mut self) -> Result<(), IologReadError> {
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

    /// Reads more after the unread bytes, which move to the front of the buffer. Returns 0 at the end of the log.
    fn fill(&mut self) -> io::Result<usize> {
        self.buffer.copy_within(self.unread.clone(), 0);
        self.unread = 0..self.unread.len();
        let mut interrupted = InterruptionLimit::default();
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
