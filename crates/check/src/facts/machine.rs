//! CPUs, memory and limits of this process.

use std::fs;

use nix::sys::resource::{RLIM_INFINITY, Resource, getrlimit};

use crate::model::Machine;

/// Asks once; what is not known is no limit.
pub(super) fn ask() -> Machine {
    let memory = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    Machine {
        cpus: std::thread::available_parallelism().map_or(1, usize::from),
        memory_bytes: field(&memory, "MemTotal:").unwrap_or(u64::MAX),
        memory_available_bytes: field(&memory, "MemAvailable:").unwrap_or(u64::MAX),
        // A job with many files raises its own limit.
        open_files: limits(Resource::RLIMIT_NOFILE)
            .map(|(_, hard)| hard)
            .filter(|&hard| hard != RLIM_INFINITY),
        locked_memory_bytes: soft(Resource::RLIMIT_MEMLOCK),
        file_size_bytes: soft(Resource::RLIMIT_FSIZE),
        kernel: version(&kernel),
    }
}

fn soft(what: Resource) -> Option<u64> {
    limits(what).map(|(soft, _)| soft).filter(|&soft| soft != RLIM_INFINITY)
}

/// Soft and hard limit.
fn limits(what: Resource) -> Option<(u64, u64)> {
    getrlimit(what).ok()
}

/// `MemTotal:  24000 kB` in bytes.
fn field(meminfo: &str, name: &str) -> Option<u64> {
    let rest = meminfo.lines().find_map(|line| line.strip_prefix(name))?;
    rest.split_whitespace().next()?.parse::<u64>().ok()?.checked_mul(1024)
}

/// `6.18.4-generic` is 6.18.
fn version(release: &str) -> [u32; 2] {
    let mut parts = release.split(|c: char| !c.is_ascii_digit()).map(|part| part.parse().unwrap_or(0));
    [parts.next().unwrap_or(0), parts.next().unwrap_or(0)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_in_bytes_and_versions_are_numbers() {
        assert_eq!(field("MemTotal:       24684096 kB\nMemFree: 1 kB\n", "MemTotal:"), Some(25_276_514_304));
        assert_eq!(field("MemFree: 1 kB\n", "MemTotal:"), None);
        assert_eq!((version("6.18.44-fc"), version("5.4\n"), version("")), ([6, 18], [5, 4], [0, 0]));
    }
}
