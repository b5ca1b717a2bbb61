//! The result of an import.

use std::ffi::OsString;

use super::event::{Remarks, SkipReason, Targets};
use super::select::SelectedIo;
use crate::IoAction;

/// The result of an import.
#[derive(Debug, Default)]
pub struct ImportSummary {
    /// Lines of the trace.
    pub lines: u64,
    /// Whether the rest of the trace was not read, because none of it can be in the log.
    pub is_cut: bool,
    /// Lines that do not fit.
    pub bad: BadLines,
    /// I/Os in the log and their bytes, in the order of [`SelectedIo::ALL`].
    pub kinds: [(u64, u64); SelectedIo::ALL.len()],
    /// Times of the first and last line of the log.
    pub first_us: Option<u64>,
    /// See `first_us`.
    pub last_us: Option<u64>,
    /// I/Os that came after a later I/O had already been written.
    pub late: u64,
    /// Most I/Os in flight at once; 0 if the trace does not show it.
    pub deepest: u32,
    /// All files and devices of the trace, including those without I/O in the log.
    pub targets: Targets,
    /// The files of the log.
    pub files: Vec<FileSummary>,
    /// Number of parts that are not in the log, for each reason.
    pub skipped: [u64; SkipReason::ALL.len()],
    /// I/Os that the log can express only in part.
    pub remarks: Remarks,
}

impl ImportSummary {
    /// Counts an I/O.
    pub fn count(&mut self, action: IoAction, len: u64) {
        let (ios, bytes) = &mut self.kinds[SelectedIo::of(action) as usize];
        *ios += 1;
        *bytes = bytes.saturating_add(len);
    }

    /// Number of all I/Os of the log.
    #[must_use]
    pub fn ios(&self) -> u64 {
        self.kinds.iter().map(|(ios, _)| ios).sum()
    }

    /// I/Os and bytes of a kind.
    #[must_use]
    pub fn of(&self, kind: SelectedIo) -> (u64, u64) {
        self.kinds[kind as usize]
    }

    /// Time from the first to the last line of the log, in microseconds.
    #[must_use]
    pub fn span_us(&self) -> u64 {
        self.last_us.unwrap_or(0) - self.first_us.unwrap_or(0)
    }
}

/// A file of the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileSummary {
    /// The name in the trace.
    pub in_trace: OsString,
    /// The name in the log.
    pub in_log: OsString,
    /// Whether the user did not give this name.
    pub is_chosen: bool,
    /// Whether a log cannot contain the name of the trace.
    pub substituted: bool,
    /// The I/Os of the file.
    pub usage: FileUse,
}

/// The I/Os of a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FileUse {
    /// End of the last byte that is read or trimmed before any write of the log.
    pub must_exist_up_to: u64,
    /// End of the last byte of all I/Os.
    pub end: u64,
    /// End of the bytes written from the beginning without a gap.
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
    /// Number of these lines.
    pub count: u64,
    /// The first ones: number, text and reason.
    pub first: Vec<(u64, String, String)>,
}

impl BadLines {
    /// Number of lines that are kept.
    const MAX_LINES: usize = 3;
    /// Longest text that is kept.
    const MAX_TEXT_BYTES: usize = 80;

    /// Counts a line.
    pub fn add(&mut self, number: u64, line: &[u8], why: &str) {
        self.count += 1;
        if self.first.len() < Self::MAX_LINES {
            let text = String::from_utf8_lossy(&line[..line.len().min(Self::MAX_TEXT_BYTES)]);
            self.first.push((number, text.replace(char::is_control, " "), why.to_owned()));
        }
    }

    /// Number of the first bad line.
    #[must_use]
    pub fn first_number(&self) -> u64 {
        self.first.first().map_or(0, |(number, ..)| *number)
    }

    /// The reason why the first bad line does not fit.
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
        for (at, (word, kind)) in SelectedIo::ALL.iter().enumerate() {
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
