//! Why the program ends without having done what it was asked to do.

use std::io;

use ferrio_job::reason;
use ferrio_jobfile::Problems;

/// Why nothing is run, or why the report is not where it should be.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Options, job files or jobs are wrong.
    #[error("{}", .0.render(false))]
    Problems(Problems),
    /// Help is asked for.
    #[error("help is asked for")]
    Help,
    /// `completions` without a shell, or with one that is not known.
    #[error(
        "completions are for bash, zsh or fish: write `ferrio completions bash`{}",
        or_file(word, "completions")
    )]
    UnknownShell {
        /// What is given instead.
        word: Option<String>,
    },
    /// More arguments than the sub-command takes.
    #[error(
        "`ferrio {command}` takes no argument `{word}`; a job file named {command} is given as ./{command}"
    )]
    UnexpectedArgument {
        /// The sub-command.
        command: &'static str,
        /// The first argument too many.
        word: String,
    },
    /// `check` with an option that asks for something else.
    #[error("check does not go together with --parse-only, --showcmd and questions about the program")]
    NothingToCheck,
    /// `check` in formats that only a run's figures have.
    #[error("check answers as text or as JSON: --output-format=normal or --output-format=json")]
    NoAnswerFormat,
    /// There is nothing to run, although files or sections were named.
    #[error("No job(s) defined")]
    NoJobsIn(String),
    /// There is nothing to run.
    #[error("No job(s) defined")]
    NoJobs,
    /// The file for the report cannot be created.
    #[error("output file open error: {}: {name}", reason(.error))]
    OpenOutput {
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
    /// The interval report and the report would go to the same file.
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
}

impl Error {
    /// Standard output cannot be written to.
    pub(crate) fn stdout(error: io::Error) -> Self {
        Error::WriteOutput { name: "standard output".to_owned(), error }
    }

    /// The kind of mistake, as in [`ferrio_job::Diagnostic`].
    pub(crate) fn code(&self) -> &'static str {
        match self {
            Error::Problems(_) | Error::Help => "invalid-job",
            Error::NoJobs | Error::NoJobsIn(_) => "no-jobs",
            Error::NothingToCheck => "nothing-to-check",
            Error::NoAnswerFormat => "invalid-program-option",
            Error::UnknownShell { .. } | Error::UnexpectedArgument { .. } => "invalid-command",
            Error::OpenOutput { .. }
            | Error::OpenIntervals { .. }
            | Error::IntervalsInReport(_)
            | Error::WriteOutput { .. } => "output-error",
            Error::OpenLog { .. } | Error::Log { .. } => "unreadable-log",
        }
    }

    /// What to do, where the message does not say it.
    pub(crate) fn help(&self) -> Option<String> {
        match self {
            Error::NoJobs => Some("name a job file, or begin a job with --name=".to_owned()),
            Error::NoJobsIn(why) => Some(why.clone()),
            _ => None,
        }
    }
}

/// Perhaps a job file was meant.
fn or_file(unwanted: &Option<String>, command: &str) -> String {
    let hint = |_| format!("; a job file named {command} is given as ./{command}");
    unwanted.as_ref().map(hint).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_sub_command_is_reported_with_what_to_write() {
        let shell = |word: Option<&str>| Error::UnknownShell { word: word.map(str::to_owned) }.to_string();
        assert_eq!(shell(None), "completions are for bash, zsh or fish: write `ferrio completions bash`");
        assert!(shell(Some("tcsh")).contains("given as ./completions"));
        let unexpected = Error::UnexpectedArgument { command: "man", word: "--bs=4k".to_owned() }.to_string();
        assert_eq!(
            unexpected,
            "`ferrio man` takes no argument `--bs=4k`; a job file named man is given as ./man"
        );
    }
}
