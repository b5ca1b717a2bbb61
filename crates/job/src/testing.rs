//! Files, jobs and plans for tests (feature `testing`).

use std::path::PathBuf;

use crate::{EngineKind, FileKind, FileSpec, JobSpec, Origin, Plan, PlannedJob, PlannedSection, ReadWrite};

/// A file that was not found and is used as a whole. Only regular files may be extended.
#[must_use]
pub fn file(path: impl Into<PathBuf>, kind: FileKind, size: u64) -> FileSpec {
    let extend = kind == FileKind::Regular;
    FileSpec { path: path.into(), kind, offset: 0, size, real_size: size, found: None, extend }
}

/// A job of the engine null on a file of this size that does not exist.
#[must_use]
pub fn null_job(name: &str, size: u64) -> JobSpec {
    JobSpec { engine: EngineKind::Null, ..job_on(file(name, FileKind::Pretend, size), name, ReadWrite::Read) }
}

/// A job with fio's defaults that moves all of one file.
#[must_use]
pub fn job_on(file: FileSpec, name: &str, rw: ReadWrite) -> JobSpec {
    let mut spec = JobSpec::with_defaults(name);
    spec.rw = rw;
    spec.limits.size = file.size;
    spec.files = vec![file];
    spec
}

/// A plan of these jobs, all of which can run. A job begins a section unless it is a clone.
#[must_use]
pub fn plan(specs: impl IntoIterator<Item = JobSpec>) -> Plan {
    let mut plan = Plan::default();
    for (index, spec) in specs.into_iter().enumerate() {
        match plan.sections.last_mut() {
            Some(section) if spec.clone > 0 => section.jobs.end = index + 1,
            _ => plan.sections.push(PlannedSection {
                name: spec.name.clone(),
                origin: Origin::Builtin,
                jobs: index..index + 1,
                group: spec.group,
                phase: 1,
            }),
        }
        plan.jobs.push(PlannedJob { spec, setup_error: None });
    }
    plan
}
