//! Shell commands that a run starts beside its I/O, among them `exec_prerun` and `exec_postrun`, which a worker runs right before its I/O
//! and after it.
//!
//! The command gets a standard environment: signals as a login shell has them (this program blocks some), the terminal as standard input
//! if there is one, and for the commands of jobs standard output and standard error in one place. It inherits user, nice value, CPUs and
//! control group of the thread that starts it. On a terminal it is in the process group of this program, so that it can ask for a password;
//! elsewhere in one of its own. Either way this program ends it with all that it has started. Outputs of `exec_prerun` and `exec_postrun` go
//! to `NAME.prerun.txt` and `NAME.postrun.txt` in the working directory; clones share these files, as in fio.

use std::ffi::CString;
use std::fs::File;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::Path;
use std::time::{Duration, Instant};
use std::{fmt, io};

use ferrio_job::{Diagnostic, Prefix, command_not_run, reason};
use ferrio_kernel::programs::{ProgramGroup, ProgramStatus, StartedProgram};
use ferrio_kernel::sleep;
use ferrio_machine::create_file;
use nix::sys::signal::Signal;

use crate::context::Context;
use crate::failure::Failure;

/// Longest time between two checks whether a command has to be stopped.
const POLL_INTERVAL: Duration = Duration::from_millis(20);
/// Time that a command has to end after SIGTERM. Main waits longer for a job after the second signal, so that the command is killed by then.
const SIGTERM_TIMEOUT: Duration = Duration::from_secs(1);

/// Code of the diagnostic for a command that failed.
const FAILED: &str = "command-failed";

/// The result of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ShellStatus {
    /// The command ended by itself, or by a signal that this program did not receive.
    Ended(ProgramStatus),
    /// The command was stopped because the job ends.
    Stopped,
}

impl ShellStatus {
    pub(crate) const SUCCESS: Self = ShellStatus::Ended(ProgramStatus::Exited(0));
}

impl fmt::Display for ShellStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ShellStatus::Ended(status) => status.fmt(f),
            ShellStatus::Stopped => f.write_str("was stopped"),
        }
    }
}

/// Runs a command by `sh -c` to its end. Its standard output goes to `output`, its standard error to `errors`. It is stopped, with all
/// processes it started, once `stop` says so. A command in the terminal's group that fails because a signal has come to the whole group
/// counts as stopped.
///
/// # Errors
/// The shell cannot be started, or not be waited for.
pub(crate) fn run_unless(
    command: &str,
    output: BorrowedFd<'_>,
    errors: BorrowedFd<'_>,
    group: ProgramGroup,
    mut stop: impl FnMut() -> bool,
) -> io::Result<ShellStatus> {
    let words = [c"/bin/sh".to_owned(), c"-c".to_owned(), CString::new(command)?];
    let mut shell = StartedProgram::start(&words, Some(output), Some(errors), group)?;
    let outcome = wait_or_stop(&mut shell, &mut stop);
    if outcome.is_err() {
        // No command may outlive its job, even if waiting fails.
        shell.signal(Signal::SIGKILL);
    }
    let outcome = outcome?;
    let is_good = matches!(outcome, ShellStatus::SUCCESS | ShellStatus::Stopped);
    Ok(if is_good || !group.failed_by_signal(stop) { outcome } else { ShellStatus::Stopped })
}

fn wait_or_stop(shell: &mut StartedProgram, stop: &mut impl FnMut() -> bool) -> io::Result<ShellStatus> {
    let mut pause = Duration::from_millis(1);
    while !stop() {
        if let Some(status) = shell.status()? {
            return Ok(ShellStatus::Ended(status));
        }
        sleep(pause);
        pause = (pause * 2).min(POLL_INTERVAL);
    }
    // It may be gone already; then it is only waited for.
    shell.signal(Signal::SIGTERM);
    let asked = Instant::now();
    while shell.status()?.is_none() {
        if asked.elapsed() > SIGTERM_TIMEOUT {
            shell.signal(Signal::SIGKILL);
        }
        sleep(POLL_INTERVAL);
    }
    // What the shell has started may stay longer.
    while asked.elapsed() <= SIGTERM_TIMEOUT && shell.is_running() {
        sleep(POLL_INTERVAL);
    }
    shell.signal(Signal::SIGKILL);
    Ok(ShellStatus::Stopped)
}

