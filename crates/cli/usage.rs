//! The text of `--help`.

use crate::commands::subcommand::Subcommand;
use crate::error::Error;
use crate::messages::print_text;
use crate::options::OPTIONS;
use crate::settings::{self, FIO_VERSION};

/// Prints the help of a program that is called `fio`: fio's version line, and no commands.
///
/// # Errors
/// Standard output cannot be written to.
pub fn print_as_fio() -> Result<u8, Error> {
    let own = OPTIONS.iter().filter(|option| option.only_ferrio);
    let command =
        own.fold(settings::command(), |command, option| command.mut_arg(option.name, |arg| arg.hide(true)));
    let help = command.override_usage("fio [OPTIONS] [JOB OPTIONS] [JOB FILES]...");
    let text = help.after_help(ABOUT_ARGUMENTS).render_help();
    print_text(&format!("{FIO_VERSION}\n{text}"))
}

/// The text after the options.
const ABOUT_ARGUMENTS: &str = "\
Job options are written --option=value; those before the first --name apply to
all jobs. --cmdhelp lists them. Options may be abbreviated as long as they stay
unambiguous, and written with one dash. The job file - is standard input.";

/// The text of `--help`, perhaps with terminal colours.
pub fn usage(commands: &[Subcommand], is_coloured: bool) -> String {
    let width = commands.iter().map(|command| command.synopsis().len()).max().unwrap_or_default();
    let line = |command: &Subcommand| format!("  {:width$}  {}\n", command.synopsis(), command.help);
    let list: String = commands.iter().map(line).collect();
    let mut command = settings::command().after_help(format!(
        "{ABOUT_ARGUMENTS}\n\nCommands (first argument only):\n{list}To run a job file with the name of a command, write ./man."
    ));
    let help = command.render_help();
    if is_coloured { help.ansi().to_string() } else { help.to_string() }
}
