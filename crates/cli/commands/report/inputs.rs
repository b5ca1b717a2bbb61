//! The runs of a page: reports with their logs.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use ferrio_compare::{Directory, SideError, read_log, read_run};
use ferrio_logs::{LogContent, LogName, LogReadError};
use ferrio_machine::is_same_file;
use ferrio_report::model::RunReport;
use ferrio_report::{SeriesFromLogs, writes_log};

use super::refusal;
use crate::error::Error;

/// A run of the page.
#[derive(Debug)]
pub struct PageInput {
    /// Name of the run on the page.
    pub name: String,
    pub report: RunReport,
    /// Data from the logs of the run, if there are any.
    pub logged: Option<SeriesFromLogs>,
    /// True if the run has logs but no report.
    pub is_from_logs: bool,
}

/// Help for a file that is not a report.
const NO_REPORT_HELP: &str = "give JSON reports of ferrio or fio (--output-format=json or json+), logs of jobs, or directories of them";

/// The files of a command line, in order.
#[derive(Default)]
struct InputFiles {
    reports: Vec<PathBuf>,
    logs: Vec<InputLog>,
}

/// A log of a command line.
struct InputLog {
    path: PathBuf,
    name: LogName,
    /// Number of reports named before this log on the command line.
    reports_before: usize,
    /// True if the command line names the log, false if it was found in a directory.
    is_named: bool,
}

/// Reads reports and logs. `output` is the file that the page will replace.
///
/// # Errors
/// A file cannot be read or is neither a report nor a log, or a log belongs to no report.
pub fn read<'a>(
    paths: impl Iterator<Item = &'a PathBuf>,
    output: Option<&PathBuf>,
) -> Result<Vec<PageInput>, Error> {
    let mut files = InputFiles::default();
    for path in paths {
        files.add(path, false)?;
    }
    let mut all = files.reports.iter().chain(files.logs.iter().map(|log| &log.path));
    if let Some(path) = all.find(|path| output.is_some_and(|output| is_same_file(path, output))) {
        let message = format!("the page would replace {}, which it is made from", path.display());
        return Err(refusal(message, Some("write the page to another file")));
    }
    if files.reports.is_empty() {
        return runs_from_logs_only(files.logs);
    }
    match_logs_to_reports(files)
}

impl InputFiles {
    /// Adds a file. For a directory, adds its reports and logs, or else those of its sub-directories.
    fn add(&mut self, path: &Path, is_subdirectory: bool) -> Result<(), Error> {
        let about = fs::metadata(path).map_err(|error| SideError::Io { path: path.to_owned(), error });
        let reports_before = self.reports.len();
        if !about.map_err(read_failure)?.is_dir() {
            match LogName::of(path) {
                Some(name) => {
                    self.logs.push(InputLog { path: path.to_owned(), name, reports_before, is_named: true })
                }
                None => self.reports.push(path.to_owned()),
            }
            return Ok(());
        }
        let found = Directory::read(path).map_err(read_failure)?;
        let logs_before = self.logs.len();
        self.reports.extend(found.reports);
        let reports = self.reports.len();
        let log = |(path, name)| InputLog { path, name, reports_before: reports, is_named: false };
        self.logs.extend(found.logs.into_iter().map(log));
        let has_none =
            |files: &InputFiles| (files.reports.len(), files.logs.len()) == (reports_before, logs_before);
        if has_none(self) && !is_subdirectory {
            // A sweep has a directory of results for each point.
            for directory in &found.directories {
                self.add(directory, true)?;
            }
        }
        if has_none(self) && !is_subdirectory {
            let message =
                format!("{} has neither files that end with .json nor logs of jobs", path.display());
            return Err(refusal(message, None));
        }
        Ok(())
    }
}

