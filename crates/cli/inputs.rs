//! The files that a run reads and writes: no output replaces another file of the run.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::FileTypeExt as _;
use std::path::{Path, PathBuf};

use ferrio_job::{Compat, FileKind, FileSpec, JobSpec, Plan, PlannedJob, log_files};
use ferrio_jobfile::Sources;
use ferrio_machine::{FileClaims, FileIdentity, is_same_file, written_since};

use crate::error::Error;
use crate::option_values::{Intervals, IntervalsTo};
use crate::settings::{ProgramSettings, ReportDestination};

impl ProgramSettings {
    /// Checks that the report, the interval report and the JUnit file are none of the files that the run reads or writes: job files, I/O
    /// logs, and, with a plan, the files and logs of its jobs; and that no log is a job file. Called `fio`, the program replaces them.
    ///
    /// # Errors
    /// The first output that would replace such a file.
    pub fn check_outputs(&self, sources: &Sources, plan: Option<&Plan>) -> Result<(), Error> {
        // fio has no interval report: one that is asked for has a file of its own all the same.
        if self.compat == Compat::Ferrio || self.interval_report.is_some() {
            self.check_outputs_differ()?;
        }
        if self.compat == Compat::Fio {
            return Ok(());
        }
        let intervals = self.interval_report.as_ref().and_then(Intervals::file);
        let files = self.files_of_formats.iter().map(|(_, name)| name.as_str());
        let reports = self.output.file().into_iter().chain(files).map(|name| ("report", name));
        let junit = self.junit.iter().map(|name| ("JUnit file", name.as_str()));
        let outputs = reports.chain(intervals.map(|name| ("interval report", name))).chain(junit);
        let jobs = plan.map(|plan| plan.jobs.as_slice()).unwrap_or_default();
        for (what, name) in outputs {
            let path = Path::new(name);
            let job_file = is_any_of(path, sources.names()).then(|| "a job file".to_owned());
            let input = job_file.or_else(|| input_of_jobs(path, jobs)).or_else(|| output_of_jobs(path, jobs));
            if let Some(input) = input {
                return Err(Error::ReplacesInput { what, name: name.to_owned(), input });
            }
        }
        check_logs(sources, jobs)
    }
}

/// Most files that a run claims. Those beyond are logs of clones, which have the names of the first ones but for their numbers.
const MAX_CLAIMS: usize = 1000;

impl ProgramSettings {
    /// Claims all files that the run writes beside those of its jobs, as long as the value lives. Called `fio`, the program claims none.
    ///
    /// # Errors
    /// Another process has claimed one of them.
    pub fn claim_outputs(&self, plan: &Plan) -> Result<FileClaims, Error> {
        if self.compat == Compat::Fio {
            return Ok(FileClaims::default());
        }
        let program = self.output_files().map(|(what, name)| (what, PathBuf::from(name)));
        // A coordinator gets the logs, and writes them where it runs.
        let sends_logs = self.output == ReportDestination::Coordinator;
        let prefix = self.bandwidth_log.iter().filter(|_| !sends_logs);
        let total = prefix.flat_map(|prefix| ferrio_logs::bandwidth_log_names(prefix));
        let total = total.map(|name| ("the bandwidth log".to_owned(), PathBuf::from(name)));
        let specs = || plan.jobs.iter().map(|job| &job.spec);
        let logs = specs()
            .filter(|_| !sends_logs)
            .flat_map(logs_of)
            .map(|(path, what, job)| (format!("{what} of job {job}"), path));
        let mut files: Vec<(String, PathBuf)> = program.chain(total).chain(logs).take(MAX_CLAIMS).collect();
        let results = files.len();
        let states = specs().filter(|spec| spec.saves_state());
        let states = states
            .map(|spec| (format!("the verify state of job {}", spec.name), spec.state_file(&self.aux_path)));
        files.extend(states.take(MAX_CLAIMS - results));
        let rank = ferrio_machine::rank();
        let refusal = |(what, path): &(String, PathBuf), has_ended| Error::OutputInUse {
            what: what.clone(),
            name: path.display().to_string(),
            rank: rank.as_ref().map(|found| found.variable),
            has_ended,
        };
        let claims = FileClaims::new(files.iter().map(|(_, path)| path.as_path()))
            .map_err(|index| refusal(&files[index], false))?;
        // Another rank may have ended before this one began, or may be on a host whose claims are not seen here. Verify states are updated by
        // one rank several times.
        let written = rank
            .as_ref()
            .and_then(ferrio_machine::Rank::launched)
            .and_then(|launch| files[..results].iter().find(|(_, path)| written_since(path, launch)));
        written.map_or(Ok(claims), |file| Err(refusal(file, true)))
    }

