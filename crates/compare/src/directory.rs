//! Reads a directory of results: reports, job logs and subdirectories.

use std::io;
use std::path::{Path, PathBuf};

use ferrio_logs::{LogContent, LogName};
use ferrio_machine::{RetryInterrupted, names_in, open_to_read};

use crate::error::SideError;

/// The relevant entries of a directory, each list sorted by name.
#[derive(Debug, Default)]
pub struct Directory {
    /// Files that end with `.json`.
    pub reports: Vec<PathBuf>,
    /// Files that are named like logs, with the parsed name.
    pub logs: Vec<(PathBuf, LogName)>,
    /// Subdirectories.
    pub directories: Vec<PathBuf>,
}

impl Directory {
    /// Lists a directory.
    ///
    pub fn read(path: &Path) -> Result<Self, SideError> {
        let names = names_in(path).and_then(Iterator::collect::<io::Result<Vec<_>>>);
        let mut names = names.map_err(|error| SideError::Io { path: path.to_owned(), error })?;
        names.sort();
        let mut found = Directory::default();
        for path in names.into_iter().map(|name| path.join(name)) {
            let is_report = path.extension().is_some_and(|extension| extension == "json");
            let log = LogName::of(&path);
            let about = match std::fs::metadata(&path) {
                // A dangling link matters only if it is named like a report or a log.
                Err(error) if error.kind() == io::ErrorKind::NotFound && !is_report && log.is_none() => {
                    continue;
                }
                about => about.map_err(|error| SideError::Io { path: path.clone(), error })?,
            };
            if about.is_dir() {
                found.directories.push(path);
            } else if !about.is_file() {
                // A pipe or a device is neither a report nor a log.
            } else if is_report {
                found.reports.push(path);
            } else if let Some(name) = log {
                found.logs.push((path, name));
            }
        }
        Ok(found)
    }
}

/// Reads a log.
///
/// # Errors
/// The file cannot be read, is damaged, or is no log.
pub fn read_log(path: &Path, name: LogName) -> Result<LogContent, SideError> {
    let file = open_to_read(path).map_err(|error| SideError::Io { path: path.to_owned(), error })?;
    LogContent::read(name, RetryInterrupted(file))
        .map_err(|error| SideError::Log { path: path.to_owned(), error })
}
