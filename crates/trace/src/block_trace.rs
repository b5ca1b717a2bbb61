//! Block traces: the binary records of blktrace, one for each step of each request of a block device.
//!
//! [`TraceReader`] reads the output of `blkparse -d` and the per-CPU files of blktrace, in either byte order. [`TraceMerge`] merges traces
//! by time.
//!
//! Records have two forms: version 7, and version 8 of newer kernels, with a 64-bit action that has room for the categories of zoned
//! devices. Their layout is that of `struct blk_io_trace` and `struct blk_io_trace2` in the kernel's `linux/blktrace_api.h`.

mod devices;
mod merge;
mod record;
mod steps;
mod summary;

use std::io::{self, BufRead, Cursor, Read};

use ferrio_machine::InterruptionLimit;

pub use devices::{DeviceNodes, DeviceNumber};
pub use merge::{MergeError, MergeInput, MergedTrace, TraceMerge};
pub use record::{ByteOrder, TraceAction, TraceRecord, TraceRequest};
pub use summary::{RequestsSummary, ThreadSummary, TraceSummary};

pub(crate) use steps::TraceSteps;

use record::{LENGTH_7, LENGTH_8, MAGIC, VERSION_7, VERSION_8};

/// A reason why a trace cannot be read further.
#[derive(Debug, thiserror::Error)]
pub enum TraceError {
    /// It has no record at all, or begins with other data.
    #[error("file is not a blktrace")]
    NoTrace,
    /// A record begins with other data; the start of the next one is unknown.
    #[error("bad magic in blktrace data: {magic:x} (record {number}, at byte {at})")]
    Magic {
        /// The bytes at its start.
        magic: u32,
        /// Number of the record, from 1.
        number: u64,
        /// Offset of the record.
        at: u64,
    },
    /// The form of a record is unknown.
    #[error("bad blktrace version {version} (record {number}, at byte {at}): versions 7 and 8 can be read")]
    Version {
        /// Version of the record.
        version: u8,
        /// Number of the record, from 1.
        number: u64,
        /// Offset of the record.
        at: u64,
    },
    /// The kernel returned an error.
    #[error("unable to read blktrace data: {}", ferrio_job::reason(.0))]
    Io(#[from] io::Error),
}

/// Whether a file that begins with these bytes is a block trace, of any version.
#[must_use]
pub fn is_block_trace(first: &[u8]) -> bool {
    first.first_chunk().is_some_and(|magic| ByteOrder::of_magic(*magic).is_some())
}

/// Reads a trace record by record.
#[derive(Debug)]
pub struct TraceReader<R> {
    source: io::Chain<Cursor<[u8; 4]>, R>,
    order: ByteOrder,
    records: u64,
    /// Bytes read so far.
    at: u64,
    is_cut: bool,
}

impl<R: BufRead> TraceReader<R> {
    /// Starts to read. The magic number of the first record determines the byte order.
    ///
    /// # Errors
    /// The source has no record, begins with other data, or cannot be read.
    pub fn new(mut source: R) -> Result<Self, TraceError> {
        let mut magic = [0; 4];
        if fill(&mut source, &mut magic)? < magic.len() {
            return Err(TraceError::NoTrace);
        }
        let order = ByteOrder::of_magic(magic).ok_or(TraceError::NoTrace)?;
        Ok(TraceReader { source: Cursor::new(magic).chain(source), order, records: 0, at: 0, is_cut: false })
    }

    /// The next record; `None` at the end. A record that is truncated by the end of the file is left out.
    ///
    /// # Errors
    /// The next bytes are not a record, or cannot be read.
    pub fn next_record(&mut self) -> Result<Option<TraceRecord>, TraceError> {
        let mut bytes = [0; LENGTH_8];
        let mut read = fill(&mut self.source, &mut bytes[..LENGTH_7])?;
        if read < LENGTH_7 {
            self.is_cut |= read > 0;
            return Ok(None);
        }
        let (number, at) = (self.records + 1, self.at);
        let magic = self.order.u32(&bytes, 0);
        if magic & !0xff != MAGIC {
            return Err(TraceError::Magic { magic, number, at });
        }
        let version = magic.to_le_bytes()[0];
        let length = match version {
            VERSION_7 => LENGTH_7,
            VERSION_8 => LENGTH_8,
            _ => return Err(TraceError::Version { version, number, at }),
        };
        read += fill(&mut self.source, &mut bytes[LENGTH_7..length])?;
        if read < length {
            self.is_cut = true;
            return Ok(None);
        }
        let record = TraceRecord::read(version, &bytes, self.order);
        let skipped = skip(&mut self.source, u64::from(record.payload))?;
        self.is_cut |= skipped < u64::from(record.payload);
        self.records = number;
        self.at += read as u64 + skipped;
        Ok(Some(record))
    }

    /// Number of records read so far.
    #[must_use]
    pub const fn records(&self) -> u64 {
        self.records
    }

    /// The byte order of the numbers.
    #[must_use]
    pub const fn order(&self) -> ByteOrder {
        self.order
    }

    /// Whether the trace ended in the middle of a record.
    #[must_use]
    pub const fn is_cut(&self) -> bool {
        self.is_cut
    }
}

/// Fills the buffer as far as possible, and returns the number of bytes.
fn fill(source: &mut impl Read, bytes: &mut [u8]) -> io::Result<usize> {
    let mut interrupted = InterruptionLimit::default();
    let mut filled = 0;
    while filled < bytes.len() {
        match source.read(&mut bytes[filled..]) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted && interrupted.should_retry() => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

/// Skips bytes, and returns the number of skipped bytes.
fn skip(source: &mut impl BufRead, bytes: u64) -> io::Result<u64> {
    if bytes == 0 { Ok(0) } else { io::copy(&mut source.take(bytes), &mut io::sink()) }
}

#[cfg(test)]
mod tests;
