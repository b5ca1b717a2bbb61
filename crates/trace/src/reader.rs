//! Reads I/O logs of versions 2 and 3, line by line.

use std::ffi::OsString;
use std::io::{self, BufRead, Read as _};
use std::os::unix::ffi::OsStringExt as _;

use ferrio_job::IologVersion;

use crate::FileAction;

/// Longest line in bytes, with its end.
const LINE: u64 = 4096;
/// Longest word in bytes.
const WORD: usize = 256;
/// How a binary trace of blktrace begins, but for its version in the low byte.
const BLOCK_TRACE: u32 = 0x6561_7400;

/// What a line says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogLine {
    /// Microseconds since the log was opened; 0 in version 2.
    pub time_us: u64,
    /// The file, as it is named.
    pub name: OsString,
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
    /// It is a binary trace of blktrace.
    #[error("iolog is a binary block trace (blktrace), and replaying these is not implemented yet")]
    BlockTrace,
    /// The kernel refuses to read it.
    #[error("unable to read iolog: {}", ferrio_job::reason(.0))]
    Io(#[from] io::Error),
}

/// The number of a line, from 1, and what it says.
pub type NumberedLine = (u64, Result<LogLine, BadLine>);

/// A log being read.
#[derive(Debug)]
pub struct Reader<R> {
    source: R,
    version: IologVersion,
    number: u64,
    line: Vec<u8>,
    /// `line` has only the beginning of a line that is longer than a line may be.
    too_long: bool,
}

impl<R: BufRead> Reader<R> {
    /// Reads the first line, which names the version.
    ///
    /// # Errors
    /// It is the first line of no log.
    pub fn new(source: R) -> Result<Self, ReadError> {
        let mut reader =
            Reader { source, version: IologVersion::Three, number: 0, line: Vec::new(), too_long: false };
        if !reader.next_line()? {
            return Err(ReadError::Empty);
        }
        if let Some(first) = reader.line.first_chunk() {
            let words = [u32::from_le_bytes(*first), u32::from_be_bytes(*first)];
            if words.iter().any(|word| word & 0xffff_ff00 == BLOCK_TRACE) {
                return Err(ReadError::BlockTrace);
            }
        }
        let version = header(&reader.line).filter(|_| !reader.too_long);
        reader.version = version.ok_or(ReadError::Version)?;
        Ok(reader)
    }

    /// The next line that is not empty; `None` at the end.
    ///
    /// # Errors
    /// The kernel refuses to read it.
    pub fn next_entry(&mut self) -> Result<Option<NumberedLine>, ReadError> {
        while self.next_line()? {
            if self.too_long {
                return Ok(Some((self.number, Err(BadLine::TooLong))));
            }
            if self.line.iter().all(u8::is_ascii_whitespace) {
                continue;
            }
            if let Some(version) = header(&self.line) {
                self.version = version;
                return Ok(Some((self.number, Err(BadLine::Header(version.header())))));
            }
            return Ok(Some((self.number, self.parse())));
        }
        Ok(None)
    }

    /// Reads a line into `line`, without its end. False at the end of the log.
    fn next_line(&mut self) -> Result<bool, ReadError> {
        if self.too_long {
            self.skip_line()?;
        }
        self.line.clear();
        let length = self.source.by_ref().take(LINE).read_until(b'\n', &mut self.line)?;
        if length == 0 {
            return Ok(false);
        }
        self.number += 1;
        let ended = self.line.pop_if(|byte| *byte == b'\n').is_some();
        self.too_long = !ended && length as u64 == LINE;
        Ok(true)
    }

    /// Passes over the rest of a line.
    fn skip_line(&mut self) -> Result<(), ReadError> {
        loop {
            let (length, ended) = match self.source.fill_buf()? {
                [] => return Ok(()),
                rest => match rest.iter().position(|&byte| byte == b'\n') {
                    Some(at) => (at + 1, true),
                    None => (rest.len(), false),
                },
            };
            self.source.consume(length);
            if ended {
                return Ok(());
            }
        }
    }

    fn parse(&self) -> Result<LogLine, BadLine> {
        let mut words = self.line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
        let (version, time_us) = match self.version {
            IologVersion::Two => (2, Some(0)),
            IologVersion::Three => (3, words.next().and_then(number)),
        };
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let wrong = || BadLine::Words { version, line: text(&self.line) };
        let mut word = || words.next().filter(|word| word.len() <= WORD);
        let (Some(time_us), Some(name), Some(action)) = (time_us, word(), word()) else {
            return Err(wrong());
        };
        let offset: Option<u64> = words.next().and_then(number);
        let len: Option<u64> = offset.and_then(|_| words.next().and_then(number));
        let unknown = || BadLine::Action(text(action));
        let what = match (offset, len) {
            (None, _) => LogAction::File(FileAction::from_word(action).ok_or_else(unknown)?),
            (Some(_), None) => return Err(wrong()),
            (Some(until_ms), Some(_)) if action == b"wait" => match self.version {
                IologVersion::Two => LogAction::Wait { until_ms },
                IologVersion::Three => return Err(BadLine::Wait(text(name))),
            },
            (Some(offset), Some(len)) => {
                let len = u32::try_from(len).map_err(|_| wrong())?;
                let action = IoAction::from_word(action).ok_or_else(unknown)?;
                LogAction::Io { action, offset, len }
            }
        };
        Ok(LogLine { time_us, name: OsString::from_vec(name.to_vec()), what })
    }
}

fn header(line: &[u8]) -> Option<IologVersion> {
    [IologVersion::Two, IologVersion::Three]
        .into_iter()
        .find(|version| line.starts_with(version.header().as_bytes()))
}

fn number(word: &[u8]) -> Option<u64> {
    std::str::from_utf8(word).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    type Entry = (u64, Result<LogLine, String>);

    fn read(log: &[u8]) -> Result<Vec<Entry>, String> {
        let mut reader = Reader::new(log).map_err(|error| error.to_string())?;
        let mut entries = Vec::new();
        while let Some((number, entry)) = reader.next_entry().unwrap() {
            entries.push((number, entry.map_err(|bad| bad.to_string())));
        }
        Ok(entries)
    }

    fn line(time_us: u64, name: &str, what: LogAction) -> Result<LogLine, String> {
        Ok(LogLine { time_us, name: name.into(), what })
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
        for trace in [0x6561_7407_u32.to_le_bytes(), 0x6561_7407_u32.to_be_bytes()] {
            assert!(refused(&[&trace[..], &[0; 44]].concat()).contains("blktrace"));
        }
    }

    #[test]
    fn a_source_without_lines_is_not_read_to_its_end() {
        let error = Reader::new(io::BufReader::new(io::repeat(0))).unwrap_err();
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
