//! Shell commands that a run starts beside its I/O, among them `exec_prerun` and `exec_postrun`, which a worker runs right before its I/O
//! and after it.
//!
//! The command gets a standard environment: signals as a login shell has them (this program blocks some), nothing on standard
//! input, and for the commands of jobs standard output and standard error in one place. It inherits user, nice value, CPUs and control
//! group of the thread that starts it. Ctrl-C in a terminal reaches the commands of jobs no more than it reaches fio's workers: each has a
//! process group of its own, which this program ends. Outputs of `exec_prerun` and `exec_postrun` go to `NAME.prerun.txt` and
//! `NAME.postrun.txt` in the working directory; clones share these files, as in fio.

use std::ffi::CString;
use std::fs::File;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::os::unix::ffi::OsStrExt;
use std::time::{Duration, Instant};
use std::{env, fmt, io};

use ferrio_engine::sleep;
use ferrio_job::{Diagnostic, Prefix, reason};
use ferrio_machine::{create_file, open_to_read, retry_interrupted};
use nix::spawn::{PosixSpawnAttr, PosixSpawnFileActions, PosixSpawnFlags, posix_spawn};
use nix::sys::signal::{SigSet, Signal, kill, killpg};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;

use crate::context::Context;
use crate::failure::Failure;

/// Longest time between two checks of a command that may have to be stopped.
const LOOK: Duration = Duration::from_millis(20);
/// Time that a command has to end after SIGTERM. Main waits longer for a job after the second signal, so that the command is killed by then.
const GRACE: Duration = Duration::from_secs(1);

/// Code of a command that failed.
const FAILED: &str = "command-failed";

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ShellStatus {
    /// Exit status.
    Exited(i32),
    /// Killed by a signal.
    Killed(Signal),
    /// It was stopped because the job ends.
    Stopped,
}

impl fmt::Display for ShellStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ShellStatus::Exited(status) => write!(f, "ended with status {status}"),
            ShellStatus::Killed(signal) => write!(f, "was killed by signal {}", *signal as i32),
            ShellStatus::Stopped => f.write_str("was stopped"),
        }
    }
}

/// Runs a command by `sh -c` to its end. Its standard output goes to `output`, its standard error to `errors`. It is stopped, with all
/// processes it started, once `stop` says so.
///
/// # Errors
/// The shell cannot be started, or not be waited for.
pub(crate) fn run_unless(
    command: &str,
    output: BorrowedFd<'_>,
    errors: BorrowedFd<'_>,
    stop: impl FnMut() -> bool,
) -> io::Result<ShellStatus> {
    let shell = start(command, output, errors, PosixSpawnFlags::POSIX_SPAWN_SETPGROUP)?;
    wait_unless(shell, Reach::Group, stop)
}

/// The same for a command that may use the terminal, if there is one: it is in the process group of this program then, and of all that it
/// starts only the shell can be stopped.
///
/// # Errors
/// As there.
pub(crate) fn run_on_terminal_unless(
    command: &str,
    output: BorrowedFd<'_>,
    errors: BorrowedFd<'_>,
    stop: impl FnMut() -> bool,
) -> io::Result<ShellStatus> {
    if open_to_read("/dev/tty").is_err() {
        return run_unless(command, output, errors, stop);
    }
    let shell = start(command, output, errors, PosixSpawnFlags::empty())?;
    wait_unless(shell, Reach::Shell, stop)
}

/// What signals to a command reach.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reach {
    /// The process group of the shell.
    Group,
    /// The shell alone.
    Shell,
}

impl Reach {
    /// Sends a signal; without one, only asks whether there is a process to get it.
    fn signal(self, shell: Pid, signal: Option<Signal>) -> nix::Result<()> {
        match self {
            Reach::Group => killpg(shell, signal),
            Reach::Shell => kill(shell, signal),
        }
    }
}

/// Waits for a shell, or stops it. No command may outlive its job, even if waiting fails.
fn wait_unless(shell: Pid, reach: Reach, stop: impl FnMut() -> bool) -> io::Result<ShellStatus> {
    let outcome = wait_or_stop(shell, reach, stop);
    if outcome.is_err() {
        let _ = reach.signal(shell, Some(Signal::SIGKILL));
    }
    outcome
}

fn wait_or_stop(shell: Pid, reach: Reach, mut stop: impl FnMut() -> bool) -> io::Result<ShellStatus> {
    let mut pause = Duration::from_millis(1);
    while !stop() {
        if let Some(outcome) = look(shell)? {
            return Ok(outcome);
        }
        sleep(pause);
        pause = (pause * 2).min(LOOK);
    }
    // It may be gone already; then it is only waited for.
    let _ = reach.signal(shell, Some(Signal::SIGTERM));
    let asked = Instant::now();
    while look(shell)?.is_none() {
        if asked.elapsed() > GRACE {
            let _ = reach.signal(shell, Some(Signal::SIGKILL));
        }
        sleep(LOOK);
    }
    if reach == Reach::Group {
        // What the shell has started may stay longer. A group has its number as long as it has a process.
        while asked.elapsed() <= GRACE && reach.signal(shell, None).is_ok() {
            sleep(LOOK);
        }
        let _ = reach.signal(shell, Some(Signal::SIGKILL));
    }
    Ok(ShellStatus::Stopped)
}

