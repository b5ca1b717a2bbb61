//! The runs of one side: a document, or all documents of a directory.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use ferrio_report::model::{RunReport, Series};
use ferrio_report::{LogName, LoggedError, LoggedFile, LoggedRun};

/// Why a side has no runs.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// A file or directory cannot be read.
    #[error("cannot read {}: {}", path.display(), ferrio_job::reason(error))]
    Io {
        /// The file or directory.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// A file is no report.
    #[error("{}: {error}", path.display())]
    NoReport {
        /// The file.
        path: PathBuf,
        /// Why.
        error: ferrio_report::ReadError,
    },
    /// A log is damaged, or no log.
    #[error("cannot read {}: {error}", path.display())]
    Log {
        /// The file.
        path: PathBuf,
        /// Why.
        error: LoggedError,
    },
    /// A directory has no files with the ending `.json`.
    #[error("{} has no files that end with .json", path.display())]
    Empty {
        /// The directory.
        path: PathBuf,
    },
}

/// One repetition.
#[derive(Clone, Debug)]
pub struct Run {
    /// The file of its report.
    pub path: PathBuf,
    /// Its last report, if it made several.
    pub report: RunReport,
    /// Figures over time from its logs, for a report that has none.
    pub logged: Vec<Series>,
}

impl Run {
    /// What the jobs did over time, as far as it is known.
    #[must_use]
    pub fn series(&self) -> &[Series] {
        match &self.report.ferrio {
            Some(ferrio) if !ferrio.series.is_empty() => &ferrio.series,
            _ => &self.logged,
        }
    }
}

/// What is compared with other sides: repetitions of one measurement.
#[derive(Clone, Debug)]
pub struct Side {
    /// The path as given.
    pub name: String,
    /// At least one, in the order of their file names.
    pub runs: Vec<Run>,
}

/// Reads a document, or each file that ends with `.json` in a directory. The only report of a directory has its logs with it.
///
/// # Errors
/// A file cannot be read or has no report, the directory has no such file, or a log is damaged.
pub fn read_side(path: &Path) -> Result<Side, ReadError> {
    let in_path = |error| ReadError::Io { path: path.to_owned(), error };
    let is_directory = fs::metadata(path).map_err(in_path)?.is_dir();
    let files = match is_directory {
        true => documents(path).map_err(in_path)?,
        false => vec![path.to_owned()],
    };
    if files.is_empty() {
        return Err(ReadError::Empty { path: path.to_owned() });
    }
    let mut runs = files.into_iter().map(read_run).collect::<Result<Vec<_>, _>>()?;
    if let ([only], true) = (&mut runs[..], is_directory)
        && only.series().is_empty()
    {
        only.logged = logged(path, &only.report)?;
    }
    Ok(Side { name: path.display().to_string(), runs })
}

fn documents(directory: &Path) -> io::Result<Vec<PathBuf>> {
    files(directory, |path| path.extension().is_some_and(|extension| extension == "json"))
}

/// The files of a directory that are wanted, in the order of their names.
fn files(directory: &Path, is_wanted: impl Fn(&Path) -> bool) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        if is_wanted(&path) && path.is_file() {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

/// What the logs of a run in this directory say.
fn logged(directory: &Path, report: &RunReport) -> Result<Vec<Series>, ReadError> {
    let in_path = |error| ReadError::Io { path: directory.to_owned(), error };
    let is_log = |path: &Path| LogName::of(path).is_some_and(|name| name.is_of(report));
    let read = |path: PathBuf| {
        let log = File::open(&path).map_err(LoggedError::Io);
        let name = LogName::of(&path);
        let read = name.map(|name| log.and_then(|log| LoggedFile::read(name, log)));
        read.map(|read| read.map_err(|error| ReadError::Log { path, error }))
    };
    let logs = files(directory, is_log).map_err(in_path)?;
    let logs = logs.into_iter().filter_map(read).collect::<Result<Vec<_>, _>>()?;
    Ok(LoggedRun::of(&logs, Some(report)).series)
}

/// Reads a document.
///
/// # Errors
/// The file cannot be read or has no report.
pub fn read_run(path: PathBuf) -> Result<Run, ReadError> {
    let text = match fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) => return Err(ReadError::Io { path, error }),
    };
    match ferrio_report::read(&text) {
        Ok(report) => Ok(Run { path, report, logged: Vec::new() }),
        Err(error) => Err(ReadError::NoReport { path, error }),
    }
}
