//! The formats of traces, and which one a trace is of.

use super::blkparse::{Blkparse, Form};
use super::columns::{self, ALIBABA, Columns, MSR, SPC, SYSTOR, TENCENT};
use super::event::{Found, LineError};
use super::lines::Lines;
use super::strace::Strace;

/// A format of traces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
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
    /// A table with names of columns: biosnoop, or what a script of bpftrace prints.
    Table,
}

/// Lines of a trace by which its format is found.
const LINES: usize = 400;

/// Share of these lines that must fit, in percent.
const SHARE: usize = 80;

impl Format {
    /// All formats with their words and what they are, those first that are least likely to fit by chance.
    pub const ALL: [(Format, &'static str, &'static str); 8] = [
        (Format::Blkparse, "blkparse", "text of blkparse"),
        (Format::Strace, "strace", "strace -f -tt -T"),
        (Format::Msr, "msr", "CSV of Microsoft Research, Cambridge"),
        (Format::Systor, "systor", "CSV of SYSTOR '17"),
        (Format::Alibaba, "alibaba", "CSV of Alibaba Cloud"),
        (Format::Tencent, "tencent", "CSV of Tencent Cloud"),
        (Format::Spc, "spc", "CSV of the Storage Performance Council (UMass)"),
        (Format::Table, "table", "biosnoop, or columns with names in the first line"),
    ];

    /// Its word.
    #[must_use]
    pub fn word(self) -> &'static str {
        Self::ALL[self as usize].1
    }

    /// What it is.
    #[must_use]
    pub fn about(self) -> &'static str {
        Self::ALL[self as usize].2
    }

    /// The format with this word.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.iter().find(|(_, name, _)| *name == word).map(|(format, ..)| *format)
    }

    /// What reads a trace of this format that begins with `head`. `event` and `form` are about blkparse.
    #[must_use]
    pub fn parser(self, head: &[u8], event: Option<u8>, form: Option<Form>) -> Parser {
        match self {
            Format::Blkparse => {
                let lines = head.split(|&byte| byte == b'\n').take(LINES);
                let event = event.unwrap_or_else(|| Blkparse::choose_event(lines, form.as_ref()));
                Parser::Blkparse(Blkparse::new(event, form))
            }
            Format::Strace => Parser::Strace(Box::default()),
            Format::Table => Parser::Columns(Columns::named()),
            Format::Msr => Parser::Columns(Columns::of(&MSR)),
            Format::Systor => Parser::Columns(Columns::of(&SYSTOR)),
            Format::Alibaba => Parser::Columns(Columns::of(&ALIBABA)),
            Format::Tencent => Parser::Columns(Columns::of(&TENCENT)),
            Format::Spc => Parser::Columns(Columns::of(&SPC)),
        }
    }
}

/// Reads lines of one format.
#[derive(Debug)]
pub enum Parser {
    /// blkparse.
    Blkparse(Blkparse),
    /// strace.
    Strace(Box<Strace>),
    /// All others.
    Columns(Columns),
}

impl Parser {
    /// Reads a line.
    ///
    /// # Errors
    /// It does not fit the format.
    pub fn line(&mut self, line: &[u8], found: &mut Found) -> Result<(), LineError> {
        match self {
            Parser::Blkparse(parser) => parser.line(line, found),
            Parser::Strace(parser) => parser.line(line, found),
            Parser::Columns(parser) => parser.line(line, found),
        }
    }

    /// The event of blkparse that stands for the I/O; `None` if every line is an I/O.
    #[must_use]
    pub fn event(&self) -> Option<char> {
        match self {
            Parser::Blkparse(parser) => parser.event(),
            Parser::Strace(_) | Parser::Columns(_) => None,
        }
    }

    /// Ends the trace.
    pub fn finish(&self, found: &mut Found) {
        if let Parser::Strace(parser) = self {
            parser.finish(found);
        }
    }
}

/// The format of a trace that begins with `head`: the one that fits most lines, if it fits most of them. `form` is about blkparse.
#[must_use]
pub fn guess(head: &[u8], form: Option<&Form>) -> Option<Format> {
    let fitting = |format: Format| {
        let mut parser = format.parser(head, None, form.cloned());
        let (mut lines, mut found) = (Lines::new(head), Found::default());
        let (mut count, mut fit) = (0, 0);
        while let Ok(Some((_, Some(line)))) = lines.next_line()
            && count < LINES
        {
            count += 1;
            fit += usize::from(parser.line(line, &mut found).is_ok());
            found.events.clear();
        }
        // The last line of the head may be cut.
        if fit > 0 && (fit + 1) * 100 >= count * SHARE { fit } else { 0 }
    };
    let fits = Format::ALL.map(|(format, ..)| (format, fitting(format)));
    let most = fits.iter().map(|(_, fit)| *fit).max().filter(|&fit| fit > 0)?;
    fits.into_iter().find(|(_, fit)| *fit == most).map(|(format, _)| format)
}

/// Why a trace whose first line names columns is no [`Format::Table`]: it lacks one that a log needs.
#[must_use]
pub fn missing_column(head: &[u8]) -> Option<LineError> {
    let mut lines = Lines::new(head);
    let (_, line) = lines.next_line().ok()??;
    Columns::named()
        .line(line?, &mut Found::default())
        .err()
        .filter(|why| why.starts_with(columns::NO_COLUMN))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_format_is_at_its_place_in_the_table() {
        for (at, (format, word, _)) in Format::ALL.iter().enumerate() {
            assert_eq!((*format as usize, Format::from_word(word)), (at, Some(*format)));
        }
    }

    #[test]
    fn formats_are_found_by_their_lines() {
        let traces = [
            (Format::Blkparse, "  8,16   0        2     0.000000000    77  Q  WS 8 + 8 [mydd]\n"),
            (Format::Strace, "22076 22:06:13.345181 close(3)          = 0 <0.000087>\nwrote 3 lines\n"),
            (Format::Strace, "read(3, \"x\", 1) = 1\n"),
            (Format::Table, "TIME(s) COMM PID DISK T SECTOR BYTES LAT(ms)\n0.1 a b 1 sda R 8 4096 0.1\n"),
            (Format::Msr, "128166372003061629,hm,0,Read,383496192,32768,413\n"),
            (
                Format::Systor,
                "Timestamp,Response,IOType,LUN,Offset,Size\n1455592201.5,0.002,W,3,1048576,8192\n",
            ),
            (Format::Alibaba, "419,W,8792731648,16384,1577808000000073\n"),
            (Format::Tencent, "1538323200,12910952,128,0,1063\n"),
            (Format::Spc, "0,303567,3584,w,0.026214\n"),
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
        let form = Form::parse("%T.%t %d %S %n").unwrap();
        assert_eq!(guess(b"0.000000007 R 8 8\n", Some(&form)), Some(Format::Blkparse));
    }
}
