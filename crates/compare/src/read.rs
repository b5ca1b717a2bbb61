//! The runs of one side: a document, or all documents of a directory.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use ferrio_report::model::RunReport;

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
}

/// What is compared with other sides: repetitions of one measurement.
#[derive(Clone, Debug)]
pub struct Side {
    /// The path as given.
    pub name: String,
    /// At least one, in the order of their file names.
    pub runs: Vec<Run>,
}

/// Reads a document, or each file that ends with `.json` in a directory.
///
/// # Errors
/// A file cannot be read or has no report, or the directory has no such file.
pub fn read_side(path: &Path) -> Result<Side, ReadError> {
    let in_path = |error| ReadError::Io { path: path.to_owned(), error };
    let files = match fs::metadata(path).map_err(in_path)?.is_dir() {
        true => documents(path).map_err(in_path)?,
        false => vec![path.to_owned()],
    };
    if files.is_empty() {
        return Err(ReadError::Empty { path: path.to_owned() });
    }
    let runs = files.into_iter().map(read_run).collect::<Result<_, _>>()?;
    Ok(Side { name: path.display().to_string(), runs })
}

fn documents(directory: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "json") && path.is_file() {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
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
        Ok(report) => Ok(Run { path, report }),
        Err(error) => Err(ReadError::NoReport { path, error }),
    }
}
