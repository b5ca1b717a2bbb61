//! The row of a sub-command in the table, and its call.

use std::ffi::OsString;

use crate::error::Error;
use crate::messages::{Messages, print};
use crate::options::ProgramOptionRow;

/// A sub-command.
#[derive(Debug)]
pub struct Subcommand {
    /// The first argument that selects it.
    pub name: &'static str,
    /// What follows it.
    pub operand: Operand,
    /// One line of help.
    pub help: &'static str,
    /// More help, below the usage; empty if there is no more to say.
    pub details: &'static str,
    /// Options that only this sub-command has.
    pub options: &'static [ProgramOptionRow],
    /// Runs it and returns the exit status.
    pub run: fn(Invocation<'_>) -> Result<u8, Error>,
}

/// What follows the name of a sub-command.
#[derive(Debug)]
pub enum Operand {
    /// Nothing.
    None,
    /// Options and job files, as for a run.
    Jobs,
    /// One word of a list.
    OneOf {
        /// Name of the word in help, in capitals.
        name: &'static str,
        /// The words.
        words: &'static [&'static str],
    },
    /// One word or none.
    Optional {
        /// Name of the word in help, in capitals.
        name: &'static str,
        /// The words that complete it.
        words: fn(&[Subcommand]) -> Vec<&'static str>,
    },
    /// A command line of another program, which this describes to shells.
    Foreign(fn() -> clap::Command),
    /// Options and operands of its own.
    Own(fn() -> clap::Command),
    /// The command line of a helper program of fio. Called by the name of that program, ferrio runs the sub-command.
    Helper {
        /// The name of the program.
        program: &'static str,
        /// Its command line. Its usage names the operands.
        command: fn() -> clap::Command,
    },
}

/// A call of a sub-command.
pub struct Invocation<'a> {
    /// Its row.
    pub command: &'static Subcommand,
    /// The arguments after its name.
    pub arguments: &'a [OsString],
    /// Messages as text. A sub-command with options for their format sets it here.
    pub messages: &'a mut Messages,
    /// All sub-commands.
    pub commands: &'static [Subcommand],
}

impl Subcommand {
    /// The name and the word that must follow it.
    pub fn synopsis(&self) -> String {
        match self.operand {
            Operand::None
            | Operand::Jobs
            | Operand::Foreign(_)
            | Operand::Own(_)
            | Operand::Helper { .. } => self.name.to_owned(),
            Operand::OneOf { name, .. } => format!("{} {name}", self.name),
            Operand::Optional { name, .. } => format!("{} [{name}]", self.name),
        }
    }

    /// What follows the name in a line of usage.
    pub fn usage(&self) -> String {
        match self.operand {
            Operand::None => self.name.to_owned(),
            Operand::Jobs => format!("{} [OPTIONS] [JOB OPTIONS] [JOB FILES]...", self.name),
            Operand::OneOf { words, .. } => format!("{} {}", self.name, words.join("|")),
            Operand::Optional { name, .. } => format!("{} [{name}]", self.name),
            Operand::Foreign(_) => format!("{} [TEST] [OPTIONS] [COMMAND]", self.name),
            Operand::Own(command) | Operand::Helper { command, .. } => {
                let usage = command().bin_name(self.name).render_usage().to_string();
                usage.trim_start_matches("Usage: ").to_owned()
            }
        }
    }

    /// What it does and how it is called.
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
    /// How the sub-command is called: as such, or by the name of the helper program of fio.
    pub fn called(&self) -> String {
        match self.command.operand {
            Operand::Helper { program, .. } if self.messages.are_of_fio() => program.to_owned(),
            _ => format!("ferrio {}", self.command.name),
        }
    }

    /// The options and operands of a sub-command with a command line of its own; `None` after `--help`, which is answered.
    ///
    /// # Errors
    /// They are not those of the program, or standard output cannot be written to.
    pub fn parsed_arguments(&self) -> Result<Option<clap::ArgMatches>, Error> {
        let name = self.called();
        let (Operand::Own(command) | Operand::Helper { command, .. }) = self.command.operand else {
            return Ok(None);
        };
        let command = command()
            .no_binary_name(true)
            .bin_name(&name)
            .about(self.command.help)
            .after_help(self.command.details)
            .args_override_self(true);
        match command.try_get_matches_from(self.arguments) {
            Ok(matches) => Ok(Some(matches)),
            Err(answer) if answer.kind() == clap::error::ErrorKind::DisplayHelp => {
                print(|out| write!(out, "{answer}").map(|()| true))?;
                Ok(None)
            }
            Err(wrong) => {
                // The first paragraph; what follows is usage.
                let text = wrong.to_string();
                let paragraph = text.split("\n\n").next().unwrap_or_default();
                let words: Vec<&str> = paragraph.trim_start_matches("error: ").split_whitespace().collect();
                Err(Error::HelperArguments { message: words.join(" "), program: name })
            }
        }
    }
}

/// Refuses arguments after a complete command.
///
/// # Errors
/// There are arguments.
pub fn nothing_follows(command: &'static str, arguments: &[OsString]) -> Result<(), Error> {
    match arguments.first() {
        None => Ok(()),
        Some(word) => Err(Error::UnexpectedArgument { command, word: word.to_string_lossy().into_owned() }),
    }
}
