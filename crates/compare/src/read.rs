//! The runs of one side: a document, or all documents of a directory.

use std::fs;
use std::path::{Path, PathBuf};

use ferrio_logs::LogName;
use ferrio_machine::text_of_file;
use ferrio_report::model::{RunReport, Series};
use ferrio_report::{LoggedRun, writes_log};

use crate::directory::{Directory, read_log};
use crate::error::ReadError;

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
    let about = fs::metadata(path).map_err(|error| ReadError::Io { path: path.to_owned(), error })?;
    let Directory { reports, logs, .. } = match about.is_dir() {
        true => Directory::read(path)?,
        false => Directory { reports: vec![path.to_owned()], ..Directory::default() },
    };
    if reports.is_empty() {
        return Err(ReadError::Empty { path: path.to_owned() });
    }
    let mut runs = reports.into_iter().map(read_run).collect::<Result<Vec<_>, _>>()?;
    if let [only] = &mut runs[..]
        && only.series().is_empty()
    {
        only.logged = logged(logs, &only.report)?;
    }
    Ok(Side { name: path.display().to_string(), runs })
}

/// What those of the logs say that are of this run.
fn logged(logs: Vec<(PathBuf, LogName)>, report: &RunReport) -> Result<Vec<Series>, ReadError> {
    let of_run = logs.into_iter().filter(|(_, name)| writes_log(report, name));
    let logs = of_run.map(|(path, name)| read_log(&path, name)).collect::<Result<Vec<_>, _>>()?;
    Ok(LoggedRun::of(&logs, Some(report)).series)
}

/// Reads a document.
///
/// # Errors
/// The file cannot be read or has no report.
pub fn read_run(path: PathBuf) -> Result<Run, ReadError> {
    let text = match text_of_file(&path) {
        Ok(text) => text,
        Err(error) => return Err(ReadError::Io { path, error }),
    };
    match ferrio_report::read(&text) {
        Ok(report) => Ok(Run { path, report, logged: Vec::new() }),
        Err(error) => Err(ReadError::NoReport { path, error }),
    }
}
