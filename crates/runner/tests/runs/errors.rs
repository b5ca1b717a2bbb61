//! Errors of single I/Os that a job lives with.

use std::path::Path;

use ferrio_job::{EngineKind, FileKind, JobSpec, ReadWrite};
use ferrio_plan::testing::file;
use ferrio_results::RunEvent;
use ferrio_runner::{RunOptions, run};

use crate::support::{bytes, disk, plan};

/// Ten writes to a device that is always full.
fn full(engine: EngineKind) -> JobSpec {
    let mut spec = disk("full", ReadWrite::Write, Path::new("/dev/full"));
    spec.files = vec![file(Path::new("/dev/full"), FileKind::Char, 40960)];
    spec.limits.size = 40960;
    spec.engine = engine;
    spec.depth.iodepth = if spec.is_sync() { 1 } else { 4 };
    spec.depth.low = spec.depth.iodepth;
    spec.tolerance.write = vec![libc::ENOSPC];
    spec
}

#[test]
fn engines_of_both_kinds_go_on_after_a_tolerated_error() {
    for engine in [EngineKind::Psync, EngineKind::Pvsync2, EngineKind::IoUring] {
        let mut lines = 0;
        let result =
            run(Box::leak(Box::new(plan(vec![full(engine)]))), &RunOptions::default(), &mut |event| {
                lines += usize::from(matches!(event, RunEvent::Diagnostic(_)));
            });
        let job = &result.jobs[0];
        assert_eq!((job.error.as_ref(), job.stats.total_errors, job.stats.first_error), (None, 10, 28));
        assert_eq!((bytes(job), job.stats.directions[1].ios, lines), (0, 10, 0), "{engine:?}");
    }
}

#[test]
fn tolerated_errors_are_told_when_asked_for() {
    let mut spec = full(EngineKind::Psync);
    spec.tolerance.reports_each = true;
    let mut lines = Vec::new();
    run(Box::leak(Box::new(plan(vec![spec]))), &RunOptions::default(), &mut |event| {
        if let RunEvent::Diagnostic(error) = event {
            assert_eq!((error.code, &error.jobs[..]), ("io-error", &["full".to_owned()][..]));
            lines.push(error.message);
        }
    });
    assert_eq!(lines.len(), 10);
    let last = "io_u error on file /dev/full: No space left on device: write offset=36864, buflen=4096";
    assert_eq!(lines[9], last);
}
