//! The beginning of a trace: what it is packed with, and its format.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, BufRead, BufReader};

use ferrio_machine::RetryInterrupted;
use ferrio_trace::import::blkparse::Form;
use ferrio_trace::import::{self, Format};
use ferrio_trace::{is_block_trace, source_name};

use super::Failure;
use super::options::Options;

/// Reads a trace, and takes off gzip.
pub fn unpacked(trace: File) -> io::Result<Box<dyn BufRead>> {
    const SIZE: usize = 256 << 10;
    let mut plain: Box<dyn BufRead> = Box::new(BufReader::with_capacity(SIZE, RetryInterrupted(trace)));
    if plain.fill_buf()?.starts_with(&[0x1f, 0x8b]) {
        let unpacked = flate2::bufread::MultiGzDecoder::new(plain);
        plain = Box::new(BufReader::with_capacity(SIZE, unpacked));
    }
    Ok(plain)
}

/// What a file is that begins like this and is no text, and what to do.
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

/// The format that is asked for, or that of the first lines, which is `true`.
pub fn format(
    options: &Options<'_>,
    head: &[u8],
    form: Option<&Form>,
    trace: &OsStr,
) -> Result<(Format, bool), Failure> {
    if let Some(format) = options.format().or(form.map(|_| Format::Blkparse)) {
        return Ok((format, false));
    }
    if let Some(format) = import::guess(head, form) {
        return Ok((format, true));
    }
    if head.iter().all(u8::is_ascii_whitespace) {
        return Err((format!("{} is empty", source_name(trace)), None));
    }
    if let Some(why) = import::missing_column(head) {
        let help = "docs/import.md has a bpftrace script whose output can be imported";
        return Err((format!("cannot make an I/O log of {}: {why}", source_name(trace)), Some(help)));
    }
    let help = "choose one with --format; `ferrio import --help` lists the formats";
    Err((format!("cannot recognise the format of {} from its first lines", source_name(trace)), Some(help)))
}
