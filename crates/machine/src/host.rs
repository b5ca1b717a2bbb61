//! The host as a whole: its name and kernel, its memory and huge pages, its clock, and the limits of this process.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use nix::sys::resource::{RLIM_INFINITY, Resource, getrlimit};
use nix::sys::utsname::uname;
use nix::time::{ClockId, clock_gettime};
use nix::unistd::{SysconfVar, sysconf};
use serde::Serialize;

use crate::files::{entries, sys_figure, sys_text};
use crate::interruptions::text_of_file;

/// The directory of the pools of huge pages.
const HUGE_PAGE_POOLS_DIR: &str = "/sys/kernel/mm/hugepages";

/// Settings of transparent huge pages.
const TRANSPARENT_HUGE_PAGES_DIR: &str = "/sys/kernel/mm/transparent_hugepage";

/// Identity of the host; `None` for what is unknown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Host {
    /// Network name.
    pub name: Option<String>,
    /// Release of the kernel.
    pub kernel: Option<String>,
    /// Architecture, under the kernel's name (`x86_64`).
    pub arch: Option<String>,
    /// Model of the first processor.
    pub cpu_model: Option<String>,
    /// Processors online.
    pub cpus_online: Option<u64>,
    /// Total bytes of memory (`MemTotal`).
    pub memory_bytes: Option<u64>,
}

impl Host {
    /// Queries the kernel.
    #[must_use]
    pub fn ask() -> Self {
        let names = uname().ok();
        let text = |field: &OsStr| Some(field.to_string_lossy().into_owned());
        Host {
            name: names.as_ref().and_then(|names| text(names.nodename())),
            kernel: names.as_ref().and_then(|names| text(names.release())),
            arch: names.as_ref().and_then(|names| text(names.machine())),
            cpu_model: cpu_model(&text_of_file("/proc/cpuinfo").unwrap_or_default()),
            cpus_online: sysconf_value(SysconfVar::_NPROCESSORS_ONLN),
            memory_bytes: memory(&meminfo(), "MemTotal:"),
        }
    }
}

/// The network name of the host; `None` if it is not text.
#[must_use]
pub fn host_name() -> Option<String> {
    uname().ok()?.nodename().to_str().map(str::to_owned)
}

/// Sizes that job files can use (`$pagesize`, `$mb_memory`, `$ncpus`) and that options are checked against.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Machine {
    /// Bytes per page.
    pub page_size: u64,
    /// Total memory in MiB.
    pub memory_mib: u64,
    /// Configured CPUs, online or not; at least 1.
    pub cpus: u32,
}

impl Machine {
    /// Queries the C library; unknown sizes get a common value.
    #[must_use]
    pub fn ask() -> Self {
        let page_size = page_bytes();
        let pages = sysconf_value(SysconfVar::_PHYS_PAGES).unwrap_or(0);
        let cpus = sysconf_value(SysconfVar::_NPROCESSORS_CONF).and_then(|n| u32::try_from(n).ok());
        Machine {
            page_size,
            memory_mib: pages.saturating_mul(page_size) >> 20,
            cpus: cpus.unwrap_or(1).max(1),
        }
    }
}

/// Resources of this process: CPUs, memory and limits. Serializes as the `machine` object of `ferrio check`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Resources {
    /// CPUs this process may use.
    pub cpus: usize,
    /// Total bytes of memory (`MemTotal`).
    pub memory_bytes: u64,
    /// Bytes of memory available now.
    pub memory_available_bytes: u64,
    /// Hard limit on open files, `None` if there is none. A job with many files raises its own soft limit.
    pub open_files: Option<u64>,
    /// Soft limit on locked memory, `None` if there is none.
    pub locked_memory_bytes: Option<u64>,
    /// Soft limit on the size of a file, `None` if there is none.
    pub file_size_bytes: Option<u64>,
    /// Linux version, major and minor.
    pub kernel: [u32; 2],
}

