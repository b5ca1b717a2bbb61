//! Where a log comes from: a file, a Unix socket or standard input.

use std::fs::{self, File};
use std::io::{self, Read, Seek as _};
use std::ops::Range;
use std::os::unix::fs::FileTypeExt as _;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::Arc;

use ferrio_machine::RetryInterrupted;
use ferrio_trace::{STDIN, open_source};

/// A log that was opened and not yet read.
pub(super) enum Source {
    /// A regular file, which can be read more than once.
    File(File),
    /// Anything else.
    Stream(File),
    /// A connection.
    Socket(UnixStream),
    /// Several traces that are merged while they are read.
    Merged(Box<dyn Read>),
}

/// Opens the log `name`.
pub(super) fn open(name: &str) -> io::Result<Source> {
    if name != STDIN && fs::metadata(name)?.file_type().is_socket() {
        return Ok(Source::Socket(UnixStream::connect(name)?));
    }
    of_file(open_source(name.as_ref())?)
}

/// True for a named pipe.
pub(super) fn is_pipe(name: &str) -> bool {
    name != STDIN && fs::metadata(name).is_ok_and(|about| about.file_type().is_fifo())
}

/// A log in a file that is open.
pub(super) fn of_file(file: File) -> io::Result<Source> {
    Ok(if file.metadata()?.is_file() { Source::File(file) } else { Source::Stream(file) })
}

impl Source {
    /// The log as a stream, to be read once.
    pub(super) fn into_stream(self) -> Box<dyn Read> {
        match self {
            Source::File(file) | Source::Stream(file) => Box::new(RetryInterrupted(file)),
            Source::Socket(socket) => Box::new(RetryInterrupted(socket)),
            Source::Merged(merged) => merged,
        }
    }

    /// The log as a part of a file. What can be read only once is copied to a file without a name.
    pub(super) fn into_file(self) -> io::Result<(Arc<File>, Range<u64>)> {
        let mut file = match self {
            Source::File(file) => file,
            source => {
                let mut copy = tempfile::tempfile_in(temporary_directory())?;
                io::copy(&mut source.into_stream(), &mut copy)?;
                copy.rewind()?;
                copy
            }
        };
        let (start, end) = (file.stream_position()?, file.metadata()?.len());
        Ok((Arc::new(file), start..end.max(start)))
    }
}

/// Where large temporary files belong: `/tmp` may be in memory.
fn temporary_directory() -> PathBuf {
    std::env::var_os("TMPDIR").map_or_else(|| PathBuf::from("/var/tmp"), PathBuf::from)
}
