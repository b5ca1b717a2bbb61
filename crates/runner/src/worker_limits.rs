//! Whether the limit of address space (RLIMIT_AS) allows another worker.
//!
//! Small allocations cannot fail: one that does aborts the program, and nothing is reported. So under a limit some address space stays
//! free. Workers are set up one after the other, each only if enough is left for it, and each gives up if it leaves too little. All
//! threads share one heap, because otherwise each might reserve 64 MiB at any time.

use std::io;

use ferrio_job::Diagnostic;
use ferrio_machine::address_space_left;

use crate::failure::Failure;

/// Address space that main needs until the report is written.
const MAIN: u64 = 16 << 20;
/// For the figures of each job and its part of the report.
const JOB: u64 = 64 << 10;
/// For each worker: its stack, and what it allocates until its job is over. Its buffers are not counted.
const WORKER: u64 = 1 << 20;

/// Prepares a process that has a limit of address space for more threads. To be called before the first of them starts.
pub fn limit_heaps() {
    if address_space_left().is_some() {
        ferrio_kernel::heap::share();
    }
}

/// The address space that a run keeps free.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AddressSpace {
    limited: bool,
    reserve: u64,
}

impl AddressSpace {
    /// For a run of this many jobs.
    pub(crate) fn new(jobs: usize) -> Self {
        AddressSpace { limited: address_space_left().is_some(), reserve: MAIN + JOB * jobs as u64 }
    }

    /// True if workers must be set up one after the other, so that each finds out how much the ones before it have left.
    pub(crate) fn is_limited(self) -> bool {
        self.limited
    }

    /// Refuses another worker beside `running` ones if there might not be enough address space for all of them.
    ///
    /// # Errors
    /// ENOMEM.
    pub(crate) fn for_worker(self, running: usize) -> io::Result<()> {
        self.keep(self.reserve + WORKER * (running as u64 + 1))
    }

    /// Refuses to let a worker run that has left too little for main and the others.
    pub(crate) fn after_set_up(self) -> Result<(), Failure> {
        self.keep(self.reserve).map_err(|e| {
            Failure::from_io(&e, "set up").note(
                "too-many-workers",
                "the limit of address space (RLIMIT_AS, `ulimit -v`) leaves too little beside the buffers and mappings of the job: raise \
                 it, use a smaller bs, iodepth or size, or run fewer jobs at once",
            )
        })
    }

    fn keep(self, bytes: u64) -> io::Result<()> {
        match address_space_left() {
            Some(left) if self.limited && left < bytes => Err(io::Error::from_raw_os_error(libc::ENOMEM)),
            _ => Ok(()),
        }
    }
}

/// Advice if a worker could not be started.
pub(crate) fn advice(error: &io::Error) -> Option<Diagnostic> {
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
    fn without_a_limit_any_worker_may_start() {
        let unlimited = AddressSpace::new(1);
        assert!(!unlimited.is_limited());
        assert!(unlimited.for_worker(usize::MAX >> 24).is_ok());
        assert!(unlimited.after_set_up().is_ok());
    }

    #[test]
    fn advice_names_the_limit() {
        let text = |errno| advice(&io::Error::from_raw_os_error(errno)).map(|advice| advice.message);
        assert!(text(libc::ENOMEM).unwrap().contains("RLIMIT_AS"));
        assert!(text(libc::EAGAIN).unwrap().contains("ulimit -u"));
        assert_eq!(text(libc::EPERM), None);
    }
}
