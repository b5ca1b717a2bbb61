//! The processes of a series, one after the other, and the signals that end it.

use std::io;
use std::os::fd::AsFd as _;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

use nix::sys::signal::{SigSet, Signal, kill};
use nix::sys::signalfd::SignalFd;
use nix::unistd::Pid;

use crate::escaped_stream;

/// An event that the series waits for.
enum ChildEvent {
    /// A signal that ends the series; true if no process but this one has it.
    Signal(Signal, bool),
    /// The process of a run has ended.
    Ended(io::Result<ExitStatus>),
}

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChildExit {
    /// The exit status; after a signal that killed the process, 128 and the number of the signal, as in shells.
    pub status: u8,
    /// A signal killed it, so that it could not write its report.
    pub killed: bool,
}

/// Starts processes and waits for them. SIGINT and SIGTERM end the running one with its report, and no further one begins.
pub struct Children {
    sender: Sender<ChildEvent>,
    events: Receiver<ChildEvent>,
    /// The signal that ends the series.
    interrupted: Option<Signal>,
}

impl Children {
    /// Takes over the signals. They stay blocked in this process and in those that it starts, which wait for them themselves.
    ///
    /// # Errors
    /// The kernel refuses to block or report signals.
    pub fn new() -> io::Result<Self> {
        let signals: SigSet = [Signal::SIGINT, Signal::SIGTERM].into_iter().collect();
        signals.thread_block()?;
        let arrivals = SignalFd::new(&signals)?;
        let (sender, events) = channel();
        let signal_sender = sender.clone();
        // It ends with the process.
        thread::Builder::new().name("ferrio-signals".into()).spawn(move || {
            while let Ok(Some(arrived)) = arrivals.read_signal() {
                let signal =
                    if arrived.ssi_signo == Signal::SIGINT as u32 { Signal::SIGINT } else { Signal::SIGTERM };
                // A terminal sends Ctrl-C to the running process as well; other processes send signals to this one.
                let is_alone = arrived.ssi_code <= 0;
                if signal_sender.send(ChildEvent::Signal(signal, is_alone)).is_err() {
                    return;
                }
            }
        })?;
        Ok(Children { sender, events, interrupted: None })
    }

    /// The signal that ends the series, once there is one.
    pub const fn interrupted(&self) -> Option<Signal> {
        self.interrupted
    }

    /// Runs the program with these arguments to its end.
    ///
    /// # Errors
    /// The process cannot be started.
    pub fn run(&mut self, arguments: &[String]) -> io::Result<ChildExit> {
        let mut command = Command::new(std::env::current_exe()?);
        command.arg0("ferrio").args(arguments).stdin(Stdio::null());
        // Its report is in a file. What else goes to standard output must not get between the lines of the table.
        if !escaped_stream::stdout().is_terminal() {
            command.stdout(Stdio::from(escaped_stream::stderr().as_fd().try_clone_to_owned()?));
        }
        let sender = self.sender.clone();
        let (child_sender, child_receiver) = channel::<Child>();
        // The thread comes first: without it, nobody would wait for the process.
        thread::Builder::new().name("ferrio-reaper".to_owned()).spawn(move || {
            if let Ok(mut child) = child_receiver.recv() {
                // Nobody listens once the series has ended.
                let _ = sender.send(ChildEvent::Ended(child.wait()));
            }
        })?;
        let child = command.spawn()?;
        let process = i32::try_from(child.id()).ok().map(Pid::from_raw);
        // The thread waits for it, and does nothing else.
        let _ = child_sender.send(child);
        loop {
            match self.events.recv() {
                Ok(ChildEvent::Ended(status)) => return status.map(child_exit),
                Ok(ChildEvent::Signal(signal, is_alone)) => {
                    self.interrupted.get_or_insert(signal);
                    if let Some(process) = process.filter(|_| is_alone) {
                        // It may just have ended.
                        let _ = kill(process, signal);
                    }
                }
                Err(_) => return Err(io::Error::other("the process of a run was lost")),
            }
        }
    }

    /// Waits, unless a signal ends the series.
    pub fn pause(&mut self, time: Duration) {
        match self.events.recv_timeout(time) {
            Ok(ChildEvent::Signal(signal, _)) => {
                self.interrupted.get_or_insert(signal);
            }
            Ok(ChildEvent::Ended(_)) | Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {}
        }
    }
}

fn child_exit(status: ExitStatus) -> ChildExit {
    let signal = status.signal();
    let code = status.code().or(signal.map(|signal| signal + 128));
    ChildExit { status: code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1), killed: signal.is_some() }
}
