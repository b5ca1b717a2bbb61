//! The program's own options: their names, help and values. Everything about jobs is elsewhere.

use std::time::Duration;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Arg, ArgAction, ArgMatches, Command};
use ferrio_jobfile::Reading;
use ferrio_report::Formats;

use crate::arguments::{Item, ProgramOption, Takes};

/// The fio version whose behaviour and formats are followed.
pub const FIO_VERSION: &str = "fio-3.42";

/// Whether messages are for people or for programs; read before all others, see `messages.rs`.
pub const MESSAGE_FORMAT: &str = "message-format";

/// What the program was asked to do besides the jobs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// File for the report instead of standard output.
    pub output: Option<String>,
    /// Formats of the report.
    pub formats: Formats,
    /// When to show the live line.
    pub eta: Eta,
    /// Leave a live line standing each time this has passed.
    pub eta_newline: Option<Duration>,
    /// Time between two live lines.
    pub eta_interval: Duration,
    /// Refuse jobs that write or trim.
    pub readonly: bool,
    /// Read everything, run nothing.
    pub parse_only: bool,
    /// Print job files as command lines.
    pub showcmd: bool,
    /// Sections to run; all if empty.
    pub sections: Vec<String>,
    /// Odd jobs are refused.
    pub warnings_fatal: bool,
    /// How values of job options are read.
    pub strict: Reading,
    /// Things to tell, one line each.
    pub notes: Vec<String>,
    /// A question to answer instead of running anything.
    pub question: Option<Question>,
}

/// When the live line is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Eta {
    /// Also when nobody looks.
    Always,
    /// Never.
    Never,
    /// When standard output is a terminal.
    Auto,
}

/// A question about the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Question {
    /// `--version`
    Version,
    /// `--cmdhelp`, perhaps of one option.
    Options(Option<String>),
    /// `--enghelp`, perhaps of one engine, perhaps of one of its options.
    Engines(Option<String>),
}

/// Options of fio that are known and not there yet: name, letter, whether they take a value.
const NOT_YET: [(&str, char, Takes); 23] = [
    ("append-terse", 'f', Takes::Optional),
    ("aux-path", 'K', Takes::Value),
    ("bandwidth-log", 'b', Takes::Optional),
    ("client", 'C', Takes::Value),
    ("cpuclock-test", 'T', Takes::Nothing),
    ("crctest", 'G', Takes::Optional),
    ("daemonize", 'D', Takes::Value),
    ("debug", 'd', Takes::Value),
    ("idle-prof", 'I', Takes::Value),
    ("inflate-log", 'X', Takes::Value),
    ("latency-log", 'l', Takes::Value),
    ("memcpytest", 'M', Takes::Optional),
    ("merge-blktrace-only", 'A', Takes::Nothing),
    ("minimal", 'm', Takes::Nothing),
    ("profile", 'p', Takes::Value),
    ("remote-config", 'R', Takes::Value),
    ("server", 'S', Takes::Optional),
    ("status-interval", 'L', Takes::Value),
    ("terse-version", 'V', Takes::Value),
    ("trigger", 'H', Takes::Value),
    ("trigger-file", 'W', Takes::Value),
    ("trigger-remote", 'J', Takes::Value),
    ("trigger-timeout", 'B', Takes::Value),
];

/// Options of fio that are taken and change nothing: name, letter, why.
const WITHOUT_EFFECT: [(&str, char, &str); 2] = [
    ("alloc-size", 'a', "memory is taken as it is needed"),
    ("max-jobs", 'j', "memory is taken as it is needed"),
];

/// Why the program's own options cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ProgramError {
    /// A value is wrong, or `--help` was asked for: clap's own text.
    #[error("{0}")]
    Clap(Box<clap::Error>),
    /// Known and not there yet.
    #[error("option --{0} is not implemented yet")]
    NotYet(&'static str),
    /// `--section=global`.
    #[error("can't use global as only section")]
    GlobalSection,
}

