//! `io_submit_mode=offload` and `serialize_overlap`: which jobs they are for, and what they make of the queue.

use ferrio_job::Diagnostic;
use ferrio_jobfile::{Job, Opt};

use crate::findings::Findings;
use crate::resolve::value_origin;
use crate::written::word;
use ferrio_job::{Depth, Direction, EngineKind, JobSpec};

/// Whether threads are to do the I/O; refused for engines that have a queue of their own which cannot be taken apart.
pub(crate) fn is_wanted(job: &Job, engine: EngineKind, findings: &mut Findings) -> bool {
    if word(job, Opt::IoSubmitMode) != Some("offload") {
        return false;
    }
    if matches!(engine, EngineKind::IoUring | EngineKind::TokioUring) {
        let message = format!("engine {} cannot be used with io_submit_mode=offload", engine.name());
        let problem = Diagnostic::error(message, value_origin(&job.options, Opt::IoSubmitMode))
            .code("engine-cannot-offload");
        findings.refuse(problem.help("use a synchronous engine like `psync`, or io_submit_mode=inline"));
        return false;
    }
    true
}

/// Threads take one I/O each, as soon as there is one: there are no batches. Only writes or trims can overlap to any effect.
pub(crate) fn fix_up(spec: &mut JobSpec) {
    if spec.offload {
        let iodepth = spec.depth.iodepth;
        spec.depth = Depth { iodepth, batch: 1, complete_min: 1, complete_max: iodepth, low: iodepth };
    }
    let changes = spec.rw.does(Direction::Write) || spec.rw.does(Direction::Trim);
    spec.serialize_overlap &= spec.offload || (changes && spec.depth.iodepth > 1 && !spec.is_sync());
}

#[cfg(test)]
mod tests {
    use crate::testing::{refusals, spec_of};

    #[test]
    fn offloaded_jobs_have_a_unit_for_each_thread_and_no_batches() {
        let spec =
            spec_of("[a]\nsize=64k\nioengine=psync\niodepth=4\niodepth_batch=4\nio_submit_mode=offload\n");
        assert!(spec.offload && !spec.is_sync());
        assert_eq!((spec.units(), spec.depth.batch, spec.depth.complete_max), (4, 1, 4));
        let spec = spec_of("[a]\nsize=64k\nioengine=psync\niodepth=4\n");
        assert!(!spec.offload && spec.units() == 1);
    }

    #[test]
    fn engines_with_rings_cannot_be_offloaded() {
        for engine in ["io_uring", "tokio_uring"] {
            let text = format!("[a]\nsize=64k\nioengine={engine}\nio_submit_mode=offload\n");
            assert_eq!(
                refusals(&text),
                [format!("engine {engine} cannot be used with io_submit_mode=offload")]
            );
        }
    }

    #[test]
    fn overlaps_matter_to_jobs_that_change_data_with_several_ios_in_flight() {
        for (options, on) in [
            ("rw=randwrite\niodepth=4\n", true),
            ("rw=randread\niodepth=4\n", false),
            ("rw=randwrite\niodepth=1\n", false),
            ("rw=randwrite\niodepth=4\nioengine=psync\n", false),
            ("rw=randread\niodepth=1\nioengine=psync\nio_submit_mode=offload\n", true),
        ] {
            let text = format!("[a]\nsize=64k\nioengine=null\nserialize_overlap=1\n{options}");
            assert_eq!(spec_of(&text).serialize_overlap, on, "{options}");
        }
    }
}
