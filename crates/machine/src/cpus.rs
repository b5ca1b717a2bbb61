//! The machine's CPUs and NUMA nodes, the CPUs that this process may use, and how busy all of them are.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::sync::Arc;

use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::sys::resource::{UsageWho, getrusage};
use nix::unistd::{Pid, SysconfVar};

use crate::files::sys_text;
use crate::host::sysconf_value;
use crate::interruptions::open_to_read;

const NODES: &str = "/sys/devices/system/node";

/// Highest number of a node or CPU; a list with higher ones is refused, which bounds its memory.
const MAX_ID: u32 = 65_535;

/// The CPUs that the calling thread may run on, in ascending order.
///
/// # Errors
/// The kernel does not answer.
pub fn allowed_cpus() -> io::Result<Vec<usize>> {
    let allowed = sched_getaffinity(Pid::from_raw(0))?;
    Ok((0..CpuSet::count()).filter(|&cpu| allowed.is_set(cpu).unwrap_or(false)).collect())
}

/// Restricts the calling thread to these CPUs.
///
/// # Errors
/// EINVAL for a number that no CPU can have, or when this process may use none of them.
pub fn run_on(cpus: impl IntoIterator<Item = usize>) -> io::Result<()> {
    let mut set = CpuSet::new();
    cpus.into_iter().try_for_each(|cpu| set.set(cpu))?;
    Ok(sched_setaffinity(Pid::from_raw(0), &set)?)
}

/// A NUMA node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NumaNode {
    /// Number of the node.
    pub id: u32,
    /// CPUs of the node; none for a node with memory only.
    pub cpus: Vec<u32>,
}

impl NumaNode {
    /// The nodes that are online; without NUMA, one node with all `cpus`.
    #[must_use]
    pub fn online(cpus: u32) -> Vec<NumaNode> {
        let read = |name: &str| id_list(&sys_text(&Path::new(NODES).join(name)).unwrap_or_default());
        let online = read("online").unwrap_or_default().into_iter();
        let nodes: Vec<NumaNode> = online
            .filter_map(|id| Some(NumaNode { id, cpus: read(&format!("node{id}/cpulist"))? }))
            .collect();
        if nodes.is_empty() { vec![NumaNode { id: 0, cpus: (0..cpus).collect() }] } else { nodes }
    }
}

/// The numbers in a list as the kernel writes it (`0-2,5`), `None` for other texts; an empty text is an empty list.
fn id_list(text: &str) -> Option<Vec<u32>> {
    let mut ids = Vec::new();
    for span in text.split(',').filter(|span| !span.is_empty()) {
        let (first, last) = span.split_once('-').unwrap_or((span, span));
        let (first, last) = (first.trim().parse::<u32>().ok()?, last.trim().parse().ok()?);
        if last > MAX_ID {
            return None;
        }
        ids.extend(first..=last);
    }
    Some(ids)
}

/// Bytes that the first line of `/proc/stat` fits into: ten numbers of at most 20 digits.
const STAT_LINE: usize = 256;

/// The counters of CPU time, and what they said when it began.
///
/// The kernel's counters stay open: what a run opens once takes no descriptor in its midst, so the numbers of the files of
/// its jobs do not depend on when the machine is asked.
#[derive(Clone, Debug, Default)]
pub struct CpuMeter {
    stat: Option<Arc<File>>,
    start: CpuTime,
}

impl CpuMeter {
    /// Begins to measure.
    #[must_use]
    pub fn begin() -> Self {
        let stat = open_to_read("/proc/stat").ok().map(Arc::new);
        let start = CpuTime::now(stat.as_deref());
        CpuMeter { stat, start }
    }

    /// CPU time since then.
    #[must_use]
    pub fn so_far(&self) -> CpuUse {
        CpuTime::now(self.stat.as_deref()).since(&self.start)
    }
}

/// CPU time since the machine or this process started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct CpuTime {
    /// Time of all processors, in ticks; 0 if it is unknown.
    machine: Ticks,
    /// CPU time of this process and the commands it ran, µs.
    own_us: u64,
    /// The part of it outside the kernel.
    own_user_us: u64,
    /// Ticks per second.
    ticks: u64,
}

/// Time of all processors together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Ticks {
    /// All time, busy, idle or stolen.
    all: u64,
    /// Busy time.
    busy: u64,
    /// Busy time outside the kernel.
    user: u64,
    /// Time that the hypervisor gave to other machines although there was work.
    stolen: u64,
}

/// CPU time between two readings, µs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CpuUse {
    /// All time of all processors; 0 if it is unknown.
    pub all_us: u64,
    /// Busy time.
    pub busy_us: u64,
    /// Busy time outside the kernel.
    pub user_us: u64,
    /// Busy time of this process and the commands it ran.
    pub own_us: u64,
    /// The part of it outside the kernel.
    pub own_user_us: u64,
    /// Time that the hypervisor gave to other machines although there was work.
    pub stolen_us: u64,
}