impl Program {
    /// Reads the program options among `items`, in order.
    ///
    /// # Errors
    /// A wrong value, an option that is not implemented, or a request for help.
    pub fn read(items: &[Item]) -> Result<Self, ProgramError> {
        let words = items.iter().filter_map(|item| match item {
            Item::Program { name, value: Some(value), .. } => Some(format!("--{name}={value}")),
            Item::Program { name, value: None, .. } => Some(format!("--{name}")),
            _ => None,
        });
        let arguments = std::iter::once("ferrio".to_owned()).chain(words);
        let matches =
            command().try_get_matches_from(arguments).map_err(|e| ProgramError::Clap(Box::new(e)))?;
        if let Some((name, ..)) = NOT_YET.iter().find(|(name, ..)| given(&matches, name)) {
            return Err(ProgramError::NotYet(name));
        }
        let sections: Vec<String> = matches.get_many("section").unwrap_or_default().cloned().collect();
        if sections.iter().any(|name| name == "global") {
            return Err(ProgramError::GlobalSection);
        }
        let no_effect = WITHOUT_EFFECT.iter().filter(|(name, ..)| given(&matches, name));
        Ok(Program {
            output: matches.get_one("output").cloned(),
            formats: matches.get_one("output-format").copied().unwrap_or_default(),
            eta: matches.get_one("eta").copied().unwrap_or(Eta::Auto),
            eta_newline: matches.get_one("eta-newline").copied(),
            eta_interval: matches.get_one("eta-interval").copied().unwrap_or(Duration::from_secs(1)),
            readonly: matches.get_flag("readonly"),
            parse_only: matches.get_flag("parse-only"),
            showcmd: matches.get_flag("showcmd"),
            sections,
            warnings_fatal: matches.get_flag("warnings-fatal"),
            strict: matches.get_one("strict").copied().unwrap_or_default(),
            notes: no_effect.map(|(name, _, why)| format!("--{name} has no effect: {why}")).collect(),
            question: question(&matches),
        })
    }
}

/// All options of the program, for the scanner.
#[must_use]
pub fn options() -> Vec<ProgramOption> {
    let option = |argument: &Arg| {
        let takes = match argument.get_num_args() {
            _ if !argument.get_action().takes_values() => Takes::Nothing,
            Some(count) if count.min_values() == 0 => Takes::Optional,
            _ => Takes::Value,
        };
        let name = argument.get_long()?.to_owned();
        let ends_scan = name == "help" || name == "version";
        Some(ProgramOption { name, letter: argument.get_short(), takes, ends_scan })
    };
    command().get_arguments().filter_map(option).collect()
}

/// The usage text, for those who gave no job.
#[must_use]
pub fn usage() -> String {
    command().render_help().to_string()
}

fn command() -> Command {
    let hidden = |name, letter, takes| argument(name, letter, takes).hide(true);
    Command::new("ferrio")
        .about("Measures I/O: runs fio's job files and prints fio's reports")
        .override_usage("ferrio [OPTIONS] [JOB OPTIONS] [JOB FILES]...")
        .after_help(
            "Job options are written --option=value; those before the first --name hold for all jobs.\n\
             A job file named - is standard input.\n\
             `ferrio check` with the same arguments says what would happen, and runs nothing.",
        )
        .disable_help_flag(true)
        .args_override_self(true)
        .arg(flag("help", 'h').action(ArgAction::Help).help("Print this text"))
        .arg(flag("version", 'v').help("Print the version"))
        .arg(value("output", 'o', "FILE").help("Write the report to FILE instead of standard output"))
        .arg(
            value("output-format", 'F', "FORMATS")
                .value_parser(formats)
                .help("Formats of the report, joined by commas: normal, json, json+"),
        )
        .arg(
            value("eta", 'e', "WHEN")
                .value_parser(PossibleValuesParser::new(["auto", "always", "never"]).map(|word| {
                    match word.as_str() {
                        "always" => Eta::Always,
                        "never" => Eta::Never,
                        _ => Eta::Auto,
                    }
                }))
                .help("When to show the line of progress"),
        )
        .arg(
            value("eta-newline", 'E', "TIME")
                .value_parser(|text: &str| time_of_at_least(text, Duration::from_millis(1)))
                .help("Leave a line of progress standing each time TIME has passed"),
        )
        .arg(
            value("eta-interval", 'O', "TIME")
                .value_parser(|text: &str| time_of_at_least(text, Duration::from_millis(250)))
                .help("Time between two lines of progress, at least 250ms"),
        )
        .arg(flag("readonly", 'r').help("Refuse jobs that write or trim"))
        .arg(flag("parse-only", 'P').help("Check job files and options, run nothing"))
        .arg(flag("showcmd", 's').help("Print job files as command lines, run nothing"))
        .arg(
            value("section", 'x', "NAME")
                .action(ArgAction::Append)
                .help("Run only the jobs of this section; may be repeated"),
        )
        .arg(flag("warnings-fatal", 'w').help("Refuse to run what would only be warned about"))
        .arg(
            Arg::new("strict")
                .long("strict")
                .num_args(1)
                .value_name("PROGRAM")
                .value_parser(|word: &str| word.parse::<Reading>())
                .help("Whose reading of odd values of job options counts: ferrio (refuse them) or fio"),
        )
        .arg(
            Arg::new(MESSAGE_FORMAT)
                .long(MESSAGE_FORMAT)
                .num_args(1)
                .value_name("FORMAT")
                .value_parser(["human", "json"])
                .help("How errors, warnings and notes are written on standard error (ferrio only)"),
        )
        .arg(
            argument("cmdhelp", 'c', Takes::Optional)
                .value_name("OPTION")
                .help("Describe a job option, or list all"),
        )
        .arg(
            argument("enghelp", 'i', Takes::Optional)
                .value_name("ENGINE[,OPTION]")
                .help("Describe the options of an engine, or list all engines"),
        )
        .args(WITHOUT_EFFECT.map(|(name, letter, _)| hidden(name, letter, Takes::Value)))
        .args(NOT_YET.map(|(name, letter, takes)| hidden(name, letter, takes)))
}

