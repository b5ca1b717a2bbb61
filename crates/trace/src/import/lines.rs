//! The lines of a trace, one at a time.

use std::io::{self, BufRead, Read as _};

/// Longest line in bytes. strace writes long ones with `-s`.
const MAX_LINE_BYTES: u64 = 4 << 20;

/// The message about a longer line.
pub const TOO_LONG: &str = "it is longer than 4 MiB";

/// The number of a line, from 1, and its contents unless it is too long.
pub type TraceLine<'a> = (u64, Option<&'a [u8]>);

/// Reads lines.
#[derive(Debug)]
pub struct TraceLines<R> {
    source: R,
    number: u64,
    line: Vec<u8>,
}

impl<R: BufRead> TraceLines<R> {
    pub fn new(source: R) -> Self {
        TraceLines { source, number: 0, line: Vec::new() }
    }

    /// The number of lines read.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// The next line that is neither empty nor a comment.
    ///
    /// # Errors
    /// The source cannot be read.
    pub fn next_line(&mut self) -> io::Result<Option<TraceLine<'_>>> {
        loop {
            self.line.clear();
            if self.source.by_ref().take(MAX_LINE_BYTES).read_until(b'\n', &mut self.line)? == 0 {
                return Ok(None);
            }
            self.number += 1;
            if self.line.len() as u64 == MAX_LINE_BYTES && self.line.last() != Some(&b'\n') {
                self.source.skip_until(b'\n')?;
                return Ok(Some((self.number, None)));
            }
            while matches!(self.line.last(), Some(b'\n' | b'\r')) {
                self.line.pop();
            }
            if !self.line.iter().all(u8::is_ascii_whitespace) && self.line[0] != b'#' {
                break;
            }
        }
        Ok(Some((self.number, Some(&self.line))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty_lines_and_comments_count_but_say_nothing() {
        let mut lines = TraceLines::new(&b"a\r\n\n# b\n  \nc"[..]);
        let mut all = Vec::new();
        while let Some((number, line)) = lines.next_line().unwrap() {
            all.push((number, line.map(<[u8]>::to_vec)));
        }
        assert_eq!(all, [(1, Some(b"a".to_vec())), (5, Some(b"c".to_vec()))]);
    }

    #[test]
    fn a_line_without_end_is_passed_over() {
        let text = [&vec![b'x'; MAX_LINE_BYTES as usize + 10][..], b"\nnext\n"].concat();
        let mut lines = TraceLines::new(&text[..]);
        assert_eq!(lines.next_line().unwrap(), Some((1, None)));
        assert_eq!(lines.next_line().unwrap(), Some((2, Some(&b"next"[..]))));
        assert_eq!(lines.next_line().unwrap(), None);
    }
}
