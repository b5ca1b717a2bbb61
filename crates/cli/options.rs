//! The table of the program's own options: names, letters, values, help, and whether each is supported.
//!
//! The scanner, clap, `--help`, the manual page and the shell completions read it. `settings.rs` gives the options their meaning,
//! `option_values.rs` reads their values.

use ferrio_job::Compat;
use ferrio_report::Format;

use crate::compat::AS;

/// The option for the format of messages. `messages.rs` reads it before all others.
pub const MESSAGE_FORMAT: &str = "message-format";

/// The option that says when messages are coloured. `messages.rs` reads it together with the format.
pub const COLOR: &str = "color";

/// The option that leaves out warnings and notes. `messages.rs` reads it together with the format.
pub const QUIET: &str = "quiet";

/// The option that sends the report to a file.
pub const OUTPUT: &str = "output";

/// The option for the live view.
pub const TUI: &str = "tui";

/// The option that repeats a run.
pub const REPEAT: &str = "repeat";
/// The option for the time between two runs of a series.
pub const REPEAT_PAUSE: &str = "repeat-pause";
/// The option that runs jobs with several values of an option.
pub const SWEEP: &str = "sweep";
/// The option for the order of the runs of a series.
pub const SWEEP_SEED: &str = "sweep-seed";
/// The option that makes each job of a series a run of its own.
pub const SHUFFLE_JOBS: &str = "shuffle-jobs";
/// The option for the directory of the reports of a series.
pub const RESULTS: &str = "results";

/// The option that chooses sections.
pub const SECTION: &str = "section";

/// The option that sets job options in all jobs.
pub const SET: &str = "set";

/// The option for limits that the figures must keep.
pub const FAIL_IF: &str = "fail-if";

/// The option for thresholds that end the run early.
pub const ABORT_IF: &str = "abort-if";

/// The option for labels of a run.
pub const LABEL: &str = "label";

/// The option for a JUnit file of jobs and thresholds.
pub const JUNIT: &str = "junit";

/// The option that chooses classes of debug messages.
pub const DEBUG: &str = "debug";

/// One option of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProgramOption {
    /// Long name.
    pub name: &'static str,
    /// Single letter, if it has one.
    pub letter: Option<char>,
    /// Whether it takes a value.
    pub takes: Takes,
    /// Name of the value in help.
    pub value: &'static str,
    /// Heading of `--help` that it is listed under.
    pub heading: &'static str,
    /// One line of help.
    pub help: &'static str,
    /// Whether it is supported.
    pub support: Support,
    /// Called `fio`, the program does not have it.
    pub only_ferrio: bool,
}

/// Whether an option takes a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takes {
    /// Never.
    Nothing,
    /// Only after `=`.
    Optional,
    /// After `=` or as the next argument.
    Value,
}

