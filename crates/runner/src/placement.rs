//! Where and how a worker runs: its descriptor table, user, CPUs, NUMA nodes, locked memory, I/O priority, nice value, and what the whole
//! process has when all workers have it; and the random seeds of a worker.

use std::ffi::CString;
use std::hash::{BuildHasher as _, Hasher as _, RandomState};

use ferrio_engine::{EngineError, LockedMemory};
use ferrio_job::{Diagnostic, IoPriority, JobSpec, Plan, Prefix, reason};
use ferrio_kernel::{set_io_priority, set_memory_policy};
use ferrio_machine::run_on;
use ferrio_workload::SEEDS;
use nix::sched::{CloneFlags, unshare};
use rustix::process::{getpriority_process, setpriority_process};
use rustix::thread::{Gid, Uid, set_name, set_thread_gid, set_thread_groups, set_thread_uid};

use crate::cgroups::Membership;
use crate::context::Context;
use crate::failure::Failure;
use crate::io_scheduler;

/// Root may lack the capability too, in a container.
const NICE_REFUSED: &str =
    "a nice value below this program's own needs CAP_SYS_NICE (root has it) or a higher limit (ulimit -e)";

/// Resources of a worker that are released on drop: its cgroup and locked memory.
pub(crate) struct Placement<'a> {
    context: &'a Context<'a>,
    group: Option<Membership<'a>>,
    _locked: Option<LockedMemory>,
}

impl Drop for Placement<'_> {
    fn drop(&mut self) {
        if let Some(Err(kept)) = self.group.as_mut().map(Membership::leave) {
            self.context.note(kept.diagnostic());
        }
    }
}

/// Places the calling worker. The steps are in fio's order, which matters: after the change of user, for example, the worker may lack the
/// privilege to raise its priority. Threads of engines start later and inherit everything.
pub(crate) fn apply<'a>(context: &'a Context<'a>) -> Result<Placement<'a>, Failure> {
    let spec = context.spec;
    // With a table of its own the kernel finds descriptors without taking shared references. Where that is forbidden the worker only
    // runs a little slower. A job without files has no use for it.
    if spec.engine.uses_files() {
        let _ = unshare(CloneFlags::CLONE_FILES);
    }
    become_user(spec)?;
    if !spec.cpus_allowed.is_empty() {
        let cpus = spec.cpus_allowed.iter().map(|&cpu| cpu as usize);
        run_on(cpus).map_err(|e| Failure::from_io(&e, "cpu_set_affinity"))?;
    }
    if let Some(policy) = &spec.memory_policy {
        set_memory_policy(policy).map_err(|e| Failure::from_io(&e, "set_mempolicy"))?;
    }
    let bytes = usize::try_from(spec.worker.lockmem).unwrap_or(usize::MAX);
    let locked =
        (bytes > 0).then(|| LockedMemory::lock(bytes, || context.control.stop_requested())).transpose();
    let locked = locked.map_err(|e| cannot_lock(&e, spec.compat.has_words_of_fio))?;
    if let Some(priority) = spec.priorities.own {
        set_io_priority(priority).map_err(|e| {
            let failure = Failure::from_io(&e, "ioprio_set");
            match refused_priority(priority, e.raw_os_error()) {
                Some(advice) => failure.note("priority-refused", advice),
                None => failure,
            }
        })?;
    }
    let placement = Placement { context, group: context.cgroups.join_as(spec)?, _locked: locked };
    set_nice(spec, context.nice)?;
    io_scheduler::switch(spec, |note| context.note(note))?;
    Ok(placement)
}

/// fio's message has neither a prefix nor advice.
fn cannot_lock(error: &EngineError, in_words_of_fio: bool) -> Failure {
    let failure = Failure::from_engine(error).excusable();
    if !in_words_of_fio {
        return failure;
    }
    let message = format!("mlock: {}", reason(&error.source));
    let note = Diagnostic::note(message).code("engine-failed").prefix(Prefix::None);
    Failure { notes: vec![note], ..failure }
}

