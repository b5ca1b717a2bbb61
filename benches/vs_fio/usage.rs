//! What a command costs: the CPU time that the kernel accounts to it, and the time until it ends.

use std::io;
use std::process::{Command, Output};
use std::time::Instant;

use nix::sys::resource::{Usage as Rusage, UsageWho, getrusage};
use nix::sys::time::TimeVal;

/// Times of a process with all its threads, in ns.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Usage {
    pub user: f64,
    pub system: f64,
    pub wall: f64,
}

impl Usage {
    /// Runs a command. Its CPU time is what the time of all children of this process grew by when it was waited for, so no other
    /// may end meanwhile.
    pub(crate) fn of(command: &mut Command) -> io::Result<(Usage, Output)> {
        let (before, began) = (children()?, Instant::now());
        let output = command.output()?;
        let wall = began.elapsed().as_nanos() as f64;
        let after = children()?;
        let since = |time: fn(&Rusage) -> TimeVal| ns(time(&after)) - ns(time(&before));
        Ok((Usage { user: since(Rusage::user_time), system: since(Rusage::system_time), wall }, output))
    }

    /// What this run cost more than a shorter one, for each of `ios` more I/Os.
    pub(crate) fn per_io(self, shorter: Usage, ios: f64) -> Usage {
        Usage {
            user: (self.user - shorter.user) / ios,
            system: (self.system - shorter.system) / ios,
            wall: (self.wall - shorter.wall) / ios,
        }
    }
}

fn children() -> io::Result<Rusage> {
    Ok(getrusage(UsageWho::RUSAGE_CHILDREN)?)
}

fn ns(time: TimeVal) -> f64 {
    time.tv_sec() as f64 * 1e9 + time.tv_usec() as f64 * 1e3
}