/// Whether an option is supported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Support {
    /// It does what its help says.
    Works,
    /// It is accepted and changes nothing, for this reason.
    NoEffect(&'static str),
    /// It is refused: the rest of a sentence that begins with its name and `is`.
    Refused(&'static str),
}

impl ProgramOption {
    /// True if the rest of the command line is ignored.
    #[must_use]
    pub fn ends_scan(&self) -> bool {
        matches!(self.name, "help" | "version" | "cmdhelp" | "enghelp")
    }

    /// True if a program with this compatibility has the option.
    #[must_use]
    pub fn exists_for(&self, compat: Compat) -> bool {
        !self.only_ferrio || compat == Compat::Ferrio
    }

    /// The help, with the lack of support in brackets.
    #[must_use]
    pub fn full_help(&self) -> String {
        match self.support {
            Support::Works => self.help.to_owned(),
            Support::NoEffect(why) => format!("{} [no effect: {why}]", self.help),
            Support::Refused(why) => format!("{} [{why}]", self.help),
        }
    }
}

/// Heading: what to report, where and how.
const REPORT: &str = "Report";
/// Heading: which jobs to run, and how.
pub const JOBS: &str = "Running jobs";
/// Heading: several runs.
const SWEEPS: &str = "Repeating and sweeping";
/// Heading: information printed without running jobs.
const HELP: &str = "Help";
const TESTS: &str = "Tests of this machine";
const NETWORK: &str = "Jobs on other machines";

const MEMORY: &str = "memory is allocated as needed";
const NO_NETWORK: &str = "not implemented yet: there is no client/server mode; run ferrio on each machine";

const fn flag(name: &'static str, letter: char, heading: &'static str, help: &'static str) -> ProgramOption {
    let takes = Takes::Nothing;
    let support = Support::Works;
    ProgramOption { name, letter: Some(letter), takes, value: "", heading, help, support, only_ferrio: false }
}

const fn value(
    name: &'static str,
    letter: char,
    value: &'static str,
    heading: &'static str,
    help: &'static str,
) -> ProgramOption {
    ProgramOption { takes: Takes::Value, value, ..flag(name, letter, heading, help) }
}

/// An option that fio does not have.
const fn own(
    name: &'static str,
    value: &'static str,
    heading: &'static str,
    help: &'static str,
) -> ProgramOption {
    let (takes, support) = (Takes::Value, Support::Works);
    ProgramOption { name, letter: None, takes, value, heading, help, support, only_ferrio: false }
}

/// A flag that fio does not have.
pub const fn own_flag(name: &'static str, heading: &'static str, help: &'static str) -> ProgramOption {
    ProgramOption { takes: Takes::Nothing, ..own(name, "", heading, help) }
}

impl ProgramOption {
    const fn optional(self) -> ProgramOption {
        ProgramOption { takes: Takes::Optional, ..self }
    }

    /// An option that a program called `fio` does not have either.
    const fn only_ferrio(self) -> ProgramOption {
        ProgramOption { only_ferrio: true, ..self }
    }

    const fn refused(self, why: &'static str) -> ProgramOption {
        ProgramOption { support: Support::Refused(why), ..self }
    }

    const fn without_effect(self, why: &'static str) -> ProgramOption {
        ProgramOption { support: Support::NoEffect(why), ..self }
    }
}

/// The table, in the order of `--help`.
pub const OPTIONS: &[ProgramOption] = &[
    value(OUTPUT, 'o', "FILE", REPORT, "Write the report to FILE instead of standard output"),
    value("output-format", 'F', "FORMATS", REPORT, Format::HELP),
    flag("minimal", 'm', REPORT, "Report in the terse format only"),
    value("append-terse", 'f', "X", REPORT, "Add the terse format to those of --output-format").optional(),
    value("terse-version", 'V', "VERSION", REPORT, "Version of the terse format, 2 to 5"),
    own_flag("terse-header", REPORT, "Print the names of the fields before terse lines; `ferrio help terse` explains them")
        .only_ferrio(),
    own_flag("fio-bins", REPORT, "Compute percentiles from fio's histogram buckets, as json+ does"),
    value("eta", 'e', "WHEN", REPORT, "When to show the progress line: auto, always, never"),
    value("eta-newline", 'E', "TIME", REPORT, "Start a new progress line every TIME and keep the old one"),
    value("eta-interval", 'O', "TIME", REPORT, "Time between updates of the progress line, at least 250ms"),
    own_flag(
        TUI,
        REPORT,
        "While the jobs run, show their rates, latencies and errors on all of the terminal; ? lists the keys, q ends the run",
    )
    .only_ferrio(),
    value("status-interval", 'L', "TIME", REPORT, "Report the results so far every TIME"),
    value("bandwidth-log", 'b', "PREFIX", REPORT, "Log the bandwidth of all jobs together").optional(),
    value("latency-log", 'l', "PREFIX", REPORT, "Log the latency of all jobs together")
        .refused("deprecated; use write_lat_log in the jobs"),
    value("idle-prof", 'I', "HOW", REPORT, "Report CPU idleness: system, percpu, calibrate"),
    own(
        "interval-report",
        "TIME[:FILE|-]",
        REPORT,
        "Report each job's I/O every TIME as JSON lines, to standard error or FILE; - is standard output",
    ),
    own(
        "metrics",
        "[ADDR:]PORT",
        REPORT,
        "Serve the metrics of the run over HTTP while jobs run, at /metrics; without ADDR to this machine only",
    )
    .only_ferrio(),
    own(
        MESSAGE_FORMAT,
        "FORMAT",
        REPORT,
        "Format of errors, warnings and notes on standard error: human or json",
    ),
    own(COLOR, "WHEN", REPORT, "When to colour messages: auto (on a terminal), always, never"),
    own_flag(
        QUIET,
        REPORT,
        "Leave out warnings about figures and notes on options; errors are still printed",
    ),
    own(
        FAIL_IF,
        "EXPRESSION",
        REPORT,
        "End with status 3 if EXPRESSION is true for the report, such as 'read.clat.p99 > 5ms'; may be repeated",
    )
    .only_ferrio(),
    own(
        ABORT_IF,
        "EXPRESSION",
        REPORT,
        "Like --fail-if, and end the run as soon as EXPRESSION is true for the figures so far; may be repeated",
    )
    .only_ferrio(),
    own(
        LABEL,
        "KEY=VALUE",
        REPORT,
        "Label the run: a column of the format rows, and a key of `labels` in JSON; may be repeated",
    )
    .only_ferrio(),
    own(JUNIT, "FILE", REPORT, "Write the jobs and the thresholds of --fail-if to FILE as test cases, in JUnit XML").only_ferrio(),
    flag("readonly", 'r', JOBS, "Refuse jobs that write or trim"),
    value(SECTION, 'x', "NAME", JOBS, "Run only the jobs of this section; may be repeated"),
    own(
        SET,
        "[JOB:]OPTION=VALUE",
        JOBS,
        "Set a job option in all jobs, or in those named JOB, whatever job files and command line say; may be repeated",
    )
    .only_ferrio(),
    flag("warnings-fatal", 'w', JOBS, "Treat warnings about jobs as errors"),
    own(
        AS,
        "PROGRAM",
        JOBS,
        "Behave as ferrio, strict and with warnings, or as fio. The default is the value of FERRIO_AS, or else the name that the \
         program is called by",
    ),
    own(
        "strict",
        "PROGRAM",
        JOBS,
        "What to do with job option values that fio misreads: ferrio refuses them, fio reads them as fio does; the default is that of --as",
    ),
    flag("parse-only", 'P', JOBS, "Check job files and options; run nothing"),
    flag("showcmd", 's', JOBS, "Print job files as command lines; run nothing"),
    flag("merge-blktrace-only", 'A', JOBS, "Plan the jobs and merge their traces; run nothing"),
    value("profile", 'p', "NAME", JOBS, "Run a built-in set of jobs: act or tiobench"),
    value("trigger-file", 'W', "FILE", JOBS, "When FILE exists, remove it, end the jobs and run the trigger"),
    value("trigger-timeout", 'B', "TIME", JOBS, "End the jobs and run the trigger after TIME; 0 means never"),
    value("trigger", 'H', "COMMAND", JOBS, "The shell command that --trigger-file and --trigger-timeout run"),
    value("aux-path", 'K', "DIRECTORY", JOBS, "Keep verify state files and dumps of bad blocks in DIRECTORY"),
    value("max-jobs", 'j', "COUNT", JOBS, "Maximum number of jobs").without_effect(MEMORY),
    value("alloc-size", 'a', "KIB", JOBS, "Size of the memory pool for jobs").without_effect(MEMORY),
    value(DEBUG, 'd', "CLASSES", JOBS, "Print debug messages of these classes; `help` lists them"),
    own(
        REPEAT,
        "COUNT",
        SWEEPS,
        "Run the jobs COUNT times, each in a process of its own, and print a table of the figures; \
         until:2%[,max=COUNT] ends when every mean of IOPS is precise to 2 % (95 % confidence)",
    )
    .only_ferrio(),
    own(REPEAT_PAUSE, "TIME", SWEEPS, "Wait TIME between two runs").only_ferrio(),
    own(
        SWEEP,
        "OPTION=VALUES",
        SWEEPS,
        "Run the jobs with each of these values: 1,2,4 or 8..128 (doubled) or 10..50:10 (steps); several make all combinations",
    )
    .only_ferrio(),
    own_flag(
        SHUFFLE_JOBS,
        SWEEPS,
        "Run each section of the job files by itself, and shuffle their order too, for jobs that need nothing of each other",
    )
    .only_ferrio(),
    own(SWEEP_SEED, "NUMBER", SWEEPS, "Seed of the shuffled order of the runs, as an earlier series printed it").only_ferrio(),
    own(
        RESULTS,
        "DIRECTORY",
        SWEEPS,
        "Keep the report of each run in DIRECTORY, which is new or empty; the default is ferrio-results-YYYYMMDD-HHMMSS",
    )
    .only_ferrio(),
    flag("help", 'h', HELP, "Print this text"),
    flag("version", 'v', HELP, "Print the version"),
    value("cmdhelp", 'c', "OPTION", HELP, "Describe a job option, or list all").optional(),
    value("enghelp", 'i', "ENGINE[,OPTION]", HELP, "Describe the options of an engine, or list all engines")
        .optional(),
    value("inflate-log", 'X', "FILE", HELP, "Print a compressed log as text"),
    value("crctest", 'G', "NAMES", TESTS, "Measure the speed of checksum functions; `help` lists them")
        .optional(),
    value("memcpytest", 'M', "NAMES", TESTS, "Measure the speed of copying memory; `help` lists the methods")
        .optional(),
    flag("cpuclock-test", 'T', TESTS, "Test whether the CPUs' clocks agree"),
    value("server", 'S', "ADDRESS", NETWORK, "Wait for jobs from clients").optional().refused(NO_NETWORK),
    value("daemonize", 'D', "PIDFILE", NETWORK, "Run as a server in the background").refused(NO_NETWORK),
    value("client", 'C', "ADDRESS", NETWORK, "Run the jobs on a server").refused(NO_NETWORK),
    value("remote-config", 'R', "FILE", NETWORK, "Run a job file that is on the server").refused(NO_NETWORK),
    value("trigger-remote", 'J', "COMMAND", NETWORK, "The shell command that servers run as the trigger")
        .refused("not implemented yet: there is no client/server mode; use --trigger on each machine"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_letters_are_unique() {
        for (at, option) in OPTIONS.iter().enumerate() {
            for other in &OPTIONS[..at] {
                assert_ne!(option.name, other.name);
                assert!(option.letter.is_none() || option.letter != other.letter, "{}", option.name);
            }
        }
    }

    #[test]
    fn every_option_of_fio_is_there_with_its_letter() {
        let fio = "output:o output-format:F minimal:m append-terse:f terse-version:V bandwidth-log:b latency-log:l eta:e \
            eta-newline:E eta-interval:O status-interval:L readonly:r section:x parse-only:P showcmd:s \
            merge-blktrace-only:A warnings-fatal:w max-jobs:j alloc-size:a debug:d version:v help:h cmdhelp:c enghelp:i \
            profile:p idle-prof:I inflate-log:X crctest:G memcpytest:M cpuclock-test:T trigger-file:W trigger-timeout:B \
            trigger:H trigger-remote:J aux-path:K server:S daemonize:D client:C remote-config:R";
        for pair in fio.split_whitespace() {
            let (name, letter) = pair.split_once(':').unwrap();
            let option =
                OPTIONS.iter().find(|option| option.name == name).unwrap_or_else(|| panic!("{name}"));
            assert_eq!(option.letter, letter.chars().next(), "{name}");
        }
    }

    #[test]
    fn help_is_one_line_and_values_have_a_name() {
        for option in OPTIONS {
            assert!(!option.help.is_empty() && !option.full_help().contains('\n'), "{}", option.name);
            assert_eq!(option.takes == Takes::Nothing, option.value.is_empty(), "{}", option.name);
        }
    }
}
