//! Whether a job may do what it asks for on this machine: writing, CPUs, keeping what is there.

use ferrio_jobfile::{Job, Opt};

use crate::findings::Findings;
use crate::written::{asks, note, refuse};
use crate::{Machine, offload};
use ferrio_job::{Direction, JobSpec, Prefix};

/// Engines that read a stream, which cannot be read ahead and then again.
const STREAMS: [&str; 4] = ["net", "netsplice", "rdma", "splice"];

/// Rules that need the job as written only.
pub(super) fn check(job: &Job, findings: &mut Findings) {
    streams_are_not_read_ahead(job, findings);
}

/// Refusals and fix-ups of the resolved job.
pub(super) fn apply(job: &Job, spec: &mut JobSpec, machine: &Machine, findings: &mut Findings) {
    read_only_refuses_writers(job, spec, findings);
    cpus_exist(job, spec, machine, findings);
    readers_keep_existing_data(spec);
    pages_read_ahead_stay_in_the_cache(job, spec);
    a_polling_thread_hides_submission(spec);
    offload::fix_up(spec);
    sync_engines_have_depth_one(job, spec, findings);
}

fn read_only_refuses_writers(job: &Job, spec: &JobSpec, findings: &mut Findings) {
    if spec.readonly && (spec.rw.does(Direction::Write) || spec.rw.does(Direction::Trim)) {
        let message = format!("job <{}> has write or trim bit set, but fio is in read-only mode", job.name);
        refuse(findings, job, &[Opt::Rw], "write-in-read-only-mode", message, "--readonly was given");
    }
}

fn cpus_exist(job: &Job, spec: &JobSpec, machine: &Machine, findings: &mut Findings) {
    let max = machine.cpus.saturating_sub(1);
    for (opt, cpus) in
        [(Opt::CpusAllowed, &spec.cpus_allowed), (Opt::LogCompressionCpus, &spec.logs.writer_cpus)]
    {
        if !job.options.is_given(opt) {
            continue;
        }
        let message = match cpus.iter().find(|&&cpu| cpu > max) {
            Some(cpu) => format!("CPU {cpu} too large (max={max})"),
            None if cpus.is_empty() => "no CPU is left to run on".to_owned(),
            None => continue,
        };
        refuse(findings, job, &[opt], "no-such-cpu", message, "name CPUs that this machine has");
    }
}

/// What a job reads must not be thrown away when it is laid out.
fn readers_keep_existing_data(spec: &mut JobSpec) {
    spec.overwrite |= spec.rw.does(Direction::Read);
}

fn streams_are_not_read_ahead(job: &Job, findings: &mut Findings) {
    if asks(job, Opt::PreRead) && STREAMS.contains(&job.options.engine()) {
        let text = "cannot pre-read files with an IO engine that isn't seekable. Pre-read disabled.";
        findings.warn(note(job, &[Opt::PreRead], "stream-not-read-ahead", text));
    }
}

fn pages_read_ahead_stay_in_the_cache(job: &Job, spec: &mut JobSpec) {
    spec.invalidate &= !asks(job, Opt::PreRead);
}

/// With `sqthread_poll` submitting is a store to memory: there is no submission latency to see.
fn a_polling_thread_hides_submission(spec: &mut JobSpec) {
    if spec.engine_options.sqthread_poll {
        spec.measure.slat = false;
    }
}

fn sync_engines_have_depth_one(job: &Job, spec: &JobSpec, findings: &mut Findings) {
    if spec.depth.iodepth > 1 && spec.is_sync() {
        let text =
            "both iodepth >= 1 and synchronous I/O engine are selected, queue depth will be capped at 1";
        findings.note(note(job, &[Opt::Iodepth], "iodepth-sync-engine", text).prefix(Prefix::Note));
    }
}

#[cfg(test)]
mod tests {
    use crate::PlanOptions;
    use crate::rules::tests::{fixed, null};
    use crate::testing::{jobs_of, plan_of, refusals, spec_of, texts};

    #[test]
    fn writers_and_trimmers_are_refused_under_readonly() {
        let readonly = PlanOptions { readonly: true, ..PlanOptions::default() };
        for kind in ["write", "randrw", "trim"] {
            let set = jobs_of(&null(&format!("rw={kind}\n")));
            let problems = crate::plan(&set, &readonly).unwrap_err();
            let want = "job <a> has write or trim bit set, but fio is in read-only mode";
            assert_eq!(problems.diagnostics[0].message, want);
        }
        let plan = crate::plan(&jobs_of(&null("rw=randread\n")), &readonly).unwrap();
        assert!(plan.jobs[0].spec.readonly);
    }

    #[test]
    fn cpus_that_are_not_there_are_refused() {
        assert_eq!(refusals(&null("cpus_allowed=0,5\n")), ["CPU 5 too large (max=3)"]);
        assert_eq!(spec_of(&null("cpus_allowed=1-3\n")).cpus_allowed, [1, 2, 3]);
        let log = "write_lat_log\nlog_compression=1k\nlog_compression_cpus=7\n";
        assert_eq!(refusals(&null(log)), ["CPU 7 too large (max=3)"]);
    }

    #[test]
    fn jobs_that_read_overwrite() {
        assert!(spec_of(&null("rw=randrw\n")).overwrite);
        assert!(!spec_of(&null("rw=write\n")).overwrite);
        assert!(spec_of(&null("rw=write\noverwrite=1\n")).overwrite);
    }

    #[test]
    fn streams_are_not_read_ahead() {
        let want = "cannot pre-read files with an IO engine that isn't seekable. Pre-read disabled.";
        let fatal = PlanOptions { warnings_fatal: true, ..PlanOptions::default() };
        let set = jobs_of("[a]\nioengine=splice\nsize=64k\npre_read=1\n");
        assert_eq!(crate::plan(&set, &fatal).unwrap_err().diagnostics[0].message, want);
    }

    #[test]
    fn a_deep_queue_on_a_synchronous_engine_is_said_once() {
        let plan = plan_of("[global]\nsize=4k\niodepth=8\nioengine=psync\n[a]\nnumjobs=2\n[b]\n").unwrap();
        let want =
            "both iodepth >= 1 and synchronous I/O engine are selected, queue depth will be capped at 1";
        assert_eq!(texts(&plan.diagnostics), [want]);
        assert!(plan_of(&null("iodepth=8\n")).unwrap().diagnostics.is_empty());
    }

    #[test]
    fn pages_read_ahead_are_not_dropped_at_the_start() {
        assert!(!fixed("pre_read=1\n").invalidate && !fixed("pre_read=1\ninvalidate=1\n").invalidate);
        assert!(fixed("pre_read=0\n").invalidate);
    }
}
