//! Control groups (cgroups(7)): the hierarchy that accounts for I/O and the group of the calling thread in it, and the groups that limit
//! the CPU time of this process.

use std::path::{Path, PathBuf};

use crate::files::sys_figure;
use crate::interruptions::text_of_file;
use crate::mounts::{Mount, Mounts};

/// Memory limits from here on mean no limit.
const UNLIMITED: u64 = 1 << 62;

/// The hierarchy of control groups that accounts for I/O.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IoCgroups {
    /// The mount point.
    pub root: PathBuf,
    /// Whether each thread can be in a group of its own, as in version 1. In version 2 the I/O of all threads of a process belongs to one
    /// group.
    pub per_thread: bool,
}

impl IoCgroups {
    /// Finds the hierarchy: that of the controller `blkio` of version 1 if it is mounted, because the controller is in no other then;
    /// otherwise that of version 2.
    #[must_use]
    pub fn mounted() -> Option<Self> {
        IoCgroups::among(&Mounts::known())
    }

    fn among(mounts: &Mounts) -> Option<Self> {
        let v1 = hierarchies(mounts, Some("blkio")).next();
        let mount = v1.or_else(|| hierarchies(mounts, None).next())?;
        Some(IoCgroups { root: mount.point.clone(), per_thread: v1.is_some() })
    }

    /// The group of the calling thread.
    #[must_use]
    pub fn current(&self) -> PathBuf {
        let text = text_of_file("/proc/thread-self/cgroup").unwrap_or_default();
        let controller = self.per_thread.then_some("blkio");
        let group = self.root.join(named(&text, controller).unwrap_or_default().trim_start_matches('/'));
        // In a container the name may be that of a group outside it.
        if group.is_dir() { group } else { self.root.clone() }
    }

    /// The directory of a group, which may not exist.
    #[must_use]
    pub fn group(&self, name: &str) -> PathBuf {
        self.root.join(Path::new(name.trim_matches('/')))
    }
}

/// The groups that limit the CPU time of this process: its own, and each one above it, as far as they are mounted. In the hierarchy of the
/// controller `cpu` of version 1 if it is mounted, otherwise in that of version 2.
pub(crate) fn cpu_groups() -> Vec<PathBuf> {
    groups_of("cpu")
}

/// Bytes of memory that the control groups of this process leave it: those of the tightest limit, minus memory in use that cannot be
/// dropped like the page cache. `None` without a limit.
#[must_use]
pub fn cgroup_memory_left() -> Option<u64> {
    groups_of("memory").iter().filter_map(|group| memory_left_in(group)).min()
}

/// Memory that one group leaves, by the files of either version. Without a limit, version 1 has a number that no machine reaches.
fn memory_left_in(group: &Path) -> Option<u64> {
    let figure = |names: [&str; 2]| names.iter().find_map(|name| sys_figure(&group.join(name)));
    let limit = figure(["memory.max", "memory.limit_in_bytes"]).filter(|&limit| limit < UNLIMITED)?;
    let used = figure(["memory.current", "memory.usage_in_bytes"])?;
    let details = text_of_file(group.join("memory.stat")).unwrap_or_default();
    let part = |words: [&str; 2]| -> u64 {
        let value =
            |word: &str| details.lines().find_map(|line| line.strip_prefix(word)?.trim().parse().ok());
        words.iter().find_map(|word| value(&format!("{word} "))).unwrap_or(0)
    };
    let cache = part(["total_inactive_file", "inactive_file"]) + part(["total_active_file", "active_file"]);
    Some(limit.saturating_sub(used.saturating_sub(cache)))
}

/// The group of this process in the hierarchy of a controller of version 1, or of version 2, and those above it, as far as they are
/// mounted.
fn groups_of(controller: &str) -> Vec<PathBuf> {
    let lines = text_of_file("/proc/self/cgroup").unwrap_or_default();
    groups_among(controller, &Mounts::known(), &lines)
}

fn groups_among(controller: &str, mounts: &Mounts, lines: &str) -> Vec<PathBuf> {
    let controller = hierarchies(mounts, Some(controller)).next().map(|_| controller);
    let name = Path::new(named(lines, controller).unwrap_or("/"));
    // A container has a part of the hierarchy, and may have the rest elsewhere.
    let group_at = |mount: &Mount| Some(mount.point.join(name.strip_prefix(&mount.root).ok()?));
    let mut found = hierarchies(mounts, controller)
        .filter_map(|mount| Some((mount, group_at(mount).filter(|group| group.is_dir())?)));
    let outside = || hierarchies(mounts, controller).next().map(|mount| (mount, mount.point.clone()));
    let Some((mount, group)) = found.next().or_else(outside) else { return Vec::new() };
    group.ancestors().take_while(|above| above.starts_with(&mount.point)).map(Path::to_owned).collect()
}

