//! What an import has read and written.

use std::ffi::OsString;

use super::event::{Remarks, Skip, Targets};
use super::select::IoKind;
use crate::IoAction;

/// What an import has read and written.
#[derive(Debug, Default)]
pub struct Summary {
    /// Lines of the trace.
    pub lines: u64,
    /// True if the rest of the trace was not read, because none of it can be in the log.
    pub is_cut: bool,
    /// Lines that do not fit.
    pub bad: BadLines,
    /// I/Os in the log and their bytes, in the order of [`IoKind::ALL`].
    pub kinds: [(u64, u64); IoKind::ALL.len()],
    /// Times of the first and last line of the log.
    pub first_us: Option<u64>,
    /// See `first_us`.
    pub last_us: Option<u64>,
    /// I/Os whose time was before that of an I/O that had already been written.
    pub late: u64,
    /// Most I/Os in flight at once; 0 if the trace does not show it.
    pub deepest: u32,
    /// All files and devices of the trace, also those without I/O in the log.
    pub targets: Targets,
    /// The files of the log.
    pub files: Vec<FileSummary>,
    /// How much is not in the log, for each reason.
    pub skipped: [u64; Skip::ALL.len()],
    /// What the log shows only in part.
    pub remarks: Remarks,
}

impl Summary {
    /// Counts an I/O.
    pub fn count(&mut self, action: IoAction, len: u64) {
        let (ios, bytes) = &mut self.kinds[IoKind::of(action) as usize];
        *ios += 1;
        *bytes = bytes.saturating_add(len);
    }

    /// All I/Os of the log.
    #[must_use]
    pub fn ios(&self) -> u64 {
        self.kinds.iter().map(|(ios, _)| ios).sum()
    }

    /// I/Os and bytes of a kind.
    #[must_use]
    pub fn of(&self, kind: IoKind) -> (u64, u64) {
        self.kinds[kind as usize]
    }

    /// From the first to the last line of the log, in microseconds.
    #[must_use]
    pub fn span_us(&self) -> u64 {
        self.last_us.unwrap_or(0) - self.first_us.unwrap_or(0)
    }
}

/// A file of the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileSummary {
    /// Its name in the trace.
    pub in_trace: OsString,
    /// Its name in the log.
    pub in_log: OsString,
    /// True if the user did not ask for this name.
    pub is_chosen: bool,
    /// True if a log cannot have the name of the trace.
    pub substituted: bool,
    /// Its I/Os.
    pub usage: FileUse,
}

/// The I/Os of a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FileUse {
    /// Where the last read or trimmed byte is that no write of the log had put there before.
    pub must_exist_up_to: u64,
    /// End of the last byte of all I/Os.
    pub end: u64,
    /// End of what was written from the beginning without a gap.
    written: u64,
}

impl FileUse {
    /// Counts an I/O.
    pub fn add(&mut self, action: IoAction, offset: u64, len: u64) {
        let end = offset.saturating_add(len);
        self.end = self.end.max(end);
        match action {
            IoAction::Write if offset <= self.written => self.written = self.written.max(end),
            IoAction::Read if end > self.written => self.must_exist_up_to = self.must_exist_up_to.max(end),
            _ => {}
        }
    }
}

/// Lines that do not fit the format.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BadLines {
    /// How many.
    pub count: u64,
    /// The first ones: number, text and reason.
    pub first: Vec<(u64, String, String)>,
}

impl BadLines {
    /// How many are kept.
    const KEPT: usize = 3;
    /// Longest text that is kept.
    const LONGEST: usize = 80;

    /// Counts a line.
    pub fn add(&mut self, number: u64, line: &[u8], why: &str) {
        self.count += 1;
        if self.first.len() < Self::KEPT {
            let text = String::from_utf8_lossy(&line[..line.len().min(Self::LONGEST)]);
            self.first.push((number, text.replace(char::is_control, " "), why.to_owned()));
        }
    }

    /// Number of the first one.
    #[must_use]
    pub fn first_number(&self) -> u64 {
        self.first.first().map_or(0, |(number, ..)| *number)
    }

    /// Why the first one does not fit.
    #[must_use]
    pub fn first_reason(&self) -> &str {
        self.first.first().map_or("", |(_, _, why)| why)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_in_the_order_of_their_table() {
        for (at, (word, kind)) in IoKind::ALL.iter().enumerate() {
            assert_eq!(*kind as usize, at, "{word}");
        }
    }

    #[test]
    fn only_what_was_not_written_before_must_be_there() {
        let mut usage = FileUse::default();
        usage.add(IoAction::Write, 0, 4096);
        usage.add(IoAction::Read, 0, 4096);
        assert_eq!(usage.must_exist_up_to, 0);
        usage.add(IoAction::Write, 8192, 4096);
        usage.add(IoAction::Read, 8192, 100);
        assert_eq!((usage.must_exist_up_to, usage.end), (8292, 12288), "there was a gap");
    }

    #[test]
    fn three_bad_lines_are_kept() {
        let mut bad = BadLines::default();
        (1..=5).for_each(|number| bad.add(number, b"x\ty", "no"));
        assert_eq!((bad.count, bad.first.len(), bad.first_number()), (5, 3, 1));
        assert_eq!(bad.first[0].1, "x y");
    }
}