/// Runs `exec_prerun`, if there is one. A stop request ends the command and is no failure.
///
/// # Errors
/// The command failed or could not be run: the job must not do I/O.
pub(crate) fn prerun(context: &Context<'_>) -> Result<(), Failure> {
    let Some(command) = &context.spec.life.exec_prerun else { return Ok(()) };
    let (path, outcome) = save(context, "prerun", |file| {
        run_unless(command, file.as_fd(), file.as_fd(), context.program_group, || {
            context.control.stop_requested()
        })
    });
    match outcome {
        Ok(ShellStatus::SUCCESS | ShellStatus::Stopped) => Ok(()),
        Ok(outcome) => {
            let message = format!("exec_prerun {outcome}, the job does no I/O; its output is in {path}");
            Err(Failure::new(libc::ECANCELED, "exec_prerun").job_note(FAILED, message).excusable())
        }
        Err(e) => {
            let message = cannot_run("exec_prerun", &path, &e);
            Err(Failure::from_io(&e, "exec_prerun").job_note(FAILED, message).excusable())
        }
    }
}

/// Runs `exec_postrun`, if there is one. The job is over, so a failure is only reported. It may clean up after a job that a signal ended;
/// the next signal ends it too.
pub(crate) fn postrun(context: &Context<'_>) {
    let Some(command) = &context.spec.life.exec_postrun else { return };
    let signals_before = context.control.signals().min(1);
    let (path, outcome) = save(context, "postrun", |file| {
        run_unless(command, file.as_fd(), file.as_fd(), context.program_group, || {
            context.control.signals() > signals_before
        })
    });
    let message = match outcome {
        Ok(ShellStatus::SUCCESS) => return,
        Ok(outcome) => format!("exec_postrun {outcome}; its output is in {path}"),
        Err(e) => cannot_run("exec_postrun", &path, &e),
    };
    context.note(Diagnostic::note(message).code(FAILED).prefix(Prefix::Job));
}

/// Runs `what` after a note that says where its output goes.
fn save(
    context: &Context<'_>,
    what: &str,
    run: impl FnOnce(&File) -> io::Result<ShellStatus>,
) -> (String, io::Result<ShellStatus>) {
    let name = &context.spec.name;
    let path = format!("{name}.{what}.txt");
    let message = format!("{name} : Saving output of {what} in {path}");
    context.note(Diagnostic::note(message).code("command-output").prefix(Prefix::None));
    let outcome = create_file(&path).and_then(|file| run(&file));
    (path, outcome)
}

