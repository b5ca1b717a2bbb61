//! The whole command line as a clap command, with job options and sub-commands, for shell completions only. It parses nothing.

use std::collections::HashSet;

use clap::builder::PossibleValue;
use clap::{Arg, Command, ValueHint};
use ferrio_job::Word;
use ferrio_jobfile::{Opt, OptionRow, ValueKind, is_listed, rows};

use super::subcommand::{Operand, Subcommand};
use crate::options::{OPTIONS, ProgramOptionRow};
use crate::settings;

/// The program's options, job options as long options, and sub-commands.
pub fn full_command(commands: &[Subcommand]) -> Command {
    let command = settings::command()
        .mut_args(with_completion)
        .arg(Arg::new("files").num_args(0..).value_hint(ValueHint::FilePath));
    let mut used_names: HashSet<String> =
        command.get_arguments().filter_map(|argument| Some(argument.get_long()?.to_owned())).collect();
    // An option that several engines share appears once.
    let rows = rows().iter().filter(|row| is_listed(row));
    let arguments: Vec<Arg> = rows.filter_map(|row| argument(row, &mut used_names)).collect();
    let command = command.args(arguments);
    let run_arguments: Vec<Arg> = command.get_arguments().cloned().collect();
    let commands = commands.iter().map(|row| subcommand(row, commands, &run_arguments));
    command.subcommands(commands).disable_help_subcommand(true)
}

/// A sub-command; those that take jobs have the arguments of a run.
fn subcommand(command: &Subcommand, commands: &[Subcommand], run_arguments: &[Arg]) -> Command {
    let subcommand = Command::new(command.name).about(command.help).disable_help_flag(true);
    match command.operand {
        Operand::Jobs(own) => subcommand.args(run_arguments).args(own.iter().map(ProgramOptionRow::argument)),
        Operand::Foreign(arguments) => arguments().name(command.name).about(command.help),
        Operand::Own(arguments) | Operand::Helper { command: arguments, .. } => {
            let arguments = arguments();
            let commands = arguments.get_subcommands().cloned();
            subcommand.args(arguments.get_arguments().cloned()).subcommands(commands)
        }
        Operand::None | Operand::OneOf { .. } | Operand::Optional { .. } => {
            let help = Arg::new("help").short('h').long("help").num_args(0).help("Print help on the command");
            let words = operand_words(command, commands);
            let operand = words.map(|words| Arg::new("word").value_parser(words));
            subcommand.arg(help).args(operand)
        }
    }
}

/// The words that complete the operand of a sub-command, if they are a list.
pub fn operand_words(command: &Subcommand, commands: &[Subcommand]) -> Option<Vec<&'static str>> {
    match command.operand {
        Operand::OneOf { words, .. } => Some(words.to_vec()),
        Operand::Optional { words, .. } => Some(words(commands)),
        _ => None,
    }
}

/// Adds the completion of its value to an option of the program.
fn with_completion(argument: Arg) -> Arg {
    let argument = argument.hide_possible_values(false);
    match OPTIONS.iter().find(|row| argument.get_id() == row.name) {
        Some(row) => row.completed(argument),
        None => argument,
    }
}

fn argument(row: &'static OptionRow, used_names: &mut HashSet<String>) -> Option<Arg> {
    if !used_names.insert(row.name.to_owned()) {
        return None;
    }
    let same_name = rows().iter().filter(|other| other.name == row.name);
    let aliases: Vec<&str> = same_name
        .flat_map(|other| other.aliases.iter().copied())
        .filter(|alias| used_names.insert((*alias).to_owned()))
        .collect();
    let argument = Arg::new(row.name)
        .long(row.name)
        .visible_aliases(aliases)
        .help(row.help)
        .help_heading("Job options")
        .value_name(value_name(row))
        .value_hint(hint(row));
    let argument = match row.kind {
        ValueKind::Flag => argument.num_args(0..=1).require_equals(true),
        _ => argument.num_args(1),
    };
    let words = words(row);
    Some(if words.is_empty() { argument } else { argument.value_parser(words) })
}

/// The words that complete a value; none if any value is valid.
fn words(row: &'static OptionRow) -> Vec<PossibleValue> {
    let word = |choice: &Word| {
        let value = PossibleValue::new(choice.word);
        if choice.help.is_empty() { value } else { value.help(choice.help) }
    };
    match row.kind {
        ValueKind::Bool => vec![PossibleValue::new("0"), PossibleValue::new("1")],
        _ => row.usable_choices().map(word).collect(),
    }
}

/// The placeholder of a value in help texts.
pub fn value_name(row: &OptionRow) -> &'static str {
    match row.kind {
        ValueKind::Flag | ValueKind::Bool => "0|1",
        ValueKind::Int => "NUMBER",
        ValueKind::Size | ValueKind::SizeZone | ValueKind::SizeRange => "SIZE",
        ValueKind::Time | ValueKind::TimeRange => "TIME",
        ValueKind::Range => "LOW-HIGH",
        ValueKind::Float => "DECIMAL",
        ValueKind::FloatList => "DECIMALS",
        ValueKind::Enum | ValueKind::EnumArg => "WORD",
        ValueKind::EnumList | ValueKind::WordList => "WORDS",
        ValueKind::Bssplit | ValueKind::PrioBssplit | ValueKind::ModeSplit => "SPLIT",
        ValueKind::Pattern => "PATTERN",
        ValueKind::CpuList | ValueKind::NodeList | ValueKind::IdList => "LIST",
        ValueKind::NumaPolicy => "POLICY",
        ValueKind::ErrorList => "ERRORS",
        ValueKind::Str
        | ValueKind::StrList
        | ValueKind::OptStr
        | ValueKind::Deprecated
        | ValueKind::Ignored => "TEXT",
    }
}

fn hint(row: &OptionRow) -> ValueHint {
    match row.opt {
        Opt::Filename
        | Opt::LogFilename
        | Opt::DoubleWriteFilename
        | Opt::ReadIolog
        | Opt::WriteIolog
        | Opt::MergeBlktraceFile
        | Opt::DpScheme => ValueHint::FilePath,
        Opt::Directory | Opt::Opendir => ValueHint::DirPath,
        Opt::ExecPrerun | Opt::ExecPostrun => ValueHint::CommandString,
        _ => ValueHint::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_and_alias_of_a_job_option_is_an_option_once() {
        let command = full_command(crate::commands::COMMANDS);
        command.clone().debug_assert();
        let names: Vec<String> = command
            .get_arguments()
            .flat_map(|argument| argument.get_long_and_visible_aliases().unwrap_or_default())
            .map(str::to_owned)
            .collect();
        let distinct: HashSet<_> = names.iter().collect();
        assert_eq!(distinct.len(), names.len());
        for row in rows().iter().filter(|row| is_listed(row)) {
            for name in std::iter::once(&row.name).chain(row.aliases) {
                assert!(distinct.contains(&(*name).to_owned()), "{name}");
            }
        }
    }

    #[test]
    fn engines_offered_are_those_of_this_program() {
        let words: Vec<_> =
            words(Opt::Ioengine.row()).iter().map(|word| word.get_name().to_owned()).collect();
        assert!(words.contains(&"io_uring".to_owned()) && !words.contains(&"rbd".to_owned()));
    }
}
