//! Reads I/O logs of versions 2 and 3, line by line, out of a buffer of its own: a log may have many millions of lines.

use std::io::{self, Read};
use std::ops::Range;

use ferrio_job::IologVersion;
use memchr::memchr;

use crate::{FileAction, TraceError};

/// Longest line in bytes, with its end.
const LINE: usize = 4096;
/// Longest word in bytes.
const WORD: usize = 256;
/// Bytes that are read at a time.
const BUFFER: usize = 256 << 10;

/// What a line says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogLine<'a> {
    /// Microseconds since the log was opened; 0 in version 2.
    pub time_us: u64,
    /// The file, as it is named.
    pub name: &'a [u8],
    /// What happens to it.
    pub what: LogAction,
}

/// What a line says of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogAction {
    /// It is added, opened or closed.
    File(FileAction),
    /// An I/O.
    Io {
        /// Its kind.
        action: IoAction,
        /// Bytes.
        offset: u64,
        /// Bytes; meaningless for syncs.
        len: u32,
    },
    /// Nothing until this many milliseconds after the program started; version 2 only.
    Wait {
        /// Milliseconds.
        until_ms: u64,
    },
}

/// The kinds of I/O that a log may ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IoAction {
    /// `read`
    Read,
    /// `write`
    Write,
    /// `trim`
    Trim,
    /// `sync`: fsync(2)
    Sync,
    /// `datasync`: fdatasync(2)
    Datasync,
}

impl IoAction {
    /// The word in the log.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            IoAction::Read => "read",
            IoAction::Write => "write",
            IoAction::Trim => "trim",
            IoAction::Sync => "sync",
            IoAction::Datasync => "datasync",
        }
    }

    fn from_word(word: &[u8]) -> Option<Self> {
        Some(match word {
            b"read" => IoAction::Read,
            b"write" => IoAction::Write,
            b"trim" => IoAction::Trim,
            b"sync" => IoAction::Sync,
            b"datasync" => IoAction::Datasync,
            _ => return None,
        })
    }
}

/// A line that is skipped, in fio's words.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadLine {
    /// The action does not exist, or does not take these words.
    #[error("bad iolog file action: {0}")]
    Action(String),
    /// Too few words or wrong numbers.
    #[error("bad iolog{version}: {line}")]
    Words {
        /// 2 or 3.
        version: u8,
        /// The line.
        line: String,
    },
    /// It has more bytes than any line that a program writes.
    #[error("a line of more than {LINE} bytes")]
    TooLong,
    /// `wait` in a log with times.
    #[error("iolog: ignoring wait command with version 3 for file {0}")]
    Wait(String),
    /// A header in the middle of the log, which was appended to; what follows is of its version.
    #[error("a further `{0}` begins here: the log was appended to")]
    Header(&'static str),
}

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
        let read = loop {
            match self.source.read(&mut self.buffer[self.unread.end..]) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                read => break read?,
            }
        };
        self.unread.end += read;
        Ok(read)
    }
}

/// The words of a line, which are between white space.
struct Words<'a>(&'a [u8]);

impl<'a> Iterator for Words<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        let begin = self.0.iter().position(|byte| !byte.is_ascii_whitespace())?;
        let rest = &self.0[begin..];
        let end = rest.iter().position(u8::is_ascii_whitespace).unwrap_or(rest.len());
        self.0 = &rest[end..];
        Some(&rest[..end])
    }
}

fn parse(line: &[u8], version: IologVersion) -> Result<LogLine<'_>, BadLine> {
    let mut words = Words(line);
    let time_us = match version {
        IologVersion::Two => Some(0),
        IologVersion::Three => words.next().and_then(number),
    };
    let mut word = || words.next().filter(|word| word.len() <= WORD);
    let (Some(time_us), Some(name), Some(action)) = (time_us, word(), word()) else {
        return Err(wrong_words(line, version));
    };
    let Some(offset) = words.next().and_then(number) else {
        let action = FileAction::from_word(action).ok_or_else(|| unknown(action))?;
        return Ok(LogLine { time_us, name, what: LogAction::File(action) });
    };
    let Some(len) = words.next().and_then(number) else { return Err(wrong_words(line, version)) };
    let what = if action == b"wait" {
        match version {
            IologVersion::Two => LogAction::Wait { until_ms: offset },
            IologVersion::Three => return Err(BadLine::Wait(text(name))),
        }
    } else {
        let len = u32::try_from(len).map_err(|_| wrong_words(line, version))?;
        let action = IoAction::from_word(action).ok_or_else(|| unknown(action))?;
        LogAction::Io { action, offset, len }
    };
    Ok(LogLine { time_us, name, what })
}

