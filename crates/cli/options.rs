//! The program's own options. `table` has one row an option, which the scanner, clap, `--help`, the manual page, completions, the check of
//! options that exclude each other and fio's messages read. `settings` gives the options their effect.

mod table;
mod values;

use std::borrow::Cow;
use std::fmt;

use clap::builder::{PossibleValue, ValueParser};
use clap::{Arg, ArgAction, ValueHint};
use ferrio_job::Compat;

pub use table::{OPTIONS, OPTIONS_OF_CHECK, ProgramOption, ROWS};
pub use values::invalid_format;

/// An option of the program.
#[derive(Clone, Copy, Debug)]
pub struct ProgramOptionRow {
    /// The option.
    pub option: ProgramOption,
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
    /// The rest of the command line is ignored.
    pub ends_scan: bool,
    /// Repeated values add up; otherwise the last one counts.
    pub adds_up: bool,
    /// The parser of its value.
    parser: fn() -> ValueParser,
    /// The completion of its value in a shell.
    completion: ValueCompletion,
    /// The value that fio takes from this one; `None` if it ignores the option.
    pub value_in_fio: fn(&str) -> Option<Cow<'_, str>>,
    /// The lines that fio prints about a value that is refused, if they are not ferrio's.
    pub error_in_fio: fn(&str) -> Option<Vec<String>>,
    /// Options that exclude it.
    pub excluded_by: &'static [Relation],
    /// Options one of which it needs.
    pub needs: Option<Relation>,
    /// Whose it is in a run on many hosts.
    pub on_hosts: OnHosts,
}

/// Whose an option is in a run on many hosts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnHosts {
    /// Of each agent: it is sent there.
    Agents,
    /// Of the coordinator.
    Coordinator,
    /// Of both.
    All,
    /// It cannot be combined with many hosts.
    Refused,
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
    /// It works for runs, whose front end takes it from the command line first, and is refused elsewhere: the rest of the same sentence.
    OnlyRuns(&'static str),
}

/// The completion of a value in a shell.
#[derive(Clone, Copy, Debug)]
enum ValueCompletion {
    /// The words that the parser accepts, if there is a list of them.
    OfParser,
    /// Words.
    Words(fn() -> Vec<PossibleValue>),
    /// The name of a file.
    File,
    /// The name of a directory.
    Directory,
    /// None: file names would mislead.
    Nothing,
}

/// Other options that exclude an option, or one of which it needs.
#[derive(Clone, Copy, Debug)]
pub struct Relation {
    /// The others.
    pub others: &'static [ProgramOption],
    /// The error.
    pub message: &'static str,
}

/// Options that cannot be used together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OptionConflict {
    /// The one whose value the error points at.
    pub option: ProgramOption,
    /// The error.
    pub message: Cow<'static, str>,
}

impl ProgramOption {
    #[must_use]
    pub const fn row(self) -> &'static ProgramOptionRow {
        &ROWS[self as usize]
    }

    /// An error about this option and others.
    pub fn conflict(self, message: impl Into<Cow<'static, str>>) -> OptionConflict {
        OptionConflict { option: self, message: message.into() }
    }
}

impl fmt::Display for ProgramOption {
    /// The long name, without dashes.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.row().name)
    }
}

impl ProgramOptionRow {
    /// True if the program has the option in a call with this behaviour.
    #[must_use]
    pub fn exists_for(&self, compat: Compat) -> bool {
        !self.only_ferrio || compat == Compat::Ferrio
    }

    /// True if coordinators send it to agents, whose standard output they read.
    #[must_use]
    pub fn is_for_agents(&self) -> bool {
        let of_report = [
            ProgramOption::OutputFormat,
            ProgramOption::Minimal,
            ProgramOption::TerseVersion,
            ProgramOption::StatusInterval,
            ProgramOption::ParseOnly,
            ProgramOption::Showcmd,
        ];
        matches!(self.on_hosts, OnHosts::Agents | OnHosts::All) || of_report.contains(&self.option)
    }

    /// The help, with the lack of support in brackets.
    #[must_use]
    pub fn full_help(&self) -> String {
        match self.support {
            Support::Works | Support::OnlyRuns(_) => self.help.to_owned(),
            Support::NoEffect(why) => format!("{} [no effect: {why}]", self.help),
            Support::Refused(why) => format!("{} [{why}]", self.help),
        }
    }

    /// The option as an argument of clap.
    #[must_use]
    pub fn argument(&self) -> Arg {
        let argument = Arg::new(self.name).long(self.name).help(self.full_help()).help_heading(self.heading);
        let argument = match self.letter {
            Some(letter) => argument.short(letter),
            None => argument,
        };
        let number = match self.takes {
            Takes::Nothing if self.option == ProgramOption::Help => return argument.action(ArgAction::Help),
            Takes::Nothing => return argument.action(ArgAction::SetTrue),
            Takes::Optional => argument.num_args(0..=1).require_equals(true),
            Takes::Value => argument.num_args(1),
        };
        let argument = number.value_name(self.value).value_parser((self.parser)()).hide_possible_values(true);
        if self.adds_up { argument.action(ArgAction::Append) } else { argument }
    }

