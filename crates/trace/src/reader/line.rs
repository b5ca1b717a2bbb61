//! One line of an I/O log, and its errors.

use ferrio_job::IologVersion;

use crate::FileAction;

/// Longest line in bytes, with its end.
pub(super) const MAX_LINE_BYTES: usize = 4096;
/// Longest word in bytes.
const MAX_WORD_BYTES: usize = 256;

/// The contents of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogLine<'a> {
    /// Microseconds since the log was opened; 0 in version 2.
    pub time_us: u64,
    /// The name of the file.
    pub name: &'a [u8],
    /// Read, write, trim or sync.
    pub what: LogAction,
}

/// The action of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogAction {
    /// The file is added, opened or closed.
    File(FileAction),
    /// An I/O.
    Io {
        /// The action.
        action: IoAction,
        /// Bytes.
        offset: u64,
        /// Bytes; meaningless for syncs.
        len: u64,
    },
    /// A pause until this many milliseconds after the start of the program; version 2 only.
    Wait {
        /// Milliseconds.
        until_ms: u64,
    },
}

/// The kinds of I/O in a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
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
    /// The action does not exist, or has other words.
    #[error("bad iolog file action: {0}")]
    Action(String),
    /// There are too few words, or invalid numbers.
    #[error("bad iolog{version}: {line}")]
    Words {
        /// 2 or 3.
        version: u8,
        /// The line.
        line: String,
    },
    /// It is longer than any line that a program writes.
    #[error("a line of more than {MAX_LINE_BYTES} bytes")]
    TooLong,
    /// A `wait` in a log with times.
    #[error("iolog: ignoring wait command with version 3 for file {0}")]
    Wait(String),
    /// A header in the middle of a log that was appended to; the following lines have its version.
    #[error("a further `{0}` begins here: the log was appended to")]
    Header(&'static str),
}

/// Splits a line at white space.
struct LogWords<'a>(&'a [u8]);

impl<'a> Iterator for LogWords<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        let begin = self.0.iter().position(|byte| !byte.is_ascii_whitespace())?;
        let rest = &self.0[begin..];
        let end = rest.iter().position(u8::is_ascii_whitespace).unwrap_or(rest.len());
        self.0 = &rest[end..];
        Some(&rest[..end])
    }
}

/// Parses a line, without its end, of a log of this version.
pub(super) fn parse(line: &[u8], version: IologVersion) -> Result<LogLine<'_>, BadLine> {
    let mut words = LogWords(line);
    let time_us = match version {
        IologVersion::Two => Some(0),
        IologVersion::Three => words.next().and_then(number),
    };
    let mut word = || words.next().filter(|word| word.len() <= MAX_WORD_BYTES);
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

/// Bytes of the log in the form for messages.
pub(super) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The version that a line names if it is the first line of a log.
pub(super) fn header(line: &[u8]) -> Option<IologVersion> {
    // Nearly all lines return here.
    if line.first() != Some(&b'f') {
        return None;
    }
    [IologVersion::Two, IologVersion::Three]
        .into_iter()
        .find(|version| line.starts_with(version.header().as_bytes()))
}

/// A number that fits into 64 bits.
fn number(word: &[u8]) -> Option<u64> {
    /// Digits of a number that always fits.
    const SAFE_DIGITS: usize = 19;
    if word.is_empty() || word.len() > SAFE_DIGITS {
        return std::str::from_utf8(word).ok()?.parse().ok();
    }
    word.iter().try_fold(0, |number: u64, byte| {
        let digit = byte.wrapping_sub(b'0');
        (digit < 10).then(|| number * 10 + u64::from(digit))
    })
}
