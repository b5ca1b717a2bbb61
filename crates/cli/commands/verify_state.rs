//! `ferrio verify-state`, and fio's `fio-verify-state`: prints the contents of verify state files.

use std::ffi::OsString;
use std::fmt::Write as _;

use clap::{ArgAction, Command, ValueHint, value_parser};
use ferrio_job::{Diagnostic, Origin, Prefix, reason};
use ferrio_machine::bytes_of_file;
use ferrio_verify::{StateContent, StateFile};

use super::subcommand::{Invocation, operand};
use crate::error::Error;
use crate::messages::print_text;

/// Help text after the options.
pub const LONG_HELP: &str = "\
A job that writes with verify and verify_state_save=1 leaves a state file,
local-NAME-NUMBER-verify.state, which verify_state_load reads: how many writes
it had issued, and which of them were in flight.

Versions 7 and 5 are those of fio 3.42 and ferrio. Version 3, that of fio 3.33,
is shown but cannot be loaded.";

/// The clap definition of the sub-command.
pub fn command() -> Command {
    Command::new("verify-state").arg(
        operand("file", "FILE", "State files")
            .required(true)
            .action(ArgAction::Append)
            .num_args(1..)
            .value_parser(value_parser!(OsString))
            .value_hint(ValueHint::FilePath),
    )
}

/// Prints the decoded files. If one is damaged, the exit status is 1 for ferrio and 0 for fio's `fio-verify-state`.
///
/// # Errors
/// The arguments are invalid, or standard output cannot be written to.
pub fn run(invocation: Invocation<'_>) -> Result<u8, Error> {
    let Some(arguments) = invocation.parsed_arguments()? else { return Ok(0) };
    let messages = *invocation.messages;
    let called_as_fio = messages.are_of_fio();
    let say = |text: String| {
        let prefix = if called_as_fio { Prefix::None } else { Prefix::Program };
        let error = Diagnostic::error(text, Origin::Builtin).code("unreadable-state").prefix(prefix);
        messages.note(&error);
    };
    let mut is_damaged = false;
    for name in arguments.get_many::<OsString>("file").into_iter().flatten() {
        let shown = name.display();
        let bytes = match bytes_of_file(name) {
            Ok(bytes) => bytes,
            Err(error) => {
                say(format!("open {shown}: {}", reason(&error)));
                return Ok(1);
            }
        };
        let state = StateFile::read(&bytes);
        let text = text_of(&state);
        print_text(&text)?;
        if let Err(damage) = &state.content {
            is_damaged = true;
            say(if called_as_fio { damage.to_string() } else { format!("{shown}: {damage}") });
        }
    }
    Ok(u8::from(is_damaged && !called_as_fio))
}

fn text_of(file: &StateFile) -> String {
    let StateFile { version, size, crc, .. } = file;
    // The checksum is a 32-bit word in a 64-bit field.
    let mut text = format!("Version:\t0x{version:x}\nSize:\t\t{size}\nCRC:\t\t0x{:x}\n", *crc as u32);
    let Ok(StateContent { name, depth, number, index, slots, completions }) = &file.content else {
        return text;
    };
    let name = String::from_utf8_lossy(name).replace(char::is_control, "?");
    let _ = write!(text, "Thread:\t\t0\nName:\t\t{name}\n");
    if let Some(completions) = completions {
        let _ = writeln!(text, "Completions:\t{}", completions.len());
    }
    let _ = write!(text, "Depth:\t\t{depth}\nNumber IOs:\t{number}\nIndex:\t\t{index}\n");
    match completions {
        Some(completions) => {
            text.push_str("Completions:\n");
            for (file, offset) in completions.iter().rev() {
                let _ = writeln!(text, "\t(file={file:2}) {offset}");
            }
        }
        None => {
            text.push_str("Inflight writes:\n");
            for slot in slots.iter().rev() {
                let _ = match slot {
                    Some(number) => writeln!(text, "\t{number}"),
                    None => writeln!(text, "\tNot inflight"),
                };
            }
        }
    }
    text
}
