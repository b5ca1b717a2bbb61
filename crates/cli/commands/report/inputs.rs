//! The runs of a page: reports, and the logs that belong to them.

use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use ferrio_compare::{ReadError, read_run};
use ferrio_job::reason;
use ferrio_machine::is_same_file;
use ferrio_report::model::RunReport;
use ferrio_report::{LogName, LoggedError, LoggedFile, LoggedRun};

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
}

/// What to do about a file that is no report.
const NO_REPORT: &str = "give JSON reports of ferrio or fio (--output-format=json or json+), logs of jobs, or directories of them";

/// The files of a command line, in order.
#[derive(Default)]
struct Files {
    reports: Vec<PathBuf>,
    /// Logs, with the number of reports before them, and whether the command line names them: others are those of a directory.
    logs: Vec<(PathBuf, LogName, usize, bool)>,
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
    let mut all = files.reports.iter().chain(files.logs.iter().map(|(path, ..)| path));
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
        let cannot = |error| cannot_read(path, &error);
        if !fs::metadata(path).map_err(cannot)?.is_dir() {
            match LogName::of(path) {
                Some(name) => self.logs.push((path.to_owned(), name, self.reports.len(), true)),
                None => self.reports.push(path.to_owned()),
            }
            return Ok(());
        }
        let entries = fs::read_dir(path).and_then(Iterator::collect::<io::Result<Vec<_>>>).map_err(cannot)?;
        let mut files: Vec<PathBuf> = entries.into_iter().map(|entry| entry.path()).collect();
        files.sort();
        let directories: Vec<PathBuf> = files.iter().filter(|file| file.is_dir()).cloned().collect();
        files.retain(|file| file.is_file());
        let (reports, logs) = (self.reports.len(), self.logs.len());
        let is_report = |file: &&PathBuf| file.extension().is_some_and(|extension| extension == "json");
        self.reports.extend(files.iter().filter(is_report).cloned());
        let last = self.reports.len();
        let log = |file: &PathBuf| Some((file.clone(), LogName::of(file)?, last, false));
        self.logs.extend(files.iter().filter_map(log));
        if (self.reports.len(), self.logs.len()) == (reports, logs) && !is_below {
            // The results of a sweep are in a directory for each point.
            for directory in &directories {
                self.add(directory, true)?;
            }
        }
        if (self.reports.len(), self.logs.len()) == (reports, logs) && !is_below {
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
        runs.push((read_run(path).map_err(no_report)?, Vec::new()));
    }
    for (path, name, before, is_named) in files.logs {
        let of_run = |at: &usize| name.is_of(&runs[*at].0.report);
        let candidates: Vec<usize> = (0..runs.len()).filter(of_run).collect();
        let is_beside = |at: &&usize| runs[**at].0.path.parent() == path.parent();
        let beside: Vec<usize> = candidates.iter().filter(is_beside).copied().collect();
        let best = if beside.is_empty() { candidates } else { beside };
        // Of several reports, the one that the command line names before the log.
        match best.iter().rfind(|&&at| at < before).or(best.first()) {
            Some(&at) => runs[at].1.push(read_log(&path, name)?),
            // A directory may have logs of other runs.
            None if !is_named => {}
            None => {
                let message = format!("no report is of the run that wrote {}", path.display());
                let help = "give the report whose jobs have a write_*_log with this name, or logs without any report";
                return Err(Refusal { message, help: Some(help) });
            }
        }
    }
    let input = |(run, logs): (ferrio_compare::Run, Vec<LoggedFile>)| Input {
        name: run.path.display().to_string(),
        logged: (!logs.is_empty()).then(|| LoggedRun::of(&logs, Some(&run.report))),
        report: run.report,
    };
    Ok(runs.into_iter().map(input).collect())
}

/// Logs without reports: those of one directory are a run.
fn logs_alone(logs: Vec<(PathBuf, LogName, usize, bool)>) -> Result<Vec<Input>, Refusal> {
    let mut runs: Vec<(PathBuf, Vec<LoggedFile>)> = Vec::new();
    for (path, name, ..) in logs {
        let log = read_log(&path, name)?;
        let directory = path.parent().map(Path::to_owned).unwrap_or_default();
        match runs.iter_mut().find(|(other, _)| *other == directory) {
            Some((_, logs)) => logs.push(log),
            None => runs.push((directory, vec![log])),
        }
    }
    let input = |(directory, logs): (PathBuf, Vec<LoggedFile>)| {
        let run = LoggedRun::of(&logs, None);
        let mut prefixes: Vec<&str> = logs.iter().map(|log| log.name.prefix.as_str()).collect();
        prefixes.dedup();
        let first = format!("{}_*.log", prefixes.first().unwrap_or(&""));
        let file = if prefixes.len() == 1 { first } else { "*.log".to_owned() };
        let report = run.report(&logs);
        Input { name: directory.join(file).display().to_string(), report, logged: Some(run) }
    };
    Ok(runs.into_iter().map(input).collect())
}

fn read_log(path: &Path, name: LogName) -> Result<LoggedFile, Refusal> {
    let file = File::open(path).map_err(|error| cannot_read(path, &error))?;
    LoggedFile::read(name, file).map_err(|error| {
        let help = match error {
            LoggedError::SeveralJobs => Some("run the jobs with per_job_logs=1"),
            LoggedError::Row { .. } => {
                Some("give logs of write_bw_log, write_iops_log, write_lat_log or write_hist_log")
            }
            LoggedError::Io(_) | LoggedError::Inflate(_) => None,
        };
        Refusal { message: format!("cannot read {}: {error}", path.display()), help }
    })
}

fn cannot_read(path: &Path, error: &io::Error) -> Refusal {
    Refusal { message: format!("cannot read {}: {}", path.display(), reason(error)), help: None }
}

fn no_report(error: ReadError) -> Refusal {
    let help = match error {
        ReadError::NoReport { .. } => Some(NO_REPORT),
        ReadError::Io { ref error, .. } if error.kind() == ErrorKind::InvalidData => Some(NO_REPORT),
        ReadError::Io { .. } | ReadError::Log { .. } | ReadError::Empty { .. } => None,
    };
    Refusal { message: error.to_string(), help }
}
