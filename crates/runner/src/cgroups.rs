//! The control groups in which workers do their I/O (`cgroup`).
//!
//! In version 1 each worker joins its group alone. Version 2 accounts the I/O of a process in one group, so the first worker moves the
//! whole process and the last one moves it back; the planner ensures that concurrent jobs want the same group.
//!
//! Workers return through a file that was opened before the run: the kernel checks the user who opened it, not the `uid` of a job.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use ferrio_job::{Cgroup, Diagnostic, JobSpec, Plan, reason};
use ferrio_machine::{IoCgroups, open_file, thread_id, write_whole};
use nix::fcntl::OFlag;

use crate::failure::Failure;

/// Files for the weight of a group, by controller and I/O scheduler; the system determines which of them exist.
const WEIGHTS: [&str; 4] = ["blkio.weight", "blkio.bfq.weight", "io.weight", "io.bfq.weight"];

/// The control groups of a run.
#[derive(Debug, Default)]
pub(crate) struct Cgroups {
    /// `None` if no job names a group or the system has none.
    found: Option<CgroupPaths>,
    joined: Mutex<HashMap<PathBuf, GroupMembers>>,
}

/// The groups of the system, and the program's group before the run.
#[derive(Debug)]
struct CgroupPaths {
    hierarchy: IoCgroups,
    home: PathBuf,
    /// Writing a thread or process to this file moves it to `home`. `None` if the user may not.
    to_home: Option<File>,
}

/// A group with workers in it.
#[derive(Debug, Default)]
struct GroupMembers {
    workers: usize,
    /// True if this run created the group, and removes it with its last worker.
    created: bool,
    /// Version 2: true if a worker has moved the process here.
    has_process: bool,
}

/// A worker's membership in a group; ends on drop.
#[derive(Debug)]
pub(crate) struct Membership<'a> {
    groups: &'a Cgroups,
    found: &'a CgroupPaths,
    group: PathBuf,
    /// Version 1: true if the worker is in the group.
    has_thread: bool,
    keep: bool,
    left: bool,
}

/// The error if a group could not be returned to.
#[derive(Debug)]
pub(crate) struct CannotReturn {
    home: PathBuf,
    group: PathBuf,
    error: io::Error,
}

impl CannotReturn {
    pub(crate) fn diagnostic(&self) -> Diagnostic {
        let CannotReturn { home, group, error } = self;
        let message = format!(
            "cannot return to the cgroup {}, what follows is in {}: {}",
            home.display(),
            group.display(),
            reason(error)
        );
        Diagnostic::note(message).code("cgroup-failed")
    }
}

impl Cgroups {
    /// The groups that the jobs of a plan use. Call it before workers start.
    pub(crate) fn of(plan: &Plan) -> Self {
        let wanted = plan.jobs.iter().any(|job| job.spec.worker.cgroup.is_some());
        let hierarchy = wanted.then(IoCgroups::mounted).flatten();
        let found = hierarchy.map(|hierarchy| {
            let home = hierarchy.current();
            CgroupPaths::new(hierarchy, home)
        });
        Cgroups { found, joined: Mutex::default() }
    }

