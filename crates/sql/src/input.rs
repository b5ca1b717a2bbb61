//! A buffer for bytes that a server has sent and that have not been read yet.

use std::io::{self, ErrorKind, Read};

/// Room for the rows of an ordinary answer, so that one system call reads all of it.
const SIZE: usize = 16 << 10;

/// A buffer that is filled by large reads and emptied message by message, in place.
#[derive(Debug)]
pub(crate) struct Input {
    bytes: Vec<u8>,
    start: usize,
    end: usize,
}

impl Input {
    pub(crate) fn new() -> Input {
        Input { bytes: vec![0; SIZE], start: 0, end: 0 }
    }

    /// What is there.
    pub(crate) fn available(&self) -> &[u8] {
        &self.bytes[self.start..self.end]
    }

    /// Forgets that many bytes at the front.
    pub(crate) fn consume(&mut self, bytes: usize) {
        debug_assert!(self.start + bytes <= self.end);
        self.start += bytes;
    }

    /// Removes a few bytes in the middle.
    pub(crate) fn remove(&mut self, at: usize, bytes: usize) {
        let from = self.start + at;
        self.bytes.copy_within(from + bytes..self.end, from);
        self.end -= bytes;
    }

    /// Reads until at least `wanted` bytes are there.
    pub(crate) fn fill(&mut self, source: &mut impl Read, wanted: usize) -> io::Result<()> {
        while self.end - self.start < wanted {
            self.make_room(wanted);
            match source.read(&mut self.bytes[self.end..]) {
                Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
                Ok(read) => self.end += read,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Makes room for more of a message of that size, at the cost of moving what is there. It grows as bytes arrive, because what a peer
    /// announces need not be true.
    fn make_room(&mut self, wanted: usize) {
        if self.start == self.end {
            (self.start, self.end) = (0, 0);
        }
        if self.start + wanted > self.bytes.len() || self.end == self.bytes.len() {
            self.bytes.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
        }
        if self.end == self.bytes.len() {
            self.bytes.resize(2 * self.bytes.len(), 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Yields a few bytes a call.
    struct Drips<'a>(&'a [u8]);

    impl Read for Drips<'_> {
        fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
            let size = bytes.len().min(7);
            self.0.read(&mut bytes[..size])
        }
    }

    #[test]
    fn messages_of_all_sizes_arrive_whole() {
        let sent: Vec<u8> = (0..200_000_u32).map(|i| (i % 251) as u8).collect();
        let (mut source, mut input, mut at) = (Drips(&sent), Input::new(), 0);
        for size in [1, 5, 16_000, 16_384, 40_000, 3, 100_000] {
            input.fill(&mut source, size).unwrap();
            assert_eq!(input.available()[..size], sent[at..at + size]);
            input.consume(size);
            at += size;
        }
        assert_eq!(input.fill(&mut source, 200_000).unwrap_err().kind(), ErrorKind::UnexpectedEof);
    }

    #[test]
    fn a_header_in_the_middle_is_removed() {
        let mut input = Input::new();
        input.fill(&mut &b"abcHEADdef"[..], 10).unwrap();
        input.remove(3, 4);
        assert_eq!(input.available(), b"abcdef");
    }
}
