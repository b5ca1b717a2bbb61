//! Queues that are shallower than intended.

use super::run_view::{Finding, RunView};

/// Warns about buffered I/O with libaio: a queue of one I/O, whatever `iodepth` says.
pub(super) fn libaio_buffered(run: &RunView<'_>) -> Vec<Finding> {
    let jobs =
        run.reported().filter(|(_, spec, result)| spec.submits_one_by_one() && result.stats.total_ios() > 0);
    let jobs: Vec<usize> = jobs.map(|(index, _, _)| index).collect();
    if jobs.is_empty() {
        return Vec::new();
    }
    let message = format!(
        "{} used libaio without direct=1, which submits I/Os one at a time: iodepth was not reached",
        run.who(&jobs)
    );
    let help = "the figures are those of iodepth=1: use direct=1, or io_uring";
    vec![Finding { jobs, message, help }]
}

#[cfg(test)]
mod tests {
    use ferrio_job::{EngineKind, FileKind, JobSpec, LibaioBackend};

    use super::super::testing::{TestRun, file, reading};

    fn is_reported(change: impl Fn(&mut JobSpec)) -> bool {
        let queue = |spec: &mut JobSpec| {
            (spec.engine, spec.depth.iodepth, spec.files) = (EngineKind::Libaio, 32, vec![file(1 << 20)]);
            change(spec);
        };
        !TestRun::new().job_with("a", reading(100_000, 10_000), queue).warnings("libaio-buffered").is_empty()
    }

    #[test]
    fn a_queue_of_buffered_libaio_is_reported_and_other_queues_are_not() {
        assert!(is_reported(|_| {}));
        assert!(!is_reported(|spec| spec.opening.direct = true));
        assert!(!is_reported(|spec| spec.depth.iodepth = 1));
        assert!(!is_reported(|spec| spec.engine = EngineKind::IoUring));
        assert!(!is_reported(|spec| spec.engine_options.libaio.backend = LibaioBackend::IoUring));
        assert!(!is_reported(|spec| spec.files[0].kind = FileKind::Char));
    }

    #[test]
    fn jobs_with_the_same_queue_are_one_warning() {
        let queue = |spec: &mut JobSpec| {
            (spec.engine, spec.depth.iodepth, spec.files) = (EngineKind::Libaio, 32, vec![file(1 << 20)]);
        };
        let run =
            TestRun::new().job_with("a", reading(9, 1000), queue).job_with("b", reading(9, 1000), queue);
        let warnings = run.warnings("libaio-buffered");
        let want = "2 jobs (a, b) used libaio without direct=1, which submits I/Os one at a time: iodepth was not reached";
        assert_eq!((warnings.len(), warnings[0].message.as_str()), (1, want));
    }
}
