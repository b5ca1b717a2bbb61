//! Programs that jobs start, with all that these start: the terminal that they may read, how they end, and signals to them.

use std::ffi::CString;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::time::{Duration, Instant};
use std::{env, fmt, io};

use ferrio_machine::{
    Process, has_terminal, is_stopped, open_to_read, pending_signals, process, retry_interrupted,
    running_with_descendants, terminal_input,
};
use nix::spawn::{PosixSpawnAttr, PosixSpawnFileActions, PosixSpawnFlags, posix_spawnp};
use nix::sys::signal::{SigSet, Signal, kill, killpg};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;

use crate::sleep;

/// Signals that come to a whole process group, from a terminal or from a program that ends the group.
const GROUP_SIGNALS: [Signal; 4] = [Signal::SIGINT, Signal::SIGQUIT, Signal::SIGHUP, Signal::SIGTERM];
/// How long a signal that is in no queue any more may take until the jobs know of it.
const SIGNAL_TIMEOUT: Duration = Duration::from_millis(100);
/// Longest wait for a signal that is still in the queue of this process.
const QUEUED_SIGNAL_TIMEOUT: Duration = Duration::from_secs(2);
/// Longest wait until processes are stopped. Those in calls that cannot be interrupted, and those of other users, may never be.
const STOP_TIMEOUT: Duration = Duration::from_millis(200);
/// Time between two looks for either.
const SIGNAL_STEP: Duration = Duration::from_millis(1);

/// The process group of a program that a job starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProgramGroup {
    /// A new one, in a session of its own. There is no terminal, so that reading one fails; the kernel would stop the program for ever in a
    /// background group.
    Own,
    /// That of this process, so that the program can read the terminal, for example a password. Ctrl-C reaches the program as well.
    Terminal,
}

impl ProgramGroup {
    /// The group for the programs of this process. `terminal_is_free` unless something else reads the keys of the terminal.
    #[must_use]
    pub fn for_programs(terminal_is_free: bool) -> Self {
        if terminal_is_free && has_terminal() { ProgramGroup::Terminal } else { ProgramGroup::Own }
    }

    /// The standard input of a program: that of this process if it is a terminal that the program may read, else an empty one.
    ///
    /// # Errors
    /// `/dev/null` cannot be opened.
    fn input(self) -> io::Result<OwnedFd> {
        match terminal_input().filter(|_| self == ProgramGroup::Terminal) {
            Some(input) => Ok(input),
            None => open_to_read("/dev/null").map(OwnedFd::from),
        }
    }

    /// Tells whether a program that failed may have been ended by a signal that has come to this process too and ends its job. The program may
    /// have been the first to get it, so this waits a moment for `stop` to say so.
    pub fn failed_by_signal(self, mut stop: impl FnMut() -> bool) -> bool {
        if self == ProgramGroup::Own {
            return false;
        }
        let is_queued = || {
            let pending = pending_signals();
            GROUP_SIGNALS.into_iter().any(|signal| pending & (1 << (signal as u32 - 1)) != 0)
        };
        let began = Instant::now();
        let mut limit = SIGNAL_TIMEOUT;
        while !stop() {
            if is_queued() {
                limit = began.elapsed() + SIGNAL_TIMEOUT;
            }
            if began.elapsed() > limit.min(QUEUED_SIGNAL_TIMEOUT) {
                return false;
            }
            sleep(SIGNAL_STEP);
        }
        true
    }
}

/// How a program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProgramStatus {
    /// Exit status.
    Exited(i32),
    /// Killed by a signal.
    Killed(Signal),
}

impl fmt::Display for ProgramStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ProgramStatus::Exited(status) => write!(f, "ended with status {status}"),
            ProgramStatus::Killed(signal) => write!(f, "was killed by signal {}", *signal as i32),
        }
    }
}

/// A program that was started, and all that it has started.
#[derive(Debug)]
pub struct StartedProgram {
    group: ProgramGroup,
    root: Pid,
    status: Option<ProgramStatus>,
    /// Processes in the terminal's group that were seen and may still run.
    seen: Vec<Process>,
}

