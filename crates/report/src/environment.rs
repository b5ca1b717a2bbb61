//! The environment of a run: the host, the file systems and devices of its files, and the CPU time used before it.
//!
//! The kernel is queried once, before the run, because files may be removed during it.

use ferrio_job::{Compat, Plan};
use ferrio_machine::{CpuMeter, CpuThrottling, Host, StorageLocation, StorageLocations, ThrottleMeter};
use ferrio_stats::counter_is_invariant;

/// The machine of a run.
#[derive(Clone, Debug, Default)]
pub struct RunEnvironment {
    /// Version of this program.
    pub version: String,
    /// The host.
    pub host: Host,
    /// File systems and devices of the jobs' files, each once, in order of first use.
    pub places: Vec<StorageLocation>,
    /// Indexed by job of the plan: ascending indices into `places`.
    pub places_of: Vec<Vec<usize>>,
    /// True if the machine has a reliable time stamp counter.
    pub counter_is_invariant: bool,
    /// CPU time since the start.
    pub(crate) cpu: CpuMeter,
    /// CPU throttling since the first I/O. Inactive if the program is called `fio`.
    pub(crate) throttling: ThrottleMeter,
    pub(crate) jobs_began: bool,
}

impl RunEnvironment {
    /// Queries the host and the files of a plan. `version` is that of the program.
    #[must_use]
    pub fn ask(plan: &Plan, version: &str, compat: Compat) -> Self {
        let mut places = StorageLocations::default();
        let places_of = plan
            .jobs
            .iter()
            .map(|job| &job.spec)
            .map(|spec| {
                let mut used: Vec<usize> =
                    spec.storage_paths().filter_map(|path| places.index_of(path)).collect();
                used.sort_unstable();
                used.dedup();
                used
            })
            .collect();
        RunEnvironment {
            version: version.to_owned(),
            host: Host::ask(),
            places: places.all().to_vec(),
            places_of,
            counter_is_invariant: counter_is_invariant(),
            cpu: CpuMeter::begin(),
            throttling: match compat {
                Compat::Ferrio => ThrottleMeter::begin(),
                Compat::Fio => ThrottleMeter::default(),
            },
            jobs_began: false,
        }
    }

    /// Called when jobs begin their I/O. The first call resets the throttling counters, so that throttling during the layout is not
    /// reported.
    pub fn begin_jobs(&mut self) {
        if !std::mem::replace(&mut self.jobs_began, true) {
            self.throttling.restart();
        }
    }

    /// CPU throttling since [`begin_jobs`](Self::begin_jobs).
    #[must_use]
    pub fn throttling_so_far(&self) -> CpuThrottling {
        self.throttling.so_far()
    }

    /// Indices into `places` of the places that a job uses.
    #[must_use]
    pub(crate) fn of_job(&self, job: usize) -> &[usize] {
        self.places_of.get(job).map_or(&[], Vec::as_slice)
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use ferrio_job::{EngineKind, FileKind, JobSpec};
    use ferrio_plan::testing::{default_job, file, plan};

    fn job(engine: EngineKind, kind: FileKind, path: &Path) -> JobSpec {
        let mut spec = default_job("a");
        spec.engine = engine;
        spec.files = vec![file(path, kind, 4096)];
        spec
    }

    #[test]
    fn jobs_that_work_in_one_file_system_share_a_place_and_those_without_files_have_none() {
        let dir = tempfile::tempdir().unwrap();
        let plan = plan([
            job(EngineKind::Psync, FileKind::Regular, &dir.path().join("a")),
            job(EngineKind::Psync, FileKind::Regular, &dir.path().join("none/b")),
            job(EngineKind::Null, FileKind::Pretend, Path::new("c")),
            job(EngineKind::Psync, FileKind::Char, Path::new("/dev/null")),
        ]);
        let setting = RunEnvironment::ask(&plan, "1.2.3", Compat::Ferrio);
        assert_eq!(setting.places.len(), 1);
        assert_eq!(setting.places_of, [vec![0], vec![0], vec![], vec![]]);
        assert!(setting.of_job(7).is_empty() && setting.version == "1.2.3");
    }
}
