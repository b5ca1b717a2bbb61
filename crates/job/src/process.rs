//! The worker of a job: its name, user, memory, control group and I/O scheduler.

/// The worker as the system sees it, and what it changes in the system.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WorkerProcess {
    /// `comm`: the name of the thread, of which the kernel keeps 15 bytes. Without it, the thread has the job's name.
    pub comm: Option<String>,
    /// `uid`: the user that the worker becomes before it opens a file.
    pub uid: Option<u32>,
    /// `gid`: its group.
    pub gid: Option<u32>,
    /// `lockmem`: bytes of memory that it takes from the machine while it runs, 0 for none.
    pub lockmem: u64,
    /// `ioscheduler`: the I/O scheduler of the disks under its files.
    pub io_scheduler: Option<String>,
    /// `cgroup`: the control group that it does its I/O in.
    pub cgroup: Option<Cgroup>,
}

/// A control group.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Cgroup {
    /// The name below the root of the hierarchy.
    pub name: String,
    /// `cgroup_weight`: its share of a contended disk, 100..=1000.
    pub weight: Option<u32>,
    /// `cgroup_nodelete`: a group that the run created stays.
    pub keep: bool,
}

/// An I/O scheduler that a disk does not switch to.
#[must_use]
pub fn io_scheduler_not_set(wanted: &str) -> String {
    format!("unable to set io scheduler to {wanted}")
}

/// The schedulers that a disk has, as the kernel lists them.
#[must_use]
pub fn io_schedulers_of(disk: &str, available: &str) -> String {
    format!("{disk} has {available}")
}
