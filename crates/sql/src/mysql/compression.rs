//! MySQL's compressed protocol: packets travel in frames, each of which says how long its content was before it was compressed.

use std::io::{self, Cursor, Read, Write};

use flate2::Compression;
use flate2::read::{ZlibDecoder, ZlibEncoder};

use crate::input::Input;
use crate::stream::Stream;

const HEADER: usize = 7;

/// Shorter content is not compressed, as the servers do it.
const MIN_COMPRESSED: usize = 50;

/// The longest content of a frame.
const MAX_CONTENT: usize = 0xff_ffff;

/// A stream, whose bytes may be compressed.
#[derive(Debug)]
pub(super) enum Transport {
    Plain(Stream),
    Compressed(Box<Compressed>),
}

impl Transport {
    pub(super) fn compressed(self) -> Transport {
        match self {
            Transport::Plain(stream) => Transport::Compressed(Box::new(Compressed {
                stream,
                input: Input::new(),
                content: Cursor::default(),
                sequence: 0,
            })),
            compressed @ Transport::Compressed(_) => compressed,
        }
    }

    pub(super) fn stream(&self) -> &Stream {
        match self {
            Transport::Plain(stream) => stream,
            Transport::Compressed(compressed) => &compressed.stream,
        }
    }

    pub(super) fn stream_mut(&mut self) -> &mut Stream {
        match self {
            Transport::Plain(stream) => stream,
            Transport::Compressed(compressed) => &mut compressed.stream,
        }
    }

    /// A command begins: frames are numbered from 0.
    pub(super) fn begin(&mut self) {
        if let Transport::Compressed(compressed) = self {
            compressed.sequence = 0;
        }
    }
}

impl Read for Transport {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        match self {
            Transport::Plain(stream) => stream.read(bytes),
            Transport::Compressed(compressed) => compressed.read(bytes),
        }
    }
}

impl Write for Transport {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Transport::Plain(stream) => stream.write(bytes),
            Transport::Compressed(compressed) => compressed.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Transport::Plain(stream) => stream.flush(),
            Transport::Compressed(compressed) => compressed.stream.flush(),
        }
    }
}

/// A stream of frames.
#[derive(Debug)]
pub(super) struct Compressed {
    stream: Stream,
    input: Input,
    /// The frame that is being read.
    content: Cursor<Vec<u8>>,
    sequence: u8,
}

impl Compressed {
    fn read_frame(&mut self) -> io::Result<()> {
        self.input.fill(&mut self.stream, HEADER)?;
        let header = self.input.available();
        let (length, original) = (three_bytes(&header[..3]), three_bytes(&header[4..7]));
        self.sequence = header[3].wrapping_add(1);
        self.input.consume(HEADER);
        self.input.fill(&mut self.stream, length)?;
        let frame = &self.input.available()[..length];
        let content = self.content.get_mut();
        content.clear();
        if original == 0 {
            content.extend_from_slice(frame);
        } else {
            // One byte more than announced would show that a frame is not what its header says.
            ZlibDecoder::new(frame).take(original as u64 + 1).read_to_end(content)?;
            if content.len() != original {
                return Err(io::Error::new(
                    io::ErrorKind::InvalidData,
                    "a compressed packet does not have the length in its header",
                ));
            }
        }
        self.content.set_position(0);
        self.input.consume(length);
        Ok(())
    }
}

impl Read for Compressed {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        while self.content.position() == self.content.get_ref().len() as u64 {
            self.read_frame()?;
        }
        self.content.read(bytes)
    }
}

impl Write for Compressed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let content = &bytes[..bytes.len().min(MAX_CONTENT)];
        let mut frame = vec![0; HEADER];
        let mut original = 0;
        if content.len() >= MIN_COMPRESSED {
            ZlibEncoder::new(content, Compression::default()).read_to_end(&mut frame)?;
            original = content.len();
        }
        if original == 0 || frame.len() - HEADER >= content.len() {
            frame.truncate(HEADER);
            frame.extend_from_slice(content);
            original = 0;
        }
        let length = frame.len() - HEADER;
        frame[..3].copy_from_slice(&(length as u32).to_le_bytes()[..3]);
        frame[3] = self.sequence;
        frame[4..HEADER].copy_from_slice(&(original as u32).to_le_bytes()[..3]);
        self.sequence = self.sequence.wrapping_add(1);
        self.stream.write_all(&frame)?;
        Ok(content.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stream.flush()
    }
}

fn three_bytes(bytes: &[u8]) -> usize {
    bytes.iter().rev().fold(0, |value, byte| value << 8 | usize::from(*byte))
}
