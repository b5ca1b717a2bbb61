//! Messages on a stream of bytes: a JSON document a line.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;
use thiserror::Error;

use crate::intake::{Intake, LongFramePermit, LongFrames, MAX_GREETING};
use crate::message::printable;

/// How a server that speaks TLS answers to a message.
const TLS_ALERT: &[u8] = &[21, 3];

/// Bytes of a line that is no message which an error shows.
const SHOWN: usize = 60;

/// Why there is no message.
#[derive(Debug, Error)]
pub enum FrameError {
    /// Reading or writing failed.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// A line goes on beyond the limit.
    #[error("a message is longer than {limit} bytes")]
    TooLong {
        /// Bytes allowed.
        limit: usize,
    },
    /// The other end speaks TLS.
    #[error("the other end wants TLS: --tls-cert, --tls-key and --tls-ca")]
    Tls,
    /// The stream ends within a line.
    #[error("the connection was cut within a message")]
    Cut,
    /// A line is something else.
    #[error("not a message of ferrio: `{start}`: {source}")]
    Foreign {
        /// The beginning of the line, without control characters.
        start: String,
        /// What is wrong with it.
        source: serde_json::Error,
    },
}

/// Reads messages from a stream.
#[derive(Debug)]
pub struct FrameReader<R> {
    stream: BufReader<R>,
    intake: Intake,
    line: Vec<u8>,
    /// For the message that is being read.
    permit: LongFramePermit,
}

impl<R: Read> FrameReader<R> {
    /// A reader that takes greetings only ([`MAX_GREETING`]) until [`Intake::trust`].
    pub fn new(stream: R) -> Self {
        FrameReader::sharing(stream, &Arc::default())
    }

    /// The same, one of several that share the memory for long messages.
    pub(crate) fn sharing(stream: R, long_frames: &Arc<LongFrames>) -> Self {
        let permit = LongFramePermit::new(Arc::clone(long_frames));
        FrameReader { stream: BufReader::new(stream), intake: Intake::default(), line: Vec::new(), permit }
    }

    /// What this reader and its owner share.
    #[must_use]
    pub fn intake(&self) -> Intake {
        self.intake.clone()
    }

    /// The share of memory that the last message took, to be kept as long as the message.
    pub(crate) fn take_permit(&mut self) -> LongFramePermit {
        self.permit.take()
    }

    /// The stream, with what has been read from it beyond the last message.
    pub fn into_stream(self) -> BufReader<R> {
        self.stream
    }

    /// Waits for the next message; `None` at the end of the stream. Empty lines are skipped.
    ///
    /// # Errors
    ///
    /// Reading fails, the stream ends within a line, or a line is too long or no message. After an error the stream is of no more use.
    pub fn read<M: DeserializeOwned>(&mut self) -> Result<Option<M>, FrameError> {
        loop {
            self.line.clear();
            if !self.read_line()? {
                return Ok(None);
            }
            if !self.line.iter().all(u8::is_ascii_whitespace) {
                break;
            }
        }
        let message = serde_json::from_slice(&self.line);
        // One long message does not keep its memory for all later ones.
        let foreign = message.map_err(|source| FrameError::Foreign { start: shown(&self.line), source });
        self.line.clear();
        self.line.shrink_to(MAX_GREETING);
        foreign.map(Some)
    }

    /// Appends the bytes to the next line end, which is left out; false at the end of the stream.
    fn read_line(&mut self) -> Result<bool, FrameError> {
        loop {
            let bytes = match self.stream.fill_buf() {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                bytes => bytes?,
            };
            let piece = bytes.split(|byte| *byte == b'\n').next().unwrap_or_default();
            let (length, is_end) = (piece.len(), piece.len() < bytes.len());
            if bytes.is_empty() {
                return match &self.line[..] {
                    [] => Ok(false),
                    line if line.starts_with(TLS_ALERT) => Err(FrameError::Tls),
                    _ => Err(FrameError::Cut),
                };
            }
            self.intake.note_bytes();
            // Asked after the wait: the limit may have changed in the meantime.
            let limit = self.intake.limit();
            if self.line.len() + length > limit {
                return Err(FrameError::TooLong { limit });
            }
            self.intake.while_held(|| self.permit.cover(self.line.len() + length));
            self.line.extend_from_slice(piece);
            self.stream.consume(length + usize::from(is_end));
            if is_end {
                return Ok(true);
            }
        }
    }
}

