//! Where and how a worker runs: its descriptor table, CPUs, NUMA nodes, I/O priority, nice value; and its random seeds.

use std::fs::File;
use std::io::{self, Read};

use ferrio_engine::kernel::{set_io_priority, set_memory_policy};
use ferrio_job::{IoPriority, JobSpec};
use ferrio_workload::SEEDS;
use nix::sched::{CloneFlags, CpuSet, sched_setaffinity, unshare};
use nix::unistd::{Pid, gettid};

use crate::failure::Failure;

/// Root may lack the capability too, in a container.
const NICE_REFUSED: &str =
    "a nice value below this program's own needs CAP_SYS_NICE (root has it) or a higher limit (ulimit -e)";

/// Kernel id of the calling thread: the pid that reports print.
pub(crate) fn thread_id() -> u32 {
    gettid().as_raw().unsigned_abs()
}

/// Has the calling thread run on these CPUs and no others.
///
/// # Errors
/// EINVAL for a number that no CPU can have, or when this process may use none of them.
pub fn run_on(cpus: impl IntoIterator<Item = usize>) -> io::Result<()> {
    let mut set = CpuSet::new();
    cpus.into_iter().try_for_each(|cpu| set.set(cpu))?;
    Ok(sched_setaffinity(Pid::from_raw(0), &set)?)
}

/// Applies the job's placement to the calling thread.
pub(crate) fn apply(spec: &JobSpec) -> Result<(), Failure> {
    // With a table of its own the kernel finds descriptors without taking shared references. Where that is forbidden the worker only
    // runs a little slower.
    let _ = unshare(CloneFlags::CLONE_FILES);
    if !spec.cpus_allowed.is_empty() {
        let cpus = spec.cpus_allowed.iter().map(|&cpu| cpu as usize);
        run_on(cpus).map_err(|e| Failure::from_io(&e, "cpu_set_affinity"))?;
    }
    if let Some(policy) = &spec.memory_policy {
        set_memory_policy(policy).map_err(|e| Failure::from_io(&e, "set_mempolicy"))?;
    }
    if let Some(priority) = spec.priorities.own {
        set_io_priority(priority).map_err(|e| {
            let failure = Failure::from_io(&e, "ioprio_set");
            match refused_priority(priority, e.raw_os_error()) {
                Some(advice) => failure.note("priority-refused", advice),
                None => failure,
            }
        })?;
    }
    if spec.nice != 0 {
        rustix::process::nice(spec.nice)
            .map_err(|e| Failure::new(e.raw_os_error(), "nice").note("priority-refused", NICE_REFUSED))?;
    }
    Ok(())
}

/// What to do about an I/O priority that the kernel refused with `errno`.
pub(crate) fn refused_priority(priority: IoPriority, errno: Option<i32>) -> Option<&'static str> {
    match errno {
        Some(libc::EPERM) if priority.is_real_time() => Some(
            "the real-time I/O priority class needs CAP_SYS_ADMIN or CAP_SYS_NICE (root has them): use class 2 (best effort)",
        ),
        Some(libc::EINVAL) if priority.hint() > 0 => {
            Some("I/O priority hints need Linux 6.5: remove `priohint` and `cmdprio_hint`")
        }
        _ => None,
    }
}

/// Random seeds of the operating system for jobs with `randrepeat=0`.
pub(crate) fn entropy() -> [u64; SEEDS] {
    let mut bytes = [[0u8; 8]; SEEDS];
    // Without /dev/urandom the seeds stay zero: such a job repeats its choices, which does no harm.
    if let Ok(mut source) = File::open("/dev/urandom") {
        let _ = source.read_exact(bytes.as_flattened_mut());
    }
    bytes.map(u64::from_ne_bytes)
}