/// The calling thread takes the user and the group of its job. The system calls change one thread; those of the C library would change
/// all threads of the process. Threads and commands that the worker starts have its user.
fn become_user(spec: &JobSpec) -> Result<(), Failure> {
    let refused = |option: &str, errno: rustix::io::Errno| {
        let advice = format!("`{option}` needs root privileges: run as root, or remove the option");
        Failure::new(errno.raw_os_error(), format!("set{option}")).note("user-refused", advice)
    };
    if let Some(gid) = spec.worker.gid {
        // The other groups of the user who started the program would still open files. Without privilege they cannot be dropped.
        let _ = set_thread_groups(&[]);
        set_thread_gid(Gid::from_raw(gid)).map_err(|errno| refused("gid", errno))?;
    }
    match spec.worker.uid {
        Some(uid) => set_thread_uid(Uid::from_raw(uid)).map_err(|errno| refused("uid", errno)),
        None => Ok(()),
    }
}

/// The nice value that the calling thread begins with.
pub(crate) fn nice_value() -> i32 {
    getpriority_process(None).unwrap_or(0)
}

/// Sets the sum of the job's nice value and `base`, that of the process before the run.
pub(crate) fn set_nice(spec: &JobSpec, base: i32) -> Result<(), Failure> {
    if spec.nice == 0 {
        return Ok(());
    }
    // As nice(2), which adds: what is out of range means the nearest value in it.
    setpriority_process(None, (base + spec.nice).clamp(-20, 19))
        .map_err(|e| Failure::new(e.raw_os_error(), "nice").note("priority-refused", NICE_REFUSED))
}

/// Gives the main thread, which `ps` and `ionice` show as the process, the name, nice value and I/O priority that all jobs of the run share.
/// Errors are ignored, because each worker sets its own values and reports what is refused.
pub(crate) fn share(plan: &Plan, base: i32) {
    let mut specs = plan.jobs.iter().map(|job| &job.spec);
    let Some(first) = specs.next() else { return };
    let rest: Vec<&JobSpec> = specs.collect();
    if let Some(name) = &first.worker.comm
        && rest.iter().all(|spec| spec.worker.comm.as_ref() == Some(name))
        && let Ok(name) = CString::new(thread_name(name))
    {
        let _ = set_name(&name);
    }
    if let Some(priority) = first.priorities.own
        && rest.iter().all(|spec| spec.priorities.own == Some(priority))
    {
        let _ = set_io_priority(priority);
    }
    if rest.iter().all(|spec| spec.nice == first.nice) {
        let _ = set_nice(first, base);
    }
}

/// At most the 15 bytes that the kernel keeps of the name of a thread, cut between characters.
pub(crate) fn thread_name(name: &str) -> String {
    let mut short = String::new();
    for character in name.chars().filter(|&character| character != '\0') {
        if short.len() + character.len_utf8() > 15 {
            break;
        }
        short.push(character);
    }
    short
}

/// Advice about an I/O priority that the kernel refused with `errno`.
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
    // Each is seeded by the operating system, and no two are alike.
    [(); SEEDS].map(|()| RandomState::new().build_hasher().finish())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_thread_is_cut_at_15_bytes_between_characters() {
        assert_eq!(thread_name("worker7"), "worker7");
        assert_eq!(thread_name("averyverylongcommname"), "averyverylongco");
        assert_eq!(thread_name("abcdefghijklmn\u{e9}"), "abcdefghijklmn");
        assert_eq!(thread_name("a\0b"), "ab");
    }

    #[test]
    fn a_nice_value_is_added_once_however_often_it_is_set() {
        let worker = std::thread::spawn(|| {
            let base = nice_value();
            let spec = JobSpec { nice: 1, ..JobSpec::default() };
            let set = || set_nice(&spec, base).map(|()| nice_value() - base);
            (set().unwrap(), set().unwrap())
        });
        let grown = worker.join().unwrap();
        assert!(grown == (1, 1) || nice_value() == 19, "{grown:?}");
    }
}
