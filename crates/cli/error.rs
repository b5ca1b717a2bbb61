//! Errors that end the program.

use std::io;

use ferrio_job::{Diagnostic, Origin, Prefix, reason};
use ferrio_jobfile::{Problems, Sources};
use ferrio_metrics::BindError;
use ferrio_ranks::RendezvousError;

/// An error that ends the program: nothing is run, or a report cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Options, job files or jobs are wrong.
    #[error("{}", .0.render(false))]
    Problems(Problems),
    /// The conversation of an agent cannot begin.
    #[error("the agent cannot start: {}", reason(.0))]
    Agent(io::Error),
    /// The processes of a launcher do not find each other.
    #[error(transparent)]
    Rendezvous(#[from] RendezvousError),
    /// `--help`, which is no error.
    #[error("help is requested")]
    Help,
    /// `completions` without a shell, or with an unknown one.
    #[error(
        "completions are for bash, zsh or fish: write `ferrio completions bash`{}",
        job_file_hint(word, "completions")
    )]
    UnknownShell {
        /// The word in place of a shell.
        word: Option<String>,
    },
    /// The variable `FERRIO_AS` has a value that does not exist.
    #[error("invalid value `{word}` of the variable FERRIO_AS: choices are ferrio and fio")]
    UnknownCompat {
        /// The value of the variable.
        word: String,
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
    /// The given files or sections have no jobs; the text says which.
    #[error("No job(s) defined")]
    NoJobsIn(String),
    /// No job is given.
    #[error("No job(s) defined")]
    NoJobs,
    /// The file for the report cannot be created.
    #[error("output file open error: {}: {name}", reason(.error))]
    OpenOutput {
        /// The name as given.
        name: String,
        /// The reason.
        error: io::Error,
    },
    /// The report could not be written.
    #[error("cannot write to {name}: {}", reason(.error))]
    WriteOutput {
        /// File name or `standard output`.
        name: String,
        /// The reason.
        error: io::Error,
    },
    /// The report could not be written to its file, and standard output has it.
    #[error("cannot write to {name}: {}; the report is on standard output instead", reason(.error))]
    ReportElsewhere {
        /// Name of the file.
        name: String,
        /// The reason.
        error: io::Error,
    },
    /// An output would replace a file that the run reads.
    #[error("the {what} would replace {name}, which is {input}; choose another file")]
    ReplacesInput {
        /// The output.
        what: &'static str,
        /// The name of its file, as given.
        name: String,
        /// The other use of the file.
        input: String,
    },
    /// A log would replace another file of the run, which it reads or writes.
    #[error("a log would replace {name}, which is {other_use}")]
    LogReplacesFile {
        /// Path of the log.
        name: String,
        /// The other use of the file, and what to change.
        other_use: String,
    },
    /// Two outputs would go to the same file.
    #[error("{} and {} would both go to {name}; choose a different file for each", .outputs[0], .outputs[1])]
    OutputsInOneFile {
        /// The data that would go there.
        outputs: [String; 2],
        /// The name as given.
        name: String,
    },
    /// Another process writes to a file of the run.
    #[error("{what} cannot be written to {name}: {}", if *.has_ended {
        "it has been written since the launcher started its processes"
    } else {
        "another ferrio process is writing it"
    })]
    OutputInUse {
        /// The data that would go there.
        what: String,
        /// The name as given.
        name: String,
        /// The variable with the number of this process, if a launcher has started several.
        rank: Option<&'static str>,
        /// The other process has ended.
        has_ended: bool,
    },
    /// The file for the interval report cannot be created.
    #[error("cannot create the interval report {name}: {}", reason(.error))]
    OpenIntervals {
        /// The name as given.
        name: String,
        /// The reason.
        error: io::Error,
    },
    /// The address of `--metrics` cannot be served.
    #[error("{0}")]
    Metrics(#[from] BindError),
    /// A compressed log cannot be read.
    #[error("fopen: {}: {name}", reason(.error))]
    OpenLog {
        /// The name as given.
        name: String,
        /// The reason.
        error: io::Error,
    },
    /// A file is damaged or is no compressed log. What could be read is printed.
    #[error("{error}: {name}")]
    Log {
        /// The name as given.
        name: String,
        /// The reason.
        error: ferrio_logs::InflateError,
    },
}

