//! The runs of a page: reports, and the logs that belong to them.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use ferrio_compare::{Directory, ReadError, read_log, read_run};
use ferrio_logs::{LogContent, LogName, LogReadError};
use ferrio_machine::is_same_file;
use ferrio_report::model::RunReport;
use ferrio_report::{LoggedRun, writes_log};

/// Why there is no page, and what to do about it.
#[derive(Debug)]
pub struct Refusal {
    pub message: String,
    pub help: Option<&'static str>,
}

/// A run of the page.
#[derive(Debug)]
pub struct Input {
    /// What the page calls it.
    pub name: String,
    pub report: RunReport,
    /// What its logs say, if there are any.
    pub logged: Option<LoggedRun>,
    /// There is no report of the run: all that is known is from its logs.
    pub is_from_logs: bool,
}

/// What to do about a file that is no report.
const NO_REPORT: &str = "give JSON reports of ferrio or fio (--output-format=json or json+), logs of jobs, or directories of them";

/// The files of a command line, in order.
#[derive(Default)]
struct Files {
    reports: Vec<PathBuf>,
    logs: Vec<LogFile>,
}

/// A log of a command line.
struct LogFile {
    path: PathBuf,
    name: LogName,
    /// Number of reports before it.
    reports_before: usize,
    /// The command line names it. Others are those of a directory.
    is_named: bool,
}

/// Reads reports and logs. `output` is the file that the page will replace.
///
/// # Errors
/// A file cannot be read or is neither report nor log, or a log belongs to no report.
pub fn read<'a>(
    paths: impl Iterator<Item = &'a PathBuf>,
    output: Option<&PathBuf>,
) -> Result<Vec<Input>, Refusal> {
    let mut files = Files::default();
    for path in paths {
        files.add(path, false)?;
    }
    let mut all = files.reports.iter().chain(files.logs.iter().map(|log| &log.path));
    if let Some(path) = all.find(|path| output.is_some_and(|output| is_same_file(path, output))) {
        let message = format!("the page would replace {}, which it is made from", path.display());
        return Err(Refusal { message, help: Some("write the page to another file") });
    }
    if files.reports.is_empty() {
        return logs_alone(files.logs);
    }
    with_reports(files)
}

impl Files {
    /// A file, or what the page needs of a directory, or of its directories if it has nothing itself.
    fn add(&mut self, path: &Path, is_below: bool) -> Result<(), Refusal> {
        let about = fs::metadata(path).map_err(|error| ReadError::Io { path: path.to_owned(), error });
        let reports_before = self.reports.len();
        if !about.map_err(refusal)?.is_dir() {
            match LogName::of(path) {
                Some(name) => {
                    self.logs.push(LogFile { path: path.to_owned(), name, reports_before, is_named: true })
                }
                None => self.reports.push(path.to_owned()),
            }
            return Ok(());
        }
        let found = Directory::read(path).map_err(refusal)?;
        let logs_before = self.logs.len();
        self.reports.extend(found.reports);
        let reports = self.reports.len();
        let log = |(path, name)| LogFile { path, name, reports_before: reports, is_named: false };
        self.logs.extend(found.logs.into_iter().map(log));
        let has_none =
            |files: &Files| (files.reports.len(), files.logs.len()) == (reports_before, logs_before);
        if has_none(self) && !is_below {
            // The results of a sweep are in a directory for each point.
            for directory in &found.directories {
                self.add(directory, true)?;
            }
        }
        if has_none(self) && !is_below {
            let message =
                format!("{} has neither files that end with .json nor logs of jobs", path.display());
            return Err(Refusal { message, help: None });
        }
        Ok(())
    }
}

/// Reports, each with its logs.
fn with_reports(files: Files) -> Result<Vec<Input>, Refusal> {
    let mut runs = Vec::new();
    for path in files.reports {
        runs.push((read_run(path).map_err(refusal)?, Vec::new()));
    }
    for LogFile { path, name, reports_before, is_named } in files.logs {
        let of_run = |at: &usize| writes_log(&runs[*at].0.report, &name);
        let candidates: Vec<usize> = (0..runs.len()).filter(of_run).collect();
        let is_beside = |at: &&usize| runs[**at].0.path.parent() == path.parent();
        let beside: Vec<usize> = candidates.iter().filter(is_beside).copied().collect();
        let best = if beside.is_empty() { candidates } else { beside };
        // Of several reports, the one that the command line names before the log.
        match best.iter().rfind(|&&at| at < reports_before).or(best.first()) {
            Some(&at) => runs[at].1.push(read_log(&path, name).map_err(refusal)?),
            // A directory may have logs of other runs.
            None if !is_named => {}
            None => {
                let message = format!("no report is of the run that wrote {}", path.display());
                let help = "give the report whose jobs have a write_*_log with this name, or logs without any report";
                return Err(Refusal { message, help: Some(help) });
            }
        }
    }
    let input = |(run, logs): (ferrio_compare::Run, Vec<LogContent>)| Input {
        name: run.path.display().to_string(),
        logged: (!logs.is_empty()).then(|| LoggedRun::of(&logs, Some(&run.report))),
        report: run.report,
        is_from_logs: false,
    };
    Ok(runs.into_iter().map(input).collect())
}

/// Logs without reports: those of one directory are a run.
fn logs_alone(logs: Vec<LogFile>) -> Result<Vec<Input>, Refusal> {
    let mut runs: Vec<(PathBuf, Vec<LogContent>)> = Vec::new();
    for LogFile { path, name, .. } in logs {
        let log = read_log(&path, name).map_err(refusal)?;
        let directory = path.parent().map(Path::to_owned).unwrap_or_default();
        match runs.iter_mut().find(|(other, _)| *other == directory) {
            Some((_, logs)) => logs.push(log),
            None => runs.push((directory, vec![log])),
        }
    }
    let input = |(directory, logs): (PathBuf, Vec<LogContent>)| {
        let run = LoggedRun::of(&logs, None);
        let mut prefixes: Vec<&str> = logs.iter().map(|log| log.name.prefix.as_str()).collect();
        prefixes.sort_unstable();
        prefixes.dedup();
        let first = format!("{}_*.log", prefixes.first().unwrap_or(&""));
        let file = if prefixes.len() == 1 { first } else { "*.log".to_owned() };
        let report = run.report(&logs);
        Input {
            name: directory.join(file).display().to_string(),
            report,
            logged: Some(run),
            is_from_logs: true,
        }
    };
    Ok(runs.into_iter().map(input).collect())
}

fn refusal(error: ReadError) -> Refusal {
    let help = match &error {
        ReadError::NoReport { .. } => Some(NO_REPORT),
        ReadError::Io { error, .. } if error.kind() == ErrorKind::InvalidData => Some(NO_REPORT),
        ReadError::Log { error: LogReadError::SeveralJobs, .. } => Some("run the jobs with per_job_logs=1"),
        ReadError::Log { error: LogReadError::Row { .. }, .. } => {
            Some("give logs of write_bw_log, write_iops_log, write_lat_log or write_hist_log")
        }
        ReadError::Io { .. } | ReadError::Log { .. } | ReadError::Empty { .. } => None,
    };
    Refusal { message: error.to_string(), help }
}
