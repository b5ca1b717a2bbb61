//! The machine's CPUs and NUMA nodes, and the CPUs that this process may use.

use std::io;
use std::path::Path;

use nix::sched::{CpuSet, sched_getaffinity};
use nix::unistd::Pid;

use crate::files::sys_text;

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

/// A NUMA node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NumaNode {
    /// Its number.
    pub id: u32,
    /// Its CPUs; none for a node with memory only.
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
}
