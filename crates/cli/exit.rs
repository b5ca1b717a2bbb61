//! How the program ends: exit statuses, and why there is nothing to run.

use std::io;
use std::process::ExitCode;

use ferrio_job::{Diagnostic, Origin, Plan, reason};
use ferrio_jobfile::{Problems, Sources};
use ferrio_runner::RunResult;

use crate::arguments::{Item, Misread};
use crate::commands::CommandError;
use crate::messages::{self, Messages};
use crate::program::{ProgramError, usage};

/// More failed jobs than this do not fit an exit status beside the signal's 128.
const MOST_FAILED: usize = 127;

/// Code of [`Stop::NoJobs`].
const NO_JOBS: &str = "no-jobs";

/// Why nothing is run, or why the report is not where it should be.
#[derive(Debug, thiserror::Error)]
pub enum Stop {
    /// A command (`man`, `completions`) is not written as it should be.
    #[error("{0}")]
    Command(#[from] CommandError),
    /// Options, job files or jobs are wrong.
    #[error("{}", .0.render(false))]
    Problems(Problems),
    /// Help was asked for: clap's own text.
    #[error("{0}")]
    Help(Box<clap::Error>),
    /// There is nothing to run, although files or sections were named.
    #[error("No job(s) defined")]
    NoJobsIn(String),
    /// There is nothing to run.
    #[error("No job(s) defined")]
    NoJobs,
    /// `check` with an option that asks for something else.
    #[error("check does not go together with --parse-only, --showcmd and questions about the program")]
    NothingToCheck,
    /// `check` in formats that only a run's figures have.
    #[error("check answers as text or as JSON: --output-format=normal or --output-format=json")]
    NoAnswerFormat,
    /// The file for the report cannot be created.
    #[error("output file open error: {}: {name}", reason(.error))]
    OpenOutput {
        /// As given.
        name: String,
        /// Why.
        error: io::Error,
    },
    /// A compressed log cannot be read.
    #[error("fopen: {}: {name}", reason(.error))]
    OpenLog {
        /// As given.
        name: String,
        /// Why.
        error: io::Error,
    },
    /// A compressed log is damaged or something else. What could be read was printed.
    #[error("{error}: {name}")]
    Log {
        /// As given.
        name: String,
        /// Why.
        error: ferrio_report::InflateError,
    },
    /// The file for the interval report is that of the report.
    #[error("the interval report and the report would both go to {0}; give each a file of its own")]
    IntervalsInReport(String),
    /// The file for the interval report cannot be created.
    #[error("cannot create the interval report {name}: {}", reason(.error))]
    OpenIntervals {
        /// As given.
        name: String,
        /// Why.
        error: io::Error,
    },
    /// The report could not be written.
    #[error("cannot write to {name}: {}", reason(.error))]
    WriteOutput {
        /// File name or `standard output`.
        name: String,
        /// Why.
        error: io::Error,
    },
}

impl From<Misread> for Stop {
    fn from(misread: Misread) -> Self {
        let mistakes = misread.mistakes.iter().map(messages::argument);
        Stop::Problems(messages::problems(mistakes.collect()))
    }
}

impl Stop {
    /// The program options among `items` cannot be used, or help was asked for.
    #[must_use]
    pub fn program(error: ProgramError, items: &[Item]) -> Self {
        match error {
            ProgramError::Clap(answer) if answer.exit_code() == 0 => Stop::Help(answer),
            error => Stop::Problems(messages::program(&error, items)),
        }
    }

    /// There is nothing to run in the job files among `items`, or nothing in the wanted `sections`.
    #[must_use]
    pub fn no_jobs(items: &[Item], sections: &[String]) -> Self {
        let files = items.iter().filter_map(|item| match item {
            Item::File(name) => Some(format!("`{name}`")),
            _ => None,
        });
        let files: Vec<String> = files.collect();
        match (sections, &files[..]) {
            ([], []) => Stop::NoJobs,
            ([], files) => Stop::NoJobsIn(format!(
                "a job is a section with a name other than global: there is none in {}",
                files.join(", ")
            )),
            (sections, _) => {
                let sections: Vec<String> = sections.iter().map(|name| format!("`{name}`")).collect();
                Stop::NoJobsIn(format!("--section asks for {}: no job has that name", sections.join(" or ")))
            }
        }
    }

    /// The kind of mistake, as in [`Diagnostic`].
    fn code(&self) -> &'static str {
        match self {
            Stop::Problems(_) | Stop::Help(_) => "invalid-job",
            Stop::NoJobs | Stop::NoJobsIn(_) => NO_JOBS,
            Stop::NothingToCheck => "nothing-to-check",
            Stop::NoAnswerFormat => "invalid-program-option",
            Stop::Command(_) => "invalid-command",
            Stop::OpenOutput { .. }
            | Stop::OpenIntervals { .. }
            | Stop::IntervalsInReport(_)
            | Stop::WriteOutput { .. } => "output-error",
            Stop::OpenLog { .. } | Stop::Log { .. } => "unreadable-log",
        }
    }
}

