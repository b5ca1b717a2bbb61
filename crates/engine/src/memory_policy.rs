//! The NUMA policy of the memory that a worker uses, its I/O buffers above all.

use std::io;

use ferrio_job::MemoryPolicy;

/// Nodes that a mask has room for; the kernel has 1024 at most.
const NODES: usize = 1024;
const WORD: usize = u64::BITS as usize;

/// Sets the policy of the calling thread, for pages it touches first from now on.
///
/// # Errors
/// EINVAL for nodes without memory, ENOSYS where the kernel knows no nodes, EPERM where a sandbox forbids the call.
pub fn set_memory_policy(policy: &MemoryPolicy) -> io::Result<()> {
    let (mode, nodes) = match policy {
        MemoryPolicy::Default => (libc::MPOL_DEFAULT, &[][..]),
        MemoryPolicy::Local => (libc::MPOL_LOCAL, &[][..]),
        MemoryPolicy::Prefer(node) => (libc::MPOL_PREFERRED, std::slice::from_ref(node)),
        MemoryPolicy::Bind(nodes) => (libc::MPOL_BIND, &nodes[..]),
        MemoryPolicy::Interleave(nodes) => (libc::MPOL_INTERLEAVE, &nodes[..]),
    };
    let mut mask = [0u64; NODES / WORD];
    for &node in nodes {
        let word = mask.get_mut(node as usize / WORD).ok_or(io::ErrorKind::InvalidInput)?;
        *word |= 1 << (node as usize % WORD);
    }
    let (mask, bits) = if nodes.is_empty() { (std::ptr::null(), 0) } else { (mask.as_ptr(), NODES) };
    // SAFETY: the kernel reads at most `bits` bits at `mask`, which holds as many, and only during the call.
    match unsafe { libc::syscall(libc::SYS_set_mempolicy, mode, mask, bits) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}
