//! The formats of traces, and the recognition of the format of a trace.

use super::blkparse::{Blkparse, BlkparseForm};
use super::columns::{self, ALIBABA, ColumnParser, MSR, SPC, SYSTOR, TENCENT};
use super::event::{LineError, TraceContents};
use super::lines::TraceLines;
use super::strace::Strace;

/// A format of traces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TraceFormat {
    /// The text of blkparse.
    Blkparse,
    /// The output of strace.
    Strace,
    /// Microsoft Research, Cambridge.
    Msr,
    /// SYSTOR '17.
    Systor,
    /// Alibaba Cloud.
    Alibaba,
    /// Tencent Cloud.
    Tencent,
    /// Storage Performance Council.
    Spc,
    /// A table with column names: biosnoop, or the output of a bpftrace script.
    Table,
}

/// Lines of a trace by which its format is recognised.
const GUESS_LINES: usize = 400;

/// Percentage of these lines that must fit.
const MIN_FIT_PERCENT: usize = 80;

impl TraceFormat {
    /// All formats with their words and descriptions. Formats that are least likely to fit by chance come first.
    pub const ALL: [(TraceFormat, &'static str, &'static str); 8] = [
        (TraceFormat::Blkparse, "blkparse", "text of blkparse"),
        (TraceFormat::Strace, "strace", "strace -f -tt -T"),
        (TraceFormat::Msr, "msr", "CSV of Microsoft Research, Cambridge"),
        (TraceFormat::Systor, "systor", "CSV of SYSTOR '17"),
        (TraceFormat::Alibaba, "alibaba", "CSV of Alibaba Cloud"),
        (TraceFormat::Tencent, "tencent", "CSV of Tencent Cloud"),
        (TraceFormat::Spc, "spc", "CSV of the Storage Performance Council (UMass)"),
        (TraceFormat::Table, "table", "biosnoop, or columns with names in the first line"),
    ];

    /// The word in options and messages.
    #[must_use]
    pub fn word(self) -> &'static str {
        Self::ALL[self as usize].1
    }

    /// The description for the help.
    #[must_use]
    pub fn about(self) -> &'static str {
        Self::ALL[self as usize].2
    }

    /// The format that a word names.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.iter().find(|(_, name, _)| *name == word).map(|(format, ..)| *format)
    }

    /// The parser for a trace of this format that begins with `head`. `event` and `form` apply to blkparse.
    #[must_use]
    pub fn parser(self, head: &[u8], event: Option<u8>, form: Option<BlkparseForm>) -> TraceParser {
        match self {
            TraceFormat::Blkparse => {
                let lines = head.split(|&byte| byte == b'\n').take(GUESS_LINES);
                let event = event.unwrap_or_else(|| Blkparse::choose_event(lines, form.as_ref()));
                TraceParser::Blkparse(Blkparse::new(event, form))
            }
            TraceFormat::Strace => TraceParser::Strace(Box::default()),
            TraceFormat::Table => TraceParser::Columns(ColumnParser::named()),
            TraceFormat::Msr => TraceParser::Columns(ColumnParser::of(&MSR)),
            TraceFormat::Systor => TraceParser::Columns(ColumnParser::of(&SYSTOR)),
            TraceFormat::Alibaba => TraceParser::Columns(ColumnParser::of(&ALIBABA)),
            TraceFormat::Tencent => TraceParser::Columns(ColumnParser::of(&TENCENT)),
            TraceFormat::Spc => TraceParser::Columns(ColumnParser::of(&SPC)),
        }
    }
}

/// A parser for the lines of one format.
#[derive(Debug)]
pub enum TraceParser {
    /// blkparse.
    Blkparse(Blkparse),
    /// strace.
    Strace(Box<Strace>),
    /// All others.
    Columns(ColumnParser),
}

impl TraceParser {
    /// Parses a line.
    ///
    /// # Errors
    /// The line does not fit the format.
    pub fn line(&mut self, line: &[u8], found: &mut TraceContents) -> Result<(), LineError> {
        match self {
            TraceParser::Blkparse(parser) => parser.line(line, found),
            TraceParser::Strace(parser) => parser.line(line, found),
            TraceParser::Columns(parser) => parser.line(line, found),
        }
    }