    /// Moves the calling worker of a job into the job's group, if it has one; creates the group if it does not exist.
    ///
    /// # Errors
    /// The system has no groups, or the user may not change them.
    pub(crate) fn join_as(&self, spec: &JobSpec) -> Result<Option<Membership<'_>>, Failure> {
        let Some(wanted) = &spec.worker.cgroup else { return Ok(None) };
        self.join(wanted).map(Some).map_err(|failure| match (spec.worker.uid, failure.error.errno) {
            (Some(uid), libc::EACCES | libc::EPERM) => failure.note(
                "cgroup-failed",
                format!("the user {uid}, whom `uid` names, may not change cgroups: remove `uid` or `cgroup`"),
            ),
            _ => failure,
        })
    }

    fn join(&self, wanted: &Cgroup) -> Result<Membership<'_>, Failure> {
        let Some(found) = &self.found else {
            let message = "cgroup blkio does not appear to be mounted, nor is cgroup version 2: mount one of them, or \
                           remove `cgroup`";
            return Err(Failure::new(libc::ENODEV, "cgroup").note("cgroup-failed", message).excusable());
        };
        let group = found.hierarchy.group(&wanted.name);
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
        // From here on, leaving the group undoes the changes; it waits for `joined`.
        let mut membership =
            Membership { groups: self, found, group, has_thread: false, keep: wanted.keep, left: false };
        let weight = wanted.weight.map_or(Ok(()), |weight| set_weight(&membership.group, weight));
        let done = weight
            .map_err(|e| {
                failed("cgroup open weight", &membership.group, &e).note(
                    "cgroup-failed",
                    "the weight of the cgroup cannot be set: switch the disk to the I/O scheduler bfq, or enable the controller \
                     io in cgroup.subtree_control of the parent cgroup",
                )
            })
            .and_then(|()| {
                let per_thread = found.hierarchy.per_thread;
                let is_in = if per_thread { &mut membership.has_thread } else { &mut entry.has_process };
                if !*is_in {
                    found.enter(&membership.group).map_err(|e| failed("cgroup write", &membership.group, &e))?;
                    *is_in = true;
                }
                Ok(())
            });
        drop(joined);
        done.map(|()| membership)
    }

    fn joined(&self) -> MutexGuard<'_, HashMap<PathBuf, GroupMembers>> {
        self.joined.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Membership<'_> {
    /// Returns to the previous group. A second call does nothing.
    ///
    /// # Errors
    /// The kernel refused: the worker stays in the group.
    pub(crate) fn leave(&mut self) -> Result<(), CannotReturn> {
        if std::mem::replace(&mut self.left, true) {
            return Ok(());
        }
        let mut joined = self.groups.joined();
        let Some(entry) = joined.get_mut(&self.group) else { return Ok(()) };
        entry.workers -= 1;
        let last = entry.workers == 0;
        let created = entry.created;
        let moves = self.has_thread || (last && entry.has_process);
        if last {
            joined.remove(&self.group);
        }
        let back = if moves { self.found.go_home() } else { Ok(()) };
        let back = back.map_err(|error| {
            let (home, group) = (self.found.home.clone(), self.group.clone());
            CannotReturn { home, group, error }
        });
        // Removal fails if a command of the job left a process in the group, or if another program has removed the group.
        if last && created && !self.keep {
            let _ = fs::remove_dir(&self.group);
        }
        back
    }
}

impl Drop for Membership<'_> {
    fn drop(&mut self) {
        // An error is ignored: the failure of the worker is more important.
        let _ = self.leave();
    }
}

impl CgroupPaths {
    fn new(hierarchy: IoCgroups, home: PathBuf) -> Self {
        let mut found = CgroupPaths { hierarchy, home, to_home: None };
        found.to_home = open(&found.members(&found.home)).ok();
        found
    }

    /// The file that moves threads or processes to a group.
    fn members(&self, group: &Path) -> PathBuf {
        group.join(if self.hierarchy.per_thread { "tasks" } else { "cgroup.procs" })
    }

    /// The ID of the calling thread, or of the process if threads cannot be moved alone.
    fn id(&self) -> String {
        let id = if self.hierarchy.per_thread { thread_id() } else { std::process::id() };
        id.to_string()
    }

    fn enter(&self, group: &Path) -> io::Result<()> {
        write(&self.members(group), &self.id())
    }

    fn go_home(&self) -> io::Result<()> {
        match &self.to_home {
            Some(file) => write_whole(&mut &*file, self.id().as_bytes()),
            None => self.enter(&self.home),
        }
    }
}

fn set_weight(group: &Path, weight: u32) -> io::Result<()> {
    let file = WEIGHTS.iter().map(|name| group.join(name)).find(|file| file.exists());
    write(&file.unwrap_or_else(|| group.join(WEIGHTS[0])), &weight.to_string())
}

/// Kernel files are written at once, and never created.
fn write(file: &Path, text: &str) -> io::Result<()> {
    write_whole(&mut open(file)?, text.as_bytes())
}

