//! The text of `--help`: the program's options and its sub-commands.

use std::io;

use crate::commands::COMMANDS;
use crate::settings;

/// The text between the options and the sub-commands.
const ABOUT_ARGUMENTS: &str = "\
Job options are written --option=value; those before the first --name apply to
all jobs. --cmdhelp lists them. Options may be abbreviated as long as they stay
unambiguous, and written with one dash. The job file - is standard input.

Commands (first argument only):
";

/// Prints the help text, with colours on a terminal.
///
/// # Errors
/// Standard output cannot be written to.
pub fn print() -> io::Result<()> {
    command().print_help()
}

/// The help text without colours.
#[must_use]
pub fn text() -> String {
    command().render_help().to_string()
}

fn command() -> clap::Command {
    let commands = || COMMANDS.iter().filter(|command| !command.hidden);
    let width = commands().map(|command| command.synopsis().len()).max().unwrap_or_default();
    let list: String =
        commands().map(|command| format!("  {:width$}  {}\n", command.synopsis(), command.help)).collect();
    settings::command().after_help(format!(
        "{ABOUT_ARGUMENTS}{list}To run a job file with the name of a command, write ./man."
    ))
}