/// The beginning of a line, for a message: no control characters, which could do harm in a terminal.
fn shown(line: &[u8]) -> String {
    let start = &line[..line.len().min(SHOWN)];
    printable(&String::from_utf8_lossy(start), SHOWN)
}

/// Writes a message and flushes the stream.
///
/// # Errors
///
/// Writing fails.
pub fn write_frame<M: Serialize>(stream: &mut impl Write, message: &M) -> Result<(), FrameError> {
    // In one piece: a message that is cut by another writer of the same pipe would be lost.
    let mut line = serde_json::to_vec(message).map_err(io::Error::from)?;
    line.push(b'\n');
    stream.write_all(&line)?;
    stream.flush()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn all(bytes: &[u8]) -> (Vec<Vec<u64>>, Option<String>) {
        let mut reader = FrameReader::new(bytes);
        let mut found = Vec::new();
        loop {
            match reader.read() {
                Ok(Some(message)) => found.push(message),
                Ok(None) => return (found, None),
                Err(error) => return (found, Some(error.to_string())),
            }
        }
    }

    #[test]
    fn lines_are_messages_and_empty_lines_are_not() {
        assert_eq!(all(b"[1]\n\n \r\n[2,3]\n"), (vec![vec![1], vec![2, 3]], None));
    }

    #[test]
    fn a_cut_is_told_from_an_end() {
        assert_eq!(all(b"[1]\n[2"), (vec![vec![1]], Some("the connection was cut within a message".into())));
        assert_eq!(all(b""), (vec![], None));
        assert!(all(b"\x15\x03\x03\0\x02\x02\x2f").1.unwrap().starts_with("the other end wants TLS"));
    }

    #[test]
    fn a_stranger_is_cut_short() {
        let limit = format!("a message is longer than {MAX_GREETING} bytes");
        let mut longest = vec![b' '; MAX_GREETING - 2];
        longest.extend(b"[]");
        assert_eq!(all(&[&longest[..], b"\n"].concat()), (vec![vec![]], None));
        longest.insert(0, b' ');
        assert_eq!(all(&[&longest[..], b"\n"].concat()), (vec![], Some(limit.clone())));
        assert_eq!(all(&longest), (vec![], Some(limit)));
        let mut reader = FrameReader::new(&longest[..]);
        reader.intake().trust();
        assert!(matches!(reader.read::<Vec<u64>>(), Err(FrameError::Cut)));
    }

    #[test]
    fn another_program_is_named_by_its_words() {
        let (_, error) = all(b"SSH-2.0-OpenSSH\x1b[31m\n");
        assert!(error.unwrap().starts_with("not a message of ferrio: `SSH-2.0-OpenSSH.[31m`: "));
    }

    proptest! {
        #[test]
        fn garbage_is_an_error_and_no_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            let (_, error) = all(&bytes);
            // Only an empty stream, or numbers in brackets by chance, have no error.
            prop_assert!(error.is_some() || bytes.iter().all(|b| b.is_ascii_whitespace() || b"[],0123456789".contains(b)));
        }

        #[test]
        fn what_is_written_is_read(messages in prop::collection::vec(prop::collection::vec(any::<u64>(), 0..20), 0..20)) {
            let mut bytes = Vec::new();
            for message in &messages {
                write_frame(&mut bytes, message).unwrap();
            }
            prop_assert_eq!(all(&bytes), (messages, None));
        }
    }
}
