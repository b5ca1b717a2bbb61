//! A row of the table of sub-commands, and its invocation.

use std::ffi::OsString;

use clap::{Arg, ArgAction};

use crate::error::Error;
use crate::messages::{Messages, print_text};
use crate::options::ProgramOptionRow;

/// A sub-command.
#[derive(Debug)]
pub struct Subcommand {
    /// Name, the first argument.
    pub name: &'static str,
    /// Arguments after the name.
    pub operand: Operand,
    /// Help in one line.
    pub help: &'static str,
    /// Additional help after the usage; may be empty.
    pub details: &'static str,
    /// Runs it and returns the exit status.
    pub run: fn(Invocation<'_>) -> Result<u8, Error>,
}

/// Arguments of a sub-command.
#[derive(Debug)]
pub enum Operand {
    /// Nothing.
    None,
    /// Options and job files, as for a run, and these options of its own.
    Jobs(&'static [ProgramOptionRow]),
    /// One word of a list.
    OneOf {
        /// Name of the word in help, in capitals.
        name: &'static str,
        /// The words.
        words: &'static [&'static str],
    },
    /// An optional word.
    Optional {
        /// Name of the word in help, in capitals.
        name: &'static str,
        /// Completions for the word.
        words: fn(&[Subcommand]) -> Vec<&'static str>,
    },
    /// The command line of another program, described for shells.
    Foreign(fn() -> clap::Command),
    /// A command line that clap parses.
    Own(fn() -> clap::Command),
    /// The command line of a helper program of fio. The sub-command also runs when ferrio is called by the name of that program.
    Helper {
        /// Name of the program.
        program: &'static str,
        /// The clap definition. Its usage names the operands.
        command: fn() -> clap::Command,
    },
}

/// An invocation of a sub-command.
pub struct Invocation<'a> {
    pub command: &'static Subcommand,
    /// The arguments after the name.
    pub arguments: &'a [OsString],
    /// Messages in text form. A sub-command with options for their format sets it here.
    pub messages: &'a mut Messages,
    /// All sub-commands.
    pub commands: &'static [Subcommand],
}

impl Subcommand {
    /// The name, and the word that must follow it.
    pub fn synopsis(&self) -> String {
        match self.operand {
            Operand::OneOf { name, .. } => format!("{} {name}", self.name),
            Operand::Optional { name, .. } => format!("{} [{name}]", self.name),
            _ => self.name.to_owned(),
        }
    }

    /// The arguments after the name in a usage line.
    pub fn usage(&self) -> String {
        match self.operand {
            Operand::None => self.name.to_owned(),
            Operand::Jobs(_) => format!("{} [OPTIONS] [JOB OPTIONS] [JOB FILES]...", self.name),
            Operand::OneOf { words, .. } => format!("{} {}", self.name, words.join("|")),
            Operand::Optional { name, .. } => format!("{} [{name}]", self.name),
            Operand::Foreign(_) => format!("{} [TEST] [OPTIONS] [COMMAND]", self.name),
            Operand::Own(command) | Operand::Helper { command, .. } => {
                let usage = command().bin_name(self.name).render_usage().to_string();
                usage.trim_start_matches("Usage: ").to_owned()
            }
        }
    }

    /// Description and usage.
    pub fn text(&self) -> String {
        if let Operand::Own(command) | Operand::Helper { command, .. } = self.operand {
            let command = command().bin_name(format!("ferrio {}", self.name));
            return command.about(self.help).after_help(self.details).render_help().to_string();
        }
        let usage = format!("{}\n\nUsage: ferrio {}\n", self.help, self.usage());
        if self.details.is_empty() { usage } else { format!("{usage}\n{}", self.details) }
    }
}

impl Invocation<'_> {
    /// The name by which the sub-command was invoked: its own, or that of fio's helper program.
    fn called(&self) -> String {
        match self.command.operand {
            Operand::Helper { program, .. } if self.messages.are_of_fio() => program.to_owned(),
            _ => format!("ferrio {}", self.command.name),
        }
    }

    /// The refusal of arguments.
    pub fn refusal(&self, message: String) -> Error {
        let help = format!("`{} --help` lists its options", self.called());
        Error::refusal("invalid-command", message, Some(&help))
    }

    /// Parses the options and operands of a sub-command with a clap definition. `None` after `--help`, which this prints.
    ///
    /// # Errors
    /// The arguments are invalid, or standard output cannot be written to.
    pub fn parsed_arguments(&self) -> Result<Option<clap::ArgMatches>, Error> {
        let (Operand::Own(command) | Operand::Helper { command, .. }) = self.command.operand else {
            return Ok(None);
        };
        let command = command()
            .no_binary_name(true)
            .bin_name(self.called())
            .about(self.command.help)
            .after_help(self.command.details)
            .args_override_self(true);
        match command.try_get_matches_from(self.arguments) {
            Ok(matches) => Ok(Some(matches)),
            Err(answer) if answer.kind() == clap::error::ErrorKind::DisplayHelp => {
                print_text(&answer.to_string())?;
                Ok(None)
            }
            Err(wrong) => {
                // The first paragraph; the rest is usage.
                let text = wrong.to_string();
                let paragraph = text.split("\n\n").next().unwrap_or_default();
                let words: Vec<&str> = paragraph.trim_start_matches("error: ").split_whitespace().collect();
                Err(self.refusal(words.join(" ")))
            }
        }
    }
}

/// An option with a value, which help calls `value`.
pub fn option(name: &'static str, value: &'static str, help: &'static str) -> Arg {
    Arg::new(name).long(name).value_name(value).help(help)
}

/// An option without a value.
pub fn flag(name: &'static str, help: &'static str) -> Arg {
    Arg::new(name).long(name).action(ArgAction::SetTrue).help(help)
}

/// An operand, which help calls `value`.
pub fn operand(name: &'static str, value: &'static str, help: &'static str) -> Arg {
    Arg::new(name).value_name(value).help(help)
}

/// Refuses superfluous arguments.
///
/// # Errors
/// There are arguments.
pub fn nothing_follows(command: &'static str, arguments: &[OsString]) -> Result<(), Error> {
    match arguments.first() {
        None => Ok(()),
        Some(word) => Err(Error::UnexpectedArgument { command, word: word.to_string_lossy().into_owned() }),
    }
}
