//! How the program ends: its exit status, and the error or the help text that ends it.

use std::process::ExitCode;

use ferrio_runner::stdout;

use crate::commands::COMMANDS;
use crate::error::Error;
use crate::escaped_stream;
use crate::messages::{Messages, print_coloured};
use crate::usage::{self, usage};

/// Turns the outcome into an exit status, and prints the error if there is one.
#[must_use]
pub fn code(outcome: Result<u8, Error>, messages: Messages) -> ExitCode {
    let outcome = match outcome {
        Err(Error::Help) if messages.are_of_fio() => usage::print_as_fio(),
        Err(Error::Help) => {
            print_coloured(&usage(COMMANDS, messages.colors(escaped_stream::stdout().get_ref())))
        }
        // fio does not notice that nobody gets its answer.
        Err(Error::WriteOutput { .. }) if messages.are_of_fio() && stdout::was_closed() => Ok(0),
        outcome => outcome,
    };
    let error = match outcome {
        Ok(status) => return ExitCode::from(status),
        Err(error) => error,
    };
    messages.error(&error);
    match error {
        // A standard output that is closed does not change the status.
        Error::NoJobs | Error::NoJobsIn(_) if messages.are_of_fio() => drop(usage::print_as_fio()),
        Error::NoJobs => messages.text(&usage(COMMANDS, false)),
        _ => {}
    }
    ExitCode::FAILURE
}
