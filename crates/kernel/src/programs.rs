//! Programs that jobs start, including their descendants: which terminal they may read, how they end, and how signals reach them.

use std::ffi::CString;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::time::{Duration, Instant};
use std::{env, fmt, io};

use ferrio_machine::{
    Process, SignalMask, has_terminal, is_stopped, open_to_read, process, retry_interrupted,
    running_with_descendants, terminal_input,
};
use nix::spawn::{PosixSpawnAttr, PosixSpawnFileActions, PosixSpawnFlags, posix_spawnp};
use nix::sys::signal::{SigSet, Signal, kill, killpg};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;

use crate::sleep;

/// Signals that reach a whole process group, from a terminal or from a program that ends the group.
const GROUP_SIGNALS: [Signal; 4] = [Signal::SIGINT, Signal::SIGQUIT, Signal::SIGHUP, Signal::SIGTERM];
/// Longest time from the delivery of a signal until the jobs notice it.
const SIGNAL_TIMEOUT: Duration = Duration::from_millis(100);
/// Longest wait for a signal that is still in the queue of this process.
const QUEUED_SIGNAL_TIMEOUT: Duration = Duration::from_secs(2);
/// Longest wait until processes are stopped. Those in uninterruptible calls, and those of other users, may never stop.
const STOP_TIMEOUT: Duration = Duration::from_millis(200);
/// Interval between two checks for either.
const SIGNAL_POLL_INTERVAL: Duration = Duration::from_millis(1);

/// The process group of a program that a job starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProgramGroup {
    /// A new one, in a session of its own. It has no terminal, so that reading one fails; in a background group, the kernel would stop the
    /// program forever.
    Own,
    /// The group of this process, so that the program can read the terminal, for example a password. Ctrl-C reaches the program as well.
    Terminal,
}

impl ProgramGroup {
    /// The group for programs that this process starts. `terminal_is_free` is true unless something else reads the keys of the terminal.
    #[must_use]
    pub fn for_programs(terminal_is_free: bool) -> Self {
        if terminal_is_free && has_terminal() { ProgramGroup::Terminal } else { ProgramGroup::Own }
    }

    /// Standard input for a program: that of this process if it is a terminal that the program may read, else an empty one.
    ///
    /// # Errors
    /// `/dev/null` cannot be opened.
    fn input(self) -> io::Result<OwnedFd> {
        match terminal_input().filter(|_| self == ProgramGroup::Terminal) {
            Some(input) => Ok(input),
            None => open_to_read("/dev/null").map(OwnedFd::from),
        }
    }

    /// Returns true if a program that failed may have been ended by a signal that this process also received and that ends its job. The
    /// program may have received it first, so this waits briefly for `stop` to confirm.
    pub fn failed_by_signal(self, mut stop: impl FnMut() -> bool) -> bool {
        if self == ProgramGroup::Own {
            return false;
        }
        let is_queued = || {
            let pending = SignalMask::pending();
            GROUP_SIGNALS.into_iter().any(|signal| pending.contains(signal))
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
            sleep(SIGNAL_POLL_INTERVAL);
        }
        true
    }
}

/// The way a program ended.
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

/// A started program and its descendants.
#[derive(Debug)]
pub struct StartedProgram {
    group: ProgramGroup,
    root: Pid,
    status: Option<ProgramStatus>,
    /// Processes of the terminal's group that were found and may still run.
    found: Vec<Process>,
}

impl StartedProgram {
    /// Starts the program `words[0]`, which is looked up in `PATH`. Signals are set as in a login shell, as this process blocks some.
    /// Output and errors are inherited from this process unless they are given.
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
        let found = match group {
            ProgramGroup::Own => Vec::new(),
            ProgramGroup::Terminal => process(root.as_raw()).into_iter().collect(),
        };
        Ok(StartedProgram { group, root, status: None, found })
    }

    /// The way the program ended, or `None` while it runs.
    ///
    /// # Errors
    /// waitpid(2)'s error.
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

    /// Sends a signal to the program and its descendants. In the terminal's group these are found by following parents, plus those that
    /// earlier calls found; a process whose parent ended before the first call is missed.
    pub fn signal(&mut self, signal: Signal) {
        match self.group {
            ProgramGroup::Own => {
                // A group keeps its number as long as it has a process.
                let _ = killpg(self.root, signal);
            }
            ProgramGroup::Terminal => {
                self.stop();
                self.send(signal);
                self.send(Signal::SIGCONT);
            }
        }
    }

    /// True while the program or one of its descendants runs.
    pub fn is_running(&mut self) -> bool {
        match self.group {
            ProgramGroup::Own => killpg(self.root, None).is_ok(),
            ProgramGroup::Terminal => {
                self.find_running();
                !self.found.is_empty()
            }
        }
    }

    /// Stops all processes of the tree; otherwise one that starts another right before it ends would hide the new one.
    fn stop(&mut self) {
        let began = Instant::now();
        loop {
            self.send(Signal::SIGSTOP);
            // A fork in progress completes before this.
            let are_stopped = self.found.iter().copied().all(is_stopped);
            let found_more = self.find_running();
            if are_stopped && !found_more || began.elapsed() > STOP_TIMEOUT {
                return;
            }
            if !are_stopped {
                sleep(SIGNAL_POLL_INTERVAL);
            }
        }
    }

    /// Finds the running processes. True if some are new.
    fn find_running(&mut self) -> bool {
        let found = running_with_descendants(&self.found);
        let before = std::mem::replace(&mut self.found, found);
        self.found.iter().any(|process| !before.contains(process))
    }

    /// Sends a signal to all processes found. Those of other users do not get it.
    fn send(&self, signal: Signal) {
        for process in &self.found {
            let _ = kill(Pid::from_raw(process.pid), signal);
        }
    }
}
