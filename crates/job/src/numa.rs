//! NUMA placement of a job's memory.

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
