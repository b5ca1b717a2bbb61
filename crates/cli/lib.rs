//! The program `ferrio` as a library: a command line in, a report out.
//!
//! [`main`] is the whole program. The first argument decides what runs:
//!
//! - a word in the table of `commands`: that sub-command, one file each (some are also programs of fio, such as `fio-btrace2fio`: called by
//!   the name of one, the program is that one);
//! - `sysbench`, or a program of that name: the front end that takes sysbench's command line;
//! - anything else: `fio`, the front end that takes fio's command line and job files.
//!
//! `sweep` runs jobs several times, each in a process of its own.
//!
//! A front end turns its arguments into a plan, which `execute` runs. `reported_run` is such a run with `settings`, and writes its reports to
//! `output`, whose watchers look at its figures at intervals; `live_view` shows it. `arguments`, `options` and `option_values` read a
//! command line, and `diagnose` finds all mistakes in it; `messages` writes to standard error, through `escaped_stream` as all that may go
//! to a terminal; `output_file` makes files that appear only once they are complete; `outcome` is that of a run, and `exit` ends the
//! program with its status.
#![forbid(unsafe_code)]

mod arguments;
mod commands;
mod compat;
mod diagnose;
mod error;
mod escaped_stream;
mod execute;
mod exit;
mod fio;
mod hosts;
mod inputs;
mod job_files;
mod junit;
mod live_view;
mod messages;
mod option_values;
mod options;
mod outcome;
mod output;
mod output_file;
mod planned_run;
mod planning;
mod profiles;
mod queries;
mod report_stream;
mod reported_run;
mod selftest;
mod settings;
mod sweep;
mod usage;
mod visible;

use std::ffi::{OsStr, OsString};
use std::process::ExitCode;

pub use error::Error;
pub use fio::read_jobs;

use ferrio_job::Compat;
use messages::Messages;

/// Runs the program with these arguments, the first of which is its own name. Returns the exit status.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    ferrio_runner::prepare_signals();
    ferrio_runner::limit_heaps();
    let mut arguments = arguments.into_iter();
    let program = arguments.next();
    let words: Vec<OsString> = arguments.collect();
    if ferrio_sysbench::is_called(program.as_deref()) {
        return ExitCode::from(commands::run_sysbench(&words));
    }
    let mut messages = Messages::default();
    let variable = std::env::var_os(compat::VARIABLE);
    let status = match compat::of_process(program.as_deref(), variable.as_deref(), |path| {
        commands::helper(path).is_some()
    }) {
        Ok(compat) => run(program.as_deref(), &words, compat, &mut messages),
        Err(error) => {
            messages = fio::messages(&words);
            Err(error)
        }
    };
    exit::code(status, messages)
}

/// Runs a helper program of fio if the program is called by its name, a sub-command, or else fio's front end. fio has no sub-commands:
/// to it, their names are names of job files.
fn run(
    program: Option<&OsStr>,
    words: &[OsString],
    compat: Compat,
    messages: &mut Messages,
) -> Result<u8, Error> {
    if let Some(helper) = program.and_then(commands::helper) {
        *messages = Messages::of(&[], compat);
        return commands::run_helper(helper, words, messages);
    }
    if compat == Compat::Ferrio
        && let Some(status) = commands::run(words, messages)
    {
        return status;
    }
    fio::run(words, compat, messages)
}
