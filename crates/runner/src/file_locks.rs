//! `lockfile`: locks that an I/O holds while it is submitted, so that a synchronous I/O to a shared file runs alone.
//!
//! As in fio, the clones of one job share the locks of their files, and so do all jobs with `thread`; other jobs and other programs do
//! not take part. The time an I/O waits for its lock is not part of its latency.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use ferrio_job::{Lockfile, Plan};

/// The locks of a job's files, in the order of the files.
#[derive(Debug)]
pub(crate) struct FileLocks {
    locks: Vec<Arc<RwLock<()>>>,
    reads_share: bool,
}

/// Holds the lock of a file.
#[derive(Debug)]
pub(crate) enum FileGuard<'a> {
    /// With other reads.
    Shared { _lock: RwLockReadGuard<'a, ()> },
    /// Alone.
    Alone { _lock: RwLockWriteGuard<'a, ()> },
}

impl FileLocks {
    /// The locks of each job of the plan; `None` for a job without.
    pub(crate) fn of(plan: &Plan) -> Vec<Option<Arc<Self>>> {
        // By the section whose clones share the lock, `None` for all jobs with `thread`; and by path.
        let mut known: HashMap<(Option<usize>, &Path), Arc<RwLock<()>>> = HashMap::new();
        let mut of_jobs = vec![None; plan.jobs.len()];
        for (section, jobs) in plan.sections.iter().map(|section| section.jobs.clone()).enumerate() {
            for index in jobs {
                let spec = &plan.jobs[index].spec;
                if spec.opening.lockfile == Lockfile::None {
                    continue;
                }
                let owner = (!spec.thread).then_some(section);
                let lock = |path| Arc::clone(known.entry((owner, path)).or_default());
                let locks = spec.files.iter().map(|file| file.path.as_path()).map(lock).collect();
                let reads_share = spec.opening.lockfile == Lockfile::ReadWrite;
                of_jobs[index] = Some(Arc::new(FileLocks { locks, reads_share }));
            }
        }
        of_jobs
    }

    /// Waits until an I/O to file `file` may be submitted. It may while the guard lives.
    pub(crate) fn lock(&self, file: u32, reads: bool) -> FileGuard<'_> {
        let lock = &self.locks[file as usize];
        // A lock protects no data that a panic could leave half done.
        if reads && self.reads_share {
            FileGuard::Shared { _lock: lock.read().unwrap_or_else(PoisonError::into_inner) }
        } else {
            FileGuard::Alone { _lock: lock.write().unwrap_or_else(PoisonError::into_inner) }
        }
    }
}

#[cfg(test)]
mod tests {
    use ferrio_plan::testing::plan_of;

    use super::*;

    fn locks(text: &str) -> Vec<Option<Arc<FileLocks>>> {
        FileLocks::of(&plan_of(text).unwrap())
    }

    fn same(a: &Option<Arc<FileLocks>>, b: &Option<Arc<FileLocks>>) -> bool {
        Arc::ptr_eq(&a.as_ref().unwrap().locks[0], &b.as_ref().unwrap().locks[0])
    }

    const JOBS: &str = "[global]\nfilename=f\nsize=4k\nrw=write\nlockfile=exclusive\n";

    #[test]
    fn clones_and_threads_share_a_file_and_its_lock() {
        let of = locks(&format!("{JOBS}[a]\nnumjobs=2\n[b]\n[c]\nthread\n[d]\nthread\n[e]\nlockfile=none\n"));
        assert!(same(&of[0], &of[1]) && same(&of[3], &of[4]));
        assert!(!same(&of[0], &of[2]) && !same(&of[2], &of[3]));
        assert!(of[5].is_none());
    }

    #[test]
    fn only_reads_share_and_only_with_readwrite() {
        let of = locks(&format!("{JOBS}[a]\n[b]\nlockfile=readwrite\n"));
        let shared = |at: usize, reads| {
            let locks = of[at].as_ref().unwrap();
            let _held = locks.lock(0, reads);
            locks.locks[0].try_read().is_ok()
        };
        assert_eq!(
            [shared(0, true), shared(0, false), shared(1, true), shared(1, false)],
            [false, false, true, false]
        );
    }
}