/// Status of a run: the number of failed jobs; 128 more when a signal ended it.
#[must_use]
pub fn status(plan: &Plan, result: &RunResult) -> u8 {
    let failed = |at: usize| {
        let set_up = plan.jobs.get(at).is_some_and(|job| job.setup_error.is_some());
        set_up || result.jobs.get(at).is_some_and(|job| job.error.is_some())
    };
    let failed = (0..plan.jobs.len()).filter(|&at| failed(at)).count().min(MOST_FAILED);
    let status = failed + if result.signal.is_some() { 128 } else { 0 };
    u8::try_from(status).unwrap_or(u8::MAX)
}

/// Tells why the program stops, if it does, and turns it into an exit status.
#[must_use]
pub fn code(outcome: Result<u8, Stop>, messages: Messages) -> ExitCode {
    let stop = match outcome {
        Ok(status) => return ExitCode::from(status),
        Err(Stop::Help(answer)) => match answer.print() {
            Ok(()) => return ExitCode::SUCCESS,
            // Whoever reads, `head` say, has seen enough.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return ExitCode::SUCCESS,
            Err(error) => Stop::WriteOutput { name: "standard output".to_owned(), error },
        },
        Err(stop) => stop,
    };
    if let Stop::Problems(problems) = &stop {
        messages.show(&problems.diagnostics, &problems.sources);
    } else {
        let diagnostic = Diagnostic::error(stop.to_string(), Origin::Builtin).code(stop.code());
        let help = match &stop {
            Stop::NoJobs => Some("name a job file, or begin a job with --name=".to_owned()),
            Stop::NoJobsIn(why) => Some(why.clone()),
            _ => None,
        };
        messages.show(&[Diagnostic { help, ..diagnostic }], &Sources::default());
    }
    if let Stop::NoJobs = stop {
        messages.explain(&usage());
    }
    ExitCode::FAILURE
}

#[cfg(test)]
mod tests {
    use ferrio_job::{JobSpec, PlannedJob, SetupError};
    use ferrio_runner::{JobError, JobResult};

    use super::*;

    fn run(errors: &[Option<i32>], signal: Option<i32>) -> (Plan, RunResult) {
        let jobs =
            errors.iter().map(|_| PlannedJob { spec: JobSpec::bare("a"), setup_error: None }).collect();
        let result = |errno: &Option<i32>| JobResult {
            error: errno.map(|errno| JobError::new(errno, "io_u error")),
            ..JobResult::default()
        };
        let result = RunResult { jobs: errors.iter().map(result).collect(), signal, ..RunResult::default() };
        (Plan { jobs, ..Plan::default() }, result)
    }

    #[test]
    fn the_status_counts_failed_jobs_and_does_not_wrap() {
        let status_of = |errors: &[Option<i32>], signal| {
            let (plan, result) = run(errors, signal);
            status(&plan, &result)
        };
        assert_eq!(status_of(&[None, None], None), 0);
        assert_eq!(status_of(&[Some(5), None, Some(0)], None), 2);
        assert_eq!(status_of(&[None], Some(2)), 128);
        assert_eq!(status_of(&[Some(5), Some(5)], Some(15)), 130);
        assert_eq!(status_of(&vec![Some(5); 256], None), 127);
        assert_eq!(status_of(&vec![Some(5); 256], Some(2)), 255);
    }

    #[test]
    fn who_named_files_or_sections_is_told_what_they_lack() {
        let help = |items: &[Item], sections: &[String]| match Stop::no_jobs(items, sections) {
            Stop::NoJobsIn(why) => why,
            stop => stop.to_string(),
        };
        let files = [Item::File("a.fio".to_owned()), Item::File("-".to_owned())];
        assert_eq!(help(&[], &[]), "No job(s) defined");
        assert!(help(&files, &[]).ends_with("there is none in `a.fio`, `-`"));
        assert_eq!(help(&files, &["x".to_owned()]), "--section asks for `x`: no job has that name");
    }

    #[test]
    fn a_job_that_could_not_be_set_up_has_failed() {
        let (mut plan, result) = run(&[None, None], None);
        let message = "fio: blocksize is larger than data set range".to_owned();
        plan.jobs[1].setup_error = Some(SetupError { errno: 0, func: "total_file_size", message });
        assert_eq!(status(&plan, &result), 1);
    }
}
