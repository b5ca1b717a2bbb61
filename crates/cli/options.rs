//! The program's own options as one table: names, letters, values, help, and what has become of each.
//!
//! The scanner, clap, `--help`, the manual page and the shell completions read it. What the options mean is in `settings.rs`, how their values are read in `option_values.rs`.

/// The option for how messages are written; read before all others, see `messages.rs`.
pub const MESSAGE_FORMAT: &str = "message-format";

/// The option that leaves out warnings and notes; read together with the format.
pub const QUIET: &str = "quiet";

/// One option of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProgramOption {
    /// Long name.
    pub name: &'static str,
    /// Single letter, if it has one.
    pub letter: Option<char>,
    /// Whether it takes a value.
    pub takes: Takes,
    /// What the value is called in help.
    pub value: &'static str,
    /// Heading it is listed under.
    pub group: Group,
    /// One line of help.
    pub help: &'static str,
    /// What this program makes of it.
    pub state: State,
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

/// A heading of `--help`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    /// What is reported, where and how.
    Report,
    /// Which jobs run, and how far.
    Jobs,
    /// Questions answered without running jobs.
    Help,
    /// Tests of the machine.
    Tests,
    /// Jobs on other machines.
    Network,
}

/// What this program makes of an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// It does what its help says.
    Works,
    /// It is taken and changes nothing, for this reason.
    NoEffect(&'static str),
    /// It is refused: the rest of a sentence that begins with its name and `is`.
    Refused(&'static str),
}

impl Group {
    /// All headings in the order of `--help`.
    #[cfg(test)]
    pub const ALL: [Group; 5] = [Group::Report, Group::Jobs, Group::Help, Group::Tests, Group::Network];

    /// The text of the heading.
    #[must_use]
    pub const fn heading(self) -> &'static str {
        match self {
            Group::Report => "Report",
            Group::Jobs => "Running jobs",
            Group::Help => "Help",
            Group::Tests => "Tests of this machine",
            Group::Network => "Jobs on other machines",
        }
    }
}

impl ProgramOption {
    /// True if what follows it on the command line does not count.
    #[must_use]
    pub fn ends_scan(&self) -> bool {
        matches!(self.name, "help" | "version" | "cmdhelp" | "enghelp")
    }

    /// Help with what else there is to know in brackets.
    #[must_use]
    pub fn full_help(&self) -> String {
        match self.state {
            State::Works => self.help.to_owned(),
            State::NoEffect(why) => format!("{} [no effect: {why}]", self.help),
            State::Refused(why) => format!("{} [{why}]", self.help),
        }
    }
}

const POOL: &str = "memory is taken as it is needed";
const ALONE: &str = "not implemented yet: there is no client/server mode; run ferrio on each machine";

const fn flag(name: &'static str, letter: char, group: Group, help: &'static str) -> ProgramOption {
    let takes = Takes::Nothing;
    ProgramOption { name, letter: Some(letter), takes, value: "", group, help, state: State::Works }
}

const fn value(
    name: &'static str,
    letter: char,
    value: &'static str,
    group: Group,
    help: &'static str,
) -> ProgramOption {
    ProgramOption { takes: Takes::Value, value, ..flag(name, letter, group, help) }
}

/// An option that fio does not have.
const fn own(name: &'static str, value: &'static str, group: Group, help: &'static str) -> ProgramOption {
    ProgramOption { name, letter: None, takes: Takes::Value, value, group, help, state: State::Works }
}

/// A flag that fio does not have.
pub const fn own_flag(name: &'static str, group: Group, help: &'static str) -> ProgramOption {
    ProgramOption { takes: Takes::Nothing, ..own(name, "", group, help) }
}

impl ProgramOption {
    const fn optional(self) -> ProgramOption {
        ProgramOption { takes: Takes::Optional, ..self }
    }

    const fn refused(self, why: &'static str) -> ProgramOption {
        ProgramOption { state: State::Refused(why), ..self }
    }

    const fn without_effect(self, why: &'static str) -> ProgramOption {
        ProgramOption { state: State::NoEffect(why), ..self }
    }
}

