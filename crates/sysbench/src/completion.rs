//! sysbench's command line as a clap command, for shell completions only. It parses nothing.

use clap::builder::PossibleValuesParser;
use clap::{Arg, Command, ValueHint};

use crate::options::{GENERAL, Kind, SysbenchOption};
use crate::{NAME, TESTS, commands_of};

/// The tests as sub-commands, each with its commands as words and with the general options, which may follow.
pub fn command() -> Command {
    let general = || GENERAL.iter().flat_map(|group| group.options).map(argument);
    let tests = TESTS.iter().map(|test| {
        let word = Arg::new("command").value_parser(PossibleValuesParser::new(commands_of(test)));
        let command = bare(test.name).about(test.about);
        command.args(general()).args(test.options.iter().map(argument)).arg(word)
    });
    bare(NAME).args(general()).subcommands(tests).disable_help_subcommand(true)
}

/// A command whose options are those of the table.
fn bare(name: &'static str) -> Command {
    Command::new(name).disable_help_flag(true).disable_version_flag(true)
}

fn argument(option: &SysbenchOption) -> Arg {
    let row = option.row();
    let argument = Arg::new(row.name).long(row.name).help(row.full_help());
    let argument = match row.kind {
        Kind::Flag if matches!(option, SysbenchOption::Help | SysbenchOption::Version) => {
            return argument.num_args(0);
        }
        Kind::Flag => argument.num_args(0..=1).require_equals(true).value_parser(["on", "off"]),
        Kind::File => argument.value_hint(ValueHint::FilePath),
        Kind::Text | Kind::List if !row.words.is_empty() => argument.value_parser(row.words.to_vec()),
        _ => argument.value_hint(ValueHint::Other),
    };
    // Values always follow an equals sign.
    argument.require_equals(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_test_has_its_options_and_those_of_all() {
        let command = command();
        command.clone().debug_assert();
        for test in TESTS {
            let of_test = command.find_subcommand(test.name).unwrap();
            let has = |name: &str| of_test.get_arguments().any(|argument| argument.get_long() == Some(name));
            assert!(test.options.iter().all(|option| has(option.row().name)), "{}", test.name);
            assert!(has("threads") && has("report-interval"), "{}", test.name);
        }
    }
}
