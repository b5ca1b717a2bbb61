//! What a sub-command is.

use std::ffi::OsString;

use crate::error::Error;
use crate::messages::Messages;

/// A sub-command: what the program does when its first argument is this word.
#[derive(Debug)]
pub struct Subcommand {
    /// The word.
    pub name: &'static str,
    /// What follows it.
    pub operand: Operand,
    /// One line of help.
    pub help: &'static str,
    /// Left out of help, manual page and completions.
    pub hidden: bool,
    /// Runs it; returns the exit status.
    pub run: fn(Invocation<'_>) -> Result<u8, Error>,
}

/// What follows the name of a sub-command.
#[derive(Debug)]
pub enum Operand {
    /// Nothing.
    None,
    /// Options and job files, as for a run.
    Jobs,
    /// One of these words.
    OneOf {
        /// What the word is, in capitals.
        name: &'static str,
        /// The words.
        words: &'static [&'static str],
    },
}

/// A sub-command that was called.
pub struct Invocation<'a> {
    /// The arguments after its name.
    pub arguments: &'a [OsString],
    /// Takes the format that the arguments ask for, if the sub-command has options for it.
    pub messages: &'a mut Messages,
    /// All sub-commands.
    pub commands: &'static [Subcommand],
}

impl Subcommand {
    /// The name, and the word that must follow it.
    pub fn synopsis(&self) -> String {
        match self.operand {
            Operand::None | Operand::Jobs => self.name.to_owned(),
            Operand::OneOf { name, .. } => format!("{} {name}", self.name),
        }
    }
}

/// Refuses what follows a complete command.
///
/// # Errors
/// Something follows.
pub fn nothing_follows(command: &'static str, arguments: &[OsString]) -> Result<(), Error> {
    match arguments.first() {
        None => Ok(()),
        Some(word) => Err(Error::UnexpectedArgument { command, word: word.to_string_lossy().into_owned() }),
    }
}
