//! Recorded I/O of programs: I/O logs and block traces.
//!
//! An I/O log is one line of text per I/O of a job, in fio's format, versions 2 and 3. [`IologWriter`] writes logs, [`IologReader`] reads them,
//! and [`StepReader`] turns them into the steps of a replay.
//!
//! The first line names the version. Lines add, open and close files; the line of an I/O has the file's name, an action, an offset
//! and a length. In version 3 each line begins with the microseconds since the job opened the log; version 2 has no times. A log
//! that was appended to has headers in the middle.
//!
//! Several jobs may write to one file. Each write ends with a line, and the kernel appends it in one piece, so lines of different jobs are
//! never mixed.
#![forbid(unsafe_code)]

mod block_trace;
mod file_part;
pub mod import;
mod reader;
mod source;
mod step_builder;
mod step_error;
mod steps;

use std::ffi::OsStr;
use std::fmt;
use std::fs::File;
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use ferrio_machine::{close_file, open_file, write_whole};
use nix::fcntl::OFlag;

pub use ferrio_job::IologVersion;

pub use block_trace::{
    ByteOrder, DeviceNodes, DeviceNumber, MergeError, MergeInput, MergedTrace, RequestsSummary,
    ThreadSummary, TraceAction, TraceError, TraceMerge, TraceReader, TraceRecord, TraceRequest, TraceSummary,
    is_block_trace,
};
pub use file_part::FilePart;
pub use reader::{BadLine, IoAction, IologReadError, IologReader, LogAction, LogLine};
pub use source::{STDIN, open_source, source_name};
pub use step_builder::StepBuilder;
pub use step_error::{EntryProblem, StepError};
pub use steps::StepReader;

/// Bytes that are collected before they are written; the line that reaches this many is included.
const FLUSH_BYTES: usize = 8192;

/// Room after [`FLUSH_BYTES`] for that line, unless its file has a very long name.
const MAX_LINE_BYTES: usize = 512;

/// The action of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileAction {
    /// Introduces the file, before any other line about it.
    Add,
    /// I/O may follow.
    Open,
    /// No I/O follows until it is opened again.
    Close,
}

impl FileAction {
    /// The word in the log.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            FileAction::Add => "add",
            FileAction::Open => "open",
            FileAction::Close => "close",
        }
    }

    fn from_word(word: &[u8]) -> Option<Self> {
        [FileAction::Add, FileAction::Open, FileAction::Close]
            .into_iter()
            .find(|action| action.word().as_bytes() == word)
    }
}

/// Writes a log. Dropping it writes the rest of its buffer; [`IologWriter::finish`] also returns the error.
#[derive(Debug)]
pub struct IologWriter {
    /// `None` once it is closed.
    sink: Option<IologSink>,
    path: PathBuf,
    version: IologVersion,
    lines: Vec<u8>,
}

/// The destination of lines.
enum IologSink {
    File(File),
    Stream(Box<dyn Write + Send>),
}

impl fmt::Debug for IologSink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            IologSink::File(_) => "File",
            IologSink::Stream(_) => "Stream",
        })
    }
}

/// A log that cannot be opened or written.
#[derive(Debug, thiserror::Error)]
#[error("cannot {doing} the I/O log {}", path.display())]
pub struct LogError {
    /// `open`, `write` or `close`.
    pub doing: &'static str,
    /// The log.
    pub path: PathBuf,
    /// The error of the kernel.
    pub source: io::Error,
}

impl IologWriter {
    /// Opens or creates a log for appending; its header is the first line to be written.
    ///
    /// # Errors
    /// The file cannot be opened for writing.
    pub fn append(path: &Path, version: IologVersion) -> Result<Self, LogError> {
        let file = open_file(path, OFlag::O_WRONLY | OFlag::O_APPEND | OFlag::O_CREAT, 0o666)
            .map_err(|source| LogError { doing: "open", path: path.to_owned(), source })?;
        Ok(IologWriter::to(file, path, version))
    }

    /// Writes a log to an open file; `path` names it in errors.
    #[must_use]
    pub fn to(file: File, path: &Path, version: IologVersion) -> Self {
        IologWriter::of(IologSink::File(file), path, version)
    }

