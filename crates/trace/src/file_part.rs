//! A part of a file as a stream, with a position of its own: several readers may share one open file.

use std::fs::File;
use std::io::{self, Read};
use std::ops::Range;
use std::os::unix::fs::FileExt as _;
use std::sync::Arc;

/// Reads a part of a file from start to end.
#[derive(Debug)]
pub struct FilePart {
    file: Arc<File>,
    left: Range<u64>,
}

impl FilePart {
    /// The range `bytes` of `file`. If the file is shorter, reading fails with [`io::ErrorKind::UnexpectedEof`].
    #[must_use]
    pub fn new(file: Arc<File>, bytes: Range<u64>) -> Self {
        FilePart { file, left: bytes }
    }
}

impl Read for FilePart {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = self.left.end.saturating_sub(self.left.start);
        let most = usize::try_from(left).map_or(buffer.len(), |left| left.min(buffer.len()));
        let read = self.file.read_at(&mut buffer[..most], self.left.start)?;
        if read == 0 && most > 0 {
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the file has become shorter"));
        }
        self.left.start += read as u64;
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    #[test]
    fn readers_of_one_file_have_positions_of_their_own() {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(b"0123456789").unwrap();
        let file = Arc::new(file);
        let mut parts = [2..7, 0..10, 9..9].map(|bytes| FilePart::new(Arc::clone(&file), bytes));
        let mut first = [0; 2];
        parts[0].read_exact(&mut first).unwrap();
        let rests = parts.map(|mut part| {
            let mut rest = String::new();
            part.read_to_string(&mut rest).unwrap();
            rest
        });
        assert_eq!((&first, rests.each_ref().map(String::as_str)), (b"23", ["456", "0123456789", ""]));
    }

    #[test]
    fn a_file_that_became_shorter_is_an_error_and_not_an_end() {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(b"0123").unwrap();
        let mut text = String::new();
        let error = FilePart::new(Arc::new(file), 1..9).read_to_string(&mut text).unwrap_err();
        assert_eq!((error.kind(), text.as_str()), (io::ErrorKind::UnexpectedEof, "123"));
    }
}
