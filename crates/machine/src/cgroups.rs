//! Control groups that share out I/O (cgroups(7)): where they are mounted, and which one the calling thread is in.

use std::fs;
use std::path::{Path, PathBuf};

use crate::mounts::Mounts;

/// The hierarchy of control groups that I/O is accounted in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IoCgroups {
    /// Where it is mounted.
    pub root: PathBuf,
    /// Version 1, where each thread can be in a group of its own. In version 2 the I/O of all threads of a process belongs to one group.
    pub per_thread: bool,
}

impl IoCgroups {
    /// Finds the hierarchy: the one of the controller `blkio` of version 1 if it is mounted, because the controller is in no other then;
    /// else the one of version 2.
    #[must_use]
    pub fn mounted() -> Option<Self> {
        IoCgroups::among(&Mounts::read())
    }

    fn among(mounts: &Mounts) -> Option<Self> {
        let blkio = |options: &str| options.split(',').any(|option| option == "blkio");
        let v1 = mounts.0.iter().find(|mount| mount.file_system == "cgroup" && blkio(&mount.options));
        let v2 = || mounts.0.iter().find(|mount| mount.file_system == "cgroup2");
        let mount = v1.or_else(v2)?;
        Some(IoCgroups { root: mount.point.clone(), per_thread: v1.is_some() })
    }

    /// The group of the calling thread.
    #[must_use]
    pub fn current(&self) -> PathBuf {
        let text = fs::read_to_string("/proc/thread-self/cgroup").unwrap_or_default();
        let group = self.root.join(named(&text, self.per_thread).unwrap_or_default().trim_start_matches('/'));
        // In a container the name may be that of a group outside it.
        if group.is_dir() { group } else { self.root.clone() }
    }

    /// The directory of a group, which may not exist.
    #[must_use]
    pub fn group(&self, name: &str) -> PathBuf {
        self.root.join(Path::new(name.trim_matches('/')))
    }
}

/// The name of a group in the lines `7:blkio:/a` (version 1) or `0::/a` (version 2).
fn named(lines: &str, per_thread: bool) -> Option<&str> {
    lines.lines().find_map(|line| {
        let mut fields = line.splitn(3, ':').skip(1);
        let (controllers, name) = (fields.next()?, fields.next()?);
        let wanted = if per_thread {
            controllers.split(',').any(|word| word == "blkio")
        } else {
            controllers.is_empty()
        };
        wanted.then_some(name)
    })
}

#[cfg(test)]
mod tests {
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
        assert_eq!((named(lines, true), named(lines, false)), (Some("/a/b:c"), Some("/d")));
        assert_eq!(named("1:cpu:/\n", true), None);
    }

    #[test]
    fn a_name_is_below_the_root_however_it_is_written() {
        let groups = IoCgroups { root: "/cg".into(), per_thread: true };
        assert_eq!(groups.group("/a/b/"), Path::new("/cg/a/b"));
        assert_eq!(groups.current(), Path::new("/cg"), "there is no such directory");
    }
}
