//! Reads the runs of one side: a document, or all documents of a directory.

use std::fs;
use std::path::{Path, PathBuf};

use ferrio_logs::LogName;
use ferrio_machine::text_of_file;
use ferrio_report::model::{RunReport, Series};
use ferrio_report::{SeriesFromLogs, writes_log};
use ferrio_sysbench::report::SysbenchDocument;

use crate::directory::{Directory, read_log};
use crate::error::SideError;
use crate::measured_run::MeasuredRun;
use crate::sysbench;

/// Repetitions of one measurement, which are compared with other sides.
#[derive(Clone, Debug)]
pub struct Side {
    /// The path as given.
    pub name: String,
    /// At least one, sorted by file name.
    pub runs: Vec<MeasuredRun>,
}

/// Reads a document, or each file of a directory that ends with `.json`. If a directory has only one report, its logs belong to that
/// report.
///
/// # Errors
/// A file cannot be read or has no report, the directory has no such file, or a log is damaged.
pub fn read_side(path: &Path) -> Result<Side, SideError> {
    let about = fs::metadata(path).map_err(|error| SideError::Io { path: path.to_owned(), error })?;
    let Directory { reports, logs, .. } = match about.is_dir() {
        true => Directory::read(path)?,
        false => Directory { reports: vec![path.to_owned()], ..Directory::default() },
    };
    if reports.is_empty() {
        return Err(SideError::Empty { path: path.to_owned() });
    }
    let mut runs = reports.into_iter().map(read_run).collect::<Result<Vec<_>, _>>()?;
    if let [only] = &mut runs[..]
        && only.series().is_empty()
    {
        only.logged = logged(logs, &only.report)?;
    }
    Ok(Side { name: path.display().to_string(), runs })
}

/// Reads the documents of sysbench in a directory as one run, of machines that ran the test together. In a directory without documents, each
/// directory is such a run. A file is a run by itself.
///
/// # Errors
/// A file cannot be read, is no document of sysbench, or is of another test than the others.
pub fn read_aggregates(path: &Path) -> Result<Side, SideError> {
    let about = fs::metadata(path).map_err(|error| SideError::Io { path: path.to_owned(), error })?;
    if !about.is_dir() {
        return read_side(path);
    }
    let found = Directory::read(path)?;
    let runs = match found.reports.is_empty() {
        false => vec![sysbench::aggregate(path, &found.reports)?],
        true => {
            let directories = found.directories.iter().map(|directory| {
                let reports = Directory::read(directory)?.reports;
                (!reports.is_empty()).then(|| sysbench::aggregate(directory, &reports)).transpose()
            });
            directories.filter_map(Result::transpose).collect::<Result<_, _>>()?
        }
    };
    if runs.is_empty() {
        return Err(SideError::Empty { path: path.to_owned() });
    }
    Ok(Side { name: path.display().to_string(), runs })
}

/// The contents of the logs that belong to this run.
fn logged(logs: Vec<(PathBuf, LogName)>, report: &RunReport) -> Result<Vec<Series>, SideError> {
    let of_run = logs.into_iter().filter(|(_, name)| writes_log(report, name));
    let logs = of_run.map(|(path, name)| read_log(&path, name)).collect::<Result<Vec<_>, _>>()?;
    Ok(SeriesFromLogs::of(&logs, Some(report)).series)
}

/// Reads a document.
///
/// # Errors
/// The file cannot be read or has no report.
pub fn read_run(path: PathBuf) -> Result<MeasuredRun, SideError> {
    let text = match text_of_file(&path) {
        Ok(text) => text,
        Err(error) => return Err(SideError::Io { path, error }),
    };
    match SysbenchDocument::read(&text) {
        None => {}
        Some(Ok(document)) => return Ok(sysbench::run_of(path, &document)),
        Some(Err(error)) => return Err(SideError::Sysbench { path, error }),
    }
    match ferrio_report::read(&text) {
        Ok(report) => Ok(MeasuredRun { path, report, logged: Vec::new(), events: None }),
        Err(error) => Err(SideError::NoReport { path, error }),
    }
}
