//! The sub-commands: words that select something else than a run when they are the first argument.
//!
//! A sub-command is a file and a row of [`COMMANDS`]. Help, manual page and completions read the table.

mod check;
mod completions;
mod full_command;
mod man;
mod subcommand;

use std::ffi::OsString;

use crate::error::Error;
use crate::messages::Messages;
pub use subcommand::Subcommand;
use subcommand::{Invocation, Operand};

/// All sub-commands, in the order of the help text.
pub const COMMANDS: &[Subcommand] = &[
    Subcommand {
        name: "check",
        operand: Operand::Jobs,
        help: "Describe what a run would do and its risks; run nothing",
        run: check::run,
    },
    Subcommand {
        name: "completions",
        operand: Operand::OneOf { name: "SHELL", words: completions::SHELLS },
        help: "Print shell completions: bash, zsh or fish",
        run: completions::run,
    },
    Subcommand { name: "man", operand: Operand::None, help: "Print the manual page", run: man::run },
];

/// Runs the sub-command that `words` begin with, if any.
pub fn run(words: &[OsString], messages: &mut Messages) -> Option<Result<u8, Error>> {
    let (name, arguments) = words.split_first()?;
    let command = find(name)?;
    Some((command.run)(Invocation { arguments, messages, commands: COMMANDS }))
}

fn find(name: &OsString) -> Option<&'static Subcommand> {
    COMMANDS.iter().find(|command| name == command.name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_exact_word_is_a_sub_command() {
        for command in COMMANDS {
            assert!(find(&command.name.into()).is_some_and(|found| found.name == command.name));
        }
        for word in ["./man", "--bs=4k", "man.fio", "--", "Man", ""] {
            assert!(find(&word.into()).is_none(), "{word}");
        }
    }

    #[test]
    fn names_and_help_fit_the_list_in_the_help_text() {
        for (at, command) in COMMANDS.iter().enumerate() {
            assert!(!command.help.contains('\n') && !command.help.is_empty(), "{}", command.name);
            assert!(COMMANDS[..at].iter().all(|other| other.name != command.name), "{}", command.name);
        }
    }
}