/// Assigns the logs to their reports.
fn match_logs_to_reports(files: InputFiles) -> Result<Vec<PageInput>, Error> {
    let mut runs = Vec::new();
    for path in files.reports {
        let run = read_run(path).map_err(read_failure)?;
        if run.events.is_some() {
            let message = format!("{} is a document of `ferrio sysbench`", run.path.display());
            let help = "give documents of `ferrio sysbench` alone, or reports of jobs alone";
            return Err(refusal(message, Some(help)));
        }
        runs.push((run, Vec::new()));
    }
    for InputLog { path, name, reports_before, is_named } in files.logs {
        let of_run = |at: &usize| writes_log(&runs[*at].0.report, &name);
        let candidates: Vec<usize> = (0..runs.len()).filter(of_run).collect();
        let is_beside = |at: &&usize| runs[**at].0.path.parent() == path.parent();
        let beside: Vec<usize> = candidates.iter().filter(is_beside).copied().collect();
        let best = if beside.is_empty() { candidates } else { beside };
        // If several reports match, the last one named before the log is used.
        match best.iter().rfind(|&&at| at < reports_before).or(best.first()) {
            Some(&at) => runs[at].1.push(read_log(&path, name).map_err(read_failure)?),
            // A directory may have logs of other runs.
            None if !is_named => {}
            None => {
                let message = format!("no report is of the run that wrote {}", path.display());
                let help = "give the report whose jobs have a write_*_log with this name, or logs without any report";
                return Err(refusal(message, Some(help)));
            }
        }
    }
    let input = |(run, logs): (ferrio_compare::MeasuredRun, Vec<LogContent>)| PageInput {
        name: run.path.display().to_string(),
        logged: (!logs.is_empty()).then(|| SeriesFromLogs::of(&logs, Some(&run.report))),
        report: run.report,
        is_from_logs: false,
    };
    Ok(runs.into_iter().map(input).collect())
}

/// Groups logs without reports by directory; each group is one run.
fn runs_from_logs_only(logs: Vec<InputLog>) -> Result<Vec<PageInput>, Error> {
    let mut runs: Vec<(PathBuf, Vec<LogContent>)> = Vec::new();
    for InputLog { path, name, .. } in logs {
        let log = read_log(&path, name).map_err(read_failure)?;
        let directory = path.parent().map(Path::to_owned).unwrap_or_default();
        match runs.iter_mut().find(|(other, _)| *other == directory) {
            Some((_, logs)) => logs.push(log),
            None => runs.push((directory, vec![log])),
        }
    }
    let input = |(directory, logs): (PathBuf, Vec<LogContent>)| {
        let run = SeriesFromLogs::of(&logs, None);
        let mut prefixes: Vec<&str> = logs.iter().map(|log| log.name.prefix.as_str()).collect();
        prefixes.sort_unstable();
        prefixes.dedup();
        let first = format!("{}_*.log", prefixes.first().unwrap_or(&""));
        let file = if prefixes.len() == 1 { first } else { "*.log".to_owned() };
        let report = run.report(&logs);
        PageInput {
            name: directory.join(file).display().to_string(),
            report,
            logged: Some(run),
            is_from_logs: true,
        }
    };
    Ok(runs.into_iter().map(input).collect())
}

fn read_failure(error: SideError) -> Error {
    let help = match &error {
        SideError::NoReport { .. } => Some(NO_REPORT_HELP),
        SideError::Io { error, .. } if error.kind() == ErrorKind::InvalidData => Some(NO_REPORT_HELP),
        SideError::Log { error: LogReadError::SeveralJobs, .. } => Some("run the jobs with per_job_logs=1"),
        SideError::Log { error: LogReadError::Row { .. }, .. } => {
            Some("give logs of write_bw_log, write_iops_log, write_lat_log or write_hist_log")
        }
        SideError::Io { .. }
        | SideError::Log { .. }
        | SideError::Empty { .. }
        | SideError::Sysbench { .. }
        | SideError::NotSysbench { .. }
        | SideError::Merge(_) => None,
    };
    refusal(error.to_string(), help)
}
