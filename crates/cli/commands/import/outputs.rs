//! The outputs of an import: the log, the job file and the directory of the replay's files. They are put in place together at the end.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, IsTerminal as _, Write as _};
use std::os::fd::AsFd as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use ferrio_job::reason;
use ferrio_machine::{FileIdentity, is_same_file};
use ferrio_trace::import::ImportSummary;
use ferrio_trace::{IologVersion, IologWriter};
use nix::errno::Errno;

use super::{FinishedImport, job, refusal};
use crate::error::Error;
use crate::escaped_stream::{self, EscapedStream};
use crate::output_file::OutputFile;

/// Refuses outputs that would overwrite the trace or each other.
pub fn refuse_overwriting(
    trace: &File,
    display_name: &str,
    log: Option<&Path>,
    job: Option<&Path>,
) -> Result<(), Error> {
    let source = FileIdentity::of_descriptor(trace);
    let (move_log, move_job) = ("write the log to another file", "write the job file to another file");
    for (path, help) in [(log, move_log), (job, move_job)] {
        if let Some(path) = path.filter(|path| source.is_some() && source == FileIdentity::of_path(path)) {
            let message = format!("{} is the trace itself ({display_name})", path.display());
            return Err(refusal(message, Some(help)));
        }
    }
    if let Some((_, job)) = log.zip(job).filter(|(log, job)| is_same_file(log, job)) {
        let message = format!("{} cannot be both the log and the job file", job.display());
        return Err(refusal(message, Some(move_job)));
    }
    let stdout = escaped_stream::stdout();
    let appends_to_trace = || {
        trace.metadata().is_ok_and(|trace| trace.is_file())
            && source == FileIdentity::of_descriptor(stdout.as_fd())
    };
    if log.is_none() && appends_to_trace() {
        let message = format!("standard output is the trace itself ({display_name})");
        return Err(refusal(message, Some(move_log)));
    }
    Ok(())
}

/// Refuses a log with file names of the trace unless `--names` asked for them, as a replay may overwrite these files. Relative names are
/// resolved against the working directory.
pub fn refuse_trace_names(summary: &ImportSummary, display_name: &str) -> Result<(), Error> {
    let identity = |name: &OsStr| FileIdentity::of_path(name.as_ref());
    let is_there = |name: &&OsStr| Path::new(name).exists();
    let chosen = summary.files.iter().filter(|file| file.is_chosen).map(|file| file.in_log.as_os_str());
    let mut existing = chosen.filter(is_there).peekable();
    if existing.peek().is_none() {
        return Ok(());
    }
    let of_trace: HashSet<_> =
        summary.targets.names().filter_map(|name| identity(OsStr::from_bytes(name))).collect();
    let Some(name) = existing.find(|name| identity(name).is_some_and(|file| of_trace.contains(&file))) else {
        return Ok(());
    };
    let message = format!(
        "{display_name}: the log would name `{}`, a file of the trace, which a replay may overwrite",
        name.display()
    );
    let help =
        "choose another directory with --directory, or use --keep-paths to replay to the files of the trace";
    Err(refusal(message, Some(help)))
}

/// The output files of an import.
pub struct ImportOutputs {
    /// `None` for standard output.
    log: Option<(PathBuf, OutputFile)>,
    job: Option<(PathBuf, OutputFile)>,
}

impl ImportOutputs {
    /// Creates the files.
    pub fn create(log: Option<&Path>, job: Option<&Path>) -> Result<Self, Error> {
        let begin = |path: &Path, what: &str| match OutputFile::begin(path) {
            Ok(file) => Ok((path.to_owned(), file)),
            Err(error) => Err(failure(&format!("create the {what}"), path, &error)),
        };
        Ok(ImportOutputs {
            log: log.map(|log| begin(log, "I/O log")).transpose()?,
            job: job.map(|job| begin(job, "job file")).transpose()?,
        })
    }

    /// Opens the writer of the log.
    pub fn log_writer(&self) -> Result<IologWriter, Error> {
        let path = self.log.as_ref().map_or(Path::new("on standard output"), |(path, _)| path);
        let file = match &self.log {
            Some((_, file)) => file.writer(),
            None if ferrio_runner::stdout::was_closed() => Err(Errno::EBADF.into()),
            None => escaped_stream::stdout().as_fd().try_clone_to_owned().map(File::from),
        };
        let file =
            file.map_err(|error| refusal(format!("cannot write the I/O log: {}", reason(&error)), None))?;
        Ok(match file.is_terminal() {
            true => IologWriter::to_stream(Box::new(EscapedStream::new(file)), path, IologVersion::Three),
            false => IologWriter::to(file, path, IologVersion::Three),
        })
    }

    /// True if the log is a regular file, not a pipe or device.
    pub fn log_is_file(&self) -> bool {
        self.log.as_ref().is_some_and(|(_, log)| log.is_file())
    }

    /// Writes the job file, creates the directory of the replay's files, and moves the outputs to their names.
    pub fn commit(self, import: &FinishedImport, directory: Option<&OsStr>) -> Result<(), Error> {
        let is_file = self.log_is_file();
        let mut job = self.job;
        if let Some((path, file)) = &mut job {
            let written = file.write_all(job::job_file_text(import).as_bytes());
            written.map_err(|error| failure("write the job file", path, &error))?;
        }
        let made = match directory.map(Path::new).filter(|_| is_file) {
            Some(directory) if has_files_in(import, directory) => create_directories(directory)
                .map_err(|error| failure("create the directory", directory, &error))?,
            _ => Vec::new(),
        };
        // The log is moved last: if anything fails, an older log is left unchanged.
        let mut new = None;
        let files =
            [job.map(|file| ("write the job file", file)), self.log.map(|file| ("write the I/O log", file))];
        for (what, (path, file)) in files.into_iter().flatten() {
            match file.keep() {
                Ok(path) => new = path,
                Err(error) => {
                    new.iter().for_each(|file| drop(fs::remove_file(file)));
                    made.iter().rev().for_each(|directory| drop(fs::remove_dir(directory)));
                    return Err(failure(what, &path, &error));
                }
            }
        }
        Ok(())
    }
}

fn failure(what: &str, path: &Path, error: &io::Error) -> Error {
    refusal(format!("cannot {what} {}: {}", path.display(), reason(error)), None)
}

/// True if the log names files in this directory.
fn has_files_in(import: &FinishedImport, directory: &Path) -> bool {
    let directory = directory.as_os_str().as_bytes();
    let is_inside = |name: &[u8]| name.strip_prefix(directory).is_some_and(|rest| rest.starts_with(b"/"));
    import.summary.files.iter().any(|file| is_inside(file.in_log.as_bytes()))
}

/// Creates a directory and its missing parents. Returns the new ones, outermost first.
fn create_directories(directory: &Path) -> io::Result<Vec<PathBuf>> {
    let missing = directory.ancestors().filter(|path| !path.as_os_str().is_empty());
    let mut missing: Vec<PathBuf> = missing.take_while(|path| !path.exists()).map(Path::to_owned).collect();
    missing.reverse();
    fs::create_dir_all(directory)?;
    Ok(missing)
}
