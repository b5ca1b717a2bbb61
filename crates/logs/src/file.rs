//! One log file: created at the start, given up at the first error.
//!
//! A file of one job is emptied and written as rows arrive. A file of several jobs (`per_job_logs=0`) gets all rows of a job when that
//! job ends; until then they are kept in a [`Spool`] on disk, so that memory stays bounded.

use std::fmt;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::Arc;

use ferrio_job::{Diagnostic, FioWords, Origin, log_not_opened, reason};
use ferrio_machine::{RetryInterrupted, close_file, open_file, write_whole};
use nix::fcntl::OFlag;

use crate::compressed::Packer;

/// The diagnostic for a log that is missing or incomplete.
pub(crate) fn problem(message: impl Into<String>) -> Diagnostic {
    Diagnostic::warning(message, Origin::Builtin).code("log-error")
}

/// A nameless file next to the logs that holds rows until their job ends.
#[derive(Clone, Debug)]
pub(crate) struct Spool(Arc<File>);

/// Part of a spool: where it begins and how many bytes it has.
#[derive(Clone, Copy, Debug)]
struct SpooledRange {
    start: u64,
    len: u64,
}

impl Spool {
    /// An empty spool in the directory of the log file `name`.
    pub(crate) fn beside(name: &str) -> io::Result<Self> {
        let directory = Path::new(name).parent().filter(|parent| !parent.as_os_str().is_empty());
        tempfile::tempfile_in(directory.unwrap_or(Path::new("."))).map(|file| Spool(Arc::new(file)))
    }

    fn add(&self, rows: &[u8]) -> io::Result<SpooledRange> {
        let mut file = &*self.0;
        let start = file.seek(SeekFrom::End(0))?;
        write_whole(&mut file, rows)?;
        Ok(SpooledRange { start, len: rows.len() as u64 })
    }

    fn copy(&self, piece: SpooledRange, to: &mut File) -> io::Result<()> {
        let mut file = &*self.0;
        file.seek(SeekFrom::Start(piece.start))?;
        io::copy(&mut RetryInterrupted(file).take(piece.len), &mut RetryInterrupted(to)).map(|_| ())
    }

    fn send(&self, piece: SpooledRange, name: &str, outlet: &LogOutlet) -> io::Result<()> {
        let mut file = &*self.0;
        file.seek(SeekFrom::Start(piece.start))?;
        let mut rows = RetryInterrupted(file).take(piece.len);
        let mut bytes = vec![0; PIECE];
        while let length @ 1.. = rows.read(&mut bytes)? {
            (outlet.0)(name, &bytes[..length]);
        }
        Ok(())
    }
}

/// Takes the pieces of log files that are not written here, in order: the name of the file and some of its bytes, none of an empty one.
#[derive(Clone)]
pub struct LogOutlet(pub Arc<TakePiece>);

/// A function that takes a piece.
pub type TakePiece = dyn Fn(&str, &[u8]) + Send + Sync;

impl fmt::Debug for LogOutlet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("LogOutlet")
    }
}

/// Bytes of a spool that are copied at a time.
const PIECE: usize = 64 << 10;

/// Where rows go.
#[derive(Debug)]
enum LogSink {
    /// To somebody else.
    Outlet(LogOutlet),
    /// Into the file, which stays open.
    Open(File),
    /// To the end of the file, which is opened for each write.
    ByName,
    /// Into the spool; its parts go to the file when the job ends.
    Spooled(Spool, Vec<SpooledRange>),
    /// Into the spool; its parts go to somebody else when the job ends.
    SpooledForOutlet(Spool, Vec<SpooledRange>, LogOutlet),
}

/// A log file. It has no buffer: it is given many rows at once.
#[derive(Debug)]
pub(crate) struct LogFile {
    name: String,
    sink: LogSink,
    /// Present if rows come as records and are compressed.
    packer: Option<Packer>,
    given_up: bool,
    problem: Option<Diagnostic>,
}

impl LogFile {
    /// Creates or empties the file `name`. Unless it stays open, it is opened again for each write.
    pub(crate) fn create(name: String, stays_open: bool) -> Self {
        let flags = OFlag::O_WRONLY | OFlag::O_CREAT | OFlag::O_TRUNC;
        let created = open_file(&name, flags, 0o666);
        LogFile::new(name, created, |file| if stays_open { LogSink::Open(file) } else { LogSink::ByName })
    }

    /// Creates the file `name`, or keeps its contents. Rows go through the spool, or without one directly to the end of the file.
    pub(crate) fn add_to(name: String, spool: Option<Spool>) -> Self {
        let flags = OFlag::O_WRONLY | OFlag::O_APPEND | OFlag::O_CREAT;
        let opened = open_file(&name, flags, 0o666);
        LogFile::new(name, opened, |_| {
            spool.map_or(LogSink::ByName, |spool| LogSink::Spooled(spool, Vec::new()))
        })
    }

