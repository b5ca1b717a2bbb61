//! The host: its name, its kernel, its processors, its memory.

use std::fs;

use nix::sys::utsname::uname;
use nix::unistd::{SysconfVar, sysconf};

/// What a host says of itself; `None` is what it does not say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Host {
    /// Network name.
    pub name: Option<String>,
    /// Release of the kernel.
    pub kernel: Option<String>,
    /// Architecture in the kernel's words (`x86_64`).
    pub arch: Option<String>,
    /// Model of the first processor.
    pub cpu_model: Option<String>,
    /// Processors in service.
    pub cpus_online: Option<u64>,
    /// Bytes of memory.
    pub memory_bytes: Option<u64>,
}

impl Host {
    /// Asks the kernel.
    #[must_use]
    pub fn ask() -> Self {
        let names = uname().ok();
        let text = |field: &std::ffi::OsStr| Some(field.to_string_lossy().into_owned());
        let online = sysconf(SysconfVar::_NPROCESSORS_ONLN).ok().flatten();
        Host {
            name: names.as_ref().and_then(|names| text(names.nodename())),
            kernel: names.as_ref().and_then(|names| text(names.release())),
            arch: names.as_ref().and_then(|names| text(names.machine())),
            cpu_model: cpu_model(&fs::read_to_string("/proc/cpuinfo").unwrap_or_default()),
            cpus_online: online.and_then(|cpus| u64::try_from(cpus).ok()),
            memory_bytes: memory(&fs::read_to_string("/proc/meminfo").unwrap_or_default()),
        }
    }
}

/// Not all architectures have such a line.
fn cpu_model(cpuinfo: &str) -> Option<String> {
    let value = |line: &str| {
        let (key, value) = line.split_once(':')?;
        matches!(key.trim(), "model name" | "cpu model" | "cpu").then(|| value.trim().to_owned())
    };
    cpuinfo.lines().find_map(value).filter(|model| !model.is_empty())
}

/// `MemTotal:  24000 kB` in bytes.
fn memory(meminfo: &str) -> Option<u64> {
    let rest = meminfo.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    rest.split_whitespace().next()?.parse::<u64>().ok()?.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_model_of_the_first_processor_is_found() {
        let text = "processor\t: 0\nmodel\t\t: 106\nmodel name\t: Fast(R) CPU @ 2.90GHz\n\nprocessor\t: 1\nmodel name\t: Slow\n";
        assert_eq!(cpu_model(text).as_deref(), Some("Fast(R) CPU @ 2.90GHz"));
        assert_eq!(cpu_model("processor\t: 0\nBogoMIPS\t: 48.00\n"), None);
    }

    #[test]
    fn memory_is_in_bytes() {
        assert_eq!(memory("MemTotal:       24684096 kB\nMemFree: 1 kB\n"), Some(25_276_514_304));
        assert_eq!(memory("MemFree: 1 kB\n"), None);
    }

    #[test]
    fn this_host_has_a_kernel_and_processors() {
        let host = Host::ask();
        assert!(host.kernel.is_some_and(|kernel| !kernel.is_empty()));
        assert!(host.cpus_online.is_some_and(|cpus| cpus > 0));
    }
}