fn cannot_run(option: &str, path: &str, error: &io::Error) -> String {
    command_not_run(option, Path::new(path), &reason(error))
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Seek};
    use std::os::fd::AsFd;

    use nix::sys::signal::SigSet;
    use nix::unistd::{Pid, getpgrp};

    use super::*;

    /// Neither depends on whether a terminal controls the tests: nothing here reads one.
    const GROUPS: [ProgramGroup; 2] = [ProgramGroup::Own, ProgramGroup::Terminal];

    fn output_in(group: ProgramGroup, command: &str) -> (ShellStatus, String) {
        let mut file = tempfile::tempfile().unwrap();
        let outcome = run_unless(command, file.as_fd(), file.as_fd(), group, || false).unwrap();
        let mut text = String::new();
        file.rewind().unwrap();
        file.read_to_string(&mut text).unwrap();
        (outcome, text)
    }

    fn output_of(command: &str) -> (ShellStatus, String) {
        output_in(ProgramGroup::Own, command)
    }

    #[test]
    fn all_output_of_a_compound_command_goes_to_one_place() {
        let (outcome, text) = output_of("echo one; echo two >&2; cat; exit 3");
        assert_eq!((outcome, text.as_str()), (ShellStatus::Ended(ProgramStatus::Exited(3)), "one\ntwo\n"));
    }

    #[test]
    fn a_command_that_kills_itself_is_told_from_one_that_exits() {
        for group in GROUPS {
            assert_eq!(
                output_in(group, "kill -9 $$").0,
                ShellStatus::Ended(ProgramStatus::Killed(Signal::SIGKILL))
            );
            assert_eq!(output_in(group, "exit 3").0, ShellStatus::Ended(ProgramStatus::Exited(3)));
        }
    }

    #[test]
    fn the_environment_is_inherited_and_signals_are_not_blocked() {
        let mut blocked = SigSet::empty();
        blocked.add(Signal::SIGTERM);
        blocked.thread_block().unwrap();
        let (outcome, text) = output_of("test -n \"$PATH\" && kill -TERM $$; echo survived");
        assert_eq!(
            (outcome, text.as_str()),
            (ShellStatus::Ended(ProgramStatus::Killed(Signal::SIGTERM)), "")
        );
    }

    #[test]
    fn a_command_that_is_not_wanted_any_more_is_stopped_with_its_children() {
        let file = tempfile::tempfile().unwrap();
        for group in GROUPS {
            let run =
                |command, stop| run_unless(command, file.as_fd(), file.as_fd(), group, || stop).unwrap();
            assert_eq!(run("sleep 3600 & sleep 3600; :", true), ShellStatus::Stopped);
            assert_eq!(run("exit 4", false), ShellStatus::Ended(ProgramStatus::Exited(4)));
        }
    }

    #[test]
    fn a_child_that_ignores_the_request_to_end_is_killed_although_the_shell_has_ended() {
        for group in GROUPS {
            let output = tempfile::NamedTempFile::new().unwrap();
            let text = || std::fs::read_to_string(output.path()).unwrap();
            let ready = || text().contains("ready");
            let command = "(trap '' TERM; echo $(exec sh -c 'echo $PPID') ready; exec sleep 3600) & wait";
            let file = output.as_file().as_fd();
            let outcome = run_unless(command, file, file, group, ready).unwrap();
            assert_eq!(outcome, ShellStatus::Stopped);
            let child = text().split_whitespace().next().unwrap().parse().unwrap();
            // The kernel may take a moment.
            let asked = Instant::now();
            while ferrio_machine::process(child).is_some() {
                assert!(asked.elapsed() < Duration::from_secs(10), "{group:?}: {child} still runs");
                sleep(Duration::from_millis(1));
            }
        }
    }

    /// As Ctrl-C does it: the command gets the signal first.
    #[test]
    fn a_command_that_fails_right_before_the_job_knows_of_a_signal_counts_as_stopped() {
        let ended = tempfile::NamedTempFile::new().unwrap();
        let command = format!("echo $$ > {}; exit 130", ended.path().display());
        let shell = || std::fs::read_to_string(ended.path()).unwrap().trim().parse().ok();
        for (group, outcome) in [
            (ProgramGroup::Terminal, ShellStatus::Stopped),
            (ProgramGroup::Own, ShellStatus::Ended(ProgramStatus::Exited(130))),
        ] {
            std::fs::write(ended.path(), "").unwrap();
            // Three looks after the shell has been waited for: until then, its number is taken.
            let mut looks = 0;
            let stop = || {
                let is_gone =
                    shell().is_some_and(|shell| nix::sys::signal::kill(Pid::from_raw(shell), None).is_err());
                looks += u32::from(is_gone);
                looks > 3
            };
            let file = ended.as_file().as_fd();
            assert_eq!(run_unless(&command, file, file, group, stop).unwrap(), outcome);
        }
    }

    /// Its children are started while it is told to end.
    #[test]
    fn no_child_that_is_started_meanwhile_is_left() {
        let output = tempfile::NamedTempFile::new().unwrap();
        let file = output.as_file().as_fd();
        for _ in 0..20 {
            let command = "for i in 1 2 3 4 5 6; do (exec sh -c 'echo $$; exec sleep 3600') & done; wait";
            run_unless(command, file, file, ProgramGroup::Terminal, || true).unwrap();
        }
        for child in std::fs::read_to_string(output.path()).unwrap().lines() {
            let child = child.parse().unwrap();
            let asked = Instant::now();
            while ferrio_machine::process(child).is_some() {
                assert!(asked.elapsed() < Duration::from_secs(10), "{child} still runs");
                sleep(Duration::from_millis(1));
            }
        }
    }

    #[test]
    fn a_command_has_a_session_of_its_own_or_is_in_the_group_of_the_program() {
        let look = "cut -d' ' -f5,6 /proc/$$/stat; echo $$ $$";
        let (_, text) = output_in(ProgramGroup::Own, look);
        let (ids, own) = text.trim().split_once('\n').unwrap();
        assert_eq!(ids, own);
        let (_, text) = output_in(ProgramGroup::Terminal, look);
        let group = getpgrp();
        assert!(text.starts_with(&format!("{group} ")), "{text}");
    }

    #[test]
    fn a_command_without_a_terminal_is_told_so_instead_of_being_stopped() {
        let (outcome, text) = output_of("read line < /dev/tty || echo none");
        assert_eq!(outcome, ShellStatus::Ended(ProgramStatus::Exited(0)));
        assert!(text.ends_with("none\n"), "{text}");
    }

    #[test]
    fn a_command_with_a_zero_byte_is_an_error() {
        let file = tempfile::tempfile().unwrap();
        let run = run_unless("echo \0", file.as_fd(), file.as_fd(), ProgramGroup::Own, || false);
        assert!(run.is_err());
    }
}