impl From<Vec<Diagnostic>> for Error {
    /// Mistakes without a job file.
    fn from(diagnostics: Vec<Diagnostic>) -> Self {
        Error::Problems(Problems { diagnostics, sources: Sources::default() })
    }
}

impl From<Diagnostic> for Error {
    fn from(diagnostic: Diagnostic) -> Self {
        vec![diagnostic].into()
    }
}

impl Error {
    /// A sub-command whose errors have this code refuses what it is asked for.
    pub(crate) fn refusal(code: &'static str, message: impl Into<String>, help: Option<&str>) -> Self {
        let diagnostic = Diagnostic::error(message, Origin::Builtin).code(code);
        Diagnostic { help: help.map(str::to_owned), ..diagnostic }.into()
    }

    /// Standard output cannot be written to.
    pub(crate) fn stdout(error: io::Error) -> Self {
        Error::WriteOutput { name: "standard output".to_owned(), error }
    }

    /// The error as a message; those about options, job files and jobs have diagnostics of their own.
    pub(crate) fn diagnostic(&self) -> Diagnostic {
        let diagnostic = Diagnostic::error(self.to_string(), Origin::Builtin).code(self.code());
        Diagnostic { help: self.help(), ..diagnostic }.prefix(self.prefix())
    }

    /// The code of its [`Diagnostic`].
    pub(crate) fn code(&self) -> &'static str {
        match self {
            Error::Problems(_) | Error::Help => "invalid-job",
            Error::NoJobs | Error::NoJobsIn(_) => "no-jobs",
            Error::UnknownCompat { .. } => "invalid-program-option",
            Error::UnknownShell { .. } | Error::UnexpectedArgument { .. } => "invalid-command",
            Error::OpenOutput { .. }
            | Error::OpenIntervals { .. }
            | Error::OutputsInOneFile { .. }
            | Error::OutputInUse { .. }
            | Error::ReplacesInput { .. }
            | Error::LogReplacesFile { .. }
            | Error::WriteOutput { .. }
            | Error::ReportElsewhere { .. } => "output-error",
            Error::Metrics(_) => "metrics-address",
            Error::Agent(_) => "agent",
            Error::Rendezvous(_) => "rendezvous",
            Error::OpenLog { .. } | Error::Log { .. } => "unreadable-log",
        }
    }

    /// The beginning of its line.
    pub(crate) fn prefix(&self) -> Prefix {
        match self {
            Error::NoJobs | Error::NoJobsIn(_) | Error::OpenLog { .. } => Prefix::None,
            _ => Prefix::Program,
        }
    }

    /// Advice, unless the message has it.
    pub(crate) fn help(&self) -> Option<String> {
        match self {
            Error::NoJobs => Some("name a job file, or begin a job with --name=".to_owned()),
            Error::NoJobsIn(why) => Some(why.clone()),
            Error::OutputInUse { rank: Some(rank), .. } => Some(format!(
                "give each process files of its own: sh -c 'ferrio --output=report.${rank} ...'"
            )),
            Error::OutputInUse { rank: None, .. } => {
                Some("choose another name, or wait until the other run has ended".to_owned())
            }
            Error::Metrics(_) => Some("choose another address or port; port 0 is any free one".to_owned()),
            _ => None,
        }
    }
}

/// A hint that a job file may have been meant.
fn job_file_hint(unwanted: &Option<String>, command: &str) -> String {
    let hint = |_| format!("; a job file named {command} is given as ./{command}");
    unwanted.as_ref().map(hint).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_sub_command_is_reported_with_advice() {
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
