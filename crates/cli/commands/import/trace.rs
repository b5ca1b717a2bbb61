//! The start of a trace: its compression and its format.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, BufRead, BufReader};

use ferrio_machine::RetryInterrupted;
use ferrio_trace::import::blkparse::BlkparseForm;
use ferrio_trace::import::{self, TraceFormat};
use ferrio_trace::{is_block_trace, source_name};

use super::options::ImportOptions;
use super::refusal;
use crate::error::Error;

/// Opens a trace, decompressing gzip.
pub fn decompress(trace: File) -> io::Result<Box<dyn BufRead>> {
    const SIZE: usize = 256 << 10;
    let mut plain: Box<dyn BufRead> = Box::new(BufReader::with_capacity(SIZE, RetryInterrupted(trace)));
    if plain.fill_buf()?.starts_with(&[0x1f, 0x8b]) {
        let unpacked = flate2::bufread::MultiGzDecoder::new(plain);
        plain = Box::new(BufReader::with_capacity(SIZE, unpacked));
    }
    Ok(plain)
}

/// The type of a binary file with this beginning, and what to do with it.
pub fn other_kind(head: &[u8]) -> Option<(&'static str, &'static str)> {
    const UNPACK: &str = "unpack it: `zstd -dc TRACE | ferrio import`, and likewise with xz, bzip2 and unzip";
    const REPLAY: &str = "it can be replayed as it is: read_iolog=TRACE";
    let packed: [&[u8]; 4] = [&[0x28, 0xb5, 0x2f, 0xfd], &[0xfd, b'7', b'z'], b"BZh", b"PK\x03\x04"];
    if packed.iter().any(|start| head.starts_with(start)) {
        return Some(("compressed", UNPACK));
    }
    if is_block_trace(head) {
        return Some(("a binary trace of blktrace", REPLAY));
    }
    head.starts_with(b"fio version ").then_some(("an I/O log already", REPLAY))
}

/// The requested format, or the one detected from the first lines; true if it was detected.
pub fn format(
    options: &ImportOptions<'_>,
    head: &[u8],
    form: Option<&BlkparseForm>,
    trace: &OsStr,
) -> Result<(TraceFormat, bool), Error> {
    if let Some(format) = options.format().or(form.map(|_| TraceFormat::Blkparse)) {
        return Ok((format, false));
    }
    if let Some(format) = import::guess(head, form) {
        return Ok((format, true));
    }
    if head.iter().all(u8::is_ascii_whitespace) {
        return Err(refusal(format!("{} is empty", source_name(trace)), None));
    }
    if let Some(why) = import::missing_column(head) {
        let help = "docs/import.md has a bpftrace script whose output can be imported";
        let message = format!("cannot make an I/O log of {}: {why}", source_name(trace));
        return Err(refusal(message, Some(help)));
    }
    let help = "choose one with --format; `ferrio import --help` lists the formats";
    let message = format!("cannot recognise the format of {} from its first lines", source_name(trace));
    Err(refusal(message, Some(help)))
}