impl CpuTime {
    /// Reads the counters; without `/proc/stat` those of the machine are unknown.
    fn now(stat: Option<&File>) -> Self {
        let machine = stat.and_then(read_stat).unwrap_or_default();
        let own = |who| {
            let usage = getrusage(who).ok()?;
            let us = |t: nix::sys::time::TimeVal| t.tv_sec() as u64 * 1_000_000 + t.tv_usec() as u64;
            Some((us(usage.user_time()), us(usage.system_time())))
        };
        let (user, system) = own(UsageWho::RUSAGE_SELF).unwrap_or_default();
        let (child_user, child_system) = own(UsageWho::RUSAGE_CHILDREN).unwrap_or_default();
        let ticks = sysconf_value(SysconfVar::CLK_TCK);
        let own_user_us = user + child_user;
        let own_us = own_user_us + system + child_system;
        CpuTime { machine, own_us, own_user_us, ticks: ticks.unwrap_or(100).max(1) }
    }

    /// Growth since an earlier reading.
    fn since(&self, earlier: &CpuTime) -> CpuUse {
        // Without the earlier reading, these would be times since the machine started.
        let machine = if earlier.machine.all == 0 { Ticks::default() } else { self.machine };
        let us = |of: fn(&Ticks) -> u64| {
            of(&machine).saturating_sub(of(&earlier.machine)).saturating_mul(1_000_000) / self.ticks
        };
        CpuUse {
            all_us: us(|machine| machine.all),
            busy_us: us(|machine| machine.busy),
            user_us: us(|machine| machine.user),
            own_us: self.own_us.saturating_sub(earlier.own_us),
            own_user_us: self.own_user_us.saturating_sub(earlier.own_user_us),
            stolen_us: us(|machine| machine.stolen),
        }
    }
}

impl CpuUse {
    /// Busy time of other programs and of the kernel on their behalf, µs.
    #[must_use]
    pub fn others_us(&self) -> u64 {
        self.busy_us.saturating_sub(self.own_us)
    }

    /// The part of it outside the kernel, µs.
    #[must_use]
    pub fn others_user_us(&self) -> u64 {
        self.user_us.saturating_sub(self.own_user_us)
    }

    /// One of these times in percent of all processors, at most 100; 0 if that is unknown.
    #[must_use]
    pub fn share(&self, us: u64) -> f64 {
        if self.all_us == 0 { 0.0 } else { (100.0 * us as f64 / self.all_us as f64).min(100.0) }
    }
}

fn read_stat(stat: &File) -> Option<Ticks> {
    let mut line = [0; STAT_LINE];
    let len = stat.read_at(&mut line, 0).ok()?;
    parse_stat(&String::from_utf8_lossy(&line[..len]))
}

/// The first line of `/proc/stat`: user nice system idle iowait irq softirq steal, guests counted in user and nice.
fn parse_stat(stat: &str) -> Option<Ticks> {
    let fields = stat.lines().next()?.strip_prefix("cpu ")?.split_ascii_whitespace().take(8);
    let fields: Vec<u64> = fields.map(str::parse).collect::<Result<_, _>>().ok()?;
    let all: u64 = fields.iter().sum();
    let idle = fields.get(3)? + fields.get(4)?;
    let stolen = fields.get(7).copied().unwrap_or(0);
    Some(Ticks { all, busy: all - idle - stolen, user: fields.first()? + fields.get(1)?, stolen })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_names_numbers_and_ranges() {
        assert_eq!(id_list("0-2,5"), Some(vec![0, 1, 2, 5]));
        assert_eq!((id_list(""), id_list("x"), id_list("0-4000000000")), (Some(Vec::new()), None, None));
    }

    #[test]
    fn every_machine_has_a_node_and_a_cpu_to_run_on() {
        assert!(!NumaNode::online(1).is_empty());
        assert!(!allowed_cpus().unwrap().is_empty());
    }

    #[test]
    fn waiting_for_disks_is_not_busy_time() {
        let ticks = parse_stat("cpu  10 1 5 100 50 2 3 4 7 0\ncpu0 1 1\n");
        assert_eq!(ticks, Some(Ticks { all: 175, busy: 21, user: 11, stolen: 4 }));
        assert_eq!((parse_stat(""), parse_stat("cpu  1 2 3\n"), parse_stat("intr 5\n")), (None, None, None));
    }

    #[test]
    fn the_counters_of_this_machine_can_be_read_again_and_again() {
        let meter = CpuMeter::begin();
        let first = meter.so_far();
        let mut grown = meter.so_far();
        while grown.all_us == first.all_us {
            grown = meter.so_far();
        }
        assert!(grown.all_us > first.all_us && grown.own_us > 0);
    }

    #[test]
    fn shares_are_of_all_processors() {
        let machine = |all, busy, user, stolen| Ticks { all, busy, user, stolen };
        let before = CpuTime { machine: machine(1000, 100, 50, 0), ticks: 100, ..CpuTime::default() };
        let after = CpuTime {
            machine: machine(1200, 250, 100, 20),
            own_us: 500_000,
            own_user_us: 100_000,
            ticks: 100,
        };
        let used = after.since(&before);
        assert_eq!((used.all_us, used.busy_us, used.stolen_us), (2_000_000, 1_500_000, 200_000));
        assert_eq!((used.share(used.busy_us), used.others_us()), (75.0, 1_000_000));
        assert_eq!(used.others_user_us(), 400_000);
        assert_eq!(CpuUse::default().share(5), 0.0);
    }
}