impl Resources {
    /// Queries the kernel; unknown limits count as none.
    #[must_use]
    pub fn ask() -> Self {
        let meminfo = meminfo();
        let finite = |limit: u64| Some(limit).filter(|&limit| limit != RLIM_INFINITY);
        let soft = |what| getrlimit(what).ok().and_then(|(soft, _)| finite(soft));
        let kernel = sys_text(Path::new("/proc/sys/kernel/osrelease")).unwrap_or_default();
        Resources {
            cpus: std::thread::available_parallelism().map_or(1, usize::from),
            memory_bytes: memory(&meminfo, "MemTotal:").unwrap_or(u64::MAX),
            memory_available_bytes: memory(&meminfo, "MemAvailable:").unwrap_or(u64::MAX),
            open_files: open_file_limits().and_then(|(_, hard)| finite(hard)),
            locked_memory_bytes: soft(Resource::RLIMIT_MEMLOCK),
            file_size_bytes: soft(Resource::RLIMIT_FSIZE),
            kernel: version(&kernel),
        }
    }
}

/// Soft and hard limit of the descriptors of this process; `None` if they are unknown.
#[must_use]
pub fn open_file_limits() -> Option<(u64, u64)> {
    getrlimit(Resource::RLIMIT_NOFILE).ok()
}

/// Bytes of address space that this process may still map; `None` if there is no limit (RLIMIT_AS).
#[must_use]
pub fn address_space_left() -> Option<u64> {
    let limit =
        getrlimit(Resource::RLIMIT_AS).ok().map(|(soft, _)| soft).filter(|&soft| soft != RLIM_INFINITY)?;
    let pages = text_of_file("/proc/self/statm").ok()?.split(' ').next()?.parse::<u64>().ok()?;
    Some(limit.saturating_sub(pages * sysconf_value(SysconfVar::PAGE_SIZE)?))
}

/// Whether the kernel has a clock with this number: a `clockid_t`, as for clock_gettime(2).
#[must_use]
pub fn has_clock(number: i32) -> bool {
    number >= 0 && clock_gettime(ClockId::from_raw(number)).is_ok()
}

/// The clock source that the kernel uses (`tsc`).
#[must_use]
pub fn clock_source() -> Option<String> {
    sys_text(Path::new("/sys/devices/system/clocksource/clocksource0/current_clocksource"))
}

/// Bytes per page of memory; a common value if it is unknown.
#[must_use]
pub fn page_bytes() -> u64 {
    sysconf_value(SysconfVar::PAGE_SIZE).filter(|&bytes| bytes > 0).unwrap_or(4096)
}

/// A value from sysconf(3), `None` if it is unknown or negative.
pub(crate) fn sysconf_value(variable: SysconfVar) -> Option<u64> {
    sysconf(variable).ok().flatten().and_then(|figure| u64::try_from(figure).ok())
}

/// The model of the first processor; not all architectures have such a line.
fn cpu_model(cpuinfo: &str) -> Option<String> {
    let value = |line: &str| {
        let (key, value) = line.split_once(':')?;
        matches!(key.trim(), "model name" | "cpu model" | "cpu").then(|| value.trim().to_owned())
    };
    cpuinfo.lines().find_map(value).filter(|model| !model.is_empty())
}

/// The pool of huge pages of one size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HugePagePool {
    /// Number of pages in the pool.
    pub pages: u64,
    /// Pages that are neither used nor reserved for a mapping.
    pub free: u64,
    /// The file that sets the number of pages.
    pub size_file: PathBuf,
}

impl HugePagePool {
    /// The pool of pages of `kib` KiB; `None` if the kernel has no such pages.
    #[must_use]
    pub fn of(kib: u64) -> Option<Self> {
        pool(Path::new(HUGE_PAGE_POOLS_DIR), kib)
    }

    /// All sizes of huge pages, smallest first, in the kernel's form (`2048kB`).
    #[must_use]
    pub fn sizes() -> Vec<String> {
        sizes(Path::new(HUGE_PAGE_POOLS_DIR))
    }
}

/// Bytes of a transparent huge page, a power of two; `None` if programs cannot request them.
#[must_use]
pub fn transparent_huge_page() -> Option<u64> {
    transparent_page(Path::new(TRANSPARENT_HUGE_PAGES_DIR))
}

fn transparent_page(settings: &Path) -> Option<u64> {
    let enabled = sys_text(&settings.join("enabled"))?;
    let size = sys_figure(&settings.join("hpage_pmd_size"))?;
    (!enabled.contains("[never]") && size.is_power_of_two()).then_some(size)
}