/// Mounts of the hierarchy of a controller of version 1, or of version 2 for `None`.
fn hierarchies<'a>(mounts: &'a Mounts, controller: Option<&'a str>) -> impl Iterator<Item = &'a Mount> {
    mounts.0.iter().filter(move |mount| match controller {
        Some(name) => mount.file_system == "cgroup" && mount.options.split(',').any(|option| option == name),
        None => mount.file_system == "cgroup2",
    })
}

/// The name of a group in the lines `7:blkio:/a` (version 1, of the hierarchy of a controller) or `0::/a` (version 2, for `None`).
fn named<'a>(lines: &'a str, controller: Option<&str>) -> Option<&'a str> {
    lines.lines().find_map(|line| {
        let mut fields = line.splitn(3, ':').skip(1);
        let (controllers, name) = (fields.next()?, fields.next()?);
        let wanted = match controller {
            Some(controller) => controllers.split(',').any(|word| word == controller),
            None => controllers.is_empty(),
        };
        wanted.then_some(name)
    })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::mounts::parse;

    #[test]
    fn the_controller_of_version_1_comes_before_version_2() {
        let v2 = "30 1 0:9 / /sys/fs/cgroup/unified rw - cgroup2 none rw\n";
        let v1 = "31 1 0:8 / /sys/fs/cgroup/cpu rw - cgroup none rw,cpu\n32 1 0:7 / /cg/blkio rw - cgroup none rw,blkio\n";
        let found = |text: &str| {
            IoCgroups::among(&Mounts(parse(text.as_bytes()))).map(|found| (found.root, found.per_thread))
        };
        assert_eq!(found(&[v2, v1].concat()), Some(("/cg/blkio".into(), true)));
        assert_eq!(found(v2), Some(("/sys/fs/cgroup/unified".into(), false)));
        assert_eq!(found("27 1 254:0 / / rw - ext4 /dev/vda rw\n"), None);
    }

    #[test]
    fn a_thread_has_a_group_in_each_hierarchy() {
        let lines = "9:name=systemd:/x\n7:net,blkio:/a/b:c\n0::/d\n";
        assert_eq!((named(lines, Some("blkio")), named(lines, None)), (Some("/a/b:c"), Some("/d")));
        assert_eq!(named("1:cpu:/\n", Some("blkio")), None);
    }

    #[test]
    fn limits_of_the_cpu_are_those_of_a_group_and_of_all_above_it() {
        let dir = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(dir.path()).unwrap();
        let group = root.join("outer/inner");
        fs::create_dir_all(&group).unwrap();
        let mounts = |kind: &str, mounted: &str| {
            let at = root.display();
            Mounts(parse(format!("31 1 0:8 {mounted} {at} rw - {kind}\n").as_bytes()))
        };
        let all = [group.clone(), root.join("outer"), root.clone()];
        let (v1, v2) = ("cgroup none rw,cpu,cpuacct", "cgroup2 none rw");
        assert_eq!(
            groups_among("cpu", &mounts(v1, "/"), "4:cpuset:/x\n3:cpu,cpuacct:/outer/inner\n0::/y\n"),
            all
        );
        assert_eq!(groups_among("cpu", &mounts(v2, "/"), "0::/outer/inner\n"), all);
        // A container sees its own part of the hierarchy.
        assert_eq!(groups_among("cpu", &mounts(v2, "/docker/1"), "0::/docker/1/outer/inner\n"), all);
        assert_eq!(groups_among("cpu", &mounts(v2, "/docker/1"), "0::/docker/2\n"), all[2..]);
        assert!(groups_among("cpu", &mounts("cgroup none rw,blkio", "/"), "0::/\n").is_empty());
    }

    #[test]
    fn a_group_leaves_what_is_neither_used_nor_cache() {
        let dir = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| fs::write(dir.path().join(name), text).unwrap();
        assert_eq!(memory_left_in(dir.path()), None);
        write("memory.max", "max\n");
        assert_eq!(memory_left_in(dir.path()), None);
        write("memory.max", "1000\n");
        write("memory.current", "700\n");
        assert_eq!(memory_left_in(dir.path()), Some(300));
        write("memory.stat", "anon 100\ninactive_file 400\nactive_file 50\n");
        assert_eq!(memory_left_in(dir.path()), Some(750));
        let v1 = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| fs::write(v1.path().join(name), text).unwrap();
        write("memory.limit_in_bytes", "9223372036854771712\n");
        write("memory.usage_in_bytes", "700\n");
        assert_eq!(memory_left_in(v1.path()), None);
    }

    #[test]
    fn a_name_is_below_the_root_however_it_is_written() {
        let groups = IoCgroups { root: "/cg".into(), per_thread: true };
        assert_eq!(groups.group("/a/b/"), Path::new("/cg/a/b"));
        assert_eq!(groups.current(), Path::new("/cg"), "there is no such directory");
    }
}
