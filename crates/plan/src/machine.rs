//! What planning and job files may ask of the machine as a whole.

use nix::unistd::{SysconfVar, sysconf};

/// Figures of this machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Machine {
    /// Bytes per page.
    pub page_size: u64,
    /// MiB of memory.
    pub memory_mib: u64,
    /// Configured CPUs, online or not; at least 1.
    pub cpus: u32,
}

impl Machine {
    /// Asks the C library; what it does not know gets a common value.
    #[must_use]
    pub fn ask() -> Self {
        let ask = |what| sysconf(what).ok().flatten().and_then(|n| u64::try_from(n).ok());
        let page_size = ask(SysconfVar::PAGE_SIZE).unwrap_or(4096);
        let pages = ask(SysconfVar::_PHYS_PAGES).unwrap_or(0);
        let cpus = ask(SysconfVar::_NPROCESSORS_CONF).and_then(|n| u32::try_from(n).ok()).unwrap_or(1).max(1);
        Machine { page_size, memory_mib: pages.saturating_mul(page_size) >> 20, cpus }
    }
}