#[cold]
fn wrong_words(line: &[u8], version: IologVersion) -> BadLine {
    let version = match version {
        IologVersion::Two => 2,
        IologVersion::Three => 3,
    };
    BadLine::Words { version, line: text(line) }
}

#[cold]
fn unknown(action: &[u8]) -> BadLine {
    BadLine::Action(text(action))
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn header(line: &[u8]) -> Option<IologVersion> {
    // Nearly no line gets further than this.
    if line.first() != Some(&b'f') {
        return None;
    }
    [IologVersion::Two, IologVersion::Three]
        .into_iter()
        .find(|version| line.starts_with(version.header().as_bytes()))
}

/// A number that fits into 64 bits.
fn number(word: &[u8]) -> Option<u64> {
    /// Digits of a number that fits whatever they are.
    const FITS: usize = 19;
    if word.is_empty() || word.len() > FITS {
        return std::str::from_utf8(word).ok()?.parse().ok();
    }
    word.iter().try_fold(0, |number: u64, byte| {
        let digit = byte.wrapping_sub(b'0');
        (digit < 10).then(|| number * 10 + u64::from(digit))
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A line with its name as text.
    type Parsed = (u64, String, LogAction);
    type Entry = (u64, Result<Parsed, String>);

    fn read(log: &[u8]) -> Result<Vec<Entry>, String> {
        let mut reader = Reader::new(log).map_err(|error| error.to_string())?;
        let mut entries = Vec::new();
        while let Some(entry) = reader.next_entry().unwrap() {
            let entry = entry.map(|line| (line.time_us, text(line.name), line.what));
            let entry = entry.map_err(|bad| bad.to_string());
            entries.push((reader.line_number(), entry));
        }
        Ok(entries)
    }

    fn line(time_us: u64, name: &str, what: LogAction) -> Result<Parsed, String> {
        Ok((time_us, name.to_owned(), what))
    }

    fn io(action: IoAction, offset: u64, len: u32) -> LogAction {
        LogAction::Io { action, offset, len }
    }

    #[test]
    fn version_2_has_no_times_but_waits() {
        let log =
            b"fio version 2 iolog\nd add\nd open\nd write 0 8192\n\nd wait 1000 0\nd datasync 0 0\nd close";
        let want = vec![
            (2, line(0, "d", LogAction::File(FileAction::Add))),
            (3, line(0, "d", LogAction::File(FileAction::Open))),
            (4, line(0, "d", io(IoAction::Write, 0, 8192))),
            (6, line(0, "d", LogAction::Wait { until_ms: 1000 })),
            (7, line(0, "d", io(IoAction::Datasync, 0, 0))),
            (8, line(0, "d", LogAction::File(FileAction::Close))),
        ];
        assert_eq!(read(log), Ok(want));
    }

    #[test]
    fn version_3_has_times_and_further_words_are_ignored() {
        let log = b"fio version 3 iolog\n 7  d\tread 1 2 more words\r\n9 d wait 5 0\n10 d sync 3 4\n11 d trim 5 6\n";
        let want = vec![
            (2, line(7, "d", io(IoAction::Read, 1, 2))),
            (3, Err("iolog: ignoring wait command with version 3 for file d".to_owned())),
            (4, line(10, "d", io(IoAction::Sync, 3, 4))),
            (5, line(11, "d", io(IoAction::Trim, 5, 6))),
        ];
        assert_eq!(read(log), Ok(want));
    }

    #[test]
    fn bad_lines_have_their_number_and_fios_words() {
        let log = b"fio version 2 iolog\nd bogus 0 1\none\nd unlink\nd sync\nd write 0\nd write 0 4294967296\nd write x 1\n";
        let said: Vec<(u64, String)> =
            read(log).unwrap().into_iter().map(|(number, bad)| (number, bad.unwrap_err())).collect();
        let want = [
            (2, "bad iolog file action: bogus"),
            (3, "bad iolog2: one"),
            (4, "bad iolog file action: unlink"),
            (5, "bad iolog file action: sync"),
            (6, "bad iolog2: d write 0"),
            (7, "bad iolog2: d write 0 4294967296"),
            (8, "bad iolog file action: write"),
        ];
        assert_eq!(said, want.map(|(number, bad)| (number, bad.to_owned())));
        let in_3 = read(b"fio version 3 iolog\nx d add\n1 d\n").unwrap();
        assert_eq!(in_3[0].1, Err("bad iolog3: x d add".to_owned()));
        assert_eq!(in_3[1].1, Err("bad iolog3: 1 d".to_owned()));
    }

    #[test]
    fn a_header_in_the_middle_changes_the_version() {
        let entries = read(b"fio version 3 iolog\n1 d add\nfio version 2 iolog\nd open\n").unwrap();
        assert!(entries[1].1.as_ref().unwrap_err().starts_with("a further `fio version 2 iolog`"));
        assert_eq!(entries[2], (4, line(0, "d", LogAction::File(FileAction::Open))));
    }

    #[test]
    fn what_is_no_log_is_refused() {
        let refused = |log: &[u8]| read(log).unwrap_err();
        assert_eq!(refused(b""), "unable to read iolog: it is empty");
        assert!(
            refused(b"fio version 1 iolog\nd add\n").starts_with("iolog version 1 is no longer supported")
        );
        assert!(refused(b"d add\n").starts_with("iolog version 1 is no longer supported"));
    }

    #[test]
    fn a_source_without_lines_is_not_read_to_its_end() {
        let error = Reader::new(io::repeat(0)).unwrap_err();
        assert!(matches!(error, ReadError::Version));
    }

    #[test]
    fn a_line_that_is_too_long_is_no_shorter_line() {
        let long = format!("fio version 2 iolog\nd write 0 4096 {}\nd add\n", "x ".repeat(9000));
        let entries = read(long.as_bytes()).unwrap();
        let too_long = Err("a line of more than 4096 bytes".to_owned());
        assert_eq!(entries, [(2, too_long), (3, line(0, "d", LogAction::File(FileAction::Add)))]);
        let name = "n".repeat(257);
        let entries = read(format!("fio version 2 iolog\n{name} add\n").as_bytes()).unwrap();
        assert!(entries[0].1.is_err());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn no_bytes_make_it_panic(lines in prop::collection::vec(any::<u8>(), 0..300), header in 0..3) {
            let header = ["", "fio version 2 iolog\n", "fio version 3 iolog\n"][header as usize];
            let _ = read(&[header.as_bytes(), &lines].concat());
        }

        #[test]
        fn what_is_written_is_read(
            ios in prop::collection::vec((any::<u64>(), "[a-z/.]{1,200}", 0..5_usize, any::<u64>(), any::<u32>()), 0..50)
        ) {
            let place = tempfile::TempDir::new().unwrap();
            let path = place.path().join("log");
            let mut writer = crate::Writer::append(&path, IologVersion::Three).unwrap();
            let actions = [
                ("read", IoAction::Read),
                ("write", IoAction::Write),
                ("trim", IoAction::Trim),
                ("sync", IoAction::Sync),
                ("datasync", IoAction::Datasync),
            ];
            for (time, name, action, offset, len) in &ios {
                writer.io(*time, name.as_ref(), actions[*action].0, *offset, *len).unwrap();
            }
            writer.finish().unwrap();
            let want: Vec<Entry> = (2..)
                .zip(&ios)
                .map(|(at, (time, name, action, offset, len))| {
                    (at, line(*time, name, io(actions[*action].1, *offset, *len)))
                })
                .collect();
            prop_assert_eq!(read(&std::fs::read(path).unwrap()), Ok(want));
        }
    }
}
