//! The row of a sub-command in the table, and its call.

use std::ffi::OsString;

use crate::error::Error;
use crate::messages::Messages;

/// A sub-command.
#[derive(Debug)]
pub struct Subcommand {
    /// The first argument that selects it.
    pub name: &'static str,
    /// What follows it.
    pub operand: Operand,
    /// One line of help.
    pub help: &'static str,
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
}

/// A call of a sub-command.
pub struct Invocation<'a> {
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
            Operand::None | Operand::Jobs => self.name.to_owned(),
            Operand::OneOf { name, .. } => format!("{} {name}", self.name),
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
