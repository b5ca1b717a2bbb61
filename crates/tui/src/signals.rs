//! Signals that stop the program from outside while the view has the terminal: the terminal is given back before they act. Signals that end
//! the program end the run, after which the terminal is given back.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};

use nix::sys::signal::{SigSet, Signal, raise};
use nix::sys::signalfd::{SfdFlags, SignalFd};

/// The signal after which another program has the terminal, and the one before which another program may have had it.
const STOPS: [Signal; 2] = [Signal::SIGTSTP, Signal::SIGCONT];

/// Blocked signals, which the view reads.
#[derive(Debug)]
pub(crate) struct Signals {
    arrived: SignalFd,
}

impl Signals {
    /// Blocks the signals in the calling thread and in those that it starts from now on. Returns those that were not blocked before.
    pub(crate) fn hold() -> io::Result<(Self, SigSet)> {
        let before = SigSet::thread_get_mask()?;
        let signals: SigSet = STOPS.into_iter().collect();
        signals.thread_block()?;
        let arrived = SignalFd::with_flags(&signals, SfdFlags::SFD_NONBLOCK | SfdFlags::SFD_CLOEXEC)?;
        let held = signals.iter().filter(|&signal| !before.contains(signal)).collect();
        Ok((Signals { arrived }, held))
    }

    /// The next pending signal, if any.
    pub(crate) fn next(&self) -> io::Result<Option<Signal>> {
        let Some(arrived) = self.arrived.read_signal()? else { return Ok(None) };
        let number = i32::try_from(arrived.ssi_signo).unwrap_or_default();
        Ok(Some(Signal::try_from(number)?))
    }

    /// Lets a signal act on the whole program, as without the view. Returns when the program continues, or at once if the signal is
    /// ignored.
    pub(crate) fn act(signal: Signal) -> io::Result<()> {
        let only = SigSet::from(signal);
        only.thread_unblock()?;
        // To this thread: it must not continue before all are stopped.
        raise(signal)?;
        Ok(only.thread_block()?)
    }
}

impl AsFd for Signals {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.arrived.as_fd()
    }
}