    /// The files of reports as given, each with what goes there.
    fn output_files(&self) -> impl Iterator<Item = (String, &str)> {
        let report = self.output.file().map(|file| ("the report".to_owned(), file));
        let formats = self.files_of_formats.iter();
        let formats = formats.map(|(format, file)| (format!("the format {}", format.word()), file.as_str()));
        let intervals = self.interval_report.as_ref().and_then(Intervals::file);
        let intervals = intervals.map(|name| ("the interval report".to_owned(), name));
        let junit = self.junit.as_deref().map(|file| ("the JUnit file".to_owned(), file));
        report.into_iter().chain(formats).chain(intervals).chain(junit)
    }

    /// Checks that no two outputs of the run go to one file.
    fn check_outputs_differ(&self) -> Result<(), Error> {
        let to_stdout = self.output == ReportDestination::Stdout && !self.formats.are_none();
        let to_stdout = to_stdout.then(|| ("the report".to_owned(), "/dev/stdout"));
        let intervals =
            self.interval_report.as_ref().filter(|report| report.to == IntervalsTo::StandardOutput);
        let intervals = intervals.map(|_| ("the interval report".to_owned(), "/dev/stdout"));
        let outputs: Vec<(String, &str)> =
            to_stdout.into_iter().chain(self.output_files()).chain(intervals).collect();
        for (index, (what, name)) in outputs.iter().enumerate() {
            let before = &outputs[..index];
            if let Some((other, _)) =
                before.iter().find(|(_, file)| is_same_file(Path::new(name), Path::new(file)))
            {
                let outputs = [other.clone(), what.clone()];
                return Err(Error::OutputsInOneFile { outputs, name: (*name).to_owned() });
            }
        }
        Ok(())
    }
}

/// Checks that no log of a job is a job file, a log that is replayed, a file of a job, or another log.
fn check_logs(sources: &Sources, jobs: &[PlannedJob]) -> Result<(), Error> {
    // Clones share the log of their I/Os, and jobs logs without numbers.
    let mut logs: HashMap<PathBuf, (&str, &str)> = HashMap::new();
    for (path, what, job) in jobs.iter().flat_map(|job| logs_of(&job.spec)) {
        match logs.get(&path) {
            Some((other, _)) if *other != what => {
                return Err(replaces(&path, what, job, format!("{other}, too")));
            }
            Some(_) => {}
            None => {
                logs.insert(path, (what, job));
            }
        }
    }
    // Most runs have no logs, and asking the kernel about each file takes long: only those of the same name are looked at.
    let mut by_name: HashMap<&OsStr, Vec<&Path>> = HashMap::new();
    logs.keys().for_each(|path| by_name.entry(path.file_name().unwrap_or_default()).or_default().push(path));
    let is_log = |input: &Path| {
        let alike = by_name.get(input.file_name()?)?;
        let identity = identity_of(input)?;
        alike.iter().copied().find(|log| is(&identity, log))
    };
    let refuse = |log: &Path, input: String| {
        let (what, job) = logs.get(log).copied().unwrap_or_default();
        Err(replaces(log, what, job, input))
    };
    if let Some(log) = sources.names().filter(|_| !logs.is_empty()).find_map(|name| is_log(Path::new(name))) {
        return refuse(log, "a job file".to_owned());
    }
    for spec in jobs.iter().map(|job| &job.spec).filter(|_| !logs.is_empty()) {
        if let Some(log) = spec.replay.as_ref().and_then(|replay| is_log(Path::new(&replay.name))) {
            return refuse(log, format!("the I/O log that job {} replays", spec.name));
        }
        let mut files = spec.files.iter().filter(|_| !spec.engine.is_diskless());
        if let Some(log) = files.find_map(|file| is_log(&file.path)) {
            return refuse(log, format!("a file of job {}", spec.name));
        }
    }
    Ok(())
}