impl StartedProgram {
    /// Starts the program `words[0]`, which is looked up in `PATH`, with signals as a login shell has them: this process blocks some. Output
    /// and errors go where those of this process go unless they are given.
    ///
    /// # Errors
    /// The program cannot be run.
    pub fn start(
        words: &[CString],
        output: Option<BorrowedFd<'_>>,
        errors: Option<BorrowedFd<'_>>,
        group: ProgramGroup,
    ) -> io::Result<Self> {
        let program = words.first().ok_or(io::ErrorKind::NotFound)?;
        let input = group.input()?;
        let mut files = PosixSpawnFileActions::init()?;
        files.add_dup2(input.as_raw_fd(), 0)?;
        for (stream, to) in [(output, 1), (errors, 2)] {
            if let Some(stream) = stream {
                files.add_dup2(stream.as_raw_fd(), to)?;
            }
        }
        let mut flags = PosixSpawnFlags::POSIX_SPAWN_SETSIGMASK | PosixSpawnFlags::POSIX_SPAWN_SETSIGDEF;
        if group == ProgramGroup::Own {
            flags |= PosixSpawnFlags::from_bits_retain(i32::from(libc::POSIX_SPAWN_SETSID));
        }
        let mut attributes = PosixSpawnAttr::init()?;
        attributes.set_flags(flags)?;
        attributes.set_sigmask(&SigSet::empty())?;
        attributes.set_sigdefault(&SigSet::from_iter([Signal::SIGPIPE]))?;
        let variables = env::vars_os().filter_map(|(name, value)| {
            let text = [name.as_bytes(), b"=", value.as_bytes()].concat();
            CString::new(text).ok()
        });
        let root = posix_spawnp(program, &files, &attributes, words, &variables.collect::<Vec<CString>>())?;
        let seen = match group {
            ProgramGroup::Own => Vec::new(),
            ProgramGroup::Terminal => process(root.as_raw()).into_iter().collect(),
        };
        Ok(StartedProgram { group, root, status: None, seen })
    }

    /// How the program ended, if it did.
    ///
    /// # Errors
    /// It cannot be waited for.
    pub fn status(&mut self) -> io::Result<Option<ProgramStatus>> {
        if self.status.is_none() {
            self.status = match retry_interrupted(|| waitpid(self.root, Some(WaitPidFlag::WNOHANG)))? {
                WaitStatus::Exited(_, status) => Some(ProgramStatus::Exited(status)),
                WaitStatus::Signaled(_, signal, _) => Some(ProgramStatus::Killed(signal)),
                _ => None,
            };
        }
        Ok(self.status)
    }

    /// Sends a signal to the program and all that it has started. In the terminal's group, these are its children, their children and so
    /// on, and those that earlier calls have found; a process whose parent had ended before the first call is not among them.
    pub fn signal(&mut self, signal: Signal) {
        match self.group {
            ProgramGroup::Own => {
                // A group has its number as long as it has a process.
                let _ = killpg(self.root, signal);
            }
            ProgramGroup::Terminal => {
                self.stop();
                self.send(signal);
                self.send(Signal::SIGCONT);
            }
        }
    }

    /// Whether the program, or something that it has started, still runs.
    pub fn is_running(&mut self) -> bool {
        match self.group {
            ProgramGroup::Own => killpg(self.root, None).is_ok(),
            ProgramGroup::Terminal => {
                self.look();
                !self.seen.is_empty()
            }
        }
    }

    /// Stops all processes of the tree: one that starts another right before it ends would hide that one.
    fn stop(&mut self) {
        let began = Instant::now();
        loop {
            self.send(Signal::SIGSTOP);
            // A fork that has begun is completed before that.
            let are_stopped = self.seen.iter().copied().all(is_stopped);
            let found_more = self.look();
            if are_stopped && !found_more || began.elapsed() > STOP_TIMEOUT {
                return;
            }
            if !are_stopped {
                sleep(SIGNAL_STEP);
            }
        }
    }

    /// Finds what runs. True if there is more than was seen before.
    fn look(&mut self) -> bool {
        let found = running_with_descendants(&self.seen);
        let before = std::mem::replace(&mut self.seen, found);
        self.seen.iter().any(|process| !before.contains(process))
    }

    /// To all that were seen. Those of other users get nothing.
    fn send(&self, signal: Signal) {
        for process in &self.seen {
            let _ = kill(Pid::from_raw(process.pid), signal);
        }
    }
}
