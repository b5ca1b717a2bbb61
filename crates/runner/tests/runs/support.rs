//! Plans small enough to see what a run does with them.

use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

use ferrio_job::{FileKind, JobSpec, Plan, ReadWrite};
use ferrio_plan::testing::{self, file};
use ferrio_results::{JobResult, RunEvent, RunResult};
use ferrio_runner::{RunOptions, run};

pub const SIZE: u64 = 1 << 20;

/// A job that reads 1 MiB of nothing.
pub fn null(name: &str) -> JobSpec {
    testing::null_job(name, SIZE)
}

/// A job that does nothing for so long.
pub fn timed(name: &str, ms: u64) -> JobSpec {
    let mut spec = null(name);
    spec.limits.time_based = true;
    spec.limits.runtime = Duration::from_millis(ms);
    spec
}

/// A job on a file of 16 KiB.
pub fn disk(name: &str, rw: ReadWrite, path: &Path) -> JobSpec {
    let mut spec = testing::job_on(file(path, FileKind::Regular, 16384), name, rw);
    spec.layout.overwrite = rw == ReadWrite::Read;
    spec
}

pub fn plan(specs: Vec<JobSpec>) -> Plan {
    testing::plan((1..).zip(specs).map(|(number, spec)| JobSpec { number, ..spec }))
}

/// Runs the plan; also the events that a user would read.
pub fn told(plan: &Plan) -> (RunResult, Vec<String>) {
    let mut lines = Vec::new();
    let plan: &Plan = Box::leak(Box::new(plan.clone()));
    let result = run(plan, &RunOptions::default(), &mut |event| match event {
        RunEvent::Starting { threads, processes } => {
            lines.push(format!("{threads} threads, {processes} processes"))
        }
        RunEvent::LayingOut { job, files, bytes } => {
            lines.push(format!("{job}: {files} files, {bytes} bytes"))
        }
        RunEvent::JobFailed { job, pid, error } => {
            lines.push(format!("{job} failed{}: {}", if pid == 0 { " early" } else { "" }, error.errno));
        }
        _ => {}
    });
    (result, lines)
}

pub fn run_all(specs: Vec<JobSpec>) -> RunResult {
    told(&plan(specs)).0
}

pub fn bytes(job: &JobResult) -> u64 {
    job.stats.directions.iter().map(|d| d.bytes).sum()
}

pub fn end_ms(job: &JobResult) -> u64 {
    job.start_ms + job.stats.job_runtime_ms
}

/// ms from the start of the run to the start of the job.
pub fn started_after(result: &RunResult, job: usize) -> u64 {
    let started = result.started.duration_since(UNIX_EPOCH).unwrap_or_default().as_millis() as u64;
    result.jobs[job].start_ms - started
}

/// A job that would run for an hour.
pub fn endless(name: &str) -> JobSpec {
    timed(name, 3_600_000)
}

/// Bytes of each job; none has an error.
pub fn done(result: &RunResult) -> Vec<u64> {
    assert!(result.jobs.iter().all(|job| job.error.is_none()));
    result.jobs.iter().map(bytes).collect()
}
