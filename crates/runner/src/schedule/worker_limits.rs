//! Whether the limits of the process allow another worker. When the limit of address space (RLIMIT_AS) is reached, any allocation may fail,
//! even where the error cannot be reported, so a worker is refused while some address space is still in reserve.

use std::io;

use ferrio_job::Diagnostic;
use ferrio_machine::address_space_left;

/// Address space that main needs until the report is written, and that each worker needs beside its stack and its buffers.
const MAIN: u64 = 16 << 20;
const WORKER: u64 = 1 << 20;

/// Refuses another worker beside `running` ones if there might not be enough address space for all of them.
///
/// # Errors
/// ENOMEM.
pub(super) fn for_worker(running: usize) -> io::Result<()> {
    match address_space_left() {
        Some(left) if left < needed(running) => Err(io::Error::from_raw_os_error(libc::ENOMEM)),
        _ => Ok(()),
    }
}

fn needed(running: usize) -> u64 {
    MAIN + WORKER * (running as u64 + 1)
}

/// What to do when a worker could not be started.
pub(super) fn advice(error: &io::Error) -> Option<Diagnostic> {
    let text = match error.raw_os_error() {
        Some(libc::ENOMEM) => {
            "the limit of address space (RLIMIT_AS) allows no more workers: raise it (`ulimit -v unlimited`), or run fewer jobs at once"
        }
        Some(libc::EAGAIN) => {
            "no more threads can be started: raise the limit of processes (`ulimit -u`), of address space (`ulimit -v`), \
             kernel.threads-max or pids.max of the cgroup, or run fewer jobs at once"
        }
        _ => return None,
    };
    Some(Diagnostic::note(text).code("too-many-workers"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_worker_that_runs_needs_room_of_its_own() {
        assert_eq!(needed(0), 17 << 20);
        assert_eq!(needed(100) - needed(99), 1 << 20);
    }

    #[test]
    fn advice_names_the_limit() {
        let text = |errno| advice(&io::Error::from_raw_os_error(errno)).map(|advice| advice.message);
        assert!(text(libc::ENOMEM).unwrap().contains("RLIMIT_AS"));
        assert!(text(libc::EAGAIN).unwrap().contains("ulimit -u"));
        assert_eq!(text(libc::EPERM), None);
    }
}
