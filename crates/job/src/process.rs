//! The worker of a job: its name, user, memory and control group, its CPUs and NUMA nodes, its I/O priority, and those of single I/Os.

use std::fmt;

use crate::choice::choices;
use crate::{Direction, PerDirection};

choices! {
    /// `numa_mem_policy`, as a word.
    pub enum NumaMode {
        Default: "default", "The system's policy";
        Prefer: "prefer", "Preferably one node: prefer:0";
        Bind: "bind", "These nodes only: bind:0-1";
        Interleave: "interleave", "Pages on the nodes in turn: interleave:0-1";
        Local: "local", "The node of the CPU that allocates";
    }
}

/// `numa_mem_policy`: the nodes that the pages of a worker come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MemoryPolicy {
    /// As the system does it by default.
    Default,
    /// The node that the worker runs on.
    Local,
    /// This node as long as it has free memory.
    Prefer(u32),
    /// These nodes and no others.
    Bind(Vec<u32>),
    /// These nodes in turn.
    Interleave(Vec<u32>),
}

choices! {
    /// `cpus_allowed_policy`: how jobs share the CPUs that they name.
    pub enum CpusAllowedPolicy default Shared {
        Shared: "shared", "All jobs share the CPUs";
        Split: "split", "One of the CPUs for each job";
    }
}

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
    /// Its name below the root of the hierarchy.
    pub name: String,
    /// `cgroup_weight`: its share of a contended disk, 100..=1000.
    pub weight: Option<u32>,
    /// `cgroup_nodelete`: a group that the run created stays.
    pub keep: bool,
}

/// An I/O priority as the kernel packs it: the class in the top 3 bits, the hint in 10, the level in the low 3. 0 is none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IoPriority(u16);

impl IoPriority {
    /// The class of a priority that names none: best effort.
    pub const BEST_EFFORT: u8 = 2;
    /// The class that may starve all others; it needs a privilege.
    pub const REAL_TIME: u8 = 1;

    /// From a class (1 real time, 2 best effort, 3 idle; 0 means best effort), a hint below 1024 and a level below 8.
    #[must_use]
    pub const fn new(class: u8, hint: u16, level: u8) -> Self {
        let class = if class == 0 { Self::BEST_EFFORT } else { class };
        IoPriority(((class & 7) as u16) << 13 | (hint & 0x3ff) << 3 | (level & 7) as u16)
    }

    /// From the kernel's number.
    #[must_use]
    pub const fn from_bits(bits: u16) -> Self {
        IoPriority(bits)
    }

    /// The kernel's number.
    #[must_use]
    pub const fn bits(self) -> u16 {
        self.0
    }

    /// 0 none, 1 real time, 2 best effort, 3 idle.
    #[must_use]
    pub const fn class(self) -> u8 {
        (self.0 >> 13) as u8
    }

    /// What the device may make of it, below 1024.
    #[must_use]
    pub const fn hint(self) -> u16 {
        self.0 >> 3 & 0x3ff
    }

    /// Level in the class, 0 (first) to 7.
    #[must_use]
    pub const fn level(self) -> u8 {
        (self.0 & 7) as u8
    }

    /// True for the class that needs a privilege.
    #[must_use]
    pub const fn is_real_time(self) -> bool {
        self.class() == Self::REAL_TIME
    }
}

/// `class/level/hint`, as reports have it.
impl fmt::Display for IoPriority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}/{}", self.class(), self.level(), self.hint())
    }
}

/// A share of a direction's I/Os that is sent with a priority of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PriorityShare {
    /// Of the I/Os of this many bytes; of all for `None`.
    pub bytes: Option<u64>,
    /// Percent, 1..=100; those of one size add up to 100 at most.
    pub percent: u8,
    /// Their priority.
    pub priority: IoPriority,
}

/// The priorities of one job.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Priorities {
    /// `prio`, `prioclass`, `priohint`: of the worker, and of all its I/Os but the chosen ones; `None` if none was given.
    pub own: Option<IoPriority>,
    /// `cmdprio_*`: which I/Os have another one. None of the trims has.
    pub shares: PerDirection<Vec<PriorityShare>>,
}

impl Priorities {
    /// The kernel's number of the job's own priority, 0 if it has none.
    #[must_use]
    pub fn own_bits(&self) -> u16 {
        self.own.unwrap_or_default().bits()
    }

    /// True when some I/Os have another priority than the job.
    #[must_use]
    pub fn are_chosen(&self) -> bool {
        self.shares.0.iter().any(|shares| !shares.is_empty())
    }

    /// The kernel's numbers of all priorities that I/Os of a direction may have, each once: that of the job, then those chosen.
    #[must_use]
    pub fn of(&self, direction: Direction) -> Vec<u16> {
        let mut all = vec![self.own_bits()];
        for share in &self.shares[direction] {
            let bits = share.priority.bits();
            if !all.contains(&bits) {
                all.push(bits);
            }
        }
        all
    }
}
