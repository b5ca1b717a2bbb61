//! `exec_prerun` and `exec_postrun`: the commands that a worker runs right before its I/O and after it.
//!
//! Output goes to `NAME.prerun.txt` and `NAME.postrun.txt` in the working directory; clones share these files, as in fio.

use std::fs::File;
use std::io;
use std::os::fd::AsFd;

use ferrio_job::{Diagnostic, Prefix, reason};

use crate::context::Context;
use crate::failure::Failure;
use crate::shell::{self, ShellStatus};

/// Code of a command that failed.
const FAILED: &str = "command-failed";

/// Runs `exec_prerun`, if there is one. A stop request ends the command and is no failure.
///
/// # Errors
/// The command failed or could not be run: the job must not do I/O.
pub(crate) fn prerun(context: &Context<'_>) -> Result<(), Failure> {
    let Some(command) = &context.spec.life.exec_prerun else { return Ok(()) };
    let (path, outcome) = save(context, "prerun", |file| {
        shell::run_unless(command, file.as_fd(), || context.control.stop_requested())
    });
    match outcome {
        Ok(ShellStatus::Exited(0) | ShellStatus::Stopped) => Ok(()),
        Ok(outcome) => Err(Failure::new(libc::ECANCELED, "exec_prerun").job_note(
            FAILED,
            format!("exec_prerun {outcome}, the job does no I/O; what the command said is in {path}"),
        )),
        Err(e) => {
            let message = cannot_run("exec_prerun", &path, &e);
            Err(Failure::from_io(&e, "exec_prerun").job_note(FAILED, message))
        }
    }
}

/// Runs `exec_postrun`, if there is one. The job is over, so a failure is only reported.
pub(crate) fn postrun(context: &Context<'_>) {
    let Some(command) = &context.spec.life.exec_postrun else { return };
    let (path, outcome) = save(context, "postrun", |file| shell::run(command, file.as_fd()));
    let message = match outcome {
        Ok(ShellStatus::Exited(0)) => return,
        Ok(outcome) => format!("exec_postrun {outcome}; what the command said is in {path}"),
        Err(e) => cannot_run("exec_postrun", &path, &e),
    };
    context.note(Diagnostic::note(message).code(FAILED).prefix(Prefix::Job));
}

/// Tells where the output of `what` goes and runs it.
fn save(
    context: &Context<'_>,
    what: &str,
    run: impl FnOnce(&File) -> io::Result<ShellStatus>,
) -> (String, io::Result<ShellStatus>) {
    let name = &context.spec.name;
    let path = format!("{name}.{what}.txt");
    let message = format!("{name} : Saving output of {what} in {path}");
    context.note(Diagnostic::note(message).code("command-output").prefix(Prefix::None));
    let outcome = File::create(&path).and_then(|file| run(&file));
    (path, outcome)
}

fn cannot_run(option: &str, path: &str, error: &io::Error) -> String {
    format!("{option} cannot be run with its output in {path}: {}", reason(error))
}