fn open(file: &Path) -> io::Result<File> {
    open_file(file, OFlag::O_WRONLY, 0)
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
        let found = CgroupPaths::new(IoCgroups { root: root.to_owned(), per_thread }, root.join("home"));
        Cgroups { found: Some(found), joined: Mutex::default() }
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
        let groups = groups(root.path(), true, &["home", "x"]);
        let id = thread_id().to_string();
        let member = groups.join(&Cgroup { weight: Some(300), ..wanted("x") }).unwrap();
        assert_eq!(
            (text(root.path(), "x/tasks"), text(root.path(), "x/blkio.bfq.weight")),
            (id.clone(), "300".into())
        );
        assert_eq!(text(root.path(), "home/tasks"), "");
        drop(member);
        assert_eq!(text(root.path(), "home/tasks"), id);
        assert!(root.path().join("x").exists(), "a group that was there before stays");
    }

    #[test]
    fn a_process_moves_with_its_first_worker_and_back_with_its_last() {
        let root = tempfile::tempdir().unwrap();
        let groups = groups(root.path(), false, &["home", "x"]);
        let id = std::process::id().to_string();
        let first = groups.join(&wanted("x")).unwrap();
        assert_eq!(text(root.path(), "x/cgroup.procs"), id);
        fs::write(root.path().join("x/cgroup.procs"), "").unwrap();
        let mut second = groups.join(&wanted("x")).unwrap();
        drop(first);
        assert_eq!(
            (text(root.path(), "x/cgroup.procs"), text(root.path(), "home/cgroup.procs")),
            (String::new(), String::new())
        );
        second.leave().unwrap();
        drop(second);
        assert_eq!(text(root.path(), "home/cgroup.procs"), id);
    }

    #[test]
    fn a_process_that_its_first_worker_could_not_move_moves_with_the_next_one() {
        let root = tempfile::tempdir().unwrap();
        let groups = groups(root.path(), false, &["home", "x"]);
        let procs = root.path().join("x/cgroup.procs");
        fs::remove_file(&procs).unwrap();
        // What happens between the failure and the end of the first worker.
        let entry = GroupMembers { workers: 1, ..GroupMembers::default() };
        groups.joined().insert(root.path().join("x"), entry);
        assert_eq!(groups.join(&wanted("x")).unwrap_err().error.func, "cgroup write");
        fs::write(&procs, "").unwrap();
        let member = groups.join(&wanted("x")).unwrap();
        assert_eq!(text(root.path(), "x/cgroup.procs"), std::process::id().to_string());
        assert_eq!(groups.joined()[&root.path().join("x")].workers, 2);
        drop(member);
    }

    #[test]
    fn a_group_that_cannot_be_returned_to_is_named() {
        for per_thread in [true, false] {
            let root = tempfile::tempdir().unwrap();
            let groups = groups(root.path(), per_thread, &["x"]);
            let message = groups.join(&wanted("x")).unwrap().leave().unwrap_err().diagnostic().message;
            let here = root.path().display();
            let want = format!("cannot return to the cgroup {here}/home, what follows is in {here}/x: ");
            assert!(message.starts_with(&want), "{message}");
        }
    }

    #[test]
    fn a_user_that_may_not_change_groups_is_named_if_the_job_chose_it() {
        let notes = |uid: Option<u32>| {
            let mut spec = JobSpec::default();
            (spec.worker.cgroup, spec.worker.uid) = (Some(wanted("x")), uid);
            // Nobody, root included, may make directories there: EPERM.
            let found = CgroupPaths::new(IoCgroups { root: "/sys".into(), per_thread: true }, "/sys".into());
            let groups = Cgroups { found: Some(found), joined: Mutex::default() };
            let failure = groups.join_as(&spec).unwrap_err();
            failure.notes.into_iter().map(|note| note.message).collect::<Vec<_>>()
        };
        assert_eq!(notes(None), ["path /sys/x"]);
        let advice = "the user 99, whom `uid` names, may not change cgroups: remove `uid` or `cgroup`";
        assert_eq!(notes(Some(99)), ["path /sys/x", advice]);
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