    /// The event of blkparse that represents the I/O; `None` if every line is an I/O.
    #[must_use]
    pub fn event(&self) -> Option<char> {
        match self {
            TraceParser::Blkparse(parser) => parser.event(),
            TraceParser::Strace(_) | TraceParser::Columns(_) => None,
        }
    }

    /// Ends the trace.
    pub fn finish(&self, found: &mut TraceContents) {
        if let TraceParser::Strace(parser) = self {
            parser.finish(found);
        }
    }
}

/// The format of a trace that begins with `head`: the one that fits the most lines, if it fits most of them. `form` applies to blkparse.
#[must_use]
pub fn guess(head: &[u8], form: Option<&BlkparseForm>) -> Option<TraceFormat> {
    let fitting = |format: TraceFormat| {
        let mut parser = format.parser(head, None, form.cloned());
        let (mut lines, mut found) = (TraceLines::new(head), TraceContents::default());
        let (mut count, mut fit) = (0, 0);
        while let Ok(Some((_, Some(line)))) = lines.next_line()
            && count < GUESS_LINES
        {
            count += 1;
            fit += usize::from(parser.line(line, &mut found).is_ok());
            found.events.clear();
        }
        // The last line of the head may be truncated.
        if fit > 0 && (fit + 1) * 100 >= count * MIN_FIT_PERCENT { fit } else { 0 }
    };
    let fits = TraceFormat::ALL.map(|(format, ..)| (format, fitting(format)));
    let most = fits.iter().map(|(_, fit)| *fit).max().filter(|&fit| fit > 0)?;
    fits.into_iter().find(|(_, fit)| *fit == most).map(|(format, _)| format)
}

/// The reason why a trace with column names is not a [`TraceFormat::Table`]: a column is missing that a log needs.
#[must_use]
pub fn missing_column(head: &[u8]) -> Option<LineError> {
    let mut lines = TraceLines::new(head);
    let (_, line) = lines.next_line().ok()??;
    ColumnParser::named()
        .line(line?, &mut TraceContents::default())
        .err()
        .filter(|why| why.starts_with(columns::NO_COLUMN))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_format_is_at_its_place_in_the_table() {
        for (at, (format, word, _)) in TraceFormat::ALL.iter().enumerate() {
            assert_eq!((*format as usize, TraceFormat::from_word(word)), (at, Some(*format)));
        }
    }

    #[test]
    fn formats_are_found_by_their_lines() {
        let traces = [
            (TraceFormat::Blkparse, "  8,16   0        2     0.000000000    77  Q  WS 8 + 8 [mydd]\n"),
            (TraceFormat::Strace, "22076 22:06:13.345181 close(3)          = 0 <0.000087>\nwrote 3 lines\n"),
            (TraceFormat::Strace, "read(3, \"x\", 1) = 1\n"),
            (
                TraceFormat::Table,
                "TIME(s) COMM PID DISK T SECTOR BYTES LAT(ms)\n0.1 a b 1 sda R 8 4096 0.1\n",
            ),
            (TraceFormat::Msr, "128166372003061629,hm,0,Read,383496192,32768,413\n"),
            (
                TraceFormat::Systor,
                "Timestamp,Response,IOType,LUN,Offset,Size\n1455592201.5,0.002,W,3,1048576,8192\n",
            ),
            (TraceFormat::Alibaba, "419,W,8792731648,16384,1577808000000073\n"),
            (TraceFormat::Tencent, "1538323200,12910952,128,0,1063\n"),
            (TraceFormat::Spc, "0,303567,3584,w,0.026214\n"),
        ];
        for (format, text) in traces {
            assert_eq!(guess(text.as_bytes(), None), Some(format), "{text}");
        }
        for text in ["", "\n\n", "hello\n", "1,2,3\n", "fio version 3 iolog\n1 f add\n"] {
            assert_eq!(guess(text.as_bytes(), None), None, "{text}");
            assert_eq!(missing_column(text.as_bytes()), None, "{text}");
        }
        let table = "TIME(ms)     DISK    COMM             PID    LAT(ms)\n611 nvme0n1 bash 4179 10\n";
        assert_eq!(guess(table.as_bytes(), None), None);
        assert!(missing_column(table.as_bytes()).is_some());
        let form = BlkparseForm::parse("%T.%t %d %S %n").unwrap();
        assert_eq!(guess(b"0.000000007 R 8 8\n", Some(&form)), Some(TraceFormat::Blkparse));
    }
}
