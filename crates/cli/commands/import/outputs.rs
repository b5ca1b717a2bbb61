//! What an import writes: the log, the job file and the directory of the replay's files. All appear together, once they are complete.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, IsTerminal as _, Write as _};
use std::os::fd::AsFd as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use ferrio_job::reason;
use ferrio_machine::{FileIdentity, is_same_file};
use ferrio_trace::import::Summary;
use ferrio_trace::{IologVersion, Writer};
use nix::errno::Errno;

use super::{Done, Failure, job};
use crate::escaped_stream::{self, EscapedStream};
use crate::output_file::OutputFile;

/// Refuses files that would overwrite the trace or each other.
pub fn check(trace: &File, shown: &str, log: Option<&Path>, job: Option<&Path>) -> Result<(), Failure> {
    let source = FileIdentity::of_descriptor(trace);
    for (path, what) in [(log, "log"), (job, "job file")] {
        let Some(path) = path else { continue };
        if source.is_some() && source == FileIdentity::of_path(path) {
            let message = format!("{} is the trace itself ({shown})", path.display());
            return Err((
                message,
                Some(if what == "log" {
                    "write the log to another file"
                } else {
                    "write the job file to another file"
                }),
            ));
        }
    }
    if let (Some(log), Some(job)) = (log, job)
        && is_same_file(log, job)
    {
        let message = format!("{} cannot be both the log and the job file", job.display());
        return Err((message, Some("write the job file to another file")));
    }
    let stdout = escaped_stream::stdout();
    let appends_to_trace = || {
        trace.metadata().is_ok_and(|trace| trace.is_file())
            && source == FileIdentity::of_descriptor(stdout.as_fd())
    };
    if log.is_none() && appends_to_trace() {
        return Err((
            format!("standard output is the trace itself ({shown})"),
            Some("write the log to another file"),
        ));
    }
    Ok(())
}

/// Refuses a log that names files of the trace although nobody asked for that: a replay may overwrite them. Relative names count from the
/// working directory.
pub fn check_names(summary: &Summary, shown: &str) -> Result<(), Failure> {
    let identity = |name: &OsStr| FileIdentity::of_path(name.as_ref());
    let is_there = |name: &&OsStr| Path::new(name).exists();
    let chosen = summary.files.iter().filter(|file| file.is_chosen).map(|file| file.in_log.as_os_str());
    let mut existing = chosen.filter(is_there).peekable();
    if existing.peek().is_none() {
        return Ok(());
    }
    let of_trace: HashSet<_> =
        summary.targets.names().filter_map(|name| identity(OsStr::from_bytes(name))).collect();
    match existing.find(|name| identity(name).is_some_and(|file| of_trace.contains(&file))) {
        None => Ok(()),
        Some(name) => Err((
            format!(
                "{shown}: the log would name `{}`, a file of the trace, which a replay may overwrite",
                name.display()
            ),
            Some(
                "choose another directory with --directory, or use --keep-paths to replay to the files of the trace",
            ),
        )),
    }
}

/// The files of an import.
pub struct Outputs {
    /// `None` for standard output.
    log: Option<(PathBuf, OutputFile)>,
    job: Option<(PathBuf, OutputFile)>,
}

impl Outputs {
    /// Begins the files.
    pub fn begin(log: Option<&Path>, job: Option<&Path>) -> Result<Self, Failure> {
        let begin = |path: &Path, what: &str| match OutputFile::begin(path) {
            Ok(file) => Ok((path.to_owned(), file)),
            Err(error) => {
                Err((format!("cannot create the {what} {}: {}", path.display(), reason(&error)), None))
            }
        };
        Ok(Outputs {
            log: log.map(|log| begin(log, "I/O log")).transpose()?,
            job: job.map(|job| begin(job, "job file")).transpose()?,
        })
    }

    /// What writes the log.
    pub fn log_writer(&self) -> Result<Writer, Failure> {
        let (file, path) = match &self.log {
            Some((path, file)) => (file.writer(), path.as_path()),
            None if ferrio_runner::stdout::was_closed() => {
                (Err(Errno::EBADF.into()), Path::new("on standard output"))
            }
            None => (
                escaped_stream::stdout().as_fd().try_clone_to_owned().map(File::from),
                Path::new("on standard output"),
            ),
        };
        let file = file.map_err(|error| (format!("cannot write the I/O log: {}", reason(&error)), None))?;
        Ok(match file.is_terminal() {
            true => Writer::to_stream(Box::new(EscapedStream::new(file)), path, IologVersion::Three),
            false => Writer::to(file, path, IologVersion::Three),
        })
    }

    /// False if the log goes to a pipe or device.
    pub fn log_is_file(&self) -> bool {
        self.log.as_ref().is_some_and(|(_, log)| log.is_file())
    }

    /// Writes the job file, makes the directory of the files that the log names, and gives the files their names.
    pub fn keep(self, done: &Done, directory: Option<&OsStr>) -> Result<(), Failure> {
        let failed = |what: &str, path: &Path, error: &io::Error| {
            (format!("cannot {what} {}: {}", path.display(), reason(error)), None)
        };
        let is_file = self.log_is_file();
        let mut job = self.job;
        if let Some((path, file)) = &mut job {
            let written = file.write_all(job::text(done).as_bytes());
            written.map_err(|error| failed("write the job file", path, &error))?;
        }
        let made = match directory.map(Path::new).filter(|_| is_file) {
            Some(directory) if holds_files(done, directory) => {
                make(directory).map_err(|error| failed("create the directory", directory, &error))?
            }
            _ => Vec::new(),
        };
        // The log is last: what failed has left the former log as it was.
        let mut new = None;
        let files =
            [job.map(|file| ("write the job file", file)), self.log.map(|file| ("write the I/O log", file))];
        for (what, (path, file)) in files.into_iter().flatten() {
            match file.keep() {
                Ok(path) => new = path,
                Err(error) => {
                    new.iter().for_each(|file| drop(fs::remove_file(file)));
                    made.iter().rev().for_each(|directory| drop(fs::remove_dir(directory)));
                    return Err(failed(what, &path, &error));
                }
            }
        }
        Ok(())
    }
}

/// True if files of the log are in this directory.
fn holds_files(done: &Done, directory: &Path) -> bool {
    let directory = directory.as_os_str().as_bytes();
    let is_inside = |name: &[u8]| name.strip_prefix(directory).is_some_and(|rest| rest.starts_with(b"/"));
    done.summary.files.iter().any(|file| is_inside(file.in_log.as_bytes()))
}

/// Makes a directory and those that it is in. Returns the new ones, outermost first.
fn make(directory: &Path) -> io::Result<Vec<PathBuf>> {
    let missing = directory.ancestors().filter(|path| !path.as_os_str().is_empty());
    let mut missing: Vec<PathBuf> = missing.take_while(|path| !path.exists()).map(Path::to_owned).collect();
    missing.reverse();
    fs::create_dir_all(directory)?;
    Ok(missing)
}
