//! Throttling of this process's CPUs: limits of control groups (`cpu.stat`), and heat (`thermal_throttle`).

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::cgroups::cpu_groups;
use crate::files::{entries, sys_figure};
use crate::interruptions::text_of_file;

const CPUS: &str = "/sys/devices/system/cpu";

/// Files of a group with the time for which it was throttled. The second includes the time of groups above it, even of those that are
/// invisible in a container; kernels before 6.6 lack it.
const CGROUP_FILES: [&str; 2] = ["cpu.stat", "cpu.stat.local"];

/// The kernel's counters of throttling, and their values at the start. The default observes nothing.
///
/// No file stays open: a process may have few descriptors.
#[derive(Clone, Debug, Default)]
pub struct ThrottleMeter {
    /// Files of the group of this process and of the groups above it, and their time in µs.
    groups: Vec<(PathBuf, u64)>,
    heat: Vec<HeatCounter>,
    began: Option<Instant>,
}

/// The throttling since the start of a meter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CpuThrottling {
    /// Time for which a limit of the control group stopped its threads, µs, summed over CPUs. Of several nested groups, the longest time
    /// counts.
    pub cgroup_us: u64,
    /// Number of times that heat slowed down the core or socket to which this happened most often.
    pub heat_events: u64,
    /// Time for which heat slowed down the core or socket with the longest such time, µs; `None` if the kernel does not report it.
    pub heat_us: Option<u64>,
    /// Duration of the measurement.
    pub watched: Duration,
}

/// Counters of one core or socket.
#[derive(Clone, Debug)]
struct HeatCounter {
    count: PathBuf,
    time: PathBuf,
    start: (u64, Option<u64>),
}

impl ThrottleMeter {
    /// Starts to measure.
    #[must_use]
    pub fn begin() -> Self {
        ThrottleMeter::of(&cpu_groups(), Path::new(CPUS))
    }

    /// Measures these groups, of which the first is that of the process, and the CPUs below a directory.
    fn of(groups: &[PathBuf], cpus: &Path) -> Self {
        let files = groups.iter().enumerate().flat_map(|(level, group)| {
            let names = if level == 0 { &CGROUP_FILES[..] } else { &CGROUP_FILES[..1] };
            names.iter().map(|name| group.join(name))
        });
        // A group has no such time without the controller.
        let with_time = |path: PathBuf| throttled_us(&path).map(|us| (path, us));
        ThrottleMeter {
            groups: files.filter_map(with_time).collect(),
            heat: heat_counters(cpus),
            began: Some(Instant::now()),
        }
    }

    /// Restarts the measurement.
    pub fn restart(&mut self) {
        for (file, start) in &mut self.groups {
            *start = throttled_us(file).unwrap_or(*start);
        }
        for counter in &mut self.heat {
            counter.start = counter.now().unwrap_or(counter.start);
        }
        self.began = self.began.map(|_| Instant::now());
    }

    /// The throttling since the start.
    #[must_use]
    pub fn so_far(&self) -> CpuThrottling {
        let group = |(file, start): &(PathBuf, u64)| Some(throttled_us(file)?.saturating_sub(*start));
        let mut found = CpuThrottling {
            cgroup_us: self.groups.iter().filter_map(group).max().unwrap_or(0),
            watched: self.began.map_or(Duration::ZERO, |began| began.elapsed()),
            ..CpuThrottling::default()
        };
        for counter in &self.heat {
            let Some((events, ms)) = counter.now() else { continue };
            found.heat_events = found.heat_events.max(events.saturating_sub(counter.start.0));
            if let Some((ms, start_ms)) = ms.zip(counter.start.1) {
                let us = ms.saturating_sub(start_ms).saturating_mul(1000);
                found.heat_us = Some(found.heat_us.map_or(us, |most| most.max(us)));
            }
        }
        found
    }
}

impl HeatCounter {
    /// Events and, if known, their time in ms. The time is read only if there was an event since the start.
    fn now(&self) -> Option<(u64, Option<u64>)> {
        let count = sys_figure(&self.count)?;
        let (start_count, start_ms) = self.start;
        let ms = if count == start_count { start_ms } else { sys_figure(&self.time) };
        Some((count, ms))
    }
}

/// The counters of all cores and sockets, one CPU of each: the others of a core count the same.
fn heat_counters(cpus: &Path) -> Vec<HeatCounter> {
    let mut seen = HashSet::new();
    let mut all = Vec::new();
    let is_cpu = |path: &&PathBuf| {
        let number = path.file_name().and_then(|name| name.to_str()?.strip_prefix("cpu"));
        number.is_some_and(|number| number.starts_with(|digit: char| digit.is_ascii_digit()))
    };
    let directories =
        entries(cpus).iter().filter(is_cpu).map(|cpu| cpu.join("thermal_throttle")).collect::<Vec<_>>();
    for directory in directories.into_iter().filter(|path| path.is_dir()) {
        let topology = |name: &str| sys_figure(&directory.join("../topology").join(name));
        let core = topology("physical_package_id").zip(topology("core_id"));
        if core.is_some_and(|core| !seen.insert(core)) {
            continue;
        }
        for unit in ["core", "package"] {
            let file = |figure: &str| directory.join(format!("{unit}_throttle_{figure}"));
            let (count, time) = (file("count"), file("total_time_ms"));
            if let Some(start) = sys_figure(&count) {
                let start = (start, sys_figure(&time));
                all.push(HeatCounter { count, time, start });
            }
        }
    }
    all
}