    /// The argument of clap with the completion of its value. It parses nothing.
    #[must_use]
    pub fn completed(&self, argument: Arg) -> Arg {
        match self.completion {
            ValueCompletion::OfParser => argument,
            ValueCompletion::Words(words) => argument.value_parser(words()),
            ValueCompletion::File => argument.value_hint(ValueHint::FilePath),
            ValueCompletion::Directory => argument.value_hint(ValueHint::DirPath),
            ValueCompletion::Nothing => argument.value_hint(ValueHint::Other),
        }
    }
}

/// A flag of fio.
const fn flag(
    name: &'static str,
    letter: char,
    heading: &'static str,
    help: &'static str,
) -> ProgramOptionRow {
    ProgramOptionRow { letter: Some(letter), ..own_flag(name, heading, help) }
}

/// An option of fio with a value.
const fn value(
    name: &'static str,
    letter: char,
    value: &'static str,
    heading: &'static str,
    help: &'static str,
) -> ProgramOptionRow {
    ProgramOptionRow { letter: Some(letter), ..own(name, value, heading, help) }
}

/// An option with a value that fio does not have.
const fn own(
    name: &'static str,
    value: &'static str,
    heading: &'static str,
    help: &'static str,
) -> ProgramOptionRow {
    ProgramOptionRow { takes: Takes::Value, value, ..own_flag(name, heading, help) }
}

/// A flag that fio does not have.
const fn own_flag(name: &'static str, heading: &'static str, help: &'static str) -> ProgramOptionRow {
    ProgramOptionRow {
        // The table puts the option in.
        option: ProgramOption::Output,
        name,
        letter: None,
        takes: Takes::Nothing,
        value: "",
        heading,
        help,
        support: Support::Works,
        only_ferrio: false,
        ends_scan: false,
        adds_up: false,
        parser: ValueParser::string,
        completion: ValueCompletion::OfParser,
        value_in_fio: |value| Some(Cow::Borrowed(value)),
        error_in_fio: |_| None,
        excluded_by: &[],
        needs: None,
        on_hosts: OnHosts::Refused,
    }
}

impl ProgramOptionRow {
    const fn optional(self) -> Self {
        Self { takes: Takes::Optional, ..self }
    }

    /// An option that a program called `fio` does not have either.
    const fn only_ferrio(self) -> Self {
        Self { only_ferrio: true, ..self }
    }

    const fn on_hosts(self, on_hosts: OnHosts) -> Self {
        Self { on_hosts, ..self }
    }

    const fn refused(self, why: &'static str) -> Self {
        Self { support: Support::Refused(why), ..self }
    }

    const fn only_runs(self, why: &'static str) -> Self {
        Self { support: Support::OnlyRuns(why), ..self }
    }

    const fn without_effect(self, why: &'static str) -> Self {
        Self { support: Support::NoEffect(why), ..self }
    }

    const fn ends_scan(self) -> Self {
        Self { ends_scan: true, ..self }
    }

    const fn adds_up(self) -> Self {
        Self { adds_up: true, ..self }
    }

    const fn parser(self, parser: fn() -> ValueParser) -> Self {
        Self { parser, ..self }
    }

    const fn completion(self, completion: ValueCompletion) -> Self {
        Self { completion, ..self }
    }

    const fn value_in_fio(self, value_in_fio: fn(&str) -> Option<Cow<'_, str>>) -> Self {
        Self { value_in_fio, ..self }
    }

    const fn error_in_fio(self, error_in_fio: fn(&str) -> Option<Vec<String>>) -> Self {
        Self { error_in_fio, ..self }
    }

    const fn excluded_by(self, excluded_by: &'static [Relation]) -> Self {
        Self { excluded_by, ..self }
    }

    const fn needs(self, others: &'static [ProgramOption], message: &'static str) -> Self {
        Self { needs: Some(Relation { others, message }), ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_letters_are_unique() {
        for (at, row) in ROWS.iter().enumerate() {
            assert_eq!(row.option as usize, at, "{}", row.name);
            for other in &ROWS[..at] {
                assert_ne!(row.name, other.name);
                assert!(row.letter.is_none() || row.letter != other.letter, "{}", row.name);
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
            let row = OPTIONS.iter().find(|row| row.name == name).unwrap_or_else(|| panic!("{name}"));
            assert_eq!(row.letter, letter.chars().next(), "{name}");
        }
    }

    #[test]
    fn help_is_one_line_and_values_have_a_name() {
        for row in ROWS {
            assert!(!row.help.is_empty() && !row.full_help().contains('\n'), "{}", row.name);
            assert_eq!(row.takes == Takes::Nothing, row.value.is_empty(), "{}", row.name);
        }
    }

    #[test]
    fn fio_ignores_unknown_words_and_parts_of_seconds() {
        let read = |option: ProgramOption, value| (option.row().value_in_fio)(value).map(Cow::into_owned);
        let some = |text: &str| Some(text.to_owned());
        let eta = ["always", "never", "auto", "nevr", ""].map(|word| read(ProgramOption::Eta, word));
        assert_eq!(eta, [some("always"), some("never"), None, None, None]);
        let times =
            ["1500ms", "2", "0", "999ms", "soon"].map(|time| read(ProgramOption::TriggerTimeout, time));
        assert_eq!(times, [some("1"), some("2"), some("0"), None, some("soon")]);
        assert_eq!(read(ProgramOption::StatusInterval, "500ms"), some("500ms"));
    }
}