fn flag(name: &'static str, letter: char) -> Arg {
    argument(name, letter, Takes::Nothing)
}

fn value(name: &'static str, letter: char, what: &'static str) -> Arg {
    argument(name, letter, Takes::Value).value_name(what)
}

fn argument(name: &'static str, letter: char, takes: Takes) -> Arg {
    let argument = Arg::new(name).long(name).short(letter);
    match takes {
        Takes::Nothing => argument.action(ArgAction::SetTrue),
        Takes::Optional => argument.num_args(0..=1).require_equals(true),
        Takes::Value => argument.num_args(1),
    }
}

fn given(matches: &ArgMatches, name: &str) -> bool {
    matches.value_source(name) == Some(clap::parser::ValueSource::CommandLine)
}

fn question(matches: &ArgMatches) -> Option<Question> {
    if matches.get_flag("version") {
        Some(Question::Version)
    } else if given(matches, "cmdhelp") {
        Some(Question::Options(matches.get_one("cmdhelp").cloned()))
    } else if given(matches, "enghelp") {
        Some(Question::Engines(matches.get_one("enghelp").cloned()))
    } else {
        None
    }
}

/// `normal,json`: all formats wanted.
fn formats(text: &str) -> Result<Formats, String> {
    let mut formats = Formats { normal: false, json: false, json_plus: false };
    for word in text.split(',').filter(|word| !word.is_empty()) {
        match word {
            "normal" => formats.normal = true,
            "json" => formats.json = true,
            "json+" => (formats.json, formats.json_plus) = (true, true),
            "terse" | "minimal" | "csv" => {
                return Err(format!("output format {word} is not implemented yet"));
            }
            _ => return Err(format!("invalid output format {word}: there are normal, json, json+")),
        }
    }
    match formats {
        Formats { normal: false, json: false, .. } => {
            Err("a format is expected: normal, json, json+".to_owned())
        }
        _ => Ok(formats),
    }
}

fn time_of_at_least(text: &str, least: Duration) -> Result<Duration, String> {
    match time(text) {
        Some(time) if time >= least => Ok(time),
        Some(_) => Err(format!("too short, the least is {}ms", least.as_millis())),
        None => Err("a number with d, h, m, s, ms or us is expected".to_owned()),
    }
}

