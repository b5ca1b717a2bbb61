//! Other processes and their parents.

use std::collections::HashSet;
use std::time::Duration;

use nix::time::{ClockId, clock_gettime};
use nix::unistd::SysconfVar;

use crate::files::names_in;
use crate::host::sysconf_value;
use crate::interruptions::text_of_file;

/// A process that was running when it was seen. Another process that gets the same number later is not equal to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Process {
    /// Process number.
    pub pid: i32,
    /// Start time, in clock ticks since the start of the machine.
    started: u64,
}

/// A process and its parent, from `/proc/PID/stat`.
struct ChildProcess {
    process: Process,
    parent: i32,
    is_stopped: bool,
}

/// The processes among `known` that still run, and all running descendants of them. Descendants of a parent that has ended are found only
/// if they are known, because the kernel gives them another parent.
///
/// With an unreadable `/proc`, there are none.
#[must_use]
pub fn running_with_descendants(known: &[Process]) -> Vec<Process> {
    let entries = running();
    let is_known: HashSet<Process> = known.iter().copied().collect();
    let (mut found, mut rest): (Vec<ChildProcess>, Vec<ChildProcess>) =
        entries.into_iter().partition(|entry| is_known.contains(&entry.process));
    let mut at = 0;
    while at < found.len() {
        let parent = found[at].process.pid;
        found.extend(rest.extract_if(.., |entry| entry.parent == parent));
        at += 1;
    }
    found.into_iter().map(|entry| entry.process).collect()
}

/// The running process with this number.
#[must_use]
pub fn process(pid: i32) -> Option<Process> {
    entry(pid).map(|entry| entry.process)
}

/// Whether a process is stopped or has ended.
#[must_use]
pub fn is_stopped(process: Process) -> bool {
    entry(process.pid).is_none_or(|entry| entry.process != process || entry.is_stopped)
}

/// The ancestors of this process, nearest first, as far as `/proc` shows them.
pub(crate) fn ancestors() -> impl Iterator<Item = Process> {
    let parent_of = |pid: i32| entry(pid).map(|entry| entry.parent);
    let mut parent = i32::try_from(std::process::id()).ok().and_then(parent_of);
    std::iter::from_fn(move || {
        let found = entry(parent?)?;
        parent = Some(found.parent);
        Some(found.process)
    })
}

impl Process {
    /// Time since its start, to 10 ms or so.
    pub(crate) fn age(self) -> Option<Duration> {
        let ticks = sysconf_value(SysconfVar::CLK_TCK).filter(|&ticks| ticks > 0)?;
        let started = Duration::from_secs(self.started / ticks)
            + Duration::from_secs(self.started % ticks) / u32::try_from(ticks).ok()?;
        let now = clock_gettime(ClockId::CLOCK_BOOTTIME).ok()?;
        Duration::from(now).checked_sub(started)
    }
}

fn running() -> Vec<ChildProcess> {
    let Ok(names) = names_in("/proc".as_ref()) else { return Vec::new() };
    let numbers = names.map_while(Result::ok).filter_map(|name| name.to_str()?.parse().ok());
    numbers.filter_map(entry).collect()
}

/// `None` for a zombie.
fn entry(pid: i32) -> Option<ChildProcess> {
    let text = text_of_file(format!("/proc/{pid}/stat")).ok()?;
    // The name before it may contain any characters.
    let (_, fields) = text.rsplit_once(')')?;
    let mut fields = fields.split_ascii_whitespace();
    let state = fields.next()?;
    let parent = fields.next()?.parse().ok()?;
    // Field 22 of proc(5); the next one is field 5.
    let started = fields.nth(17)?.parse().ok()?;
    (!matches!(state, "Z" | "X")).then_some(ChildProcess {
        process: Process { pid, started },
        parent,
        is_stopped: matches!(state, "T" | "t"),
    })
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn descendants_are_found_and_those_that_have_ended_are_not() {
        let line = "(sleep 3600 & exec sleep 3600) & echo ready; wait";
        let mut shell = Command::new("sh").args(["-c", line]).stdout(Stdio::piped()).spawn().unwrap();
        shell.stdout.take().unwrap().read_exact(&mut [0; 6]).unwrap();
        let root = process(i32::try_from(shell.id()).unwrap()).unwrap();
        let mut seen = Vec::new();
        while seen.len() < 3 {
            seen = running_with_descendants(&[root]);
            std::thread::yield_now();
        }
        assert_eq!(seen[0], root);
        // A process that is not there any more has no children.
        assert_eq!(running_with_descendants(&[Process { started: root.started + 1, ..root }]), []);
        shell.kill().unwrap();
        shell.wait().unwrap();
        assert_eq!(process(root.pid), None);
        let left = running_with_descendants(&seen);
        assert_eq!(left.len(), 2, "the parent has ended, and its children are still known");
        for process in left {
            nix::sys::signal::kill(nix::unistd::Pid::from_raw(process.pid), nix::sys::signal::SIGKILL)
                .unwrap();
        }
        while !running_with_descendants(&seen).is_empty() {
            std::thread::yield_now();
        }
    }

    #[test]
    fn ancestors_begin_with_the_parent_and_are_older() {
        let parent = ancestors().next().unwrap();
        assert_eq!(parent.pid, nix::unistd::getppid().as_raw());
        let this = process(i32::try_from(std::process::id()).unwrap()).unwrap();
        assert!(this.age().unwrap() <= parent.age().unwrap());
    }

    #[test]
    fn this_process_is_there() {
        let pid = i32::try_from(std::process::id()).unwrap();
        assert_eq!(process(pid).map(|process| process.pid), Some(pid));
        assert_eq!(process(i32::MAX), None);
    }
}
