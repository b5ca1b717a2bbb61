//! `ferrio agent`: the end of a run on many hosts that does the work, spoken to on standard input and output.

use clap::Command;

use super::subcommand::Invocation;
use crate::error::Error;
use crate::hosts::agent;

/// Help below the options.
pub const LONG_HELP: &str = "\
`ferrio --hosts=HOSTS` starts this on each host, by ssh or the command of --via,
and holds a conversation with it on its standard input and output: one JSON
document a line. There is nothing to type here.";

/// The clap definition of the sub-command.
pub fn command() -> Command {
    Command::new("agent")
}

/// Holds the conversation.
///
/// # Errors
/// The arguments are wrong, or the conversation cannot begin.
pub fn run(invocation: Invocation<'_>) -> Result<u8, Error> {
    match invocation.parsed_arguments()? {
        Some(_) => agent::converse_on_standard_streams(),
        None => Ok(0),
    }
}