/// A whole number of seconds or of the unit behind it.
fn time(text: &str) -> Option<Duration> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let number: u64 = text[..end].parse().ok()?;
    let us = match text[end..].to_ascii_lowercase().as_str() {
        "d" => 86_400_000_000,
        "h" => 3_600_000_000,
        "m" => 60_000_000,
        "" | "s" => 1_000_000,
        "ms" | "msec" => 1_000,
        "us" | "usec" => 1,
        _ => return None,
    };
    number.checked_mul(us).map(Duration::from_micros)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(words: &[&str]) -> Result<Program, ProgramError> {
        let words: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
        Program::read(&crate::arguments::scan(&words, &options()).unwrap())
    }

    fn refusal(words: &[&str]) -> String {
        read(words).unwrap_err().to_string()
    }

    #[test]
    fn the_definition_of_the_options_is_consistent() {
        command().debug_assert();
        let options = options();
        let mut letters: Vec<_> = options.iter().filter_map(|option| option.letter).collect();
        letters.sort_unstable();
        letters.dedup();
        let own = ["strict", MESSAGE_FORMAT];
        let fios = options.iter().filter(|option| !own.contains(&option.name.as_str())).count();
        assert_eq!(letters.len(), fios, "every option of fio has a letter of its own");
    }

    #[test]
    fn nothing_given_is_fios_default() {
        let program = read(&[]).unwrap();
        assert_eq!(program.formats, Formats { normal: true, json: false, json_plus: false });
        assert_eq!((program.eta, program.eta_newline, program.output), (Eta::Auto, None, None));
        assert_eq!(program.eta_interval, Duration::from_secs(1));
    }

    #[test]
    fn the_last_of_repeated_options_counts() {
        let program = read(&["--output=a", "-o", "b", "--eta=never", "--eta=auto"]).unwrap();
        assert_eq!((program.output.as_deref(), program.eta), (Some("b"), Eta::Auto));
    }

    #[test]
    fn formats_are_a_list() {
        let formats = |text| read(&["--output-format", text]).unwrap().formats;
        assert_eq!(formats("normal,json"), Formats { normal: true, json: true, json_plus: false });
        assert_eq!(formats("json+"), Formats { normal: false, json: true, json_plus: true });
        assert!(refusal(&["--output-format=terse"]).contains("output format terse is not implemented yet"));
        assert!(refusal(&["--output-format=xml"]).contains("invalid output format xml"));
        assert!(refusal(&["--output-format="]).contains("value"));
    }

    #[test]
    fn times_have_units_and_least_values() {
        let program = read(&["--eta-newline=500ms", "--eta-interval=2"]).unwrap();
        assert_eq!(program.eta_newline, Some(Duration::from_millis(500)));
        assert_eq!(program.eta_interval, Duration::from_secs(2));
        assert!(refusal(&["--eta-interval=100ms"]).contains("too short, the least is 250ms"));
        assert!(refusal(&["--eta-newline=soon"]).contains("a number with d, h, m, s, ms or us is expected"));
    }

    #[test]
    fn what_is_not_there_yet_is_refused_and_what_means_nothing_is_said_so() {
        for word in ["--minimal", "--append-terse", "--status-interval=1", "--server", "-d", "--debug=all"] {
            let words = if word == "-d" { vec![word, "io"] } else { vec![word] };
            assert!(refusal(&words).ends_with("is not implemented yet"), "{word}");
        }
        let notes = read(&["--max-jobs=4", "--alloc-size=1024"]).unwrap().notes;
        assert_eq!(notes[0], "--alloc-size has no effect: memory is taken as it is needed");
        assert_eq!(notes.len(), 2);
    }

    #[test]
    fn questions_are_recognised() {
        let question = |words: &[&str]| read(words).unwrap().question;
        assert_eq!(question(&["-v"]), Some(Question::Version));
        assert_eq!(question(&["--cmdhelp"]), Some(Question::Options(None)));
        assert_eq!(question(&["--cmdhelp=rw"]), Some(Question::Options(Some("rw".to_owned()))));
        assert_eq!(
            question(&["--enghelp=libaio,nowait"]),
            Some(Question::Engines(Some("libaio,nowait".to_owned())))
        );
        assert_eq!(question(&["--readonly"]), None);
    }

    #[test]
    fn help_wins_over_whatever_stands_behind_it() {
        let Err(ProgramError::Clap(error)) = read(&["--help", "--nonsense"]) else {
            panic!("help was asked for")
        };
        assert_eq!(error.kind(), clap::error::ErrorKind::DisplayHelp);
    }

    #[test]
    fn odd_values_are_refused_unless_fios_reading_is_asked_for() {
        assert_eq!(read(&[]).unwrap().strict, Reading::Ferrio);
        assert_eq!(read(&["--strict=fio"]).unwrap().strict, Reading::Fio);
        assert_eq!(read(&["--strict", "fio", "--strict=ferrio"]).unwrap().strict, Reading::Ferrio);
        assert!(refusal(&["--strict=no"]).contains("invalid reading no: there are fio and ferrio"));
    }

    #[test]
    fn global_is_no_section_to_run() {
        assert_eq!(refusal(&["--section=global"]), "can't use global as only section");
        assert_eq!(read(&["--section=a", "--section=b"]).unwrap().sections, ["a", "b"]);
    }
}