    /// The file `name`, whose bytes go to somebody else, through the spool if there is one.
    pub(crate) fn sent(name: String, outlet: LogOutlet, spool: Option<Spool>) -> Self {
        (outlet.0)(&name, &[]);
        let sink = match spool {
            Some(spool) => LogSink::SpooledForOutlet(spool, Vec::new(), outlet),
            None => LogSink::Outlet(outlet),
        };
        LogFile { name, sink, packer: None, given_up: false, problem: None }
    }

    /// The place of a file whose rows are written elsewhere.
    pub(crate) fn of_others(name: String) -> Self {
        LogFile { name, sink: LogSink::ByName, packer: None, given_up: true, problem: None }
    }

    fn new(name: String, opened: io::Result<File>, sink: impl FnOnce(File) -> LogSink) -> Self {
        match opened {
            Ok(file) => LogFile { name, sink: sink(file), packer: None, given_up: false, problem: None },
            Err(error) => {
                let line = format!("fopen log: {}", reason(&error));
                let problem = problem(log_not_opened(&name, &reason(&error)));
                let problem = Some(problem.in_fio(FioWords::Lines(vec![line])));
                LogFile { name, sink: LogSink::ByName, packer: None, given_up: true, problem }
            }
        }
    }

    /// Makes the file one of records, which `packer` compresses.
    pub(crate) fn compressed_by(self, packer: Packer) -> Self {
        LogFile { packer: Some(packer), ..self }
    }

    /// False once the file was given up.
    pub(crate) fn is_written(&self) -> bool {
        !self.given_up
    }

    /// Writes rows to the end. After a failure the file stays as it is and further rows are dropped.
    pub(crate) fn append(&mut self, rows: &[u8]) {
        if self.given_up || rows.is_empty() {
            return;
        }
        let Self { name, sink, packer, .. } = self;
        let written = match packer {
            Some(packer) => packer.pack(rows).and_then(|streams| sink.write(name, streams)),
            None => sink.write(name, rows),
        };
        self.give_up_after(written);
    }

    /// Ends the file with its job: rows in the spool go into the file. Later rows need another call.
    pub(crate) fn close(&mut self) {
        if let Some(packer) = self.packer.as_mut().filter(|_| !self.given_up) {
            let written = packer.finish().and_then(|stream| self.sink.write(&self.name, stream));
            self.give_up_after(written);
        }
        if self.given_up {
            return;
        }
        let written = match &mut self.sink {
            LogSink::Open(_) => match std::mem::replace(&mut self.sink, LogSink::ByName) {
                LogSink::Open(file) => close_file(file),
                _ => Ok(()),
            },
            LogSink::SpooledForOutlet(spool, pieces, outlet) => {
                let mut pieces = std::mem::take(pieces).into_iter();
                pieces.try_for_each(|piece| spool.send(piece, &self.name, outlet))
            }
            LogSink::Spooled(spool, pieces) if !pieces.is_empty() => {
                end_of(&self.name).and_then(|mut file| {
                    std::mem::take(pieces).into_iter().try_for_each(|piece| spool.copy(piece, &mut file))?;
                    close_file(file)
                })
            }
            LogSink::ByName | LogSink::Outlet(_) | LogSink::Spooled(..) => Ok(()),
        };
        self.give_up_after(written);
    }

    /// The first error, once.
    pub(crate) fn take_problem(&mut self) -> Option<Diagnostic> {
        self.problem.take()
    }

    fn give_up_after(&mut self, written: io::Result<()>) {
        if let Err(error) = written {
            let Self { name, .. } = self;
            self.problem =
                Some(problem(format!("cannot write {name}: {}; the log ends there", reason(&error))));
            self.given_up = true;
            self.sink = LogSink::ByName;
            self.packer = None;
        }
    }
}

impl LogSink {
    /// Writes to the end of the file `name`, or of its part of the spool.
    fn write(&mut self, name: &str, bytes: &[u8]) -> io::Result<()> {
        if bytes.is_empty() {
            return Ok(());
        }
        match self {
            LogSink::Open(file) => write_whole(file, bytes),
            LogSink::ByName => {
                let mut file = end_of(name)?;
                write_whole(&mut file, bytes)?;
                close_file(file)
            }
            LogSink::Spooled(spool, pieces) | LogSink::SpooledForOutlet(spool, pieces, _) => {
                spool.add(bytes).map(|piece| pieces.push(piece))
            }
            LogSink::Outlet(outlet) => {
                (outlet.0)(name, bytes);
                Ok(())
            }
        }
    }
}

fn end_of(name: &str) -> io::Result<File> {
    open_file(name, OFlag::O_WRONLY | OFlag::O_APPEND, 0)
}
