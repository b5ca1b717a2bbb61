//! How many I/Os are in flight at once: `iodepth` and its batches, `io_submit_mode`, `serialize_overlap`.

use ferrio_job::{Depth, EngineKind, JobSpec, Prefix, SubmitMode};
use ferrio_jobfile::{Job, Opt, Options};

use crate::as_written::{chooses, engine_is, inert, lacks, note, refuse};
use crate::direction::{changes_data, rw};
use crate::findings::Findings;

inert! {
    SerializeOverlap:
        |job| lacks(job, Opt::ReadIolog) && chooses(job, Opt::IoSubmitMode, SubmitMode::Inline)
            && (job.options.value::<u32>(Opt::Iodepth) <= 1 || !changes_data(rw(job)));
        "writes of this job never overlap one still in flight";
    IodepthBatch IodepthBatchCompleteMin IodepthBatchCompleteMax IodepthLow:
        |job| chooses(job, Opt::IoSubmitMode, SubmitMode::Offload);
        "each thread takes one I/O as soon as there is one";
    IodepthBatch:
        |job| engine_is(job, EngineKind::begins_at_once);
        "the engine begins each I/O when it is submitted";
}

/// Queue depth, batches, and whether threads do the I/O.
pub(crate) fn resolve(job: &Job, spec: &mut JobSpec, findings: &mut Findings) {
    spec.depth = depth(&job.options, spec);
    spec.offload = chooses(job, Opt::IoSubmitMode, SubmitMode::Offload)
        && check_offload_support(job, spec.engine, findings);
    spec.serialize_overlap = job.options.value(Opt::SerializeOverlap);
}

/// Offload threads take one I/O each as soon as it is queued, so there are no batches. Overlaps matter only where data changes.
pub(crate) fn apply_rules(job: &Job, spec: &mut JobSpec, findings: &mut Findings) {
    if spec.offload {
        let iodepth = spec.depth.iodepth;
        spec.depth = Depth { iodepth, batch: 1, complete_min: 1, complete_max: iodepth, low: iodepth };
    }
    if spec.engine.begins_at_once() {
        spec.depth.batch = 1;
    }
    spec.serialize_overlap &=
        spec.offload || (changes_data(spec.rw) && spec.depth.iodepth > 1 && !spec.is_sync());
    if spec.depth.iodepth > 1 && spec.is_sync() {
        let text =
            "both iodepth >= 1 and synchronous I/O engine are selected, queue depth will be capped at 1";
        findings.note(note(job, &[Opt::Iodepth], "iodepth-sync-engine", text).prefix(Prefix::Note));
    }
}

/// A batch size of 0, or above the depth, means the whole depth. A replayed block trace supplies the depth if the job sets none.
fn depth(options: &Options, spec: &JobSpec) -> Depth {
    let of_trace = spec.replay.as_ref().and_then(|log| log.summary.depth);
    let iodepth = match of_trace {
        Some(depth) if !options.is_given(Opt::Iodepth) && !spec.is_sync() => depth,
        _ => options.value::<u32>(Opt::Iodepth).max(1),
    };
    let up_to_depth = |n| if n == 0 || n > iodepth { iodepth } else { n };
    let complete_min = options.value(Opt::IodepthBatchCompleteMin);
    // With `auto`, a batch is submitted when no slot is free, so it is as large as the reap before it. Hence all completions are reaped.
    let gathers = options.word(Opt::IodepthBatch) == Some("auto");
    let complete_max = match options.if_given(Opt::IodepthBatchCompleteMax) {
        None if gathers => iodepth,
        given => given.unwrap_or(0),
    };
    Depth {
        iodepth,
        // `auto` is no number: the whole depth.
        batch: up_to_depth(options.value(Opt::IodepthBatch)),
        complete_min,
        complete_max: complete_max.max(complete_min),
        low: up_to_depth(options.value(Opt::IodepthLow)),
    }
}

/// Returns whether the engine can be offloaded, and refuses the job if not: engines with a ring submit and reap in one thread, and
/// posixaio has its own threads.
fn check_offload_support(job: &Job, engine: EngineKind, findings: &mut Findings) -> bool {
    if engine.needs_one_thread() {
        let message = format!("engine {} cannot be used with io_submit_mode=offload", engine.word());
        let help = "use a synchronous engine like `psync`, or io_submit_mode=inline";
        refuse(findings, job, &[Opt::IoSubmitMode], "engine-cannot-offload", message, help);
    }
    !engine.needs_one_thread()
}

#[cfg(test)]
mod tests {
    use crate::testing::{null, plan_of, refusals, spec_of, texts};
    use ferrio_job::Depth;

    #[test]
    fn an_engine_that_begins_each_io_at_once_has_no_batches_to_submit() {
        let depth = spec_of("[a]\nsize=64k\nioengine=posixaio\niodepth=8\niodepth_batch=4\n").depth;
        assert_eq!((depth.batch, depth.iodepth, depth.complete_max), (1, 8, 1));
    }

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

    #[test]
    fn depths_and_batches_are_brought_into_range() {
        let depth = |options: &str| spec_of(&null(options)).depth;
        let got = depth("iodepth=16\n");
        assert_eq!(got, Depth { iodepth: 16, batch: 1, complete_min: 1, complete_max: 1, low: 16 });
        let got = depth("iodepth=16\niodepth_batch=0\niodepth_low=40\niodepth_batch_complete=0\n");
        assert_eq!(got, Depth { iodepth: 16, batch: 16, complete_min: 0, complete_max: 0, low: 16 });
        let got = depth(
            "iodepth=16\niodepth_batch=8\niodepth_batch_complete_min=4\niodepth_batch_complete_max=2\n",
        );
        assert_eq!(got, Depth { iodepth: 16, batch: 8, complete_min: 4, complete_max: 4, low: 16 });
    }

    #[test]
    fn an_automatic_batch_takes_what_has_completed_and_submits_as_much() {
        let depth =
            |options: &str| spec_of(&null(&format!("iodepth=16\niodepth_batch=auto\n{options}"))).depth;
        let all = Depth { iodepth: 16, batch: 16, complete_min: 1, complete_max: 16, low: 16 };
        assert_eq!(depth(""), all);
        assert_eq!(depth("iodepth_batch_complete_min=4\n"), Depth { complete_min: 4, ..all });
        assert_eq!(depth("iodepth_batch_complete_max=2\n"), Depth { complete_max: 2, ..all });
    }

    #[test]
    fn a_deep_queue_on_a_synchronous_engine_is_said_once() {
        let plan = plan_of("[global]\nsize=4k\niodepth=8\nioengine=psync\n[a]\nnumjobs=2\n[b]\n").unwrap();
        let want =
            "both iodepth >= 1 and synchronous I/O engine are selected, queue depth will be capped at 1";
        assert_eq!(texts(&plan.diagnostics), [want]);
        assert!(plan_of(&null("iodepth=8\n")).unwrap().diagnostics.is_empty());
    }
}
