//! The control groups that workers do their I/O in (`cgroup`).
//!
//! In version 1 each worker joins its group alone. Version 2 accounts the I/O of a process in one group, so the first worker moves the
//! whole process and the last one moves it back; the planner has made sure that jobs that run together want the same group.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use ferrio_job::{Cgroup, Plan};
use ferrio_machine::IoCgroups;

use crate::failure::Failure;
use crate::placement;

/// Files that the weight of a group is written to, by controller and I/O scheduler; which of them exists depends on the system.
const WEIGHTS: [&str; 4] = ["blkio.weight", "blkio.bfq.weight", "io.weight", "io.bfq.weight"];

/// The control groups of a run.
#[derive(Debug, Default)]
pub(crate) struct Cgroups {
    /// `None` if no job names a group or the system has none.
    hierarchy: Option<IoCgroups>,
    joined: Mutex<HashMap<PathBuf, Joined>>,
}

/// A group with workers in it.
#[derive(Debug, Default)]
struct Joined {
    workers: usize,
    /// This run made it, and removes it with its last worker.
    created: bool,
}

/// A worker in a group, until this is dropped.
#[derive(Debug)]
pub(crate) struct Membership<'a> {
    groups: &'a Cgroups,
    hierarchy: &'a IoCgroups,
    group: PathBuf,
    /// Where it was before.
    home: PathBuf,
    keep: bool,
}

impl Cgroups {
    /// The groups that the jobs of a plan ask for.
    pub(crate) fn of(plan: &Plan) -> Self {
        let wanted = plan.jobs.iter().any(|job| job.spec.worker.cgroup.is_some());
        Cgroups { hierarchy: wanted.then(IoCgroups::mounted).flatten(), joined: Mutex::default() }
    }

    /// Moves the calling worker into a group, which is made if it does not exist.
    ///
    /// # Errors
    /// The system has no groups, or the user may not change them.
    pub(crate) fn join(&self, wanted: &Cgroup) -> Result<Membership<'_>, Failure> {
        let Some(hierarchy) = &self.hierarchy else {
            let message = "cgroup blkio does not appear to be mounted, nor is cgroup version 2: mount one of them, or \
                           remove `cgroup`";
            return Err(Failure::new(libc::ENODEV, "cgroup").note("cgroup-failed", message).excusable());
        };
        let group = hierarchy.group(&wanted.name);
        let failed = |what: &'static str, at: &Path, error: &io::Error| {
            Failure::from_io(error, what).note("cgroup-failed", format!("path {}", at.display()))
        };
        let mut joined = self.joined();
        let created = match fs::create_dir(&group) {
            Ok(()) => true,
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => false,
            Err(e) => return Err(failed("cgroup mkdir", &group, &e)),
        };
        let entry = joined.entry(group.clone()).or_default();
        entry.created |= created;
        entry.workers += 1;
        let first = joined.len() == 1 && joined[&group].workers == 1;
        let moves = hierarchy.per_thread || first;
        let home = if moves { hierarchy.current() } else { hierarchy.root.clone() };
        // From here on, leaving the group undoes what was done.
        let membership = Membership { groups: self, hierarchy, group, home, keep: wanted.keep };
        let done = wanted
            .weight
            .map_or(Ok(()), |weight| set_weight(&membership.group, weight))
            .map_err(|e| {
                failed("cgroup open weight", &membership.group, &e).note(
                    "cgroup-failed",
                    "the weight of the cgroup cannot be set: switch the disk to the I/O scheduler bfq, or enable the controller \
                     io in cgroup.subtree_control of the parent cgroup",
                )
            })
            .and_then(|()| {
                let enter = || enter(hierarchy, &membership.group);
                if moves { enter().map_err(|e| failed("cgroup write", &membership.group, &e)) } else { Ok(()) }
            });
        drop(joined);
        done.map(|()| membership)
    }

    fn joined(&self) -> MutexGuard<'_, HashMap<PathBuf, Joined>> {
        self.joined.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Membership<'_> {
    fn drop(&mut self) {
        let mut joined = self.groups.joined();
        let Some(group) = joined.get_mut(&self.group) else { return };
        group.workers -= 1;
        let last = group.workers == 0;
        let created = group.created;
        if last {
            joined.remove(&self.group);
        }
        // A group with a process that a command of the job left behind cannot be removed, and one that is gone need not be.
        if self.hierarchy.per_thread || last {
            let _ = enter(self.hierarchy, &self.home);
        }
        if last && created && !self.keep {
            let _ = fs::remove_dir(&self.group);
        }
    }
}

