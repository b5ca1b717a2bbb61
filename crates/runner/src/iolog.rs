//! `write_iolog`: records what a worker does, line by line.
//!
//! The log is opened when the worker is set up; its times count from there. All files are added at once. A file's `open` comes with
//! its first I/O after it was attached, as it does in fio, which opens files no sooner.

use std::ffi::OsStr;

use ferrio_engine::{Op, Request};
use ferrio_job::{JobSpec, reason, recording_not_opened};
use ferrio_stats::Clock;
use ferrio_trace::{FileAction, IologWriter, LogError};

use crate::failure::Failure;

/// The log of one job.
#[derive(Debug)]
pub(crate) struct Iolog<'a> {
    spec: &'a JobSpec,
    clock: Clock,
    began: u64,
    log: IologWriter,
    /// Which files' `open` has no `close` yet.
    open: Vec<bool>,
    /// Offset of the latest data I/O of each unit: what a line of a sync shows.
    offsets: Vec<u64>,
}

impl<'a> Iolog<'a> {
    /// Opens the job's log, if it has one, and adds its files.
    pub(crate) fn new(spec: &'a JobSpec, clock: Clock) -> Result<Option<Box<Self>>, Failure> {
        let Some(to) = &spec.iolog else { return Ok(None) };
        let log = IologWriter::append(&to.path, to.version)?;
        let (open, offsets) = (vec![false; spec.files.len()], vec![0; spec.units() as usize]);
        let mut iolog = Box::new(Iolog { spec, clock, began: clock.now(), log, open, offsets });
        for file in &spec.files {
            let time = iolog.time_us();
            iolog.log.file(time, file.path.as_os_str(), FileAction::Add)?;
        }
        Ok(Some(iolog))
    }

    /// An I/O or a sync is about to be submitted for the first time.
    pub(crate) fn io(&mut self, request: &Request) -> Result<(), Failure> {
        let offset = &mut self.offsets[request.unit as usize];
        let len = match request.op {
            Op::Read | Op::Write | Op::Trim => {
                *offset = request.offset;
                request.len
            }
            Op::Fsync | Op::Fdatasync | Op::SyncFileRange(_) => 0,
        };
        let offset = *offset;
        self.line(request.file, request.op, offset, len)
    }

    /// A file is synced after the last I/O of unit `unit`, outside of the loop.
    pub(crate) fn final_sync(&mut self, file: u32, unit: u32) -> Result<(), Failure> {
        self.line(file, Op::Fsync, self.offsets[unit as usize], 0)
    }

    /// A file is closed; nothing is written about one that no I/O opened.
    pub(crate) fn closed(&mut self, file: u32) -> Result<(), Failure> {
        if !std::mem::take(&mut self.open[file as usize]) {
            return Ok(());
        }
        Ok(self.log.file(self.time_us(), self.name(file), FileAction::Close)?)
    }

    /// All files are closed.
    pub(crate) fn closed_all(&mut self) -> Result<(), Failure> {
        (0..self.open.len() as u32).try_for_each(|file| self.closed(file))
    }

    /// Ends the log of a job: closes all files and writes buffered lines.
    pub(crate) fn finish(mut self) -> Result<(), Failure> {
        self.closed_all()?;
        Ok(self.log.finish()?)
    }

    fn line(&mut self, file: u32, op: Op, offset: u64, len: u64) -> Result<(), Failure> {
        let (time, name) = (self.time_us(), self.name(file));
        if !std::mem::replace(&mut self.open[file as usize], true) {
            self.log.file(time, name, FileAction::Open)?;
        }
        Ok(self.log.io(time, name, op.name(), offset, len)?)
    }

    fn name(&self, file: u32) -> &'a OsStr {
        self.spec.files[file as usize].path.as_os_str()
    }

    /// Microseconds since the log was opened.
    fn time_us(&self) -> u64 {
        self.clock.between(self.began, self.clock.now()) / 1000
    }
}

impl From<LogError> for Failure {
    fn from(error: LogError) -> Self {
        let line = match error.doing {
            "open" => recording_not_opened(&error.path, &reason(&error.source)),
            _ => format!("{error}: {}", reason(&error.source)),
        };
        let advice = match error.doing {
            "open" => "give `write_iolog` a file in a directory that exists and is writable",
            _ => "the log ends early; give `write_iolog` a file on a disk with more room",
        };
        Failure::from_io(&error.source, "write_iolog")
            .note("iolog-not-written", line)
            .note("iolog-not-written", advice)
    }
}