/// The time for which a group was throttled, µs; `None` if its file does not contain it.
fn throttled_us(cpu_stat: &Path) -> Option<u64> {
    parse(&text_of_file(cpu_stat).ok()?)
}

/// `throttled_usec` of version 2, or `throttled_time` of version 1, which is in ns.
fn parse(cpu_stat: &str) -> Option<u64> {
    cpu_stat.lines().find_map(|line| match line.split_once(' ')? {
        ("throttled_usec", us) => us.parse().ok(),
        ("throttled_time", ns) => Some(ns.parse::<u64>().ok()? / 1000),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn write(path: &Path, text: &str) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    #[test]
    fn both_versions_say_how_long_a_group_was_throttled() {
        let v1 = "nr_periods 21\nnr_throttled 21\nthrottled_time 1746061444\nnr_bursts 0\n";
        let v2 = "usage_usec 5\nnr_periods 21\nnr_throttled 21\nthrottled_usec 1746061\nnr_bursts 0\n";
        assert_eq!((parse(v1), parse(v2)), (Some(1_746_061), Some(1_746_061)));
        assert_eq!((parse(""), parse("usage_usec 5\n"), parse("throttled_usec x\n")), (None, None, None));
    }

    #[test]
    fn the_level_that_was_stopped_longest_counts() {
        let dir = tempfile::tempdir().unwrap();
        let group = |name: &str| dir.path().join(name);
        let stat =
            |name: &str, us: u64| write(&group(name), &format!("nr_throttled 1\nthrottled_usec {us}\n"));
        stat("a/b/cpu.stat", 100);
        write(&group("a/cpu.stat"), "usage_usec 7\n");
        stat("cpu.stat", 5000);
        let groups = [group("a/b"), group("a"), group("")];
        let mut meter = ThrottleMeter::of(&groups, &group("cpus"));
        assert_eq!(meter.so_far().cgroup_us, 0);
        stat("a/b/cpu.stat", 350);
        stat("cpu.stat", 5200);
        assert_eq!(meter.so_far().cgroup_us, 250);
        stat("cpu.stat", 6000);
        assert_eq!(meter.so_far().cgroup_us, 1000);
        meter.restart();
        assert_eq!(meter.so_far().cgroup_us, 0);
    }

    #[test]
    fn groups_that_a_container_does_not_see_count_in_its_own() {
        let dir = tempfile::tempdir().unwrap();
        let stat = |name: &str, us: u64| write(&dir.path().join(name), &format!("throttled_usec {us}\n"));
        stat("cpu.stat", 0);
        stat("cpu.stat.local", 0);
        let meter = ThrottleMeter::of(&[dir.path().to_owned()], &dir.path().join("cpus"));
        stat("cpu.stat.local", 70);
        assert_eq!(meter.so_far().cgroup_us, 70);
    }

    #[test]
    fn the_hottest_core_or_socket_counts() {
        let dir = tempfile::tempdir().unwrap();
        let set = |cpu: u32, name: &str, value: u64| {
            write(&dir.path().join(format!("cpu{cpu}/{name}")), &format!("{value}\n"));
        };
        for (cpu, core) in [(0, 0), (1, 1), (2, 0)] {
            set(cpu, "topology/physical_package_id", 0);
            set(cpu, "topology/core_id", core);
            set(cpu, "thermal_throttle/core_throttle_count", 10);
            set(cpu, "thermal_throttle/package_throttle_count", 20);
        }
        write(&dir.path().join("cpufreq/boost"), "1\n");
        let meter = ThrottleMeter::of(&[], dir.path());
        assert_eq!(meter.heat.len(), 4, "two cores, core and package of each");
        assert_eq!((meter.so_far().heat_events, meter.so_far().heat_us), (0, None));
        set(1, "thermal_throttle/core_throttle_count", 13);
        set(0, "thermal_throttle/package_throttle_count", 22);
        assert_eq!(
            (meter.so_far().heat_events, meter.so_far().heat_us),
            (3, None),
            "old kernels have no times"
        );
        set(1, "thermal_throttle/core_throttle_total_time_ms", 400);
        let meter = ThrottleMeter::of(&[], dir.path());
        assert_eq!(meter.so_far().heat_us, Some(0));
        set(1, "thermal_throttle/core_throttle_count", 14);
        set(1, "thermal_throttle/core_throttle_total_time_ms", 425);
        assert_eq!((meter.so_far().heat_events, meter.so_far().heat_us), (1, Some(25_000)));
    }

    #[test]
    fn this_machine_can_be_asked_and_the_default_watches_nothing() {
        assert!(ThrottleMeter::begin().so_far().watched > Duration::ZERO);
        let mut nothing = ThrottleMeter::default();
        nothing.restart();
        assert_eq!(nothing.so_far(), CpuThrottling::default());
    }
}
