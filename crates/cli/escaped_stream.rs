//! Standard output and standard error, and files that may be terminals. Whatever is written to a terminal has its control characters shown as
//! text, so that no job file, result file, log or command line gives orders to it. Only what the program says is its own passes as it is.
//!
//! Everything that the program prints goes through here: `clippy.toml` forbids `std::io::stdout` and `std::io::stderr` elsewhere.

use std::fmt::Write as _;
use std::io::{self, IsTerminal, Stderr, Stdout, Write};
use std::os::fd::{AsFd, BorrowedFd};

use ferrio_machine::RetryInterrupted;

/// A stream that shows control characters as text if it is a terminal: `\x1b`, and from U+007F on `\u009b`, which JSON understands as well.
/// Line ends and tabs stay. Other streams get each byte as it is.
#[derive(Debug)]
pub struct EscapedStream<W: Write> {
    stream: RetryInterrupted<W>,
    is_terminal: bool,
    /// The beginning of a character whose end has not been written.
    partial: Vec<u8>,
}

/// Standard output.
#[must_use]
pub fn stdout() -> EscapedStream<Stdout> {
    #[expect(clippy::disallowed_methods, reason = "this is where it is wrapped")]
    EscapedStream::new(io::stdout())
}

/// Standard error.
#[must_use]
pub fn stderr() -> EscapedStream<Stderr> {
    #[expect(clippy::disallowed_methods, reason = "this is where it is wrapped")]
    EscapedStream::new(io::stderr())
}

/// The control characters in a text that the program itself has put there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OwnControls {
    None,
    /// Colours: `ESC [ … m`.
    Colours,
    /// Carriage returns, by which a line overwrites itself.
    Returns,
}

impl<W: Write + IsTerminal> EscapedStream<W> {
    /// Wraps a stream.
    pub fn new(stream: W) -> Self {
        let is_terminal = stream.is_terminal();
        EscapedStream { stream: RetryInterrupted(stream), is_terminal, partial: Vec::new() }
    }
}

impl<W: Write> EscapedStream<W> {
    /// True if people see what is written.
    pub fn is_terminal(&self) -> bool {
        self.is_terminal
    }

    /// The stream itself.
    pub fn get_ref(&self) -> &W {
        &self.stream.0
    }

    /// The stream itself, for what becomes a file.
    pub fn into_inner(self) -> W {
        self.stream.0
    }

    /// Writes text that the program has coloured. Whoever colours text has removed colours from what comes from elsewhere.
    ///
    /// # Errors
    /// Those of the stream.
    pub fn write_coloured(&mut self, text: &str) -> io::Result<()> {
        self.write_own(text, OwnControls::Colours)
    }

    /// Writes a line, made by the program alone, that overwrites itself.
    ///
    /// # Errors
    /// Those of the stream.
    pub fn write_live_line(&mut self, line: &str) -> io::Result<()> {
        self.write_own(line, OwnControls::Returns)
    }

    fn write_own(&mut self, text: &str, own: OwnControls) -> io::Result<()> {
        if !self.is_terminal {
            return self.stream.write_all(text.as_bytes());
        }
        let mut shown = String::with_capacity(text.len());
        escape(text, own, &mut shown);
        self.stream.write_all(shown.as_bytes())
    }
}

impl<W: Write> Write for EscapedStream<W> {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        let is_plain = |data: &[u8]| data.iter().all(|&byte| (b' '..0x7f).contains(&byte) || byte == b'\n');
        if !self.is_terminal || self.partial.is_empty() && is_plain(data) {
            return self.stream.write(data);
        }
        self.partial.extend_from_slice(data);
        let (shown, rest) = escape_bytes(&self.partial);
        self.partial.drain(..self.partial.len() - rest);
        self.stream.write_all(shown.as_bytes())?;
        Ok(data.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        for byte in std::mem::take(&mut self.partial) {
            write!(self.stream, "\\x{byte:02x}")?;
        }
        self.stream.flush()
    }
}

impl<W: Write + AsFd> AsFd for EscapedStream<W> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.stream.0.as_fd()
    }
}

