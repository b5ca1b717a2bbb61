//! How the program ends: exit statuses, and why there is nothing to run.

use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;

use ferrio_jobfile::Problems;
use ferrio_plan::Plan;
use ferrio_runner::RunResult;

use crate::arguments::ArgumentError;
use crate::commands::CommandError;
use crate::program::{ProgramError, usage};

/// More failed jobs than this do not fit an exit status beside the signal's 128.
const MOST_FAILED: usize = 127;

/// Why nothing is run, or why the report is not where it should be.
#[derive(Debug, thiserror::Error)]
pub enum Stop {
    /// The command line makes no sense.
    #[error("error: {0}")]
    Argument(#[from] ArgumentError),
    /// An argument is not UTF-8.
    #[error("error: argument {0} is not valid UTF-8: {1}")]
    NotUtf8(usize, String),
    /// A program option cannot be used, or help was asked for.
    #[error("error: {0}")]
    Program(#[from] ProgramError),
    /// A command (`man`, `completions`) is not written as it should be.
    #[error("error: {0}")]
    Command(#[from] CommandError),
    /// A job file cannot be read.
    #[error("error: unable to open '{name}' job file: {}", reason(.error))]
    JobFile {
        /// As given.
        name: String,
        /// Why.
        error: io::Error,
    },
    /// Job files or jobs are wrong.
    #[error("{}", .0.render(false))]
    Problems(Problems),
    /// There is nothing to run.
    #[error("No job(s) defined\n\n{}", usage())]
    NoJobs,
    /// The file for the report cannot be created.
    #[error("error: output file open error: {}: {name}", reason(.error))]
    OpenOutput {
        /// As given.
        name: String,
        /// Why.
        error: io::Error,
    },
    /// The report could not be written.
    #[error("error: cannot write to {name}: {}", reason(.error))]
    WriteOutput {
        /// File name or `standard output`.
        name: String,
        /// Why.
        error: io::Error,
    },
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
pub fn code(outcome: Result<u8, Stop>) -> ExitCode {
    let stop = match outcome {
        Ok(status) => return ExitCode::from(status),
        Err(stop) => stop,
    };
    // Nothing is left to be done about a closed stderr.
    let _ = match &stop {
        Stop::Program(ProgramError::Clap(answer)) => match answer.print() {
            Ok(()) if answer.exit_code() == 0 => return ExitCode::SUCCESS,
            Ok(()) => Ok(()),
            Err(error) => {
                writeln!(io::stderr(), "{}", Stop::WriteOutput { name: "standard output".to_owned(), error })
            }
        },
        Stop::Problems(problems) => write!(io::stderr(), "{}", problems.render(colour())),
        stop => writeln!(io::stderr(), "{stop}"),
    };
    ExitCode::FAILURE
}

/// The C library's words for an error, without Rust's number behind them.
fn reason(error: &io::Error) -> String {
    error.raw_os_error().map_or_else(|| error.to_string(), ferrio_report::strerror)
}

/// True when diagnostics may be coloured.
#[must_use]
pub fn colour() -> bool {
    io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, SystemTime};

    use ferrio_plan::{JobSpec, PlannedJob, SetupError};
    use ferrio_runner::{JobError, JobResult};

    use super::*;

    fn run(errors: &[Option<i32>], signal: Option<i32>) -> (Plan, RunResult) {
        let jobs =
            errors.iter().map(|_| PlannedJob { spec: JobSpec::bare("a"), setup_error: None }).collect();
        let result = |errno: &Option<i32>| JobResult {
            error: errno.map(|errno| JobError::new(errno, "io_u error")),
            ..JobResult::default()
        };
        let result = RunResult {
            jobs: errors.iter().map(result).collect(),
            disks: Vec::new(),
            started: SystemTime::UNIX_EPOCH,
            elapsed: Duration::ZERO,
            signal,
        };
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
    fn a_job_that_could_not_be_set_up_has_failed() {
        let (mut plan, result) = run(&[None, None], None);
        let message = "fio: blocksize is larger than data set range".to_owned();
        plan.jobs[1].setup_error = Some(SetupError { errno: 0, func: "total_file_size", message });
        assert_eq!(status(&plan, &result), 1);
    }
}
