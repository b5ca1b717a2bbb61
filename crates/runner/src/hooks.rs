//! `exec_prerun` and `exec_postrun`: the commands that a worker runs right before its I/O and after it.
//!
//! Output goes to `NAME.prerun.txt` and `NAME.postrun.txt` in the working directory; clones share these files, as in fio.

use std::fs::File;
use std::io;
use std::os::fd::AsFd;

use ferrio_job::reason;

use crate::context::Context;
use crate::failure::Failure;
use crate::shell::{self, Outcome};

/// Runs `exec_prerun`, if there is one. A stop request ends the command and is no failure.
///
/// # Errors
/// The command failed or could not be run: the job must not do I/O.
pub(crate) fn prerun(context: &Context<'_>) -> Result<(), Failure> {
    let Some(command) = &context.spec.life.exec_prerun else { return Ok(()) };
    let name = &context.spec.name;
    let (path, outcome) = save(context, "prerun", |file| {
        shell::run_unless(command, file.as_fd(), || context.control.stop_requested())
    });
    match outcome {
        Ok(Outcome::Exited(0) | Outcome::Stopped) => Ok(()),
        Ok(outcome) => Err(Failure::new(libc::ECANCELED, "exec_prerun").note(format!(
            "{name}: exec_prerun {outcome}, the job does no I/O; what the command said is in {path}"
        ))),
        Err(e) => Err(Failure::from_io(&e, "exec_prerun").note(cannot_run(name, "exec_prerun", &path, &e))),
    }
}

/// Runs `exec_postrun`, if there is one. The job is over, so that a failure is only told.
pub(crate) fn postrun(context: &Context<'_>) {
    let Some(command) = &context.spec.life.exec_postrun else { return };
    let name = &context.spec.name;
    let (path, outcome) = save(context, "postrun", |file| shell::run(command, file.as_fd()));
    match outcome {
        Ok(Outcome::Exited(0)) => {}
        Ok(outcome) => {
            context.note(format!("{name}: exec_postrun {outcome}; what the command said is in {path}"));
        }
        Err(e) => context.note(cannot_run(name, "exec_postrun", &path, &e)),
    }
}

/// Tells where the output of `what` goes and runs it.
fn save(
    context: &Context<'_>,
    what: &str,
    run: impl FnOnce(&File) -> io::Result<Outcome>,
) -> (String, io::Result<Outcome>) {
    let name = &context.spec.name;
    let path = format!("{name}.{what}.txt");
    context.note(format!("{name} : Saving output of {what} in {path}"));
    let outcome = File::create(&path).and_then(|file| run(&file));
    (path, outcome)
}

fn cannot_run(name: &str, option: &str, path: &str, error: &io::Error) -> String {
    format!("{name}: {option} cannot be run with its output in {path}: {}", reason(error))
}