/// The bytes as text for a terminal, and how many at their end may be the beginning of a character.
fn escape_bytes(bytes: &[u8]) -> (String, usize) {
    let mut shown = String::with_capacity(bytes.len() + 16);
    let mut chunks = bytes.utf8_chunks().peekable();
    while let Some(chunk) = chunks.next() {
        escape(chunk.valid(), OwnControls::None, &mut shown);
        let invalid = chunk.invalid();
        let is_beginning = || std::str::from_utf8(invalid).is_err_and(|error| error.error_len().is_none());
        if chunks.peek().is_none() && !invalid.is_empty() && is_beginning() {
            return (shown, invalid.len());
        }
        for byte in invalid {
            // Writing to a string does not fail.
            let _ = write!(shown, "\\x{byte:02x}");
        }
    }
    (shown, 0)
}

/// Appends a text to what a terminal gets.
fn escape(text: &str, own: OwnControls, shown: &mut String) {
    let mut rest = text;
    while let Some(at) = rest.find(is_order) {
        let (before, from) = rest.split_at(at);
        shown.push_str(before);
        let colour = if own == OwnControls::Colours { colour_length(from) } else { 0 };
        let sign = from.chars().next().unwrap_or_default();
        let length = colour.max(sign.len_utf8());
        if colour > 0 || own == OwnControls::Returns && sign == '\r' {
            shown.push_str(&from[..length]);
        } else if sign < '\u{7f}' {
            let _ = write!(shown, "\\x{:02x}", u32::from(sign));
        } else {
            let _ = write!(shown, "\\u{:04x}", u32::from(sign));
        }
        rest = &from[length..];
    }
    shown.push_str(rest);
}

/// True for characters by which text gives orders to a terminal: controls, and those that reorder what follows.
fn is_order(sign: char) -> bool {
    let reorders = matches!(sign, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    sign.is_control() && sign != '\n' && sign != '\t' || reorders
}

/// Bytes of the colour that a text begins with; 0 if it does not.
fn colour_length(text: &str) -> usize {
    let Some(codes) = text.strip_prefix("\u{1b}[") else { return 0 };
    let length = codes.bytes().take_while(|byte| byte.is_ascii_digit() || *byte == b';').count();
    if codes[length..].starts_with('m') { 2 + length + 1 } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn terminal() -> EscapedStream<Vec<u8>> {
        EscapedStream { stream: RetryInterrupted(Vec::new()), is_terminal: true, partial: Vec::new() }
    }

    fn text(stream: EscapedStream<Vec<u8>>) -> String {
        String::from_utf8(stream.into_inner()).unwrap()
    }

    const HOSTILE: &str = "a\u{1b}]0;t\u{7}\u{1b}[2J\u{1b}[31m\r\u{7f}\u{9b}\u{202e}\tö\n";

    #[test]
    fn a_terminal_gets_control_characters_as_text() {
        let mut stream = terminal();
        stream.write_all(HOSTILE.as_bytes()).unwrap();
        let shown = "a\\x1b]0;t\\x07\\x1b[2J\\x1b[31m\\x0d\\u007f\\u009b\\u202e\tö\n";
        assert_eq!(text(stream), shown);
    }

    #[test]
    fn all_else_gets_each_byte_as_it_is() {
        let mut stream = EscapedStream { is_terminal: false, ..terminal() };
        stream.write_all(HOSTILE.as_bytes()).unwrap();
        stream.write_all(b"\xff\xc3").unwrap();
        stream.write_coloured("\u{1b}[2J").unwrap();
        assert_eq!(stream.into_inner(), [HOSTILE.as_bytes(), b"\xff\xc3\x1b[2J"].concat());
    }

    #[test]
    fn only_what_is_the_programs_own_passes() {
        let mut stream = terminal();
        stream.write_coloured("\u{1b}[1;31merror:\u{1b}[0m \u{1b}[2J\u{1b}[1\r\n").unwrap();
        stream.write_live_line("\rJobs: 1\u{1b}[0m\r").unwrap();
        let shown = "\u{1b}[1;31merror:\u{1b}[0m \\x1b[2J\\x1b[1\\x0d\n\rJobs: 1\\x1b[0m\r";
        assert_eq!(text(stream), shown);
    }

    #[test]
    fn a_character_may_be_written_in_pieces_and_other_bytes_are_shown() {
        let mut stream = terminal();
        for byte in "ö\u{9b}€".as_bytes() {
            stream.write_all(&[*byte]).unwrap();
        }
        stream.write_all(b"\x9bm\xe9 \xc2").unwrap();
        stream.flush().unwrap();
        assert_eq!(text(stream), "ö\\u009b€\\x9bm\\xe9 \\xc2");
    }
}