fn replaces(path: &Path, what: &str, job: &str, other_use: String) -> Error {
    let other_use = format!("{other_use}: choose another name for {what} of job {job}");
    Error::LogReplacesFile { name: path.display().to_string(), other_use }
}

/// The logs that a job writes, each with what it is and the name of the job.
fn logs_of(spec: &JobSpec) -> impl Iterator<Item = (PathBuf, &'static str, &str)> {
    let logs = log_files(spec).into_iter().map(|log| (log.path.into(), "a log"));
    let ios = spec.iolog.iter().map(|log| (log.path.clone(), "the log of I/Os"));
    logs.chain(ios).map(|(path, what)| (path, what, spec.name.as_str()))
}

/// The log that a job writes to the file at this path.
fn output_of_jobs(path: &Path, jobs: &[PlannedJob]) -> Option<String> {
    let identity = identity_of(path)?;
    let logs = jobs.iter().flat_map(|job| logs_of(&job.spec));
    let mut alike = logs.filter(|(log, ..)| log.file_name() == path.file_name());
    alike.find(|(log, ..)| is(&identity, log)).map(|(_, what, job)| format!("{what} of job {job}"))
}

/// True if the path is one of these files.
pub fn is_any_of<'a>(path: &Path, names: impl Iterator<Item = &'a str>) -> bool {
    let identity = identity_of(path);
    // An output that does not exist yet replaces nothing.
    let existing = identity.filter(|identity| !matches!(identity, FileIdentity::New(..)));
    existing.is_some_and(|identity| names.map(Path::new).any(|name| is(&identity, name)))
}

fn is(identity: &FileIdentity, path: &Path) -> bool {
    identity_of(path).is_some_and(|other| other == *identity)
}

/// The identity of a file; `None` for pipes and sockets, in which nothing is replaced.
fn identity_of(path: &Path) -> Option<FileIdentity> {
    let about = fs::metadata(path).map(|about| about.file_type());
    let keeps_nothing = about.is_ok_and(|kind| kind.is_fifo() || kind.is_socket());
    FileIdentity::of_path(path).filter(|_| !keeps_nothing)
}

/// The use that jobs make of the file at this path.
fn input_of_jobs(path: &Path, jobs: &[PlannedJob]) -> Option<String> {
    let identity = identity_of(path)?;
    // Asking the kernel about each of a million files takes long: only those of the same name are looked at, and links of another name
    // are not found. Devices are few.
    let may_be = |file: &&FileSpec| match file.kind {
        FileKind::Block => matches!(identity, FileIdentity::BlockDevice(_)),
        _ => file.path.file_name() == path.file_name(),
    };
    jobs.iter().map(|job| &job.spec).find_map(|spec| {
        if spec.replay.as_ref().is_some_and(|replay| is(&identity, Path::new(&replay.name))) {
            return Some(format!("the I/O log that job {} replays", spec.name));
        }
        let is_used = !spec.engine.is_diskless()
            && spec.files.iter().filter(may_be).any(|file| is(&identity, &file.path));
        is_used.then(|| format!("a file of job {}", spec.name))
    })
}