/// The table, in the order of `--help`.
pub const OPTIONS: &[ProgramOption] = &[
    value("output", 'o', "FILE", Group::Report, "Write the report to FILE instead of standard output"),
    value(
        "output-format",
        'F',
        "FORMATS",
        Group::Report,
        "Formats of the report, joined by commas: normal, json, json+, terse; or openmetrics alone",
    ),
    flag("minimal", 'm', Group::Report, "Report in the terse format only"),
    value("append-terse", 'f', "X", Group::Report, "Add the terse format to those chosen").optional(),
    value("terse-version", 'V', "VERSION", Group::Report, "Version of the terse format, 2 to 5"),
    own_flag("fio-bins", Group::Report, "Read percentiles from fio's histogram, as json+ does"),
    value("eta", 'e', "WHEN", Group::Report, "When to show the line of progress: auto, always, never"),
    value(
        "eta-newline",
        'E',
        "TIME",
        Group::Report,
        "Keep a line of progress on the screen each time TIME has passed",
    ),
    value("eta-interval", 'O', "TIME", Group::Report, "Time between two lines of progress, at least 250ms"),
    value(
        "status-interval",
        'L',
        "TIME",
        Group::Report,
        "Report what was measured so far each time TIME has passed",
    ),
    value("bandwidth-log", 'b', "PREFIX", Group::Report, "Log the bandwidth of all jobs together").optional(),
    value("latency-log", 'l', "PREFIX", Group::Report, "Log the latency of all jobs together")
        .refused("deprecated; use write_lat_log in the jobs"),
    value("idle-prof", 'I', "HOW", Group::Report, "Report how idle the CPUs were: system, percpu, calibrate"),
    own(
        "interval-report",
        "TIME[:FILE|-]",
        Group::Report,
        "Report what each job did in each TIME as lines of JSON, on standard error or into FILE; - is standard output",
    ),
    own(
        MESSAGE_FORMAT,
        "FORMAT",
        Group::Report,
        "How errors, warnings and notes are written on standard error: human or json",
    ),
    own_flag(
        QUIET,
        Group::Report,
        "Leave out warnings about figures and notes on options; errors are still printed",
    ),
    flag("readonly", 'r', Group::Jobs, "Refuse jobs that write or trim"),
    value("section", 'x', "NAME", Group::Jobs, "Run only the jobs of this section; may be repeated"),
    flag("warnings-fatal", 'w', Group::Jobs, "Treat warnings about jobs as errors"),
    own(
        "strict",
        "PROGRAM",
        Group::Jobs,
        "How odd values of job options are read: ferrio refuses them, fio reads them as fio does",
    ),
    flag("parse-only", 'P', Group::Jobs, "Check job files and options, run nothing"),
    flag("showcmd", 's', Group::Jobs, "Print job files as command lines, run nothing"),
    flag(
        "merge-blktrace-only",
        'A',
        Group::Jobs,
        "Plan the jobs, merge traces if they ask for it, and run none",
    ),
    value("profile", 'p', "NAME", Group::Jobs, "Run a built-in set of jobs: act or tiobench")
        .refused("not implemented yet; write the jobs of the profile into a job file"),
    value(
        "trigger-file",
        'W',
        "FILE",
        Group::Jobs,
        "End the jobs and run the trigger once FILE exists; FILE is removed",
    ),
    value(
        "trigger-timeout",
        'B',
        "TIME",
        Group::Jobs,
        "End the jobs and run the trigger after TIME; 0 is never",
    ),
    value(
        "trigger",
        'H',
        "COMMAND",
        Group::Jobs,
        "The shell command that --trigger-file and --trigger-timeout run",
    ),
    value("aux-path", 'K', "DIRECTORY", Group::Jobs, "Keep state files in DIRECTORY")
        .refused("not implemented yet: no state files are written"),
    value("max-jobs", 'j', "COUNT", Group::Jobs, "Room for this many jobs").without_effect(POOL),
    value("alloc-size", 'a', "KIB", Group::Jobs, "Memory for the jobs' descriptions").without_effect(POOL),
    value(
        "debug",
        'd',
        "CLASSES",
        Group::Jobs,
        "Print what happens to standard error, by classes; `help` lists them",
    ),
    flag("help", 'h', Group::Help, "Print this text"),
    flag("version", 'v', Group::Help, "Print the version"),
    value("cmdhelp", 'c', "OPTION", Group::Help, "Describe a job option, or list all").optional(),
    value(
        "enghelp",
        'i',
        "ENGINE[,OPTION]",
        Group::Help,
        "Describe the options of an engine, or list all engines",
    )
    .optional(),
    value("inflate-log", 'X', "FILE", Group::Help, "Print a compressed log as text"),
    value("crctest", 'G', "NAMES", Group::Tests, "Measure checksum functions; `help` lists them").optional(),
    value("memcpytest", 'M', "NAMES", Group::Tests, "Measure ways to copy memory; `help` lists them")
        .optional(),
    flag("cpuclock-test", 'T', Group::Tests, "Test the CPUs' clocks"),
    value("server", 'S', "ADDRESS", Group::Network, "Wait for jobs from clients").optional().refused(ALONE),
    value("daemonize", 'D', "PIDFILE", Group::Network, "Be a server in the background").refused(ALONE),
    value("client", 'C', "ADDRESS", Group::Network, "Run the jobs on a server").refused(ALONE),
    value("remote-config", 'R', "FILE", Group::Network, "Have the server read a job file of its own")
        .refused(ALONE),
    value("trigger-remote", 'J', "COMMAND", Group::Network, "The shell command that servers run as trigger")
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
        for group in Group::ALL {
            assert!(OPTIONS.iter().any(|option| option.group == group), "{}", group.heading());
        }
    }
}