/// Starts a shell. A process group of its own can be stopped as a whole.
fn start(
    command: &str,
    output: BorrowedFd<'_>,
    errors: BorrowedFd<'_>,
    group: PosixSpawnFlags,
) -> io::Result<Pid> {
    let nothing = open_to_read("/dev/null")?;
    let mut files = PosixSpawnFileActions::init()?;
    files.add_dup2(nothing.as_raw_fd(), 0)?;
    files.add_dup2(output.as_raw_fd(), 1)?;
    files.add_dup2(errors.as_raw_fd(), 2)?;
    let mut attributes = PosixSpawnAttr::init()?;
    let signals = PosixSpawnFlags::POSIX_SPAWN_SETSIGMASK | PosixSpawnFlags::POSIX_SPAWN_SETSIGDEF;
    attributes.set_flags(signals | group)?;
    attributes.set_sigmask(&SigSet::empty())?;
    attributes.set_sigdefault(&SigSet::from_iter([Signal::SIGPIPE]))?;
    attributes.set_pgroup(Pid::from_raw(0))?;
    let words = [c"sh".to_owned(), c"-c".to_owned(), CString::new(command)?];
    let variables = env::vars_os().filter_map(|(name, value)| {
        let text = [name.as_bytes(), b"=", value.as_bytes()].concat();
        CString::new(text).ok()
    });
    Ok(posix_spawn(c"/bin/sh", &files, &attributes, &words, &variables.collect::<Vec<_>>())?)
}

/// How the command ended, if it did.
fn look(shell: Pid) -> io::Result<Option<ShellStatus>> {
    Ok(match retry_interrupted(|| waitpid(shell, Some(WaitPidFlag::WNOHANG)))? {
        WaitStatus::Exited(_, status) => Some(ShellStatus::Exited(status)),
        WaitStatus::Signaled(_, signal, _) => Some(ShellStatus::Killed(signal)),
        _ => None,
    })
}

/// Runs `exec_prerun`, if there is one. A stop request ends the command and is no failure.
///
/// # Errors
/// The command failed or could not be run: the job must not do I/O.
pub(crate) fn prerun(context: &Context<'_>) -> Result<(), Failure> {
    let Some(command) = &context.spec.life.exec_prerun else { return Ok(()) };
    let (path, outcome) = save(context, "prerun", |file| {
        run_unless(command, file.as_fd(), file.as_fd(), || context.control.stop_requested())
    });
    match outcome {
        Ok(ShellStatus::Exited(0) | ShellStatus::Stopped) => Ok(()),
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
        run_unless(command, file.as_fd(), file.as_fd(), || context.control.signals() > signals_before)
    });
    let message = match outcome {
        Ok(ShellStatus::Exited(0)) => return,
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
    format!("{option} cannot be run with its output in {path}: {}", reason(error))
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Seek};
    use std::os::fd::AsFd;

    use super::*;

    fn output_of(command: &str) -> (ShellStatus, String) {
        let mut file = tempfile::tempfile().unwrap();
        let outcome = run_unless(command, file.as_fd(), file.as_fd(), || false).unwrap();
        let mut text = String::new();
        file.rewind().unwrap();
        file.read_to_string(&mut text).unwrap();
        (outcome, text)
    }

    #[test]
    fn all_output_of_a_compound_command_goes_to_one_place() {
        let (outcome, text) = output_of("echo one; echo two >&2; cat; exit 3");
        assert_eq!((outcome, text.as_str()), (ShellStatus::Exited(3), "one\ntwo\n"));
    }

    #[test]
    fn a_command_that_kills_itself_is_told_from_one_that_exits() {
        assert_eq!(output_of("kill -9 $$").0, ShellStatus::Killed(Signal::SIGKILL));
    }

    #[test]
    fn the_environment_is_inherited_and_signals_are_not_blocked() {
        let mut blocked = SigSet::empty();
        blocked.add(Signal::SIGTERM);
        blocked.thread_block().unwrap();
        let (outcome, text) = output_of("test -n \"$PATH\" && kill -TERM $$; echo survived");
        assert_eq!((outcome, text.as_str()), (ShellStatus::Killed(Signal::SIGTERM), ""));
    }

    #[test]
    fn a_command_that_is_not_wanted_any_more_is_stopped_with_its_children() {
        let file = tempfile::tempfile().unwrap();
        let run = |command, stop| run_unless(command, file.as_fd(), file.as_fd(), || stop).unwrap();
        assert_eq!(run("sleep 3600 & sleep 3600; :", true), ShellStatus::Stopped);
        assert_eq!(run("exit 4", false), ShellStatus::Exited(4));
    }

    #[test]
    fn a_child_that_ignores_the_request_to_end_is_killed_although_the_shell_has_ended() {
        let output = tempfile::NamedTempFile::new().unwrap();
        let text = || std::fs::read_to_string(output.path()).unwrap();
        let ready = || text().contains("ready");
        let command = "(trap '' TERM; echo $(exec sh -c 'echo $PPID') ready; exec sleep 3600) & wait";
        let outcome = run_unless(command, output.as_file().as_fd(), output.as_file().as_fd(), ready).unwrap();
        assert_eq!(outcome, ShellStatus::Stopped);
        let child = text().split_whitespace().next().unwrap().parse().unwrap();
        // Its new parent may take a moment to reap it.
        let is_over = || kill(Pid::from_raw(child), None).is_err();
        let asked = Instant::now();
        while !is_over() {
            assert!(asked.elapsed() < Duration::from_secs(10), "{child} still runs");
            sleep(Duration::from_millis(1));
        }
    }

    #[test]
    fn commands_are_in_process_groups_of_their_own() {
        let (_, text) = output_of("cut -d' ' -f5 /proc/$$/stat; echo $$");
        let (group, shell) = text.trim().split_once('\n').unwrap();
        assert_eq!(group, shell);
    }

    #[test]
    fn a_command_with_a_zero_byte_is_an_error() {
        let file = tempfile::tempfile().unwrap();
        assert!(run_unless("echo \0", file.as_fd(), file.as_fd(), || false).is_err());
    }
}
