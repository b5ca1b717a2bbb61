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

use super::{FinishedImport, ImportFailure, job};
use crate::escaped_stream::{self, EscapedStream};
use crate::output_file::OutputFile;

/// Refuses outputs that would overwrite the trace or each other.
pub fn refuse_overwriting(
    trace: &File,
    display_name: &str,
    log: Option<&Path>,
    job: Option<&Path>,
) -> Result<(), ImportFailure> {
    let source = FileIdentity::of_descriptor(trace);
    for (path, what) in [(log, "log"), (job, "job file")] {
        let Some(path) = path else { continue };
        if source.is_some() && source == FileIdentity::of_path(path) {
            let message = format!("{} is the trace itself ({display_name})", path.display());
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
            format!("standard output is the trace itself ({display_name})"),
            Some("write the log to another file"),
        ));
    }
    Ok(())
}

/// Refuses a log with file names of the trace unless `--names` asked for them, as a replay may overwrite these files. Relative names are
/// resolved against the working directory.
pub fn refuse_trace_names(summary: &ImportSummary, display_name: &str) -> Result<(), ImportFailure> {
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
                "{display_name}: the log would name `{}`, a file of the trace, which a replay may overwrite",
                name.display()
            ),
            Some(
                "choose another directory with --directory, or use --keep-paths to replay to the files of the trace",
            ),
        )),
    }
}

/// The output files of an import.
pub struct ImportOutputs {
    /// `None` for standard output.
    log: Option<(PathBuf, OutputFile)>,
    job: Option<(PathBuf, OutputFile)>,
}

impl ImportOutputs {
    /// Creates the files.
    pub fn create(log: Option<&Path>, job: Option<&Path>) -> Result<Self, ImportFailure> {
        let begin = |path: &Path, what: &str| match OutputFile::begin(path) {
            Ok(file) => Ok((path.to_owned(), file)),
            Err(error) => {
                Err((format!("cannot create the {what} {}: {}", path.display(), reason(&error)), None))
            }
        };
        Ok(ImportOutputs {
            log: log.map(|log| begin(log, "I/O log")).transpose()?,
            job: job.map(|job| begin(job, "job file")).transpose()?,
        })
    }

    /// Opens the writer of the log.
    pub fn log_writer(&self) -> Result<IologWriter, ImportFailure> {
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
            true => IologWriter::to_stream(Box::new(EscapedStream::new(file)), path, IologVersion::Three),
            false => IologWriter::to(file, path, IologVersion::Three),
        })
    }

    /// True if the log is a regular file, not a pipe or device.
    pub fn log_is_file(&self) -> bool {
        self.log.as_ref().is_some_and(|(_, log)| log.is_file())
    }

    /// Writes the job file, creates the directory of the replay's files, and moves the outputs to their names.
    pub fn commit(self, import: &FinishedImport, directory: Option<&OsStr>) -> Result<(), ImportFailure> {
        let failed = |what: &str, path: &Path, error: &io::Error| {
            (format!("cannot {what} {}: {}", path.display(), reason(error)), None)
        };
        let is_file = self.log_is_file();
        let mut job = self.job;
        if let Some((path, file)) = &mut job {
            let written = file.write_all(job::job_file_text(import).as_bytes());
            written.map_err(|error| failed("write the job file", path, &error))?;
        }
        let made = match directory.map(Path::new).filter(|_| is_file) {
            Some(directory) if has_files_in(import, directory) => create_directories(directory)
                .map_err(|error| failed("create the directory", directory, &error))?,
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
                    return Err(failed(what, &path, &error));
                }
            }
        }
        Ok(())
    }
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