    /// Writes a log to a stream.
    #[must_use]
    pub fn to_stream(stream: Box<dyn Write + Send>, path: &Path, version: IologVersion) -> Self {
        IologWriter::of(IologSink::Stream(stream), path, version)
    }

    fn of(sink: IologSink, path: &Path, version: IologVersion) -> Self {
        let mut lines = Vec::with_capacity(FLUSH_BYTES + MAX_LINE_BYTES);
        lines.extend_from_slice(version.header().as_bytes());
        lines.push(b'\n');
        IologWriter { sink: Some(sink), path: path.to_owned(), version, lines }
    }

    /// Adds a line about a file. `time_us` counts from the opening of the log, and is not in logs of version 2.
    ///
    /// # Errors
    /// The log could not be written; what was collected is lost.
    pub fn file(&mut self, time_us: u64, name: &OsStr, action: FileAction) -> Result<(), LogError> {
        self.begin_line(time_us, name, action.word());
        self.end_line()
    }

    /// Adds a line about an I/O. `action` is its word: `read`, `write`, `trim`, `sync`, `datasync` or `sync_file_range`. Syncs have a
    /// length of 0.
    ///
    /// # Errors
    /// The log could not be written; what was collected is lost.
    pub fn io(
        &mut self,
        time_us: u64,
        name: &OsStr,
        action: &str,
        offset: u64,
        len: u64,
    ) -> Result<(), LogError> {
        self.begin_line(time_us, name, action);
        self.number(offset);
        self.number(len);
        self.end_line()
    }

    /// Writes the remaining lines, and closes the file: a network file system may report only then that it is full.
    ///
    /// # Errors
    /// The log could not be written or closed; what was collected is lost.
    pub fn finish(mut self) -> Result<(), LogError> {
        self.flush()?;
        let closed = match self.sink.take() {
            Some(IologSink::File(file)) => close_file(file),
            Some(IologSink::Stream(mut stream)) => stream.flush(),
            None => Ok(()),
        };
        closed.map_err(|source| self.failed("close", source))
    }

    fn begin_line(&mut self, time_us: u64, name: &OsStr, word: &str) {
        if self.version == IologVersion::Three {
            self.lines.extend_from_slice(itoa::Buffer::new().format(time_us).as_bytes());
            self.lines.push(b' ');
        }
        self.lines.extend_from_slice(name.as_bytes());
        self.lines.push(b' ');
        self.lines.extend_from_slice(word.as_bytes());
    }

    fn number(&mut self, number: u64) {
        self.lines.push(b' ');
        self.lines.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
    }

    fn end_line(&mut self) -> Result<(), LogError> {
        self.lines.push(b'\n');
        if self.lines.len() < FLUSH_BYTES { Ok(()) } else { self.flush() }
    }

    fn flush(&mut self) -> Result<(), LogError> {
        let written = match &mut self.sink {
            Some(IologSink::File(file)) => write_whole(file, &self.lines),
            Some(IologSink::Stream(stream)) => stream.write_all(&self.lines),
            None => Ok(()),
        };
        self.lines.clear();
        written.map_err(|source| self.failed("write", source))
    }

    fn failed(&self, doing: &'static str, source: io::Error) -> LogError {
        LogError { doing, path: self.path.clone(), source }
    }
}

