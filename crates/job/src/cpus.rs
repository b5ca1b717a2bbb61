//! The CPUs of a job, and the NUMA nodes of its memory.

use crate::choice::choices;

choices! {
    /// The keyword of `numa_mem_policy`, without the nodes.
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
    /// The default of the system.
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
