//! The lines of a trace, one at a time.

use std::io::{self, BufRead, Read as _};

/// Longest line in bytes. strace writes long ones for `-s`.
const LONGEST: u64 = 4 << 20;

/// Why a longer line does not fit.
pub const TOO_LONG: &str = "it is longer than 4 MiB";

/// The number of a line, from 1, and what is in it unless it is too long.
pub type Line<'a> = (u64, Option<&'a [u8]>);

/// Reads lines.
#[derive(Debug)]
pub struct Lines<R> {
    source: R,
    number: u64,
    line: Vec<u8>,
}

impl<R: BufRead> Lines<R> {
    /// Reads from `source`.
    pub fn new(source: R) -> Self {
        Lines { source, number: 0, line: Vec::new() }
    }

    /// How many lines were read.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// The next line that is neither empty nor a comment.
    ///
    /// # Errors
    /// The source cannot be read.
    pub fn next_line(&mut self) -> io::Result<Option<Line<'_>>> {
        loop {
            self.line.clear();
            if self.source.by_ref().take(LONGEST).read_until(b'\n', &mut self.line)? == 0 {
                return Ok(None);
            }
            self.number += 1;
            if self.line.len() as u64 == LONGEST && self.line.last() != Some(&b'\n') {
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
        let mut lines = Lines::new(&b"a\r\n\n# b\n  \nc"[..]);
        let mut all = Vec::new();
        while let Some((number, line)) = lines.next_line().unwrap() {
            all.push((number, line.map(<[u8]>::to_vec)));
        }
        assert_eq!(all, [(1, Some(b"a".to_vec())), (5, Some(b"c".to_vec()))]);
    }

    #[test]
    fn a_line_without_end_is_passed_over() {
        let text = [&vec![b'x'; LONGEST as usize + 10][..], b"\nnext\n"].concat();
        let mut lines = Lines::new(&text[..]);
        assert_eq!(lines.next_line().unwrap(), Some((1, None)));
        assert_eq!(lines.next_line().unwrap(), Some((2, Some(&b"next"[..]))));
        assert_eq!(lines.next_line().unwrap(), None);
    }
}