impl Drop for IologWriter {
    fn drop(&mut self) {
        // Lines are left only if the job has already failed, and its own error is the one to report.
        let _ = self.flush();
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::thread;

    use proptest::prelude::*;
    use tempfile::TempDir;

    use super::*;

    fn written(version: IologVersion, lines: impl FnOnce(&mut IologWriter)) -> String {
        let place = TempDir::new().unwrap();
        let path = place.path().join("log");
        let mut writer = IologWriter::append(&path, version).unwrap();
        lines(&mut writer);
        writer.finish().unwrap();
        fs::read_to_string(path).unwrap()
    }

    fn some_lines(writer: &mut IologWriter) {
        let name = OsStr::new("dir/f");
        writer.file(22, name, FileAction::Add).unwrap();
        writer.file(109, name, FileAction::Open).unwrap();
        writer.io(115, name, "write", 0, 4096).unwrap();
        writer.io(220, name, "sync", 4096, 0).unwrap();
        writer.io(u64::MAX, name, "trim", u64::MAX, u64::MAX).unwrap();
        writer.file(931, name, FileAction::Close).unwrap();
    }

    #[test]
    fn version_3_has_times() {
        assert_eq!(
            written(IologVersion::Three, some_lines),
            "fio version 3 iolog\n22 dir/f add\n109 dir/f open\n115 dir/f write 0 4096\n220 dir/f sync 4096 0\n\
             18446744073709551615 dir/f trim 18446744073709551615 18446744073709551615\n931 dir/f close\n"
        );
    }

    #[test]
    fn version_2_has_none() {
        assert_eq!(
            written(IologVersion::Two, some_lines),
            "fio version 2 iolog\ndir/f add\ndir/f open\ndir/f write 0 4096\ndir/f sync 4096 0\n\
             dir/f trim 18446744073709551615 18446744073709551615\ndir/f close\n"
        );
    }

    #[test]
    fn a_log_that_is_there_is_appended_to() {
        let place = TempDir::new().unwrap();
        let path = place.path().join("log");
        for name in ["a", "b"] {
            let mut writer = IologWriter::append(&path, IologVersion::Two).unwrap();
            writer.file(0, OsStr::new(name), FileAction::Add).unwrap();
            writer.finish().unwrap();
        }
        let both = "fio version 2 iolog\na add\nfio version 2 iolog\nb add\n";
        assert_eq!(fs::read_to_string(path).unwrap(), both);
    }

    #[test]
    fn lines_of_jobs_that_share_a_log_stay_whole() {
        let place = TempDir::new().unwrap();
        let path = place.path().join("log");
        thread::scope(|scope| {
            for name in ["one", "another", "third"] {
                let mut writer = IologWriter::append(&path, IologVersion::Three).unwrap();
                scope.spawn(move || {
                    for at in 0..5000 {
                        writer.io(at, OsStr::new(name), "read", at * 4096, 4096).unwrap();
                    }
                    writer.finish().unwrap();
                });
            }
        });
        let log = fs::read_to_string(path).unwrap();
        let headers = log.lines().filter(|line| *line == "fio version 3 iolog").count();
        assert_eq!((headers, log.lines().count()), (3, 3 + 3 * 5000));
        for name in ["one", "another", "third"] {
            let own: Vec<_> = log.lines().filter(|line| line.contains(&format!(" {name} "))).collect();
            let want: Vec<_> =
                (0..5000_u64).map(|at| format!("{at} {name} read {} 4096", at * 4096)).collect();
            assert!(own == want, "{name}: {} lines", own.len());
        }
    }

    #[test]
    fn a_dropped_log_loses_nothing() {
        let place = TempDir::new().unwrap();
        let path = place.path().join("log");
        drop(IologWriter::append(&path, IologVersion::Three).unwrap());
        assert_eq!(fs::read_to_string(path).unwrap(), "fio version 3 iolog\n");
    }

    #[test]
    fn a_full_disk_is_an_error_with_the_name_of_the_log() {
        let writer = IologWriter::append(Path::new("/dev/full"), IologVersion::Three).unwrap();
        let error = writer.finish().unwrap_err();
        assert_eq!(error.to_string(), "cannot write the I/O log /dev/full");
        assert_eq!(error.source.kind(), io::ErrorKind::StorageFull);
    }

    #[test]
    fn a_log_in_no_directory_cannot_be_opened() {
        let error = IologWriter::append(Path::new("/nowhere/at/all"), IologVersion::Three).unwrap_err();
        assert_eq!((error.doing, error.source.kind()), ("open", io::ErrorKind::NotFound));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]
        #[test]
        fn every_io_is_one_line_of_five_words(
            ios in prop::collection::vec((any::<u64>(), "[a-z/.]{1,300}", any::<u64>(), any::<u64>()), 0..200)
        ) {
            let log = written(IologVersion::Three, |writer| {
                for (time, name, offset, len) in &ios {
                    writer.io(*time, OsStr::new(name), "datasync", *offset, *len).unwrap();
                }
            });
            let want: Vec<_> =
                ios.iter().map(|(time, name, offset, len)| format!("{time} {name} datasync {offset} {len}")).collect();
            prop_assert_eq!(log.lines().skip(1).collect::<Vec<_>>(), want);
        }
    }
}