/// Moves the calling thread, or the process where threads cannot be moved alone.
fn enter(hierarchy: &IoCgroups, group: &Path) -> io::Result<()> {
    let (file, id) = if hierarchy.per_thread {
        ("tasks", placement::thread_id())
    } else {
        ("cgroup.procs", std::process::id())
    };
    write(&group.join(file), &id.to_string())
}

fn set_weight(group: &Path, weight: u32) -> io::Result<()> {
    let file = WEIGHTS.iter().map(|name| group.join(name)).find(|file| file.exists());
    write(&file.unwrap_or_else(|| group.join(WEIGHTS[0])), &weight.to_string())
}

/// Files of the kernel are written at once, and never created.
fn write(file: &Path, text: &str) -> io::Result<()> {
    io::Write::write_all(&mut fs::OpenOptions::new().write(true).open(file)?, text.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted(name: &str) -> Cgroup {
        Cgroup { name: name.to_owned(), weight: None, keep: false }
    }

    /// A hierarchy in a directory: groups have the files of version 1 or 2 beforehand.
    fn groups(root: &Path, per_thread: bool, names: &[&str]) -> Cgroups {
        for name in names {
            fs::create_dir_all(root.join(name)).unwrap();
            for file in ["tasks", "cgroup.procs", "blkio.bfq.weight"] {
                fs::write(root.join(name).join(file), "").unwrap();
            }
        }
        let hierarchy = IoCgroups { root: root.to_owned(), per_thread };
        Cgroups { hierarchy: Some(hierarchy), joined: Mutex::default() }
    }

    fn text(root: &Path, file: &str) -> String {
        fs::read_to_string(root.join(file)).unwrap()
    }

    #[test]
    fn without_hierarchy_a_job_fails_and_says_why() {
        let failure = Cgroups::default().join(&wanted("x")).unwrap_err();
        assert_eq!(failure.error.func, "cgroup");
        assert!(failure.notes[0].message.starts_with("cgroup blkio does not appear to be mounted"));
    }

    #[test]
    fn a_thread_moves_alone_and_back() {
        let root = tempfile::tempdir().unwrap();
        let groups = groups(root.path(), true, &["", "x"]);
        let id = placement::thread_id().to_string();
        let member = groups.join(&Cgroup { weight: Some(300), ..wanted("x") }).unwrap();
        assert_eq!(
            (text(root.path(), "x/tasks"), text(root.path(), "x/blkio.bfq.weight")),
            (id.clone(), "300".into())
        );
        assert_eq!(text(root.path(), "tasks"), "");
        drop(member);
        assert_eq!(text(root.path(), "tasks"), id);
        assert!(root.path().join("x").exists(), "a group that was there before stays");
    }

    #[test]
    fn a_process_moves_with_its_first_worker_and_back_with_its_last() {
        let root = tempfile::tempdir().unwrap();
        let groups = groups(root.path(), false, &["", "x"]);
        let id = std::process::id().to_string();
        let first = groups.join(&wanted("x")).unwrap();
        assert_eq!(text(root.path(), "x/cgroup.procs"), id);
        fs::write(root.path().join("x/cgroup.procs"), "").unwrap();
        let second = groups.join(&wanted("x")).unwrap();
        drop(first);
        assert_eq!(
            (text(root.path(), "x/cgroup.procs"), text(root.path(), "cgroup.procs")),
            (String::new(), String::new())
        );
        drop(second);
        assert_eq!(text(root.path(), "cgroup.procs"), id);
    }

    #[test]
    fn a_group_that_cannot_be_used_is_named_and_removed() {
        let root = tempfile::tempdir().unwrap();
        let groups = groups(root.path(), true, &[""]);
        // A new directory here has no files, unlike one of the kernel's.
        let failure = groups.join(&wanted("new")).unwrap_err();
        assert_eq!((failure.error.errno, failure.error.func.as_str()), (libc::ENOENT, "cgroup write"));
        assert_eq!(failure.notes[0].message, format!("path {}", root.path().join("new").display()));
        assert!(!root.path().join("new").exists());
        let failure = groups.join(&Cgroup { weight: Some(100), ..wanted("new") }).unwrap_err();
        assert_eq!(failure.error.func, "cgroup open weight");
        assert_eq!(groups.join(&wanted("no/parent")).unwrap_err().error.func, "cgroup mkdir");
    }
}