fn pool(pools: &Path, kib: u64) -> Option<HugePagePool> {
    let directory = pools.join(format!("hugepages-{kib}kB"));
    let figure = |name: &str| sys_figure(&directory.join(name));
    let free = figure("free_hugepages")?.saturating_sub(figure("resv_hugepages")?);
    Some(HugePagePool { pages: figure("nr_hugepages")?, free, size_file: directory.join("nr_hugepages") })
}

fn sizes(pools: &Path) -> Vec<String> {
    let size = |pool: PathBuf| Some(pool.file_name()?.to_str()?.strip_prefix("hugepages-")?.to_owned());
    let mut sizes: Vec<String> = entries(pools).into_iter().filter_map(size).collect();
    sizes.sort_by_key(String::len);
    sizes
}

fn meminfo() -> String {
    text_of_file("/proc/meminfo").unwrap_or_default()
}

/// `MemTotal:  24000 kB` in bytes.
fn memory(meminfo: &str, name: &str) -> Option<u64> {
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
    use std::fs;

    use super::*;

    #[test]
    fn the_wall_clock_and_the_monotonic_clock_exist_and_other_numbers_may_not() {
        assert_eq!([0, 1, 99, -1].map(has_clock), [true, true, false, false]);
    }

    #[test]
    fn the_model_of_the_first_processor_is_found() {
        let text = "processor\t: 0\nmodel\t\t: 106\nmodel name\t: Fast(R) CPU @ 2.90GHz\n\nprocessor\t: 1\nmodel name\t: Slow\n";
        assert_eq!(cpu_model(text).as_deref(), Some("Fast(R) CPU @ 2.90GHz"));
        assert_eq!(cpu_model("processor\t: 0\nBogoMIPS\t: 48.00\n"), None);
    }

    #[test]
    fn memory_is_in_bytes_and_versions_are_numbers() {
        let meminfo = "MemTotal:       24684096 kB\nMemFree: 1 kB\n";
        assert_eq!(memory(meminfo, "MemTotal:"), Some(25_276_514_304));
        assert_eq!(memory("MemFree: 1 kB\n", "MemTotal:"), None);
        assert_eq!((version("6.18.44-fc"), version("5.4\n"), version("")), ([6, 18], [5, 4], [0, 0]));
    }

    #[test]
    fn this_host_has_a_kernel_processors_and_memory() {
        let (host, machine, resources) = (Host::ask(), Machine::ask(), Resources::ask());
        assert!(host.kernel.is_some_and(|kernel| !kernel.is_empty()));
        assert!(host.cpus_online.is_some_and(|cpus| cpus > 0));
        assert!(machine.page_size.is_power_of_two() && machine.memory_mib > 0);
        assert!(resources.cpus > 0 && resources.memory_available_bytes <= resources.memory_bytes);
        assert!(open_file_limits().is_some_and(|(soft, hard)| soft <= hard));
    }

    #[test]
    fn huge_pages_are_there_for_those_who_ask_unless_the_setting_is_never() {
        let settings = tempfile::tempdir().unwrap();
        assert_eq!(transparent_page(settings.path()), None, "a kernel without them");
        fs::write(settings.path().join("hpage_pmd_size"), "2097152\n").unwrap();
        for (enabled, want) in [
            ("[always] madvise never", Some(2 << 20)),
            ("always [madvise] never", Some(2 << 20)),
            ("always madvise [never]", None),
        ] {
            fs::write(settings.path().join("enabled"), enabled).unwrap();
            assert_eq!(transparent_page(settings.path()), want, "{enabled}");
        }
    }

    #[test]
    fn reserved_pages_are_not_free() {
        let pools = tempfile::tempdir().unwrap();
        for (size, all, free, reserved) in [("1048576", 0, 0, 0), ("2048", 8, 3, 1)] {
            let pool = pools.path().join(format!("hugepages-{size}kB"));
            fs::create_dir(&pool).unwrap();
            for (name, value) in
                [("nr_hugepages", all), ("free_hugepages", free), ("resv_hugepages", reserved)]
            {
                fs::write(pool.join(name), format!("{value}\n")).unwrap();
            }
        }
        let found = pool(pools.path(), 2048).unwrap();
        assert_eq!((found.pages, found.free), (8, 2));
        assert!(found.size_file.ends_with("hugepages-2048kB/nr_hugepages"));
        assert_eq!(pool(pools.path(), 1024), None);
        assert_eq!(sizes(pools.path()), ["2048kB", "1048576kB"]);
    }
}
